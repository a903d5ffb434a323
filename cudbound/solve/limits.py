"""When the search for Q ends although it is not done."""

from __future__ import annotations

from dataclasses import dataclass

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_choice, check_nodes, check_seconds

SOLVERS = ("native", "cvxpy")


@dataclass(frozen=True, kw_only=True)
class SearchLimits:
    """The solver, and when its search is given up; draws left open enter with their upper bounds.

    Attributes
    ----------
    solver : {"native", "cvxpy"}, default="native"
        The compiled kernel, or the slow reference solver, which losses of your own need, and l1 penalties under losses
        other than squared and logistic or on dependent columns.
    nodes : int, math.inf or None, default=None
        Of the whole call, which then ends with the bounds that are proved. Nodes are counted between batches of
        searches, so that the result does not depend on the number of threads; in a search for a quantile, setting up
        the search of a draw counts as 12 of them, and nodes of a quadratic below the loss count less, by their time
        (``docs/explanation/solver.md``). None lets `cudbound.cud_interval` and
        `cudbound.compare_intervals` choose, unless `seconds` is given, a number that depends on the size of the data
        and takes about ten seconds on one processor (`cudbound.solve.effort.default_node_budget`); elsewhere, with
        ``all_draws=True`` and with the solver "cvxpy" it means no limit. ``math.inf`` means no limit.
    seconds : float or None, default=None
        Of the whole call likewise; None means no limit. A search for a quantile is planned for the nodes that take
        about that time, and may end earlier. The result then depends on the speed of the machine.
    nodes_per_draw : int, math.inf or None, default=None
        Of the search of a single draw; None means no limit, but for the adaptive interval 20,000.
    seconds_per_draw : float or None, default=None
        Of the search of a single draw; None means no limit.

    Raises
    ------
    ValueError
        If a limit is negative or no number.

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
    """Return the limits, or those that None stands for: none.

    Raises
    ------
    ValueError
        If it is something else, such as a number.
    """
    if limits is None:
        return NO_LIMITS
    if not isinstance(limits, SearchLimits):
        raise ParameterError("limits", "a SearchLimits, such as SearchLimits(seconds=60), or None", limits)
    return limits
