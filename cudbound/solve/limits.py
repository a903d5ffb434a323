"""Limits on the search for Q."""

from __future__ import annotations

from dataclasses import dataclass

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_choice, check_nodes, check_seconds

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
        their time (``docs/explanation/solver.md``). With None and no `seconds`, `cudbound.cud_interval` and
        `cudbound.compare_intervals` use a number that depends on the size of the data and takes about ten seconds on
        one processor (`cudbound.solve.effort.default_node_budget`); elsewhere, with ``all_draws=True`` and with the
        solver "cvxpy", None means no limit. ``math.inf`` means no limit.
    seconds : float or None, default=None
        Limit on the time of the whole call; None means no limit. A search for a quantile is planned for the nodes that
        take about this time, and may end earlier. The result then depends on the speed of the machine.
    nodes_per_draw : int, math.inf or None, default=None
        Limit on the nodes of a single draw; None means no limit, except 20,000 for the adaptive interval.
    seconds_per_draw : float or None, default=None
        Limit on the time of a single draw; None means no limit.

    Raises
    ------
    ValueError
        If a limit is negative or not a number.

    Examples
    --------
    >>> import math
    >>> SearchLimits(nodes=math.inf)
    SearchLimits(solver='native', nodes=inf, seconds=None, nodes_per_draw=None, seconds_per_draw=None)
    """

    solver: str = "native"
    nodes: float | None = None
    seconds: float | None = None
    nodes_per_draw: float | None = None
    seconds_per_draw: float | None = None

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        check_nodes("nodes", self.nodes)
        check_seconds("seconds", self.seconds)
        check_nodes("nodes_per_draw", self.nodes_per_draw)
        check_seconds("seconds_per_draw", self.seconds_per_draw)


NO_LIMITS = SearchLimits()


def check_limits(limits: object) -> SearchLimits:
    """Return the limits; None means no limits.

    Raises
    ------
    ValueError
        If it is anything else, such as a number.
    """
    if limits is None:
        return NO_LIMITS
    if not isinstance(limits, SearchLimits):
        raise ParameterError("limits", "a SearchLimits, such as SearchLimits(seconds=60), or None", limits)
    return limits
