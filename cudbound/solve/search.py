"""Draws solved by the compiled kernel or the reference solver, fully or as far as a quantile needs; least losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import current_progress, public_call
from cudbound.basis.exceptions import (
    NoMinimizerError,
    NotCertifiedWarning,
    NotMinimizerError,
    ParameterError,
    SolveInterrupted,
)
from cudbound.basis.proportions import quantile_rank, within
from cudbound.basis.validation import check_choice, check_limit, check_n_jobs, check_ranks, check_settings
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import AdditiveModel, Polish, Problem
from cudbound.solve.native import SIDES, Minimizers, minimize, solve_native, unsupported

SOLVERS = ("native", "cvxpy")
LIMITS = ("nodes", "seconds", "nodes_per_draw")


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
        one processor (`cudbound.solve.search.node_budget`); elsewhere, with ``all_draws=True`` and with the
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
        for name in LIMITS:
            check_limit(name, getattr(self, name), whole=name.startswith("nodes"))


NO_LIMITS = SearchLimits()


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
    shared: dict[str, Any] = {"side": side, "previous": previous}
    for name in LIMITS:
        value = getattr(limits, name)
        shared[name] = math.inf if value is None else value
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


def node_budget(problem: Problem, seconds: float = DEFAULT_SECONDS) -> int:
    """Return the number of nodes that a search of the given duration is planned for; by default the usual limit.

    It is a number of nodes, not of seconds: the same call gives the same interval on every machine. The cost of a node
    is that on the machine where it was measured, within a factor of two.

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
        microseconds = 2.5 + 8e-4 * min(n, MOST_ROWS) * p
    else:
        is_penalized = problem.has_l1_penalty or (
            problem.penalty is not None and problem.penalty.max() >= NO_PENALTY
        )
        steps = 1.0 if is_penalized or problem.loss.name not in VANISHING else UNPENALIZED
        microseconds = steps * (16.0 + 0.06 * n + 1.6e-3 * n * p * p + 11e-3 * p * p * p)
    return max(LEAST_NODES, int(min(seconds / (kinks * 1e-6 * microseconds), MOST_NODES)))


@dataclass(frozen=True)
class Search:
    """Arguments of `cudbound.cud_interval` that control how far draws are solved, and when the search ends.

    A result keeps them, for resuming its search at another level in the same way.
    """

    all_draws: bool = False
    n_jobs: int | None = 1
    limits: SearchLimits = NO_LIMITS

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
        limits, seconds = self.limits, self.limits.seconds
        is_planned = not self.all_draws and limits.solver == "native" and limits.nodes is None
        if is_planned and seconds != math.inf:
            planned = DEFAULT_SECONDS if seconds is None else seconds * check_n_jobs(self.n_jobs)
            limits = replace(limits, nodes=node_budget(problem, planned))
        try:
            return solve_draws(
                problem,
                ranks=None if self.all_draws else rank,
                n_jobs=self.n_jobs,
                limits=limits,
                previous=previous,
            )
        except SolveInterrupted as stopped:
            raise KeyboardInterrupt(
                f"stopped with {int(stopped.draws.decided.sum())} of {problem.n_draws} draws solved; the half-width is "
                f"{within(*stopped.draws.bracket(rank))}"
            ) from None


def search_ended(draws: Draws, lower: float, upper: float) -> NotCertifiedWarning:
    """Return a warning with the range of the quantile and, for each reason why it is not proved, what to do."""
    inaccurate = np.flatnonzero(draws.status == SolveStatus.INACCURATE)
    n_limited = int((~draws.decided).sum()) - inaccurate.size
    advice = [
        f"The half-width is {within(lower, upper)}; the larger value was used, which can only make the interval longer."
    ]
    if n_limited:
        advice.append(
            f"A limit stopped the search after {draws.nodes.sum()} nodes, with {n_limited} of {len(draws)} draws "
            "unsolved: to complete it, increase the limit that you set, or lift the default one by "
            "Bound(nodes=math.inf), or --bound nodes=inf; in Python, at(limits=...) of a result of cud_interval "
            "continues the search."
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


# ---- the least loss of a model, and whether its coefficients reach it ----

#: Largest accepted optimality residual: on the training set itself it changes g at the default rate by at most this. On
#: 40 rows of ten data sets scikit-learn's fits with default settings have at most 2e-3 on standardized features, and on
#: raw ones at most 8e-3, except for SVC (1e-1) and where the solver warned that it had not converged (up to 30). On
#: three of them least-squares and logistic fits have 5e-2 or more with one label changed. With one row left out they
#: have 7e-3 to 6e-2 in the median, and little where that row hardly influenced the fit: then they nearly minimize the
#: remaining loss.
RESIDUAL_TOLERANCE = 1e-2


def least_loss(problem: Problem) -> Minimizers:
    """Minimize the penalized mean loss of each draw, exactly or, if the kernel does not support it, by cvxpy."""
    if unsupported(problem) is None:
        return minimize(problem)
    from cudbound.solve.reference_cones import minimize_by_cvxpy

    coef = np.array([minimize_by_cvxpy(problem, draw) for draw in range(problem.n_draws)])
    return Minimizers(coef, np.ones(problem.n_draws, dtype=bool))


def optimality_residual(model: AdditiveModel) -> float:
    """Excess of the loss of the fitted coefficients over its minimum, in units of g; 0 at the minimizer.

    It is n (L(beta-hat) - min L) with the penalized mean loss L of the training set, on which a residual of 0.01
    changes g at the default rate localization = n by at most 0.01.

    Raises
    ------
    NoMinimizerError
        If the loss has no minimizer on these rows.
    """
    return _minimum(model)[1]


def check_minimizer(model: AdditiveModel) -> float:
    """Return the optimality residual if the fitted coefficients minimize the loss on these rows.

    Raises
    ------
    NoMinimizerError
        If the loss has no minimizer on these rows.
    NotMinimizerError
        If the optimality residual is above `RESIDUAL_TOLERANCE`.
    """
    _, residual = _minimum(model)
    if not residual <= RESIDUAL_TOLERANCE:
        raise NotMinimizerError(
            f"The fitted coefficients do not minimize the mean {model.loss.name} loss on these X and y: optimality "
            f"residual {residual:.2e}, allowed {RESIDUAL_TOLERANCE:.0e}.",
            "If the classifier was fitted to other rows or with sample weights, pass its X and y, or refit it on "
            "them. If its solver stopped early, fit it with a smaller tol (SGDClassifier: tol=None) and a larger "
            "max_iter, or pass Bound(polish=True), see cudbound.Bound, for the interval of the exact minimizer.",
            residual=residual,
        )
    return residual


def polish(model: AdditiveModel) -> AdditiveModel:
    """Replace the fitted coefficients by the exact minimizer of the loss, and record how far they moved.

    Raises
    ------
    NoMinimizerError
        If the loss has no minimizer on these rows.
    """
    coef, residual = _minimum(model)
    polished = replace(model, coef=coef)
    before, after = model.design @ model.coef, model.design @ coef
    length = float(np.linalg.norm(model.coef))
    moved = float(np.linalg.norm(coef - model.coef))
    report = Polish(
        residual=residual,
        coef_change=moved / length if length > 0.0 else np.inf if moved > 0.0 else 0.0,
        score_change=float(np.abs(after - before).max()),
        n_changed_predictions=int((model.training_errors != polished.training_errors).sum()),
    )
    return replace(polished, polish=report)


def no_minimizer(loss: str) -> NoMinimizerError:
    """Return the error for data on which a loss has no minimizer, with remedies."""
    return NoMinimizerError(
        f"The classes are separable, so the mean {loss} loss without a penalty has no minimizer: it decreases "
        "toward its infimum as the coefficients grow.",
        "Add a penalty, for example LogisticRegression(C=1.0) or ConvexLossClassifier(penalty=0.01), or use a loss "
        "with a minimizer, for example LeastSquaresClassifier().",
    )


def _minimum(model: AdditiveModel) -> tuple[NDArray[np.float64], float]:
    """Return the minimizer of the loss on the training set, and the optimality residual of the fitted coefficients."""
    problem = model.training
    minimum = least_loss(problem)
    if not minimum.attained[0]:
        raise no_minimizer(model.loss.name)
    coef = minimum.coef[0]
    # the absolute value: a false minimum must not pass for agreement
    excess = abs(problem.mean_loss(0, model.coef) - problem.mean_loss(0, coef))
    return coef, excess * model.labels.size
