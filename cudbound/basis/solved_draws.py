"""The bootstrap draws of a bound as they were solved: bounds on Q, how each search ended, and witnesses."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.rounding import InLines

if TYPE_CHECKING:
    import pandas as pd


class SolveStatus(enum.IntEnum):
    """How the search of one draw ended; the same names and numbers as ``cudbound::Status`` in C++.

    ``OPTIMAL``: solved, lower and upper bound agree. ``NODE_LIMIT``, ``TIME_LIMIT``: stopped by a limit that the
    caller set. ``INTERRUPTED``: stopped by Ctrl-C, or not started because of it. ``INACCURATE``: because of rounding, a
    part of the search is unsolved or the witness does not reach its score, or no cvxpy solver could solve a subproblem.
    ``DECIDED``: solved as far as the requested quantiles need: mostly on which side of them the draw is.
    """

    OPTIMAL = 0
    NODE_LIMIT = 1
    TIME_LIMIT = 2
    INTERRUPTED = 3
    INACCURATE = 4
    DECIDED = 5


#: The members by their numbers.
_STATUSES = np.array(list(SolveStatus), dtype=object)


@dataclass(frozen=True, eq=False, repr=False)
class Draws(InLines):
    """What the solver proved about each bootstrap draw, one row per draw.

    Attributes
    ----------
    lower, upper : ndarray of float, shape (n_draws,)
        Bounds on Q, the supremum of the weighted deviation; equal where the draw is certified. They hold up to the
        tolerances of docs/developers/solver_tolerances.md; rounding of losses and scores only enlarges them.
    status : ndarray of SolveStatus, shape (n_draws,)
        How the search of each draw ended; given as members or as their numbers.
    nodes : ndarray of int, shape (n_draws,)
        Nodes of the search tree that were processed.
    witness : ndarray of float, shape (n_draws, n_features)
        Coefficients strictly inside a cell whose score attains `lower`; the loss at the witness is at or
        just above the cell's infimum, which is what `lower` is computed from.
    problem_digest : str
        Names the problem that was solved, its side included, so that draws of another one are not taken for its
        own; see `cudbound.Problem.digest`.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    status: NDArray[Any]
    nodes: NDArray[np.int64]
    witness: NDArray[np.float64]
    problem_digest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", _STATUSES[self.status_codes])

    def __len__(self) -> int:
        return int(self.upper.size)

    def lines(self) -> list[str]:
        """Return the number of draws, how their searches ended, and the range of Q."""
        ended = [
            f"{n} {status.name.lower()}"
            for status in SolveStatus
            if (n := int((self.status == status).sum()))
        ]
        between = f"Q between {self.lower.min():.3g} and {self.upper.max():.3g}" if len(self) else ""
        return [f"{len(self)} draws", *filter(None, (", ".join(ended), between, f"{self.nodes.sum()} nodes"))]

    @property
    def status_codes(self) -> NDArray[np.int32]:
        """The numbers of the members in `status`, shape (n_draws,)."""
        return np.asarray(self.status, dtype=np.int32)

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Whether each draw was solved to the end, so that its bounds agree, shape (n_draws,)."""
        return np.asarray(self.status == SolveStatus.OPTIMAL)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Whether each draw was solved as far as requested: fully, or for the quantile alone."""
        return np.asarray(self.certified | (self.status == SolveStatus.DECIDED))

    def bracket(self, rank: int) -> tuple[float, float]:
        """Return bounds on the Q of a rank, from 1 for the smallest on; they are equal if it is proved."""
        return float(np.sort(self.lower)[rank - 1]), float(np.sort(self.upper)[rank - 1])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per draw; the witness is spread over columns ``witness_0``, ``witness_1``, ..."""
        import pandas as pd

        status = [status.name.lower() for status in self.status]
        columns = {"lower": self.lower, "upper": self.upper, "status": status, "nodes": self.nodes}
        witness = pd.DataFrame(self.witness, columns=[f"witness_{j}" for j in range(self.witness.shape[1])])
        return pd.concat([pd.DataFrame(columns), witness], axis=1).rename_axis("draw")
