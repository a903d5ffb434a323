"""The common behavior of tables: printing, display in a notebook, and output for readers and programs."""

from __future__ import annotations

import abc
from dataclasses import replace
from typing import Unpack

from cudbound.report.page import html_part
from cudbound.report.render import render_report
from cudbound.report.table_style import FULL, Style, StyleOptions
from cudbound.report.tables import Report, Run


class Tabular(abc.ABC):
    """A result that can be written as a table."""

    def __str__(self) -> str:
        return render_report(self.report())

    def __repr__(self) -> str:
        """Return the numbers alone; ``print`` adds the headline, the remarks and the notes."""
        report = self.report()
        # remarks would follow below the rows
        columns = tuple(column for column in report.columns if column.moves != 0)
        numbers = render_report(replace(report, headline=(), notes=(), columns=columns))
        return f"{numbers}\n\nNotes and remarks: print(...), or .notes"

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes under the table, in sentences."""
        return self.report().notes

    def _repr_html_(self) -> str:
        return html_part(self.report())

    @abc.abstractmethod
    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the table with its title and notes.

        Parameters
        ----------
        run : Run or None, default None
            Replaces the run of the table, if more is known.
        style : Style, default FULL
        """

    def to_text(self, **style: Unpack[StyleOptions]) -> str:
        """Return the table as plain text, with the keywords of `to_latex`."""
        return self._written("table", style)

    def to_markdown(self, **style: Unpack[StyleOptions]) -> str:
        """Return the table in Markdown, with pipes and the keywords of `to_latex`."""
        return self._written("markdown", style)

    def to_html(self, **style: Unpack[StyleOptions]) -> str:
        """Return the table as a self-contained HTML page, with the keywords of `to_latex`."""
        return self._written("html", style)

    def to_latex(self, **style: Unpack[StyleOptions]) -> str:
        r"""Return the table as a floating LaTeX ``table``, which needs the package ``booktabs``.

        Parameters
        ----------
        style : {"full", "paper"}, default="full"
            "paper": one row "title, 0.16 (0.01 to 0.31)" per method, with titles instead of the short names.
        digits : int or None, default=None
            Decimals of proportions, 0 to 10. None: 3, or 2 for "paper"; in percent 1, or 0 for "paper".
        percent : bool, default=False
            Whether proportions are written in percent.
        caption : str or None, default=None
            Replaces the title. Untrusted text is escaped, as in the cells.
        label : str or None, default=None
            For ``\ref``: letters, digits and ``: . _ -``, such as "tab:errors".

        Raises
        ------
        ParameterError
            If a value is not allowed.

        Examples
        --------
        >>> from cudbound import ConfidenceInterval, Estimand, IntervalEstimate, IntervalTable
        >>> row = IntervalEstimate(method="cud", estimate=0.16, raw_interval=ConfidenceInterval(0.01, 0.31),
        ...     estimand=Estimand("conditional"), confidence_level=0.95, n_fits=1)
        >>> print(IntervalTable((row,)).to_latex(style="paper", label="tab:error").splitlines()[9])
        cud & 0.16 (0.01 to 0.31) \\
        """
        return self._written("latex", style)

    def _written(self, format: str, style: StyleOptions) -> str:
        return render_report(self.report(style=Style(**style)), format)

    def to_csv(self) -> str:
        """Return every column unrounded, with a header line and LF line ends, without notes."""
        return render_report(self.report(), "csv")

    def to_json(self) -> str:
        """Return title, notes, versions, run and rows as one strict JSON object, unrounded."""
        return render_report(self.report(), "json")
