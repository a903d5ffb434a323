"""Draws solved by the compiled kernel or by the reference solver: all of them, or as far as a quantile needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cudbound.basis.calls import current_progress, public_call
from cudbound.basis.exceptions import NotCertifiedWarning, ParameterError, SolveInterrupted
from cudbound.basis.proportions import quantile_rank, within
from cudbound.basis.validation import check_choice, check_n_jobs, check_ranks, check_settings
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve.limits import NO_LIMITS, SearchLimits, default_node_budget, nodes_within
from cudbound.solve.native import SIDES, solve_native, unsupported


@public_call
def solve_draws(
    problem: Problem,
    *,
    side: str = "both",
    ranks: int | Sequence[int] | None = None,
    n_jobs: int | None = 1,
    limits: SearchLimits | None = None,
    previous: Draws | None = None,
) -> Draws:
    r"""Solve the optimization problem of each bootstrap draw.

    For a draw with counts :math:`\phi` and weights :math:`w` this finds

    .. math::

        Q = \sup_C \Big|\sum_i w_i 1\{\mathrm{sign}(x_i'\beta) \ne y_i, \beta \in C\}\Big|
            \; g\big(\alpha (L(\hat\beta) - \inf_{\beta \in C} L(\beta))\big), \qquad g(u) = \mathrm{clip}(1 + u, 0, 1)

    over the open cells :math:`C` of the hyperplanes :math:`x_i'\beta = 0` with a weight, where
    :math:`L(\beta) = \frac1n \sum_i \phi_i c_i \ell(y_i, x_i'\beta + o_i) + \sum_j (r_j \beta_j^2 + s_j |\beta_j|)`.

    Parameters
    ----------
    problem : Problem
        From `cudbound.solve.Problem.of`, which describes the arrays: design rows :math:`x_i`, labels :math:`y_i`,
        fitted coefficients :math:`\hat\beta`, counts :math:`\phi_i`, weights :math:`w_i` and those of the loss.
    side : {"both", "positive", "negative"}, default="both"
        Which sign of the weighted deviation counts. One-sided values are those of its positive part.
    ranks : int or sequence of int, default=None
        Ranks of the order statistics of Q that are needed; rank 1 is the smallest. Draws are then solved only as far as
        these require: most are shown to lie on one side and get the status ``DECIDED``. The r-th smallest Q is between
        the r-th smallest ``lower`` and the r-th smallest ``upper``, which are equal if it is proved. None solves every
        draw completely. The cvxpy solver always solves every draw.
    n_jobs : int or None, default=1
        Number of threads of the native solver; -1 for all cores. The result does not depend on it.
    limits : SearchLimits, default=None
        The solver and its limits on nodes and seconds, after which draws are left with ``lower < upper``; None means
        the compiled kernel and no limit.
    previous : Draws, default=None
        Earlier result for the same problem, from any solver and for any `ranks`. Its bounds are kept. Draws that are
        certified in it, or for the compiled kernel decided for the same ranks, are not solved again. The search of any
        other draw begins anew: increase the limit that stopped it.

    Returns
    -------
    Draws
        Bounds, status, node count and witness of each draw. The bounds hold up to the tolerances of
        docs/explanation/solver.md; rounding enlarges `upper`, or lowers it by at most 2e-11 times the sum of the
        absolute weights.

    Raises
    ------
    ValueError
        If an argument is out of range, if `previous` belongs to another problem, or if the compiled kernel does not
        support the loss or the penalty of this one.
    SolveInterrupted
        On Ctrl-C; its ``draws`` are the results so far.

    Notes
    -----
    Branch and bound on the sides of the hyperplanes. For squared loss the sublevel sets of L are balls in suitable
    coordinates, every relaxation is a least-distance problem that continues from its parent's solution, and the
    distance to a hyperplane bounds the cost of crossing it. A pattern of signs counts only if some classifier is shown
    to realize it.

    References
    ----------
    E. B. Laber and S. A. Murphy, "Small sample inference for generalization error in classification using the CUD
    bound", UAI 2008, sections 3.1 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound.solve import Problem, solve_draws
    >>> x = np.array([-2.0, -1.0, 0.5, 1.0, 2.0, 3.0])
    >>> design = np.column_stack([np.ones(6), x])
    >>> labels = np.array([-1, -1, 1, -1, 1, 1])
    >>> coef = np.linalg.lstsq(design, labels, rcond=None)[0]
    >>> problem = Problem.of(design, labels, coef, [[2, 0, 0, 2, 1, 1], [1, 1, 1, 1, 1, 1]])
    >>> draws = solve_draws(problem)
    >>> draws.upper.round(6).tolist()
    [0.166667, 0.0]

    Only the larger of the two:

    >>> largest = solve_draws(problem, ranks=2)
    >>> largest.bracket(2) == (draws.upper.max(), draws.upper.max())
    True
    """
    if not isinstance(problem, Problem):
        raise ParameterError(
            "problem", "a Problem, such as Problem.of(design, labels, coef, counts)", problem
        )
    limits = check_settings("limits", limits, NO_LIMITS, "seconds=60")
    check_choice("side", side, SIDES)
    native = limits.solver == "native"
    if native:
        check_native(problem)
    threads = check_n_jobs(n_jobs)
    needed_ranks = check_ranks(ranks, problem.n_draws)
    digest = problem.digest(side)
    if previous is not None and not isinstance(previous, Draws):
        rule = "the Draws of an earlier call, such as those of result.draws, or None"
        raise ParameterError("previous", rule, previous)
    if previous is not None and previous.problem_digest != digest:
        raise ValueError(
            "'previous' must contain draws of the same problem. Got draws of another one (other data, rng, "
            "localization or side, or a subset of draws): pass the arguments they came from, or previous=None to start "
            "again."
        )
    shared: dict[str, Any] = {"side": side, "limits": limits, "previous": previous}
    with _progress_bar(problem.n_draws) as report:
        if native:
            draws, interrupted = solve_native(
                problem, threads=threads, ranks=needed_ranks, report=report, **shared
            )
        else:
            from cudbound.solve.reference import solve_reference

            draws, interrupted = solve_reference(problem, report=report, **shared)
    draws = replace(draws, problem_digest=digest)
    if interrupted:
        proved = (f"the Q of rank {rank} is {within(*draws.bracket(rank))}" for rank in needed_ranks)
        raise SolveInterrupted(draws, "; ".join(proved))
    return draws


def check_native(problem: Problem) -> None:
    """Raise `UnsupportedProblemError` if the compiled kernel does not support the loss or the penalty of a problem."""
    if refusal := unsupported(problem):
        raise refusal


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[int], None] | None]:
    """Show how many draws are done."""
    shown = current_progress()
    if not shown.shown:
        yield None
        return
    with shown.bar(total=total, desc="draws", unit="draw") as bar:

        def report(done: int) -> None:
            bar.update(done - bar.n)

        yield report
        report(total)


@dataclass(frozen=True)
class Search:
    """Arguments of `cudbound.cud_interval` that control how far draws are solved, and when the search ends.

    A result keeps them, for resuming its search at another level in the same way.
    """

    all_draws: bool = False
    n_jobs: int | None = 1
    limits: SearchLimits = NO_LIMITS

    @property
    def _is_planned(self) -> bool:
        return not self.all_draws and self.limits.solver == "native" and self.limits.nodes is None

    @property
    def has_default_budget(self) -> bool:
        """Whether the search for the quantile has the default limit, and no other."""
        return self._is_planned and self.limits.seconds is None and self.limits.nodes_per_draw is None

    def _planned(self, problem: Problem) -> SearchLimits:
        """Return the limits, with the planned nodes of the search: some are reserved for narrowing the bounds."""
        seconds = self.limits.seconds
        if not self._is_planned or seconds == math.inf:
            return self.limits
        if seconds is None:
            return replace(self.limits, nodes=default_node_budget(problem))
        return replace(self.limits, nodes=nodes_within(seconds * check_n_jobs(self.n_jobs), problem))

    def run(
        self,
        problem: Problem,
        confidence_level: float,
        previous: Draws | None = None,
        rank: int | None = None,
    ) -> Draws:
        """Solve the draws as far as the quantile at this level requires, or all of them.

        A `rank` selects another order statistic than that of the level.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; its message has the range of the quantile.
        """
        rank = quantile_rank(problem.n_draws, confidence_level) if rank is None else rank
        try:
            return solve_draws(
                problem,
                ranks=None if self.all_draws else rank,
                n_jobs=self.n_jobs,
                limits=self._planned(problem),
                previous=previous,
            )
        except SolveInterrupted as stopped:
            raise KeyboardInterrupt(
                f"stopped with {int(stopped.draws.decided.sum())} of {problem.n_draws} draws solved; the half-width is "
                f"{within(*stopped.draws.bracket(rank))}"
            ) from None


def search_ended(search: Search, draws: Draws, lower: float, upper: float) -> NotCertifiedWarning:
    """Return a warning with the range of the quantile and, for each reason why it is not proved, what to do."""
    goes_on = "; in Python, at(limits=...) of a result of cud_interval continues the search"
    inaccurate = np.flatnonzero(draws.status == SolveStatus.INACCURATE)
    n_limited = int((~draws.decided).sum()) - inaccurate.size
    advice = [
        f"The half-width is {within(lower, upper)}; the larger value was used, which can only make the interval longer."
    ]
    if n_limited and search.has_default_budget:
        advice.append(
            f"The search stopped after {draws.nodes.sum()} nodes, with {n_limited} of {len(draws)} draws unsolved: "
            f"to complete it, pass Bound(nodes=math.inf), or --bound nodes=inf to the command{goes_on}."
        )
    elif n_limited:
        advice.append(
            f"A limit stopped the search in {n_limited} of {len(draws)} draws: increase it in Bound(...), or with "
            f"--bound{goes_on}."
        )
    if inaccurate.size:
        advice.append(
            f"Rounding, or steps that did not end, left {inaccurate.size} draws unproved: rescale the features or look "
            f"for an outlier; pickle result.problem.select({inaccurate[0]}) for a bug report."
        )
    return NotCertifiedWarning(
        " ".join(advice),
        n_limited=n_limited,
        n_inaccurate=int(inaccurate.size),
        half_width=(lower, upper),
        method="cud",
    )
