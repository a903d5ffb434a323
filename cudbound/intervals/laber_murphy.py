"""The CUD interval of Laber and Murphy (2008), and their adaptive confidence interval (2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import NotCertifiedWarning, SolveInterrupted, UnsupportedEstimatorError
from cudbound.basis.method_card import RecordKind
from cudbound.basis.proportions import inverted_cdf_quantile
from cudbound.basis.results import ConfidenceInterval, Outcome
from cudbound.basis.validation import Array, check_localization
from cudbound.bound.cud_bound import Bound, CudBound, solve_bounds
from cudbound.intervals.method import Method
from cudbound.losses.surrogates import LOSSES as SURROGATES
from cudbound.metrics.metric import MetricRows
from cudbound.problem.draws import SolveStatus
from cudbound.problem.problem import TIE_TOLERANCE, AdditiveModel, Problem
from cudbound.records import LOSSES, Records
from cudbound.records.rules import FitCount, NumberOrNan, Numbers, Recorded, Remarks, Size, check_ordered
from cudbound.resampling.settings import has_one_class
from cudbound.solve.native import unsupported
from cudbound.solve.search import SearchLimits, least_loss, solve_draws

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


def _record_bound(inputs: RecordingInputs, target: MetricRows) -> tuple[CudBound, ...]:
    """Return the bounds for the family of a target."""
    assert inputs.model is not None
    return solve_bounds(
        inputs.model,
        inputs.counts,
        [replace(target, metric=metric) for metric in target.cud_metrics],
        confidence_level=target.cud_level,
        localization=check_localization(inputs.bound.localization, inputs.sample.n_samples),
        search=inputs.search,
    )


BOUND = RecordKind(
    "bound",
    CudBound,
    "the CUD bound",
    holder="a classifier, as in cudbound.compare_intervals",
    record=_record_bound,
    per="family",
    whole_groups=True,
    of_every_metric=True,
    of_model=True,
    of_draws=True,
)


def _cud(records: Records, confidence_level: float) -> Outcome:
    """Constrained uniform deviation bound around the training error.

    Formula: T - q and T + q; q is the 1 - d quantile over the draws of the supremum, over all coefficients beta, of
    |error on the draw - error on the sample| g(alpha_n (L_b(beta_hat) - L_b(beta))), with L_b the mean surrogate loss
    on the draw and g(v) = 1 + v clipped to [0, 1].
    Assumptions: the bootstrap quantile of the smoothed supremum estimates that of the population.
    Tendency: mostly conservative: coverage in 58 settings was .89 to 1.00; can be too low with nearly as many
    features as rows, or with a few labels flipped near separation.
    Reference: Laber and Murphy (2008), sections 3 and 4.
    """
    bound = records.require(BOUND)
    if bound.confidence_level != confidence_level:
        bound = bound.at(confidence_level=confidence_level)
    # on the scale of the mean loss
    estimate, q = bound.metric.to_loss(bound.estimate), bound.q / bound.metric.scale
    return Outcome(
        estimate,
        ConfidenceInterval(estimate - q, estimate + q),
        remarks=bound.remarks,
        degenerate="no classifier near the fitted one deviates in the draws at the quantile (Q = 0)",
        center="training error",
    )


def _cud_one_sided(records: Records, confidence_level: float, _: str) -> Outcome:
    # the suprema are of both sides: their quantile at the whole level leaves out no more on one
    return _cud(records, confidence_level)


CUD = Method("cud", {BOUND}, cost="0", compute=_cud, one_sided=_cud_one_sided, settings=Bound)


@dataclass(frozen=True, eq=False)
class BoundaryDeviations(Recorded):
    """Largest and smallest bootstrap deviation over all classifications of the points near the boundary.

    Attributes
    ----------
    upper, lower : ndarray of float, shape (n_resamples,)
        On the scale of sqrt(n) times the error.
    n_samples : int
    n_fits : int
    remarks : tuple of str
    rate : float
        a_n, which bounds the squared standardized score of near points; nan if it was not recorded.
    n_near : float
        Mean number of near points of a draw; nan if it was not recorded.
    """

    upper: Numbers
    lower: Numbers
    n_samples: Size
    n_fits: FitCount
    remarks: Remarks = ()
    rate: NumberOrNan = np.nan
    n_near: NumberOrNan = np.nan

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ordered(self.lower, self.upper)


Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Eigenvalues of a draw's Hessian below this share of its largest count as zero.
RANK_TOLERANCE = 1e-11
#: A curvature below this belongs to a loss that falls to 0 without reaching it: where rows are separated the kernel
#: follows it down to 1e-10.
LEAST_CURVATURE = 1e-8
#: A row with more than this share of its length outside the span of a draw has no score there.
SPAN_TOLERANCE = 1e-6
#: Nodes in the search of one draw. Draws of 50 rows with 5 coefficients need fewer; those of 200 rows with 10
#: coefficients and overlapping classes would need more than anyone would wait for.
DEFAULT_LIMITS = SearchLimits(nodes_per_draw=20_000)


@dataclass(frozen=True, eq=False)
class DrawScores:
    """Scores of the training rows by the classifier fitted to each draw, and their variances.

    Attributes
    ----------
    scores : ndarray of float, shape (n_draws, n_samples)
        x_i'beta_b with the minimizer beta_b of the draw's loss.
    variances : ndarray of float, shape (n_draws, n_samples)
        x_i'Sigma_b x_i, where Sigma_b is the sandwich covariance of sqrt(n) beta_b; infinite if the draw does not
        determine the score.
    wrong : ndarray of bool, shape (n_draws, n_samples)
        Whether the draw's classifier misclassifies the row, with sign(0) = +1.
    """

    scores: Array
    variances: Array
    wrong: Bools

    def near(self, rate: float) -> Bools:
        """Whether n (x_i'beta_b)^2 / (x_i'Sigma_b x_i) is at most a_n = `rate`; shape (n_draws, n_samples).

        A score of 0 is near regardless of its variance. At rate 0 no row is near.
        """
        if rate == 0.0:
            return np.zeros(self.scores.shape, dtype=bool)
        if math.isinf(rate):
            return np.ones(self.scores.shape, dtype=bool)
        n = self.scores.shape[1]
        within = n * self.scores**2 <= rate * self.variances
        return np.asarray(within | (np.abs(self.scores) <= TIE_TOLERANCE))


def boundary_deviations(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    *,
    rate: float | None = None,
    n_jobs: int | None = 1,
    limits: SearchLimits = DEFAULT_LIMITS,
) -> BoundaryDeviations:
    r"""Largest and smallest deviation of each draw over all classifications of the points near its boundary.

    With the weights :math:`w_i = (\phi_i - 1) / \sqrt n` of a draw with counts :math:`\phi`, its classifier
    :math:`\beta_b` and its near points :math:`N_b`, those with
    :math:`n (x_i'\beta_b)^2 \le a_n \, x_i'\Sigma_b x_i`, these are

    .. math::

        U_b = \sum_{i \notin N_b} w_i 1\{\mathrm{sign}(x_i'\beta_b) \ne y_i\}
            + \max_u \sum_{i \in N_b} w_i 1\{\mathrm{sign}(x_i'u) \ne y_i\}

    and :math:`L_b` with the minimum. The maximum is over u not on the hyperplanes of the near points, because u = 0 is
    not a classifier. It is exact: the search is that of the CUD bound without its loss. -u exchanges right and wrong on
    every near row that is not 0, so one search gives both.

    Parameters
    ----------
    model : AdditiveModel
        From `cudbound.adapters.to_additive_model`.
    counts : ndarray of int, shape (n_resamples, n_samples)
        Bootstrap draws, shared with the other methods.
    rate : float in [0, inf] or None, default=None
        a_n, the bound on n (x_i'beta)^2 / (x_i'Sigma x_i) up to which a point is near the boundary; None is log n. At 0
        no point is near and the interval is the centered percentile bootstrap; at infinity all points are.
    n_jobs : int or None, default=1
        Number of threads; -1 for all cores. The result does not depend on it.
    limits : SearchLimits, default=SearchLimits(nodes_per_draw=20_000)
        Limits on the searches. U_b and L_b of a stopped search are bounds that can only make the interval longer; a
        warning and a remark report the number of such draws. Without a limit, the time grows exponentially with the
        number of near points.

    Returns
    -------
    BoundaryDeviations
        Includes the a_n that was used and the mean number of near points. Its remarks count draws with one class, draws
        with undetermined scores, and draws whose search was stopped.

    Raises
    ------
    UnsupportedEstimatorError
        If the loss has no gradient and curvature (hinge loss, l1 penalty, losses written in cvxpy) and `rate` is
        not 0, which needs neither.
    ValueError
        If a limit is not allowed, or `counts` has a wrong shape.
    KeyboardInterrupt
        On Ctrl-C.

    Warns
    -----
    NotCertifiedWarning
        If the search of some draws was stopped; the message says how to continue.

    Notes
    -----
    Sigma_b = H^- V H^- with the Hessian H of the draw's penalized mean loss and V the covariance matrix of the rows'
    gradients in the draw, which is centered because a penalty moves their mean away from 0. Only x_i'Sigma_b x_i is
    used, which is the same for every basis of the design. The draw does not determine the score of a row outside the
    span of the draw's rows, or of a row that it separates, because a vanishing loss then keeps decreasing: the variance
    is infinite and the row is near. A row whose score does not vary, because its draw is fitted exactly, is near if its
    score is 0, otherwise far.

    The theory requires that a_n grow without bound and more slowly than n; log n is our choice. U_b is never below
    its value at rate 0, and L_b never above, so the interval contains the centered percentile bootstrap interval
    (except for draws whose classifier has rows with a score of exactly 0, which no open cell has). Intervals at two
    positive rates are not ordered: with fewer near points, the other points keep the class from the draw's classifier,
    and a single linear classifier need not produce both.

    References
    ----------
    E. B. Laber and S. A. Murphy, "Adaptive confidence intervals for the test error in classification", Journal of the
    American Statistical Association 106 (2011), pages 904-913.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.adapters import to_additive_model
    >>> from cudbound.problem.draws import draw_counts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = X[:, 0] + rng.normal(size=40) > 0
    >>> model = to_additive_model(LeastSquaresClassifier().fit(X, y), X, y)
    >>> deviations = boundary_deviations(model, draw_counts(40, 200, rng))
    >>> bool((deviations.lower <= deviations.upper).all())
    True
    """
    n = model.labels.size
    a_n = math.log(n) if rate is None else rate
    problem = model.problem(counts)
    if a_n > 0.0:
        check_curvature(problem)
    drawn = draw_scores(problem, variances=0.0 < a_n < math.inf)
    # the class of a row of zeros is the same for every u
    near = drawn.near(a_n) & model.design.any(axis=1)
    weights = problem.counts.astype(np.int64) - 1
    largest, n_open = _largest_scores(model, problem.counts, weights * near, n_jobs, limits)
    fixed = (weights * (drawn.wrong & ~near)).sum(axis=1)
    smallest = (weights * near).sum(axis=1) - largest
    return BoundaryDeviations(
        upper=(fixed + largest) / math.sqrt(n),
        lower=(fixed + smallest) / math.sqrt(n),
        n_samples=n,
        n_fits=problem.n_draws,
        remarks=_remarks(problem, drawn, n_open, a_n),
        rate=a_n,
        n_near=float(near.sum(axis=1).mean()),
    )


def check_curvature(problem: Problem) -> None:
    """Raise `UnsupportedEstimatorError` unless the sandwich covariance of the coefficients is defined."""
    if unsupported(problem) is None and not problem.has_l1_penalty and SURROGATES[problem.loss.name].smooth:
        return
    what = "an l1 penalty" if problem.has_l1_penalty else problem.loss.name
    raise UnsupportedEstimatorError(
        "The adaptive confidence interval needs a loss with a gradient and a curvature for the covariance of the "
        "coefficients.",
        f"Got {what} instead. Use the squared, logistic, exponential, squared_hinge or huber loss, for example "
        "LogisticRegression() with an l2 penalty.",
    )


def draw_scores(problem: Problem, *, variances: bool = True) -> DrawScores:
    """Fit each draw and compute the scores of all rows and, on request, their variances (otherwise infinite)."""
    coef = least_loss(problem).coef
    scores = coef @ problem.design.T
    varying = _score_variances(problem, coef) if variances else np.full(scores.shape, np.inf)
    classes = np.where(scores >= -TIE_TOLERANCE, 1.0, -1.0)
    return DrawScores(scores, varying, classes != problem.labels)


def _score_variances(problem: Problem, coef: Array) -> Array:
    """Return x_i'Sigma_b x_i for all draws b and rows i, in coordinates in which the design is orthonormal."""
    basis, loss, n = problem.basis, SURROGATES[problem.loss.name], problem.labels.size
    design, lengths = basis.design, np.linalg.norm(basis.design, axis=1)
    curved = 0.0 if basis.penalty is None else 2.0 * basis.penalty
    variances = np.empty(problem.counts.shape)
    for draw in range(problem.n_draws):
        rows = problem.counts[draw] > 0
        share = problem.counts[draw, rows] / n
        weight = 1.0 if problem.sample_weight is None else problem.sample_weight[rows]
        labels, scores = problem.labels[rows], problem.scores(coef[draw])[rows]
        gradients = (weight * loss.gradient(labels, scores))[:, None] * design[rows]
        curvature = loss.curvature(labels, scores)
        bend = share * weight * np.where(curvature > LEAST_CURVATURE, curvature, 0.0)
        hessian = (design[rows] * bend[:, None]).T @ design[rows] + curved
        values, vectors = np.linalg.eigh(hessian)
        regular = values > RANK_TOLERANCE * max(values[-1], 0.0)
        inverse = (vectors[:, regular] / values[regular]) @ vectors[:, regular].T
        spread = np.sqrt(share)[:, None] * (gradients - share @ gradients) @ inverse
        root = np.asarray(np.linalg.qr(spread, mode="r"))
        varying = np.square(design @ root.T).sum(axis=1)
        outside = np.linalg.norm(design @ vectors[:, ~regular], axis=1) > SPAN_TOLERANCE * lengths
        variances[draw] = np.where(outside, np.inf, varying)
    return variances


def _largest_scores(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    weights: Integers,
    n_jobs: int | None,
    limits: SearchLimits,
) -> tuple[Integers, int]:
    """Return the largest weighted number of errors on an open cell for each draw, and how many of them are bounds."""
    largest = np.zeros(len(weights), dtype=np.int64)
    todo = np.flatnonzero(weights.any(axis=1))
    if not todo.size:
        return largest, 0
    # The kernel finds the largest positive score, and g = 1 at alpha_n = 0. A row of zeros that is always wrong lifts
    # scores above 0: the negative weights are as large as their rows, in all, can make a score negative.
    lift = np.maximum(-weights, 0).sum(axis=1)[todo]
    problem = Problem.of(
        np.vstack([model.design, np.zeros(model.coef.size)]),
        np.append(model.labels, -1.0),
        model.coef,
        np.column_stack([counts[todo], np.zeros(todo.size, dtype=np.int32)]),
        localization=0.0,
        weights=np.column_stack([weights[todo], lift]),
    )
    try:
        draws = solve_draws(problem, side="positive", n_jobs=n_jobs, limits=limits)
    except SolveInterrupted:  # its advice concerns the bound
        raise KeyboardInterrupt("stopped while searching the points near the boundary") from None
    largest[todo] = _whole(draws.upper) - lift
    n_open = int((~draws.certified).sum())
    n_inaccurate = int((draws.status == SolveStatus.INACCURATE).sum())
    if n_open:
        message = (
            f"The search was stopped in {n_open} of {len(weights)} draws of the adaptive interval; bounds were used, "
            "which make it longer. Increase nodes_per_draw or another limit in Bound(...), or with --bound."
        )
        warn(NotCertifiedWarning(message, n_limited=n_open - n_inaccurate, n_inaccurate=n_inaccurate))
    return largest, n_open


def _whole(upper: Array) -> Integers:
    """Return upper bounds on whole numbers; rounding lowers a bound by at most 2e-11 of the sum of absolute weights."""
    return np.floor(upper + 1e-6).astype(np.int64)


def _remarks(problem: Problem, drawn: DrawScores, n_open: int, rate: float) -> tuple[str, ...]:
    n_one_class = int(has_one_class(problem.counts, problem.labels).sum())
    n_undetermined = int(np.isinf(drawn.variances).any(axis=1).sum()) if 0.0 < rate < math.inf else 0
    remarks = []
    if n_one_class:
        remarks.append(f"{n_one_class} single-class draws")
    if n_undetermined:
        remarks.append(f"{n_undetermined} draws with undetermined scores, those points counted as near")
    if n_open:
        remarks.append(f"{n_open} of {problem.n_draws} draws not fully solved, bounds used")
    return tuple(remarks)


def _record_boundary(inputs: RecordingInputs, _: Any) -> BoundaryDeviations:
    assert inputs.model is not None
    # the solver and the limit on all nodes apply only to the CUD bound
    nodes = inputs.bound.nodes_per_draw
    limits = SearchLimits(
        seconds=inputs.bound.seconds,
        nodes_per_draw=DEFAULT_LIMITS.nodes_per_draw if nodes is None else nodes,
    )
    return boundary_deviations(inputs.model, inputs.counts, n_jobs=inputs.n_jobs, limits=limits)


def _check(inputs: RecordingInputs) -> None:
    if inputs.model is not None:
        check_curvature(inputs.model.training)


BOUNDARY = RecordKind(
    "boundary",
    BoundaryDeviations,
    "suprema near the boundary",
    record=_record_boundary,
    of_model=True,
    of_draws=True,
    check=_check,
    condition="a loss with a gradient and a curvature",
)


def _adaptive(records: Records, confidence_level: float) -> Outcome:
    """Adaptive interval over all linear classifications of the points near the boundary.

    Formula: T - u and T - l; u is the 1 - d/2 quantile over the draws of the largest, l the d/2 quantile of the
    smallest difference error on the draw - error on the sample over all linear classifications of the points i near
    the boundary: n (x_i'beta_b)^2 <= a_n x_i'S_b x_i, with S_b the sandwich covariance of sqrt(n) beta_b.
    Assumptions: the coefficients are asymptotically normal, and points far from the boundary keep their class.
    Tendency: coverage in 16 settings was .95 to 1.00; can be liberal with half as many features as rows, or more.
    Reference: Laber and Murphy (2011), with a_n = log n as our choice.
    """
    boundary: BoundaryDeviations = records.require(BOUNDARY)
    estimate, root = float(np.mean(records.require(LOSSES))), math.sqrt(boundary.n_samples)
    tail = (1.0 - confidence_level) / 2
    interval = ConfidenceInterval(
        estimate - inverted_cdf_quantile(boundary.upper, 1.0 - tail) / root,
        estimate - inverted_cdf_quantile(boundary.lower, tail) / root,
    )
    recorded = {"rate": boundary.rate, "n_near": boundary.n_near}
    return Outcome(
        estimate,
        interval,
        degenerate="the bootstrap deviations do not vary: the quantiles of the largest and the smallest are equal",
        details={name: value for name, value in recorded.items() if not math.isnan(value)},
    )


ACI = Method("aci", {LOSSES, BOUNDARY}, cost="B", compute=_adaptive, settings=Bound)
