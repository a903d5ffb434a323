"""A metric: a weighted mean of the losses of some rows, reported as it is or as one minus it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Kind, Needs
from cudbound.basis.results import ConfidenceInterval
from cudbound.basis.validation import Array, check_number
from cudbound.basis.words import counted, format_divided_level

Bools = NDArray[np.bool_]

#: Where a mean loss lies.
WHOLE = ConfidenceInterval(0.0, 1.0)

#: What a one-sided alternative about a metric says of the loss behind it, where the metric is one minus that.
_MIRRORED = {"two-sided": "two-sided", "less": "greater", "greater": "less"}


@dataclass(frozen=True)
class Metric:
    """A quantity that is linear in the misclassification indicators of the rows.

    It is based on a mean loss in [0, 1]: of all rows, or of each class separately, combined with `shares`. Every method
    that is linear in losses bounds that mean; the metric is `scale` times it, or one minus it.

    Attributes
    ----------
    name : str
        Its name in ``metric=``.
    shares : tuple of float or None, default=None
        Weights of the mean loss of the non-events and of the events, two non-negative numbers with the sum 1; None
        means the mean over all rows.
    costs : tuple of float, default=(1.0, 1.0)
        Costs of a misclassified non-event and of a misclassified event; at least one is positive.
    complement : bool, default=False
        Whether the metric is one minus the mean loss, like sensitivity: `top` minus `scale` times it.
    reads : {"classes", "scores", "probabilities"}, default="classes"
        The output of the classifier that it uses. The AUC compares the scores of pairs of cases, and the Brier score is
        the mean squared error of probabilities: neither is a function of which rows are wrong.
    top : float, default=1.0
        For a complement: its value if no row is wrong.
    event_class : int or None, default=None
        Which of more than two classes is the event; None for two classes, or if it does not matter.

    Raises
    ------
    ValueError
        If the shares or costs are out of range.

    Examples
    --------
    Twice as much weight on events as on non-events:

    >>> Metric("weighted-error", shares=(1 / 3, 2 / 3)).from_loss(0.25)
    0.25
    """

    name: str
    shares: tuple[float, float] | None = None
    costs: tuple[float, float] = (1.0, 1.0)
    complement: bool = False
    reads: Kind = "classes"
    top: float = 1.0
    event_class: int | None = None

    def __post_init__(self) -> None:
        for cost in self.costs:
            check_number("costs", cost, 0.0, 1e100)
        if len(self.costs) != 2 or not max(self.costs) > 0.0:
            raise ParameterError(
                "costs", "two numbers, one per class, at least one of them positive", self.costs
            )
        if self.shares is not None:
            for share in self.shares:
                check_number("shares", share, 0.0, 1.0 + 1e-9)
            if len(self.shares) != 2 or abs(sum(self.shares) - 1.0) > 1e-9:
                raise ParameterError("shares", "two numbers with the sum 1, or None", self.shares)

    @cached_property
    def scale(self) -> float:
        """The difference of the metric between all counted rows wrong and none wrong."""
        return float(max(self.costs))

    @cached_property
    def compares_classes(self) -> bool:
        """Whether it averages the classes separately, or compares them with each other."""
        return self.shares is not None or self.reads == "scores"

    def smallest(self, sizes: tuple[int, int]) -> int:
        """Return the number of rows of the smaller class, of those that it averages, from both classes' sizes."""
        return min(size for size, share in zip(sizes, self.shares or (1.0, 1.0), strict=True) if share > 0.0)

    def from_loss(self, loss: float) -> float:
        """Return the value of the metric for a mean loss in [0, 1]."""
        return self.top - self.scale * loss if self.complement else self.scale * loss

    def to_loss(self, value: float) -> float:
        """Return the mean loss, in [0, 1], for a value of the metric."""
        return (self.top - value if self.complement else value) / self.scale

    def limits(self, interval: ConfidenceInterval = WHOLE) -> ConfidenceInterval:
        """Return limits of the metric from those of its mean loss; by default its smallest and largest value."""
        ends = sorted((self.from_loss(interval.low), self.from_loss(interval.high)))
        return ConfidenceInterval(*ends)

    def alternative_of_loss(self, alternative: str) -> str:
        """Convert an alternative about the metric to one about its loss: lower may become upper."""
        return _MIRRORED[alternative] if self.complement else alternative


ERROR = Metric("error")
SENSITIVITY = Metric("sensitivity", shares=(0.0, 1.0), complement=True)
SPECIFICITY = Metric("specificity", shares=(1.0, 0.0), complement=True)
BALANCED_ERROR = Metric("balanced-error", shares=(0.5, 0.5))
ACCURACY = Metric("accuracy", complement=True)
BALANCED_ACCURACY = Metric("balanced-accuracy", shares=(0.5, 0.5), complement=True)
FPR = Metric("fpr", shares=(1.0, 0.0))
FNR = Metric("fnr", shares=(0.0, 1.0))
AUC = Metric("auc", reads="scores")
BRIER = Metric("brier", reads="probabilities")

#: Metrics that need nothing but their name.
METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        *(ERROR, ACCURACY, SENSITIVITY, SPECIFICITY, FPR, FNR, BALANCED_ERROR, BALANCED_ACCURACY),
        *(AUC, BRIER),
    )
}


@dataclass(frozen=True, eq=False)
class MetricRows:
    """A metric on the rows of one training set, and the levels of its intervals, which are computed only here.

    Attributes
    ----------
    metric : Metric
    event : ndarray of bool, shape (n_samples,)
        Which rows are events.
    sample_weight : ndarray of float, shape (n_samples,), or None
        Weights of the rows within each average; None means equal weights.
    family : tuple of Metric
        The metrics whose intervals are simultaneous with this one, including itself.
    family_level : float
        Level of the family, and of methods that bound the family as a whole.
    alternative : {"two-sided", "less", "greater"}
        About the metric.
    of_pair : bool, default=False
        Whether it is one of a simultaneous pair of sensitivity and specificity behind a likelihood ratio.
    """

    metric: Metric
    event: Bools
    sample_weight: Array | None = None
    family: tuple[Metric, ...] = ()
    family_level: float = 0.95
    alternative: str = "two-sided"
    of_pair: bool = False

    @property
    def plain(self) -> bool:
        """Whether its mean loss is the plain error: all rows, equally weighted, without costs."""
        is_error = self.metric.reads == "classes" and self.metric.shares is None
        return is_error and self.sample_weight is None and self.metric.costs == (1.0, 1.0)

    @cached_property
    def weights(self) -> Array:
        """Weight of each row in the mean loss; they sum to 1."""
        return np.asarray(sum(share * np.divide(row, row.sum()) for row, share in self._parts))

    @cached_property
    def rows(self) -> Bools:
        """Which rows count."""
        return np.asarray(self.weights > 0.0)

    @cached_property
    def severity(self) -> Array:
        """Loss of each row if misclassified, in [0, 1]: its cost as a share of the largest."""
        return np.asarray(
            np.where(self.event, self.metric.costs[1], self.metric.costs[0]) / self.metric.scale
        )

    @cached_property
    def losses(self) -> Array:
        """Share of each row in the mean loss if it is misclassified."""
        return np.asarray(self.weights * self.severity)

    @property
    def n_effective(self) -> float:
        """Effective sample size: the number of equally weighted rows whose mean has the same variance.

        References
        ----------
        Kish, L. (1965). Survey sampling. Wiley, section 11.7.
        """
        used = self.weights[self.rows]
        if np.ptp(used) == 0.0:
            return float(used.size)
        return float(1.0 / np.square(used).sum())

    @property
    def based_on(self) -> str:
        """The number of rows behind the metric, in words."""
        n_events, n_others = (int((self.rows & group).sum()) for group in (self.event, ~self.event))
        words = ((n_events, "event"), (n_others, "non-event"))
        return " and ".join(counted(size, word) for size, word in words if size)

    def mean_loss(self, wrong: NDArray[np.bool_]) -> float:
        """Return the mean loss, in [0, 1], of a classifier that misclassifies these rows."""
        return float(self.losses @ wrong)

    def value(self, wrong: NDArray[np.bool_]) -> float:
        """Return the metric of a classifier that misclassifies these rows."""
        return self.metric.from_loss(self.mean_loss(wrong))

    def lacking(self, counts: NDArray[np.integer[Any]]) -> Bools:
        """Return the draws without a row of a class that is averaged separately, shape (n_draws,)."""
        drawn = [counts @ (row > 0.0).astype(np.int64) for row, _ in self._parts]
        return np.asarray(np.min(drawn, axis=0) == 0)

    def draw_weights(self, counts: NDArray[np.integer[Any]]) -> Array:
        """Return the weight of each row in the mean loss on each draw, shape (n_draws, n_samples); rows sum to 1.

        Every draw must have a row of each class that is averaged separately.
        """
        weights = np.zeros(counts.shape)
        for row, share in self._parts:
            drawn = counts * row
            weights += share * drawn / drawn.sum(axis=1, keepdims=True)
        return weights

    def score_weights(self, counts: NDArray[np.integer[Any]]) -> Array | None:
        """Return the signed weights of misclassified rows: mean loss on the draw minus that on the training set.

        They are on the scale of the metric, including costs. None means those of the plain error.

        References
        ----------
        Laber and Murphy (2008), section 4, for the plain error.
        """
        if self.plain:
            totals, n = counts.sum(axis=1, keepdims=True), counts.shape[1]
            # the shares in the draw minus those in the training set, exactly 0 where both are equal
            return None if (totals == n).all() else np.asarray((n * counts - totals) / (n * totals))
        return np.asarray((self.draw_weights(counts) - self.weights) * self.severity * self.metric.scale)

    @cached_property
    def _parts(self) -> tuple[tuple[Array, float], ...]:
        """Weights of the rows of one average, and its share."""
        weights = np.ones(self.event.size) if self.sample_weight is None else self.sample_weight
        if self.metric.shares is None:
            return ((weights, 1.0),)
        groups = zip((~self.event, self.event), self.metric.shares, strict=True)
        return tuple((weights * group, share) for group, share in groups if share > 0.0)

    @property
    def cud_metrics(self) -> tuple[Metric, ...]:
        """The metrics of the family that depend on the classes, which are bounded together."""
        return tuple(metric for metric in self.family if metric.reads == "classes")

    @property
    def cud_level(self) -> float:
        """The joint level of these, after Bonferroni's inequality for the family."""
        if len(self.cud_metrics) == len(self.family):
            return self.family_level
        return 1.0 - (1.0 - self.level_per_interval) * len(self.cud_metrics)

    @property
    def level_per_interval(self) -> float:
        """Level of each interval of the other methods, by Bonferroni's inequality: the error probability is divided."""
        n_intervals = len(self.family)
        return self.family_level if n_intervals == 1 else 1.0 - (1.0 - self.family_level) / n_intervals

    def level_and_remarks(self, needs: Needs) -> tuple[float, tuple[str, ...]]:
        """Return the level of a method that uses these records, and a remark on the intervals that hold with it."""
        if len(self.family) == 1:
            return self.family_level, ()
        of_family = any(kind.per == "family" for kind in needs)
        level = self.cud_level if of_family else self.level_per_interval
        apart = self.cud_metrics if of_family else (self.metric,)
        others = " and ".join(metric.name for metric in self.family if metric not in apart)
        return level, (f"together with {others}: each at {format_divided_level(level)}",) if others else ()
