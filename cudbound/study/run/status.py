"""How far a study is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cudbound.basis.pictured import Pictured
from cudbound.report.table_style import FULL, Style
from cudbound.report.tables import Column, Report, Run
from cudbound.report.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.nested_loop import NestedLoopDisplay


@dataclass(frozen=True)
class Failure:
    """The first failure of a cell.

    Attributes
    ----------
    replicate : int
        The one with the smallest number; `cudbound.replay` runs it again.
    reason : str
        The error with its message, in one line.
    """

    replicate: int
    reason: str


@dataclass(frozen=True)
class CellStatus:
    """How far one scenario at one size is.

    Attributes
    ----------
    scenario : str
    n : int
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    first_failure : Failure or None
        None where none has failed.
    """

    scenario: str
    n: int
    n_done: int
    n_failed: int
    n_total: int
    first_failure: Failure | None = None


@dataclass(frozen=True, repr=False)
class StudyStatus(Tabular, Pictured["NestedLoopDisplay"]):
    """How far a study is; prints as a table, and writes itself as other tables do.

    Attributes
    ----------
    name : str
        Of the study.
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    running : bool
        Whether a run is writing the store now.
    rate : float or None
        Replicates a second in the last run; None before its first.
    expected_end : datetime or None
        When the rest will be done at this rate, in local time; None if nothing runs or nothing is left.
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

        firsts: list[Any] = [one.first_failure for one in self.cells]
        frame = pd.DataFrame(list(map(vars, self.cells))).assign(
            first_failure=[first and first.replicate for first in firsts],
            reason=[first and first.reason for first in firsts],
        )
        return frame.astype({"first_failure": "Int64"})

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the cells as a table; `run` and `style` change nothing in it."""
        counts = {"n": "n", "n_done": "done", "n_total": "of", "n_failed": "failed"}
        columns = (
            Column("scenario", "scenario", "text"),
            *(Column(key, heading, "count") for key, heading in counts.items()),
        )
        done = f"{self.n_done} of {self.n_total} replicates done, {self.n_failed} failed"
        rows = tuple(map(vars, self.cells))
        return Report("cells", f"{self.name}: {done}", tuple(self._notes()), columns, rows, self.to_frame)

    def _notes(self) -> Iterator[str]:
        yield "A run is writing the store." if self.running else "No run is writing the store."
        if self.rate is not None:
            yield f"Rate of the last run: {self.rate:.3g} replicates a second."
        if self.expected_end is not None:
            yield f"Expected end: {self.expected_end:%Y-%m-%d %H:%M}."
        yield from self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """The first failure of each cell that has one, in words."""
        return tuple(
            f"First failure of {cell.scenario}, n = {cell.n}: replicate {first.replicate}, {first.reason}"
            for cell in self.cells
            if (first := cell.first_failure) is not None
        )

    def display(self) -> NestedLoopDisplay:
        """Return the picture of what is planned, done and failed in every cell; `plot` draws it."""
        from cudbound.plotting.nested_loop import NestedLoopDisplay

        names = {"n_total": "planned", "n_done": "done", "n_failed": "failed"}
        cells = self.to_frame().rename(columns=names)
        shown = cells.melt(["scenario", "n"], [*names.values()], "method", "replicates")
        return NestedLoopDisplay(shown.assign(n_replicates=shown["replicates"]), "replicates")
