"""Bootstrap draws: as counts of the rows of the training set, and as they were solved."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.validation import check_integer
from cudbound.basis.words import InLines

if TYPE_CHECKING:
    import pandas as pd


#: Draws of one call; a quantile is known to a thousandth of its spread with fewer.
MAX_RESAMPLES = 1_000_000
#: Draws times rows, so that the counts and what is computed of them fit into memory.
MAX_COUNTS = 100_000_000
#: Counts that are drawn at once, for the same reason.
CHUNK_COUNTS = 4_000_000


def check_resamples(n_resamples: object, n_samples: int) -> int:
    """Return the number of bootstrap draws after checking it for this number of rows.

    Raises
    ------
    ValueError
        If it is not an integer from 1 to `MAX_RESAMPLES`, or to `MAX_COUNTS` divided by the rows if that is less.
    """
    size = check_integer("n_resamples", n_resamples, 1, MAX_RESAMPLES)
    if size * n_samples > MAX_COUNTS:
        largest = max(1, MAX_COUNTS // n_samples)
        raise ParameterError(
            "n_resamples", f"an integer of at most {largest:,} for {n_samples:,} rows", n_resamples
        )
    return size


def draw_counts(
    n_samples: int, n_resamples: int, rng: np.random.Generator, groups: Groups | None = None
) -> NDArray[np.int32]:
    """Draw the counts phi of the ordinary bootstrap, or of the bootstrap of whole groups of rows.

    Draw ``b`` uses only the ``n_samples`` uniform numbers after those of draw ``b - 1``. So the first draws are the
    same for any number of draws, and each of them can be repeated.

    Parameters
    ----------
    n_samples : int
        Number of rows of the training set, n.
    n_resamples : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness; its state advances by ``n_samples * n_resamples`` numbers.
    groups : Groups, default=None
        Groups of rows that are drawn together. Each draw has as many groups as the training set, drawn with
        replacement, with all their rows, and uses as many random numbers. Groups of one row give the ordinary
        bootstrap.

    Returns
    -------
    ndarray of int32, shape (n_resamples, n_samples)
        Counts; every row sums to `n_samples` unless groups have different sizes.

    Examples
    --------
    >>> import numpy as np
    >>> draw_counts(5, 2, np.random.default_rng(0)).sum(axis=1)
    array([5, 5])
    >>> draw_counts(5, 1, np.random.default_rng(0), Groups.of(["a", "a", "b", "b", "b"]))
    array([[1, 1, 1, 1, 1]], dtype=int32)
    """
    if groups is not None:
        return np.ascontiguousarray(groups.spread(draw_counts(groups.n_groups, n_resamples, rng)))
    counts = np.empty((n_resamples, n_samples), dtype=np.int32)
    size = max(1, CHUNK_COUNTS // max(1, n_samples))
    for chunk in (counts[start : start + size] for start in range(0, n_resamples, size)):
        rows = (rng.random(chunk.shape) * n_samples).astype(np.int64)
        rows += np.arange(len(chunk))[:, None] * n_samples
        chunk[:] = np.bincount(rows.ravel(), minlength=chunk.size).reshape(chunk.shape)
    return counts


def draw_stratified_counts(
    strata: NDArray[Any], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw within each class: every draw has as many rows of each class as the training set.

    Parameters
    ----------
    strata : ndarray, shape (n_samples,)
        Booleans or numbers that are equal for rows of one class; the largest is drawn first.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int32, shape (n_resamples, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> draw_stratified_counts(np.array([True, False, False]), 2, np.random.default_rng(0))[:, 0]
    array([1, 1], dtype=int32)
    """
    counts = np.empty((n_resamples, strata.size), dtype=np.int32)
    for label in np.unique(strata)[::-1]:
        rows = strata == label
        counts[:, rows] = draw_counts(int(rows.sum()), n_resamples, rng)
    return counts


class SolveStatus(enum.IntEnum):
    """How the search of one draw ended; the same names and numbers as ``cudbound::Status`` in C++.

    ``OPTIMAL``: solved, lower and upper bound agree. ``NODE_LIMIT``, ``TIME_LIMIT``: stopped by a limit that the
    caller set. ``INTERRUPTED``: stopped by Ctrl-C, or not started because of it. ``INACCURATE``: rounding, or
    steps that did not end, left a part of the search open, or the witness does not reach its score, or no cvxpy solver
    could solve a subproblem. ``DECIDED``: solved as far as the requested quantiles need: mostly on which side of them
    the draw is.
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
        tolerances of docs/developers/solver.md; rounding enlarges `upper`, or lowers it by at most 2e-11 times the sum
        of the absolute weights.
    status : ndarray of SolveStatus, shape (n_draws,)
        How the search of each draw ended; given as members or as their numbers.
    nodes : ndarray of int, shape (n_draws,)
        Nodes of the search tree that were processed.
    witness : ndarray of float, shape (n_draws, n_features)
        Coefficients strictly inside a cell whose score attains `lower`; the loss at the witness is at or
        just above the cell's infimum, which is what `lower` is computed from.
    problem_digest : str
        Names the problem that was solved, its side included, so that draws of another one are not taken for its
        own; see `cudbound.solve.Problem.digest`.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    status: NDArray[Any]
    nodes: NDArray[np.int64]
    witness: NDArray[np.float64]
    problem_digest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", _STATUSES[np.asarray(self.status, dtype=np.int32)])

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
