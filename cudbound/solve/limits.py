"""Limits on the search for Q, and its work: the cost of a node, and the default limit."""

from __future__ import annotations

from dataclasses import dataclass

from cudbound.basis.validation import check_choice, check_limit
from cudbound.problem.problem import Problem

SOLVERS = ("native", "cvxpy")


@dataclass(frozen=True, kw_only=True)
class SearchLimits:
    """The solver and the limits of its search; unsolved draws enter with their upper bounds.

    Attributes
    ----------
    solver : {"native", "cvxpy"}, default="native"
        The compiled kernel, or the slow reference solver, which is needed for user-defined losses, and for l1 penalties
        with losses other than squared and logistic or on dependent columns.
    nodes : int, math.inf or None, default=None
        Limit on the nodes of the whole call, which then ends with the bounds proved so far. Nodes are counted between
        batches of searches, so the result does not depend on the number of threads. In a search for a quantile,
        setting up the search of a draw counts as 12 nodes, and nodes of a quadratic below the loss count less, by
        their time (``docs/paper/index.md``). With None and no `seconds`, `cudbound.cud_interval` and
        `cudbound.compare_intervals` use a number that depends on the size of the data, planned for about ten seconds on
        one processor (`cudbound.solve.limits.default_node_budget`); elsewhere, with ``all_draws=True`` and with the
        solver "cvxpy", None means no limit. ``math.inf`` means no limit.
    seconds : float or None, default=None
        Limit on the time of the whole call; None means no limit. A search for a quantile is planned for the nodes that
        take about this time, and may end earlier. The result then depends on the speed of the machine.
    nodes_per_draw : int, math.inf or None, default=None
        Limit on the nodes of a single draw; None means no limit, except 20,000 for the adaptive interval.

    Raises
    ------
    ValueError
        If a limit is negative or not a number.

    Examples
    --------
    >>> import math
    >>> SearchLimits(nodes=math.inf)
    SearchLimits(solver='native', nodes=inf, seconds=None, nodes_per_draw=None)
    """

    solver: str = "native"
    nodes: float | None = None
    seconds: float | None = None
    nodes_per_draw: float | None = None

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        for name in ("nodes", "seconds", "nodes_per_draw"):
            check_limit(name, getattr(self, name), whole=name.startswith("nodes"))


NO_LIMITS = SearchLimits()


#: Seconds of one processor that the search for a quantile may take by default, roughly: as long as someone trying the
#: call would wait. Real data of 50 to 200 rows mostly take less than two; where they do not, the remaining draws take
#: millions of nodes each, and a longer search hardly moves the bounds.
DEFAULT_SECONDS = 10.0
#: Nodes that a call may always take by default, so that large problems make progress.
LEAST_NODES = 1_500
#: Nodes that no search gets to; seconds that take more are as good as none.
MOST_NODES = 10**18
#: Rows that a node of squared loss takes account of.
MOST_ROWS = 500
#: How many times as long a node takes with an l1 penalty.
KINKS = 1.5
#: Losses that fall to 0 without reaching it; the strongest penalty that is as good as none, and how many times as long
#: their nodes take then.
VANISHING = ("logistic", "exponential")
NO_PENALTY, UNPENALIZED = 1e-4, 2.3


def seconds_per_node(problem: Problem) -> float:
    """Return the cost of a node of the compiled search on the machine where it was measured, within a factor of two.

    Under squared loss a node continues from its parent's factorization; under the others it takes Newton steps, whose
    cost is that of a Hessian and of its factorization. Measured on 18 real data sets of 53 to 345 rows and 3 to 61
    coefficients; that of Newton steps, in whole default calls of logistic regressions on eight of them. Without a
    penalty worth the name, logistic and exponential loss take more steps (100 rows, 10 or 20 coefficients: 2.1 to 2.6
    times as long). The kinks of an l1 penalty take part in every node. Under squared loss most of very many rows are
    out of reach; if the labels are noise, they are not, and a node takes up to four times as long.
    """
    n, p = map(float, problem.design.shape)
    kinks = KINKS if problem.has_l1_penalty else 1.0
    if problem.loss.quadratic:
        return kinks * 1e-6 * (2.5 + 8e-4 * min(n, MOST_ROWS) * p)
    is_penalized = problem.has_l1_penalty or (
        problem.penalty is not None and problem.penalty.max() >= NO_PENALTY
    )
    steps = 1.0 if is_penalized or problem.loss.name not in VANISHING else UNPENALIZED
    return steps * kinks * 1e-6 * (16.0 + 0.06 * n + 1.6e-3 * n * p * p + 11e-3 * p * p * p)


def default_node_budget(problem: Problem) -> int:
    """Return the default limit on nodes in the search for a quantile.

    It is a number of nodes, not of seconds: the same call gives the same interval on every machine.
    """
    return nodes_within(DEFAULT_SECONDS, problem)


def nodes_within(seconds: float, problem: Problem) -> int:
    """Return the number of nodes that a search of the given duration is planned for."""
    return max(LEAST_NODES, int(min(seconds / seconds_per_node(problem), MOST_NODES)))
