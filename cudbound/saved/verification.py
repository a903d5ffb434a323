"""The outcome of checking a saved result: one row per check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudbound.report.table_style import FULL, Style
from cudbound.report.tables import Column, Report, Run
from cudbound.report.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

#: What came of a check, by whether it passed; None where it could not be made.
OUTCOMES = {True: "passed", False: "FAILED", None: "not checked"}
#: Characters of a line of what was found.
WIDTH = 52


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes
    ----------
    name : str
        The subject of the check.
    passed : bool or None
        None if it could not be checked; `found` has the reason.
    found : str
        The finding.
    """

    name: str
    passed: bool | None
    found: str

    @property
    def outcome(self) -> str:
        """``passed``, ``FAILED`` or ``not checked``."""
        return OUTCOMES[self.passed]


@dataclass(frozen=True, repr=False)
class ResultVerification(Tabular):
    """The result of `verify_result`; prints as a table, and has the output formats of other tables.

    Attributes
    ----------
    checks : tuple of Check
    intervals : tuple of str
        The intervals in the file, in words, if they were verified.
    """

    checks: tuple[Check, ...]
    intervals: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check failed; a check that could not be made does not count."""
        return all(one.passed is not False for one in self.checks)

    @property
    def complete(self) -> bool:
        """Whether every check could be made."""
        return all(one.passed is not None for one in self.checks)

    @property
    def sentence(self) -> str:
        """The result of all checks in words."""
        failed = [one.name for one in self.checks if one.passed is False]
        if failed == ["data"]:
            return "These are not the data of the saved result, so it is neither confirmed nor refuted."
        if failed:
            return f"The saved result is not confirmed: {len(failed)} of {len(self.checks)} checks failed."
        n_open = sum(one.passed is None for one in self.checks)
        left = f"; {n_open} could not be made" if n_open else ""
        return f"The saved result is confirmed: {len(self.checks) - n_open} checks passed{left}."

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the checks as a table; `run` and `style` have no effect."""
        columns = (
            Column("check", "check", "text"),
            Column("outcome", "outcome", "text"),
            Column("found", "found", "text", WIDTH),
        )
        rows = tuple({"check": one.name, "outcome": one.outcome, "found": one.found} for one in self.checks)
        notes = (*self.intervals, self.sentence)
        return Report("checks", "Checks of a saved result", notes, columns, rows, self.to_frame)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per check, with the columns ``check``, ``outcome`` and ``found``."""
        import pandas as pd

        rows = [(one.name, one.outcome, one.found) for one in self.checks]
        return pd.DataFrame(rows, columns=["check", "outcome", "found"])
