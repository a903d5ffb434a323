"""Results that every leaf of the package reads: frozen, with a frame and a readable representation."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


#: What the estimate of an interval is, where the notes under a table say so.
Center = Literal["training error", ".632 estimate", "error on new cases"]


class SolveStatus(enum.IntEnum):
    """How the search of one draw ended; the same names and numbers as ``cudbound::Status`` in C++.

    ``OPTIMAL``: solved, lower and upper bound agree. ``NODE_LIMIT``, ``TIME_LIMIT``: stopped by a limit that the
    caller set. ``INTERRUPTED``: stopped by Ctrl-C, or never begun because of it. ``INACCURATE``: rounding left a
    part of the search open or the witness short of its score, or no cvxpy solver could solve a subproblem. ``DECIDED``:
    as much is known of the draw as the quantiles that were asked for need: mostly on which side of them it lies.
    """

    OPTIMAL = 0
    NODE_LIMIT = 1
    TIME_LIMIT = 2
    INTERRUPTED = 3
    INACCURATE = 4
    DECIDED = 5


@dataclass(frozen=True)
class ConfidenceInterval:
    """Two confidence limits, on the scale of the estimate."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    def clipped(self, low: float, high: float) -> ConfidenceInterval:
        """Return the limits moved into [low, high]."""
        return ConfidenceInterval(min(max(self.low, low), high), max(min(self.high, high), low))


@dataclass(frozen=True, eq=False)
class Draws:
    """What the solver proved about each bootstrap draw; row b belongs to draw b.

    Attributes
    ----------
    lower, upper : ndarray of float, shape (n_draws,)
        Bounds on Q, the supremum of the weighted deviation; equal where the draw is certified. They hold up to the
        tolerances of docs/solver.md; rounding of losses and scores only enlarges them.
    status : ndarray of int, shape (n_draws,)
        Members of `SolveStatus`.
    nodes : ndarray of int, shape (n_draws,)
        Nodes of the search tree that were processed.
    witness : ndarray of float, shape (n_draws, n_features)
        Coefficients strictly inside a cell whose score attains `lower`; the loss at the witness is at or
        just above the cell's infimum, which is what `lower` is computed from.
    problem_digest : str
        Names the problem that was solved, its side included, so that draws of another one are not taken for its
        own; see `cudbound.problem.Problem.digest`.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    status: NDArray[np.int32]
    nodes: NDArray[np.int64]
    witness: NDArray[np.float64] = field(repr=False)
    problem_digest: str = field(repr=False, default="")

    def __len__(self) -> int:
        return int(self.upper.size)

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Whether each draw was solved to the end, so that its bounds agree, shape (n_draws,)."""
        return np.asarray(self.status == SolveStatus.OPTIMAL)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Whether each draw was solved as far as it was asked for: to the end, or for the quantile alone."""
        return np.asarray(self.certified | (self.status == SolveStatus.DECIDED))

    def bracket(self, rank: int) -> tuple[float, float]:
        """Return bounds on the Q of a rank, from 1 for the smallest on; they are equal if it is proved."""
        lower, upper = (
            float(np.partition(values, rank - 1)[rank - 1]) for values in (self.lower, self.upper)
        )
        return lower, upper

    def to_frame(self) -> pd.DataFrame:
        """Return one row per draw; the witness is spread over columns ``witness_0``, ``witness_1``, ..."""
        import pandas as pd

        frame = pd.DataFrame(
            {
                "lower": self.lower,
                "upper": self.upper,
                "status": [SolveStatus(code).name.lower() for code in self.status],
                "nodes": self.nodes,
            }
        )
        witness = pd.DataFrame(self.witness, columns=[f"witness_{j}" for j in range(self.witness.shape[1])])
        return pd.concat([frame, witness], axis=1).rename_axis("draw")


@dataclass(frozen=True)
class IntervalEstimate:
    """One row of the table: an interval by one method, with what a reader must know to judge it.

    Attributes
    ----------
    method : str
        Registered name of the method.
    estimate : float
        The point the interval is built around, a proportion in [0, 1].
    raw_interval : ConfidenceInterval
        The limits as the formula gives them; they may leave [0, 1].
    confidence_level : float
        Nominal level.
    estimand : str
        What the interval is meant to cover, in the words of the glossary ("conditional", ...).
    n_fits : int
        Classifier fits that the method used; a fit shared with another method counts for both.
    remarks : tuple of str
        What happened on the way: draws not certified, single-class draws, ...
    degenerate : str or None
        Why the interval says nothing about uncertainty (zero width, ...), or None if it does.
    details : mapping of str to float
        Further numbers that belong to the method, such as "rho_threshold".
    center : str or None
        What `estimate` is, for the notes under a table: "training error", ".632 estimate" or "error on new cases";
        None where the notes have nothing to say of it.
    standard_error : float or None
        Of the estimate, where the method builds its interval from one.
    """

    method: str
    estimate: float
    raw_interval: ConfidenceInterval
    confidence_level: float
    estimand: str
    n_fits: int
    remarks: tuple[str, ...] = ()
    degenerate: str | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    center: Center | None = None
    standard_error: float | None = None

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The limits clipped to [0, 1]."""
        return self.raw_interval.clipped(0.0, 1.0)


@dataclass(frozen=True)
class IntervalTable:
    """Intervals by several methods on the same data, in the order they were asked for."""

    rows: tuple[IntervalEstimate, ...]

    def __getitem__(self, method: str) -> IntervalEstimate:
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(f"no interval by {method!r} in this table; it has {[row.method for row in self.rows]}")

    def to_frame(self) -> pd.DataFrame:
        """Return one row a method, unrounded; limits clipped to [0, 1], with the raw ones beside them."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "method": row.method,
                    "estimate": row.estimate,
                    "low": row.confidence_interval.low,
                    "high": row.confidence_interval.high,
                    "width": row.confidence_interval.width,
                    "raw_low": row.raw_interval.low,
                    "raw_high": row.raw_interval.high,
                    "confidence_level": row.confidence_level,
                    "estimand": row.estimand,
                    "n_fits": row.n_fits,
                    "degenerate": row.degenerate is not None,
                    "remarks": _joined(row),
                }
                for row in self.rows
            ]
        )

    def __str__(self) -> str:
        from cudbound.report.render import render_table

        return render_table(self, "table")

    __repr__ = __str__


@dataclass(frozen=True)
class ComparisonResult:
    """The difference of two errors by one method: test and interval.

    The difference is error(a) - error(b): positive where the first classifier or learning algorithm errs more.

    Attributes
    ----------
    method : str
        Registered name of the method.
    estimate : float
        Estimated difference, in [-1, 1].
    statistic : float
        Value of the test statistic; it has the sign of `estimate` unless the test has no direction. Infinite or nan
        where `degenerate` says why.
    pvalue : float
        Of the hypothesis that the difference is 0, in [0, 1]; 1 where the records cannot speak against it.
    raw_interval : ConfidenceInterval
        Limits for the difference as the formula gives them; an infinite one on the open side where `alternative` is
        one-sided. Where a method takes test and interval from different formulas they may disagree.
    confidence_level : float
        Nominal level of the interval.
    alternative : {"two-sided", "less", "greater"}
        "less": error(a) < error(b), with an upper limit only; "greater": error(a) > error(b), with a lower one.
    estimand : str
        Whose errors they are, in the words of the glossary ("expected(n1=45)", "holdout-model", ...).
    n_fits : int
        Classifier fits behind the recorded losses, those of both counted; 0 where all losses are those of given
        classifiers on new test cases.
    remarks : tuple of str
    degenerate : str or None
        Why the interval says nothing about uncertainty or the test could not be computed, or None.
    details : mapping of str to float
        Further numbers that belong to the method, such as the numbers of discordant pairs.
    standard_error : float or None
        Of the estimate, where the method builds its test from one.
    """

    method: str
    estimate: float
    statistic: float
    pvalue: float
    raw_interval: ConfidenceInterval
    confidence_level: float
    alternative: str
    estimand: str
    n_fits: int
    remarks: tuple[str, ...] = ()
    degenerate: str | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    standard_error: float | None = None

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The limits clipped to [-1, 1]."""
        return self.raw_interval.clipped(-1.0, 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the columns of `ComparisonTable.to_frame`."""
        return ComparisonTable((self,)).to_frame()

    def __str__(self) -> str:
        from cudbound.report.comparisons import describe_comparison

        return describe_comparison(self)

    __repr__ = __str__


@dataclass(frozen=True)
class ComparisonTable:
    """Comparisons of the same two classifiers or learning algorithms by several methods, in the order asked for."""

    rows: tuple[ComparisonResult, ...]

    def __getitem__(self, method: str) -> ComparisonResult:
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(
            f"no comparison by {method!r} in this table; it has {[row.method for row in self.rows]}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a method, unrounded; limits clipped to [-1, 1], with the raw ones beside them."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "method": row.method,
                    "estimate": row.estimate,
                    "low": row.confidence_interval.low,
                    "high": row.confidence_interval.high,
                    "raw_low": row.raw_interval.low,
                    "raw_high": row.raw_interval.high,
                    "confidence_level": row.confidence_level,
                    "statistic": row.statistic,
                    "pvalue": row.pvalue,
                    "alternative": row.alternative,
                    "estimand": row.estimand,
                    "n_fits": row.n_fits,
                    "degenerate": row.degenerate is not None,
                    "remarks": _joined(row),
                }
                for row in self.rows
            ]
        )

    def __str__(self) -> str:
        from cudbound.report.render import render_table

        return render_table(self, "table")

    __repr__ = __str__


def _joined(row: IntervalEstimate | ComparisonResult) -> str:
    return "; ".join(row.remarks + ((row.degenerate,) if row.degenerate else ()))
