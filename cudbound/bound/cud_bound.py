"""The CUD bound of a metric, or of several together: settings, the quantile of Q over draws, and what was proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import public_call, warn
from cudbound.basis.proportions import inverted_cdf_quantile, quantile_rank, within
from cudbound.basis.results import ConfidenceInterval
from cudbound.basis.validation import check_confidence_level, check_flag, check_localization, check_settings
from cudbound.basis.words import enumerated
from cudbound.metrics.metric import ERROR, Metric, MetricRows
from cudbound.problem.draws import Draws
from cudbound.problem.problem import AdditiveModel, Polish, Problem
from cudbound.solve.search import NO_LIMITS, Search, SearchLimits, search_ended


@dataclass(frozen=True, kw_only=True)
class Bound(SearchLimits):
    """Settings of the CUD bound: what is bounded, and the solver with the limits of its search.

    They are passed with the method, as in ``methods=[("cud", Bound(seconds=60)), "two-center"]``, or as ``bound=`` of
    `cudbound.cud_interval`. Those of a group are for its members "cud" and "aci".

    Attributes
    ----------
    localization : {"n", "paper-literal"} or float in [0, inf], default="n"
        Localization rate on the scale of the mean loss. "n" is the order derived in section 3 of Laber and Murphy
        (2008). "paper-literal" is n squared, the rate of section 5 if its unscaled loss is read literally; it can give
        an empty margin near separability. 0 gives the uniform deviation over all classifiers.
    polish : bool, default=False
        Whether to replace the fitted coefficients by the exact minimizer of their loss, instead of raising an error for
        a classifier whose solver stopped early. The bound, including its center, is then for that classifier, and the
        remarks report how far it is from the fitted one. Other intervals are for the classifier as fitted; of "aci",
        only the center is.
    solver, nodes, seconds, nodes_per_draw
        As in `cudbound.solve.SearchLimits`; unsolved draws enter with their upper bounds.

    Raises
    ------
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> Bound(localization="paper-literal", seconds=60).polish
    False
    """

    localization: str | float = "n"
    polish: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_localization(self.localization, 1)
        check_flag("polish", self.polish)


DEFAULT_BOUND = Bound()


@dataclass(frozen=True, eq=False)
class JointDraws:
    """The draws of several metrics: those of the first, then those of the second, and so on.

    Attributes
    ----------
    problem : Problem
        With scores on the scale of the mean losses, in [-1, 1].
    draws : Draws
    metrics : tuple of Metric
    """

    problem: Problem = field(repr=False)
    draws: Draws = field(repr=False)
    metrics: tuple[Metric, ...]

    def bracket(self, confidence_level: float) -> tuple[float, float]:
        """Return bounds on the quantile of the largest Q over the metrics; they are equal if it is proved."""
        largest = (
            values.reshape(len(self.metrics), -1).max(axis=0)
            for values in (self.draws.lower, self.draws.upper)
        )
        lower, upper = (inverted_cdf_quantile(values, confidence_level) for values in largest)
        return lower, upper

    def of(self, number: int) -> Draws:
        """Return the draws of one metric, on its own scale."""
        part, scale = slice(number * self.n_draws, (number + 1) * self.n_draws), self.metrics[number].scale
        lower, upper, status, nodes, witness = (
            getattr(self.draws, name)[part] for name in ("lower", "upper", "status", "nodes", "witness")
        )
        return Draws(scale * lower, scale * upper, status, nodes, witness)

    @property
    def n_draws(self) -> int:
        """Draws of each metric."""
        return len(self.draws) // len(self.metrics)

    def at(self, confidence_level: float, search: Search) -> JointDraws:
        """Return the draws solved as far as another level or search requires, continuing from the proved bounds."""
        return replace(
            self, draws=search_joint(self.problem, len(self.metrics), confidence_level, search, self.draws)
        )


# bounds hold arrays, which have no single truth value to compare
@dataclass(frozen=True, eq=False)
class CudBound:
    """A CUD confidence set for one metric of a fitted classifier, with the data behind it.

    Attributes
    ----------
    estimate : float
        Training error of the classifier, a proportion in [0, 1], or the training value of another metric; the center
        of the interval.
    q : float
        Half-width: the `confidence_level` quantile of the draws' upper bounds on Q. It is the quantile of the exact Q
        if `certified`, and otherwise no smaller.
    confidence_level : float
        Nominal level.
    draws : Draws
        What was proved about each bootstrap draw.
    problem : Problem
        The optimization problems of the draws; pickle ``problem.select(b)`` for a bug report.
    polish : Polish or None
        Difference between the classifier of the interval and the fitted one; None if they are the same.
    tuned_by : tuple of str
        The searches that tuned parameters on the same data; the draws do not repeat the tuning.
    search : Search
        How far the draws were solved, and the limits.
    metric : Metric
        The metric.
    based_on : str
        The number of rows it is based on, in words.
    joint : JointDraws or None
        The draws of all metrics that are bounded together with this one; None if it is bounded alone.
    q_lower : float
        The same quantile as `q` of the lower bounds of the draws: the quantile of the exact Q is not below it.
    """

    estimate: float
    q: float
    confidence_level: float
    draws: Draws = field(repr=False)
    problem: Problem = field(repr=False)
    polish: Polish | None = field(repr=False, default=None)
    tuned_by: tuple[str, ...] = field(repr=False, default=())
    search: Search = field(repr=False, default=Search())
    metric: Metric = field(repr=False, default=ERROR)
    based_on: str = field(repr=False, default="")
    joint: JointDraws | None = field(repr=False, default=None)
    q_lower: float = field(repr=False, default=np.nan)

    @property
    def raw_interval(self) -> ConfidenceInterval:
        """``[estimate - q, estimate + q]``, which may extend beyond the range of the metric."""
        return ConfidenceInterval(self.estimate - self.q, self.estimate + self.q)

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The raw interval clipped to the range of the metric."""
        return self.raw_interval.clipped(*self.metric.limits())

    @property
    def certified(self) -> bool:
        """Whether `q` is shown to be the quantile of the exact Q: `q` and `q_lower` are equal."""
        return self.q_lower == self.q

    @property
    def localization(self) -> float:
        """Localization rate that was used, on the scale of the mean loss."""
        return self.problem.localization

    @property
    def n_single_class_draws(self) -> int:
        """Number of draws with only one class."""
        sums = self.problem.counts @ self.problem.labels
        return int((np.abs(sums) == self.problem.counts.sum(axis=1)).sum())

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for readers of the interval: whether it is proved, and changes to the classifier."""
        if self.search.all_draws and self.draws.certified.all():
            remarks = ["all draws solved exactly"]
        elif self.certified:
            remarks = ["half-width computed exactly"]
        else:
            remarks = [f"q of the mean loss {within(self.q_lower, self.q)}, upper value used"]
        if self.n_single_class_draws:
            remarks.append(f"{self.n_single_class_draws} single-class draws")
        if self.polish is not None:
            remarks.append(str(self.polish))
        if self.joint is not None:
            others = [metric.name for metric in self.joint.metrics if metric != self.metric]
            remarks.append(f"together with {enumerated(others)}")
        if self.tuned_by:
            remarks.append(f"tuning by {', '.join(self.tuned_by)} not resampled")
        return tuple(remarks)

    @public_call
    def at(self, *, confidence_level: float | None = None, limits: SearchLimits | None = None) -> Self:
        """Return the result at another level, or from a search with other limits.

        The search continues from the proved bounds, and only if these do not suffice for the level.

        Parameters
        ----------
        confidence_level : float or None, default=None
            In (0, 1); None keeps that of this result.
        limits : SearchLimits or None, default=None
            The limits and the solver for continuing the search; None keeps those of the call that returned this result,
            and continues only for another level. With ``all_draws=True``, draws are solved again only for other limits.

        Raises
        ------
        ValueError
            If an argument is out of range.
        KeyboardInterrupt
            On Ctrl-C; its message has the bounds proved so far.

        Warns
        -----
        NotCertifiedWarning
            If a limit, or rounding, also stops this search early.
        """
        level = self.confidence_level
        if confidence_level is not None:
            level = check_confidence_level(confidence_level)
        search = self.search
        if limits is not None:
            search = replace(search, limits=check_settings("limits", limits, NO_LIMITS, "seconds=60"))
        result = self._at(level)
        proved = self.draws.certified.all() if search.all_draws else result.certified
        if proved or (limits is None and (search.all_draws or level == self.confidence_level)):
            return result
        if self.joint is None:
            result = replace(result, search=search, draws=search.run(self.problem, level, self.draws))
        else:
            result = replace(result, search=search, joint=self.joint.at(level, search))
        result = result._at(level)
        if not result.certified:
            warn(search_ended(result.draws, result.q_lower, result.q))
        return result

    def _at(self, level: float) -> Self:
        """Return the result with the quantiles of the lower and of the upper bounds of the draws at a level."""
        if self.joint is not None:
            lower, upper = (self.metric.scale * bound for bound in self.joint.bracket(level))
        else:
            lower, upper = (inverted_cdf_quantile(of, level) for of in (self.draws.lower, self.draws.upper))
        return replace(self, confidence_level=level, q=upper, q_lower=lower)


def solve_bounds(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    family: Sequence[MetricRows],
    *,
    confidence_level: float,
    localization: float,
    search: Search = Search(),  # noqa: B008 - frozen, so that one default serves all calls
) -> tuple[CudBound, ...]:
    """Return the CUD bound of a model on given draws for each metric of a family; see `cudbound.cud_interval`.

    Those of several metrics hold together, with one half-width on the scale of the mean loss.

    Warns
    -----
    NotCertifiedWarning
        If a limit, or rounding, stopped the search before the quantile was proved.
    """
    problems = [model.problem(counts, localization, rows.score_weights(counts)) for rows in family]
    joint = None
    if len(family) == 1:
        draws = [search.run(problems[0], confidence_level)]
    else:
        problem = joint_problem(model, counts, family, localization)
        solved = search_joint(problem, len(family), confidence_level, search)
        joint = JointDraws(problem, solved, tuple(metric_rows.metric for metric_rows in family))
        draws = list(map(joint.of, range(len(family))))
    alone, wrong = joint is None and family[0].plain, model.training_errors
    bounds = tuple(
        CudBound(
            estimate=rows.metric.from_loss(float(wrong.mean())) if alone else rows.value(wrong),
            q=np.nan,
            confidence_level=confidence_level,
            draws=of_metric,
            problem=problem,
            polish=model.polish,
            tuned_by=model.tuned_by,
            search=search,
            metric=rows.metric,
            based_on="" if alone else rows.based_on,
            joint=joint,
        )._at(confidence_level)
        for rows, of_metric, problem in zip(family, draws, problems, strict=True)
    )
    if not bounds[0].certified:
        lower, upper = (bounds[0].q_lower, bounds[0].q) if joint is None else joint.bracket(confidence_level)
        warn(search_ended((joint or bounds[0]).draws, lower, upper))
    return bounds


def joint_problem(
    model: AdditiveModel, counts: NDArray[np.int32], metric_rows: Sequence[MetricRows], localization: float
) -> Problem:
    """Return the draws of several metrics, first those of the first metric, on the scale of their mean losses."""
    weights = []
    for rows in metric_rows:
        scored = rows.score_weights(counts)
        weights.append((counts - 1.0) / counts.shape[1] if scored is None else scored / rows.metric.scale)
    return model.problem(np.tile(counts, (len(metric_rows), 1)), localization, np.concatenate(weights))


def search_joint(
    problem: Problem, n_metrics: int, confidence_level: float, search: Search, previous: Draws | None = None
) -> Draws:
    """Solve draws of several metrics until the quantile of the largest value over the metrics of each draw is known.

    With a values above that quantile, the value of all metrics together that has as many above it is not below it, and
    equal to it unless a draw has several of the larger ones. For each that is, one more order statistic is needed.
    """
    n_draws = problem.n_draws // n_metrics
    n_above = n_draws - quantile_rank(n_draws, confidence_level)
    rank, draws = problem.n_draws - n_above, previous
    while True:
        draws = search.run(problem, confidence_level, draws, rank)
        lower, value = draws.bracket(rank)
        as_large = int((draws.lower.reshape(n_metrics, -1).max(axis=0) >= value).sum())
        if lower < value or as_large > n_above or search.all_draws:
            return draws
        rank -= n_above + 1 - as_large
