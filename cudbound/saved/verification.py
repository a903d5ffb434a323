"""What a check of a saved result found: one row for each thing that was checked."""

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
    """One thing that was checked.

    Attributes
    ----------
    name : str
        What was checked.
    passed : bool or None
        None if it could not be checked; `found` says why.
    found : str
        What was found.
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
    """What `verify_result` found; prints as a table, and writes itself as other tables do.

    Attributes
    ----------
    checks : tuple of Check
    intervals : tuple of str
        Those in the file, in words, if they were verified.
    """

    checks: tuple[Check, ...]
    intervals: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check failed; one that could not be made is no failure."""
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
            return "These are not the data of the saved result, which may hold for those."
        if failed:
            return f"The saved result does not hold: {len(failed)} of {len(self.checks)} checks failed."
        n_open = sum(one.passed is None for one in self.checks)
        left = f"; {n_open} could not be made" if n_open else ""
        return f"The saved result holds: {len(self.checks) - n_open} checks passed{left}."

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the checks as a table; `run` and `style` change nothing in it."""
        columns = (
            Column("check", "check", "text"),
            Column("outcome", "outcome", "text"),
            Column("found", "found", "text", WIDTH),
        )
        rows = tuple({"check": one.name, "outcome": one.outcome, "found": one.found} for one in self.checks)
        notes = (*self.intervals, self.sentence)
        return Report("checks", "Checks of a saved result", notes, columns, rows, self.to_frame)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each check, with the columns ``check``, ``outcome`` and ``found``."""
        import pandas as pd

        rows = [(one.name, one.outcome, one.found) for one in self.checks]
        return pd.DataFrame(rows, columns=["check", "outcome", "found"])
