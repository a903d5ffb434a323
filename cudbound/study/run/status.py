"""The status of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cudbound.report.render import Tabular
from cudbound.report.tables import FULL, Column, Report, Run, Style

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CellStatus:
    """The status of one scenario at one size.

    Attributes
    ----------
    scenario : str
    n : int
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    first_failure : int or None
        The smallest number of a failed replicate, which `cudbound.study.replay` reruns; None without failures.
    reason : str or None
        Its error with its message, in one line.
    """

    scenario: str
    n: int
    n_done: int
    n_failed: int
    n_total: int
    first_failure: int | None = None
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class StudyStatus(Tabular):
    """The status of a study; prints as a table, with the same output formats as other tables.

    Attributes
    ----------
    name : str
        Name of the study.
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    running : bool
        Whether a run is writing to the store now.
    rate : float or None
        Replicates per second in the last run; None before its first replicate.
    expected_end : datetime or None
        Expected end at this rate, in local time; None if nothing is running or left.
    cells : tuple of CellStatus
        In the order of the study.
    """

    name: str
    n_done: int
    n_failed: int
    n_total: int
    running: bool
    rate: float | None
    expected_end: datetime | None
    cells: tuple[CellStatus, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell: scenario, n, n_done, n_failed, n_total, first_failure (a replicate) and reason."""
        import pandas as pd

        return pd.DataFrame(list(map(vars, self.cells))).astype({"first_failure": "Int64"})

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the cells as a table; `run` and `style` have no effect."""
        columns = (
            Column("scenario", "scenario", "text"),
            Column("n", "n", "count"),
            Column("n_done", "done", "count"),
            Column("n_total", "of", "count"),
            Column("n_failed", "failed", "count"),
        )
        done = f"{self.n_done} of {self.n_total} replicates done, {self.n_failed} failed"
        rows = tuple(map(vars, self.cells))
        return Report("cells", f"{self.name}: {done}", tuple(self._notes()), columns, rows, self.to_frame)

    def _notes(self) -> Iterator[str]:
        yield "A run is writing to the store." if self.running else "No run is writing to the store."
        if self.rate is not None:
            yield f"Rate of the last run: {self.rate:.3g} replicates per second."
        if self.expected_end is not None:
            yield f"Expected end: {self.expected_end:%Y-%m-%d %H:%M}."
        yield from self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """The first failure of each cell that has one, in words."""
        return tuple(
            f"First failure of {cell.scenario}, n = {cell.n}: replicate {cell.first_failure}, {cell.reason}"
            for cell in self.cells
            if cell.first_failure is not None
        )
