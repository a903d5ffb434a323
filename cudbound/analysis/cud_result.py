"""The CUD result: a CUD bound with its description, plots and files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cudbound.analysis.analyze import Analysis
from cudbound.analysis.saving import saved_analysis
from cudbound.basis.exceptions import CudboundWarning
from cudbound.basis.outcomes import Estimand
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import sentences_html
from cudbound.bound.cud_bound import CudBound
from cudbound.intervals.cud import CUD
from cudbound.intervals.method import compute_interval
from cudbound.metrics.targets import in_metric_terms
from cudbound.records import Records
from cudbound.report.description import Description, describe_rows
from cudbound.report.files import write_texts
from cudbound.report.sentences import cautions, majority_sentence
from cudbound.report.tables import RunDescription
from cudbound.saved.saved_file import SavedBound

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class CudResult(CudBound):
    """A CUD confidence set for a metric of a fitted classifier, with the inputs of its computation.

    Attributes
    ----------
    estimate, q, confidence_level, draws, problem, polish, tuned_by, search, metric, based_on, joint
        As in `cudbound.bound.cud_bound.CudBound`.
    analysis : Analysis or None
        The question, the data and the draws, if known.
    """

    analysis: Analysis | None = field(repr=False, default=None)

    @property
    def estimand(self) -> Estimand:
        """The target: the error of this fitted classifier on new cases from the same population."""
        return CUD.estimand

    @property
    def run(self) -> RunDescription | None:
        """The data, the classifier and the draws, if known."""
        return None if self.analysis is None else self.analysis.run

    @property
    def cautions(self) -> tuple[CudboundWarning, ...]:
        """Reasons for caution; `cud_interval` also issues them as warnings."""
        of_data = () if self.run is None else self.run.cautions
        return cautions((self.row,), int(self.problem.labels.size), of_data)

    @property
    def row(self) -> IntervalEstimate:
        """The result as a row of the table of methods."""
        row = compute_interval(CUD, Records.of(bound=self), self.confidence_level)
        remarks = () if self.analysis is None else self.analysis.draw_remarks
        return in_metric_terms(row, self.metric, self.based_on, remarks)

    @property
    def degenerate(self) -> str | None:
        """Why the interval is not informative, or None if it is."""
        return self.row.degenerate

    def save(self, path: str | Path) -> None:
        """Write a file for checking the result with `cudbound.verify_result` or ``cudbound verify``.

        It contains the settings, the versions, the draws as counts, their bounds and witnesses, and a fingerprint of
        the data, but no row of the data. docs/how_to/clinical_report.md describes what it can still reveal.

        Raises
        ------
        SavedResultError
            If this is part of a table: save the table instead.
        OSError
            If the file cannot be written; an existing file is left unchanged.
        """
        known = self.analysis
        saved = saved_analysis(known and replace(known, bounds=(SavedBound.of((self,)),)))
        question = replace(
            saved.question,
            confidence_level=self.confidence_level,
            bound=replace(saved.question.bound, **vars(self.search.limits)),
        )
        write_texts({Path(path): replace(saved, question=question, coefficients=self.problem.coef).to_text()})

    def describe(self, percent: bool = False) -> Description:
        """Return text for a paper: methods, results, versions and seed, and references in BibTeX."""
        return describe_rows((self.row,), self.run, percent)

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the columns of a table of intervals."""
        return self.row.to_frame()

    @property
    def _sentence(self) -> str:
        low, high = self.confidence_interval
        which = "this classifier" if self.polish is None else "the polished classifier"
        return (
            f"CUD {100 * self.confidence_level:g}% interval [{low:.3f}, {high:.3f}] for the {self.metric.name} of "
            f"{which}; training {self.metric.name} {self.estimate:.3f}, half-width {self.q:.3f}, "
            f"{len(self.draws)} draws"
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        return (*self.remarks, *((self.degenerate,) if self.degenerate else ()))

    @property
    def _beside(self) -> tuple[str, ...]:
        """Benchmarks and reasons for caution, in sentences."""
        return (*majority_sentence(self.row, self.run), *map(str, self.cautions))

    def __str__(self) -> str:
        return "\n".join((f"{self._sentence} ({'; '.join(self._notes)})", *self._beside))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return sentences_html(f"{self._sentence}.", (*self._notes, *self._beside))
