"""The recommended interval, from cudbound: binomial limits around the cross-validated and the .632+ estimate.

Each metric is a mean loss: the share of misclassified rows, one minus the AUC, the Brier score. Two estimates of it are
the centers, and a third protects the upper limit:

    cv   the mean loss of 5 times 10-fold cross-validation, which has nearly no bias
    e    the .632+ estimate, which varies less
    b    the out-of-bag loss Err(1), which is too high

The limits are those of n new cases with the mean loss min(cv, e) for the lower one, and max(cv, e, (cv + b)/2) for the
upper one. A classifier with few columns that makes no training error may make no errors at all: its lower limit is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cudbound.basis.method_card import GROUPED
from cudbound.basis.outcomes import ConfidenceInterval, Outcome
from cudbound.basis.proportions import inverted_binomial_tails
from cudbound.basis.rounding import format_proportion
from cudbound.intervals.method import Method
from cudbound.point_estimates.auc import (
    NO_PAIR,
    ONE_ROW,
    AucSize,
    Bools,
    auc_estimates,
    order_codes,
    weighted_auc,
)
from cudbound.point_estimates.bootstrap_632 import (
    NOTHING_OUT_OF_BAG,
    brier_variance,
    design_effect,
    effective_rows,
    error_632_plus,
    no_information_of,
    out_of_bag_error,
)
from cudbound.records import DESIGN, LOSSES, SCORES, FoldLosses, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import STRATIFIED_FOLDS

NO_PAIR_IN_A_FOLD = "undefined: no event and non-event were ever in one fold; use larger folds"
#: A linear classifier without a training error may have no error at all if its matrix has at most this rank per row.
FEW_COLUMNS = 1.0 / 3.0
#: Details that are exchanged if a metric is one minus the loss, and details that are not losses.
OTHER_SIDE = {
    "lower_center": "upper_center",
    "upper_center": "lower_center",
    "lower_size": "upper_size",
    "upper_size": "lower_size",
}
NO_LOSSES = ("lower_size", "upper_size", "variance", "new_size", "n_new", "new_worse_pvalue")
#: Weight in the variance of one unseen case with the largest loss: without it, a hidden subgroup is missed.
UNSEEN = 0.25


@dataclass(frozen=True)
class Centers:
    """Estimates of the mean loss of one classifier, each in [0, 1].

    Attributes
    ----------
    training : float
        T, on the training rows.
    cross_validated : float
        cv; nan if no row or pair was tested.
    out_of_bag : float
        Err(1); nan if no row or pair was ever out of bag.
    plus : float
        The .632+ estimate.
    may_be_perfect : bool, default=False
        Whether the lower limit is 0 whatever the centers are.
    """

    training: float
    cross_validated: float
    out_of_bag: float
    plus: float
    may_be_perfect: bool = False

    @property
    def low(self) -> float:
        """The center of the lower limit."""
        return min(self.cross_validated, self.plus)

    @property
    def high(self) -> float:
        """The center of the upper limit."""
        return max(self.cross_validated, self.plus, (self.cross_validated + self.out_of_bag) / 2.0)

    @property
    def estimate(self) -> float:
        """The mean of both centers."""
        return (self.cross_validated + self.plus) / 2.0


def limits(
    centers: Centers, size: Callable[[float], float], confidence_level: float
) -> tuple[ConfidenceInterval, float, float]:
    """Return the limits of the mean loss, and the number of cases behind each.

    Parameters
    ----------
    centers : Centers
    size : callable
        ``size(center)``: number of zeros and ones whose mean varies like that of the losses.
    confidence_level : float
        Each tail has half of the error probability.

    Returns
    -------
    interval : ConfidenceInterval
        Within [0, 1], of positive width.
    lower_size, upper_size : float

    Examples
    --------
    >>> interval, *_ = limits(Centers(0.1, 0.2, 0.3, 0.25), lambda _: 50.0, 0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.1, 0.393)
    """
    tail = (1.0 - confidence_level) / 2.0
    lower, upper = size(centers.low), size(centers.high)
    low = (
        0.0 if centers.may_be_perfect else inverted_binomial_tails(lower * centers.low, lower, tail, tail)[0]
    )
    high = inverted_binomial_tails(upper * centers.high, upper, tail, tail)[1]
    return ConfidenceInterval(float(low), float(high)), lower, upper


def _outcome(
    centers: Centers,
    size: Callable[[float], float],
    confidence_level: float,
    remarks: list[str],
    further: dict[str, float],
) -> Outcome:
    interval, lower, upper = limits(centers, size, confidence_level)
    if centers.may_be_perfect and centers.low > 0.0:
        remarks = [*remarks, "no training error with few columns: lower limit 0"]
    details = {
        "training": centers.training,
        "cross_validated": centers.cross_validated,
        "at_632_plus": centers.plus,
        "out_of_bag": centers.out_of_bag,
        "lower_center": centers.low,
        "upper_center": centers.high,
        "lower_size": lower,
        "upper_size": upper,
        **further,
    }
    return Outcome(
        centers.estimate,
        interval,
        remarks=tuple(remarks),
        details={name: value for name, value in details.items() if not math.isnan(value)},
        center="mean of cross-validated and .632+",
    )


def _centers_of_losses(records: Records) -> Centers:
    losses = np.asarray(records.require(LOSSES))
    partitions = records.require(STRATIFIED_FOLDS).partitions
    training = float(losses.mean())
    # of rows that do not count alike the mean over those that were left out may be above 1
    out_of_bag = min(out_of_bag_error(records), 1.0)
    plus = error_632_plus(training, out_of_bag, no_information_of(records)).estimate
    cross_validated = float(np.mean([np.mean(partition.losses) for partition in partitions]))
    return Centers(training, cross_validated, out_of_bag, plus)


def _of_classes(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits around the cross-validated and the .632+ estimate.

    Formula: low = lo(n l), high = up(n h); l is the smaller of cv and e, h the largest of cv, e and (cv + b)/2; cv is
    the mean loss of 5 times 10-fold stratified cross-validation, e the .632+ estimate, b Err(1); lo and up are
    Clopper-Pearson limits for n cases with d/2 in each tail, extended to fractional numbers of errors; low = 0 if T
    is 0 and the rank is at most n/3.
    Assumptions: one of the two centers is close to the error of this classifier, and varies as if observed on n new
    cases.
    Tendency: in the registered study, which was stopped early, it reached its level in 129 of 130 settings; run
    again, the lowest coverage in the others was .940; too short if many cases lie on the decision boundary.
    Reference: this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and Tibshirani (1997),
    Kohavi (1995).
    Reference with groups: this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and
    Tibshirani (1997), Kohavi (1995), Kish (1965).
    """
    centers = _centers_of_losses(records)
    if math.isnan(centers.plus):
        return Outcome.undefined(NOTHING_OUT_OF_BAG)
    units = records.n_samples if records.groups is None else records.groups.n_groups
    rank = math.nan if records.design is None else records.design.rank
    may_be_perfect = centers.training == 0.0 and rank <= FEW_COLUMNS * units
    n = effective_rows(records) / cost_factor(records.square_ratio, 0.0 if may_be_perfect else centers.low)
    outcome = _outcome(
        replace(centers, may_be_perfect=may_be_perfect),
        lambda _: n,
        confidence_level,
        _counted(records),
        {"no_information": no_information_of(records), "rank": rank},
    )
    # rows of groups, and those that do not count alike
    unequal = records.n_effective != records.n_samples
    return replace(outcome, words=TWO_CENTER.ways[GROUPED]) if unequal else outcome


def cost_factor(ratio: float, lower_center: float) -> float:
    """Return the divisor D of the number of rows n if misclassified rows have different costs.

    A loss s W, with W whether the row is wrong and s its severity in [0, 1], has the mean mu = E[s W] and, since
    W^2 = W, the variance E[s^2 W] - mu^2. With r = E[s^2 W] / E[s W] that is mu (r - mu), and mu (1 - mu) where losses
    are 0 and 1; the mean of n losses so varies as that of n / D zeros and ones, with D = (r - mu) / (1 - mu). As
    s^2 <= s, r <= 1 and D <= 1. The derivative of D by mu is (r - 1) / (1 - mu)^2 <= 0, so that D at the lower center
    is the largest between both centers, and n / D the smallest number.

    Parameters
    ----------
    ratio : float
        r, from out-of-bag losses; nan if unknown.
    lower_center : float
        The smaller estimate of mu, in [0, 1].

    Returns
    -------
    float
        In (0, 1]; 1 if r is unknown or the center is not below r (the variance would be negative: they come from
        different losses).

    Examples
    --------
    >>> cost_factor(1.0, 0.3), cost_factor(0.6, 0.2), cost_factor(0.2, 0.2), cost_factor(np.nan, 0.2)
    (1.0, 0.49999999999999994, 1.0, 1.0)
    """
    if not lower_center < ratio:
        return 1.0
    return (ratio - lower_center) / (1.0 - lower_center)


def _counted(records: Records) -> list[str]:
    """Return how rows of groups were counted, in a few words."""
    if records.groups is None:
        return []
    effect = f"design effect {design_effect(records):.3g} of the out-of-bag losses"
    return [f"{records.n_samples} rows counted as {effective_rows(records):.1f}: {effect}"]


def brier_size(center: float, variance: float, n: float) -> float:
    """Return the number of 0/1 losses whose mean has the same variance as that of n losses with this variance.

    Examples
    --------
    >>> brier_size(0.2, 0.16, 10.0), brier_size(0.0, 0.0, 10.0)
    (10.0, 10.0)
    """
    if center in (0.0, 1.0):
        return n
    largest = center * (1.0 - center)
    return n * largest / min(variance + UNSEEN * (1.0 - center) ** 2 / n, largest)


def _of_probabilities(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits around the cross-validated and the .632+ estimate.

    Formula: low = lo(ne l), high = up(ne h); l is the smaller of cv and e, h the largest of cv, e and (cv + b)/2; cv
    is the mean loss of 5 times 10-fold stratified cross-validation, e the .632+ estimate, b Err(1); lo and up are
    Clopper-Pearson limits for n cases with d/2 in each tail, extended to fractional numbers of errors; ne(c) is the
    number of 0/1 losses whose mean varies like that of the squared errors and a quarter of an unseen case.
    Assumptions: one of the two centers is close to the error of this classifier, and varies as if observed on n new
    cases.
    Tendency: in the registered study, which was stopped early, it reached its level in 92 of 94 settings; run again,
    the lowest coverage in the others was .922.
    Reference: this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and Tibshirani (1997),
    Kohavi (1995).
    Reference with groups: this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and
    Tibshirani (1997), Kohavi (1995), Kish (1965).
    """
    centers = _centers_of_losses(records)
    if math.isnan(centers.plus):
        return Outcome.undefined(NOTHING_OUT_OF_BAG)
    n, variance = effective_rows(records), brier_variance(records)
    return _outcome(
        centers,
        lambda center: brier_size(center, variance, n),
        confidence_level,
        _counted(records),
        {"no_information": records.no_information, "variance": variance},
    )


def _of_scores(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits around the cross-validated and the .632+ estimate.

    Formula: for the loss 1 - AUC: low = lo(ne l), high = up(ne h); l is the smaller of cv and e, h the largest of cv,
    e and (cv + b)/2; cv is the mean loss of 5 times 10-fold stratified cross-validation, e the .632+ estimate, b
    Err(1); lo and up are Clopper-Pearson limits for n cases with d/2 in each tail, extended to fractional numbers of
    errors; ne(c) is the number of cases that gives the variance of Hanley and McNeil or of DeLong, reduced near 1
    down to the rows of the rarer class.
    Assumptions: one of the two centers is close to the error of this classifier, and varies as if observed on n new
    cases.
    Tendency: in the registered study, which was stopped early, it reached its level in 94 of 97 settings; run again,
    the lowest coverage in the others was .890.
    Reference: this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and Tibshirani (1997),
    Kohavi (1995), Hanley and McNeil (1982), DeLong et al. (1988), Newcombe (2006).
    Reference with groups: this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and
    Tibshirani (1997), Kohavi (1995), Hanley and McNeil (1982), Obuchowski (1997), Newcombe (2006).
    """
    if min(records.n_events, records.n_samples - records.n_events) < 2:
        return Outcome.undefined(ONE_ROW)
    auc = auc_estimates(records)
    cross_validated = auc_within_folds(records.require(STRATIFIED_FOLDS).partitions, records.event)
    if math.isnan(auc.out_of_bag) or math.isnan(cross_validated):
        return Outcome.undefined(NO_PAIR if math.isnan(auc.out_of_bag) else NO_PAIR_IN_A_FOLD)
    sizes = AucSize.of(records)
    of_loss = _outcome(
        Centers(1.0 - auc.training, 1.0 - cross_validated, 1.0 - auc.out_of_bag, 1.0 - auc.plus),
        lambda center: sizes.at(1.0 - center),
        confidence_level,
        _remarks_on_pairs(sizes, auc.n_never),
        {"variance": sizes.variance},
    )
    return of_complement(of_loss)


def of_complement(outcome: Outcome) -> Outcome:
    """Return the outcome for one minus a mean loss, such as the AUC, or back."""
    limits = outcome.raw_interval
    return replace(
        outcome,
        estimate=1.0 - outcome.estimate,
        raw_interval=ConfidenceInterval(1.0 - limits.high, 1.0 - limits.low),
        details=_on_its_scale(outcome.details),
    )


def _on_its_scale(details: Mapping[str, float]) -> dict[str, float]:
    """Return details of a loss in terms of one minus it, where the upper limit becomes the lower one."""
    turned = {name: details[OTHER_SIDE.get(name, name)] for name in details}
    return {name: value if name in NO_LOSSES else 1.0 - value for name, value in turned.items()}


def auc_within_folds(partitions: Iterable[FoldLosses], event: Bools) -> float:
    """Return the share of pairs of an event and a non-event of the same fold that are ranked correctly.

    Ties count one half, and so does every pair of a fold whose classifier was fitted to one class. nan without a pair.

    Examples
    --------
    >>> folds = FoldLosses(None, [0, 0, 1, 1], scores=[0.1, 0.9, 0.8, 0.7])
    >>> auc_within_folds([folds], np.array([True, False, True, False]))
    0.5
    """
    won = pairs = 0.0
    for folds in partitions:
        for number in range(folds.n_folds):
            tested, of_events = folds.scores[folds.fold == number], event[folds.fold == number]
            n_pairs = int(of_events.sum()) * int((~of_events).sum())
            if n_pairs:
                if np.isnan(tested).any():
                    tested = np.zeros(tested.size)
                ranked = weighted_auc(order_codes(tested[None]), of_events, np.ones(tested.size))
                won, pairs = won + n_pairs * float(ranked[0]), pairs + n_pairs
    return won / pairs if pairs else math.nan


def _remarks_on_pairs(sizes: AucSize, n_never: int) -> list[str]:
    remarks: list[str] = []
    if sizes.shrinkage < 1.0:
        share = format_proportion(sizes.shrinkage)
        remarks.append(f"cases counted as {share} of their number: rows of a group vary together")
    if n_never:
        remarks.append(f"pairs never out of bag together, left out of the out-of-bag AUC: {n_never}")
    return remarks


TWO_CENTER = Method(
    "two-center",
    {LOSSES, BOOTSTRAP, STRATIFIED_FOLDS, DESIGN},
    cost="B + 50",
    compute=_of_classes,
    variants={
        "scores": {"compute": _of_scores, "needs": {SCORES, BOOTSTRAP, STRATIFIED_FOLDS}},
        "probabilities": {"compute": _of_probabilities, "needs": {LOSSES, BOOTSTRAP, STRATIFIED_FOLDS}},
    },
)
