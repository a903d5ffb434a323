"""How far a study is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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


@dataclass(frozen=True)
class StudyStatus:
    """How far a study is.

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
