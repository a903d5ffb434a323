"""The work of a search: the cost of a node, the default limit on nodes, and the predicted time."""

from __future__ import annotations

import math

from cudbound.problem.problem import Problem
from cudbound.solve.limits import SearchLimits

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


def seconds_per_node(problem: Problem) -> float:
    """Return the cost of a node of the compiled search on the machine where it was measured, within a factor of two.

    Under squared loss a node continues from its parent's factorization; under the others it takes Newton steps, whose
    cost is that of a Hessian and of its factorization. Measured on 18 real data sets of 53 to 208 rows and 3 to 61
    coefficients. The kinks of an l1 penalty take part in every node. Under squared loss most of very many rows are out
    of reach; if the labels are noise, they are not, and a node takes up to four times as long.
    """
    n, p = map(float, problem.design.shape)
    kinks = KINKS if problem.has_l1_penalty else 1.0
    if problem.loss.quadratic:
        return kinks * 1e-6 * (2.5 + 8e-4 * min(n, MOST_ROWS) * p)
    return kinks * 1e-6 * (14.0 + 2.9e-3 * n * p * p + 16e-3 * p * p * p)


def default_node_budget(problem: Problem) -> int:
    """Return the default limit on nodes in the search for a quantile.

    It is a number of nodes, not of seconds: the same call gives the same interval on every machine.
    """
    return nodes_within(DEFAULT_SECONDS, problem)


def nodes_within(seconds: float, problem: Problem) -> int:
    """Return the number of nodes that a search of the given duration is planned for."""
    return max(LEAST_NODES, int(min(seconds / seconds_per_node(problem), MOST_NODES)))


def forecast(problem: Problem, threads: int, limits: SearchLimits) -> str:
    """Return the latest end of a search with hard draws, short enough for a progress bar in 80 columns."""
    ends = [math.inf if limits.seconds is None else limits.seconds]
    if limits.nodes is not None:
        ends.append(limits.nodes * seconds_per_node(problem) / threads)
    latest = min(ends)
    if math.isinf(latest):
        return "hard draws, no limit set"
    return f"hard draws: at most {_rounded(latest)} s"


def _rounded(seconds: float) -> str:
    """Return a duration with one digit, rounded up; more digits are not known."""
    unit = 10.0 ** max(0, math.floor(math.log10(seconds))) if seconds > 0.0 else 1.0
    return f"{math.ceil(seconds / unit) * unit:.0f}"
