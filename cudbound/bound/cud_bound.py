"""The CUD bound of one metric: its settings, the quantile of Q over draws, and what was proved about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import public_call, warn
from cudbound.basis.outcomes import ConfidenceInterval
from cudbound.basis.proportions import inverted_cdf_quantile, within
from cudbound.basis.validation import check_confidence_level, check_flag, check_localization, check_settings
from cudbound.bound.joint import JointDraws, solve_joint
from cudbound.metrics.metric import ERROR, Metric, MetricRows
from cudbound.problem.draws import Draws
from cudbound.problem.problem import AdditiveModel, Polish, Problem
from cudbound.solve.limits import SearchLimits
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search, search_ended


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
        remarks report how far it is from the fitted one. Other intervals are for the classifier as fitted.
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

    @property
    def training_loss(self) -> float:
        """Underlying mean loss of the estimate, in [0, 1]: the training error, or 1 - training sensitivity, ..."""
        return self.metric.to_loss(self.estimate)

    @property
    def loss_q(self) -> float:
        """Half-width on the scale of the mean loss."""
        return self.q / self.metric.scale

    @property
    def raw_interval(self) -> ConfidenceInterval:
        """``[estimate - q, estimate + q]``, which may extend beyond the range of the metric."""
        return ConfidenceInterval(self.estimate - self.q, self.estimate + self.q)

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The raw interval clipped to the range of the metric."""
        return self.raw_interval.clipped(*self.metric.range)

    @property
    def certified(self) -> bool:
        """Whether `q` is shown to be the quantile of the exact Q: `q` and `q_lower` are equal."""
        return self.q_lower == self.q

    @property
    def q_lower(self) -> float:
        """The same quantile of the lower bounds of the draws: the quantile of the exact Q is not below it."""
        if self.joint is not None:
            return self.metric.scale * self.joint.bracket(self.confidence_level)[0]
        return inverted_cdf_quantile(self.draws.lower, self.confidence_level)

    @property
    def localization(self) -> float:
        """Localization rate that was used, on the scale of the mean loss."""
        return self.problem.localization

    @property
    def n_single_class_draws(self) -> int:
        """Number of draws with only one class."""
        positives = self.problem.counts[:, self.problem.labels > 0].sum(axis=1)
        totals = self.problem.counts.sum(axis=1)
        return int(((positives == 0) | (positives == totals)).sum())

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for readers of the interval: whether it is proved, and changes to the classifier."""
        if self.search.all_draws and self.draws.certified.all():
            remarks = ["all draws solved exactly"]
        elif self.certified:
            remarks = ["draws solved exactly as far as needed"]
        else:
            remarks = [f"q of the mean loss {within(self.q_lower, self.q)}, upper value used"]
        if self.n_single_class_draws:
            remarks.append(f"{self.n_single_class_draws} single-class draws")
        if self.polish is not None:
            remarks.append(str(self.polish))
        if self.joint is not None:
            remarks.append(f"together with {self.joint.other_metrics(self.metric)}")
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
        level = (
            self.confidence_level if confidence_level is None else check_confidence_level(confidence_level)
        )
        search = (
            self.search
            if limits is None
            else replace(self.search, limits=check_settings("limits", limits, SearchLimits, "seconds=60"))
        )
        result = self._at(level, self.draws)
        proved = self.draws.certified.all() if search.all_draws else result.certified
        if proved or (limits is None and (search.all_draws or level == self.confidence_level)):
            return result
        result = replace(self, search=search)
        if self.joint is None:
            result = result._at(level, search.run(self.problem, level, self.draws))
        else:
            result = replace(result, joint=self.joint.at(level, search))._at(level, self.draws)
        if not result.certified:
            warn(search_ended(search, result.draws, result.q_lower, result.q))
        return result

    def _at(self, level: float, draws: Draws) -> Self:
        q = inverted_cdf_quantile(draws.upper, level)
        if self.joint is not None:
            q = self.metric.scale * self.joint.bracket(level)[1]
        return replace(self, confidence_level=level, draws=draws, q=q)


def solve_bound(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    *,
    confidence_level: float,
    localization: float,
    search: Search = Search(),  # noqa: B008 - frozen, so that one default serves all calls
    metric_rows: MetricRows | None = None,
) -> CudBound:
    """Return the CUD bound of a model on given draws; see `cudbound.cud_interval`.

    `metric_rows` are those of the metric, None those of the error.
    """
    metric_rows = MetricRows(ERROR, model.labels > 0.0) if metric_rows is None else metric_rows
    problem = draws_problem(model, counts, localization, metric_rows.score_weights(counts))
    draws = search.run(problem, confidence_level)
    result = CudBound(
        estimate=metric_rows.metric.from_loss(model.training_error)
        if metric_rows.plain
        else metric_rows.value(model.training_errors),
        q=inverted_cdf_quantile(draws.upper, confidence_level),
        confidence_level=confidence_level,
        draws=draws,
        problem=problem,
        polish=model.polish,
        tuned_by=model.tuned_by,
        search=search,
        metric=metric_rows.metric,
        based_on="" if metric_rows.plain else metric_rows.based_on,
    )
    if not result.certified:
        warn(search_ended(result.search, result.draws, result.q_lower, result.q))
    return result


def solve_joint_bounds(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    metric_rows: Sequence[MetricRows],
    *,
    confidence_level: float,
    localization: float,
    search: Search = Search(),  # noqa: B008 - as above
) -> tuple[CudBound, ...]:
    """Return simultaneous CUD bounds of several metrics, with one half-width; see `solve_joint`."""
    joint = solve_joint(
        model,
        counts,
        metric_rows,
        confidence_level=confidence_level,
        localization=localization,
        search=search,
    )
    _, q = joint.bracket(confidence_level)
    return tuple(
        CudBound(
            estimate=rows.value(model.training_errors),
            q=rows.metric.scale * q,
            confidence_level=confidence_level,
            draws=joint.of(number),
            problem=draws_problem(model, counts, localization, rows.score_weights(counts)),
            polish=model.polish,
            tuned_by=model.tuned_by,
            search=search,
            metric=rows.metric,
            based_on=rows.based_on,
            joint=joint,
        )
        for number, rows in enumerate(metric_rows)
    )
