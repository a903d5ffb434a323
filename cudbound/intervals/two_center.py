"""The recommended interval, from cudbound: binomial limits around the cross-validated and the .632+ estimate.

Each metric is a mean loss: the share of misclassified rows, one minus the AUC, the Brier score. Two estimates of it are
the centers, and a third protects the upper limit:

    cv   the mean loss of 5 times 10-fold cross-validation, on rows that no refit has seen
    e    the .632+ estimate, which can vary less
    b    the out-of-bag loss Err(1), which is usually too high

The limits are those of n new cases with the mean loss min(cv, e) for the lower one, and max(cv, e, (cv + b)/2) for the
upper one. A classifier with few columns that makes no training error may make no errors at all: its lower limit is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from cudbound.basis.method_card import GROUPED
from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.basis.results import ConfidenceInterval, Outcome
from cudbound.basis.words import format_proportion
from cudbound.intervals.method import Method
from cudbound.point_estimates import auc, bootstrap_632
from cudbound.records import DESIGN, LOSSES, SCORES, FoldLosses, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import STRATIFIED_FOLDS

NO_PAIR_IN_A_FOLD = "undefined: no event and non-event were ever in one fold; use larger folds"
#: A linear classifier without a training error may have no error at all if its matrix has at most this rank per row.
FEW_COLUMNS = 1.0 / 3.0
#: Details that are exchanged if a metric is one minus the loss, and details that are not losses.
OTHER_SIDE = {
    f"{side}_{what}": f"{other}_{what}"
    for side, other in (("lower", "upper"), ("upper", "lower"))
    for what in ("center", "size")
}
NO_LOSSES = ("lower_size", "upper_size", "variance", "new_size", "new_worse_pvalue")
#: Weight in the variance of one unseen case with the largest loss: without it, a hidden subgroup is missed.
UNSEEN = 0.25


@dataclass(frozen=True)
class Centers:
    """Estimates of the mean loss of one classifier, each in [0, 1], and the number of cases behind the limits.

    Attributes
    ----------
    training : float
        T, on the training rows.
    cross_validated : float
        cv.
    out_of_bag : float
        Err(1).
    plus : float
        The .632+ estimate.
    size : callable
        ``size(center)``: number of zeros and ones whose mean varies like that of the losses.
    may_be_perfect : bool, default=False
        Whether the lower limit is 0 whatever the centers are.
    remarks : tuple of str
    further : mapping of str to float
        Further details.

    Examples
    --------
    >>> centers = Centers(0.1, 0.2, 0.3, 0.25, lambda center: 50.0)
    >>> centers.low, centers.high, [round(limit, 3) for limit in centers.limits(0.95)]
    (0.2, 0.25, [0.1, 0.393])
    """

    training: float
    cross_validated: float
    out_of_bag: float
    plus: float
    size: Callable[[float], float]
    may_be_perfect: bool = False
    remarks: tuple[str, ...] = ()
    further: Mapping[str, float] = field(default_factory=dict)

    @property
    def low(self) -> float:
        """The center of the lower limit."""
        return min(self.cross_validated, self.plus)

    @property
    def high(self) -> float:
        """The center of the upper limit."""
        return max(self.cross_validated, self.plus, (self.cross_validated + self.out_of_bag) / 2.0)

    def limits(self, confidence_level: float) -> ConfidenceInterval:
        """Return the limits of the mean loss, within [0, 1] and of positive width."""
        lower, upper = self.size(self.low), self.size(self.high)
        low, _ = inverted_binomial_limits(lower * self.low, lower, confidence_level)
        _, high = inverted_binomial_limits(upper * self.high, upper, confidence_level)
        return ConfidenceInterval(0.0 if self.may_be_perfect else float(low), float(high))


def centers_of(records: Records) -> Centers | str:
    """Return the centers of the mean loss and the cases behind them, or why they are undefined.

    The loss is that of the records: whether a row is misclassified or its cost, the squared error, or 1 - AUC.
    """
    if records.kind == "scores":
        return _centers_of_scores(records)
    training, no_information = (
        float(np.mean(records.require(LOSSES))),
        bootstrap_632.no_information_of(records),
    )
    # of rows that do not count alike the mean over those that were left out may be above 1
    out_of_bag = min(bootstrap_632.out_of_bag_error(records), 1.0)
    plus = bootstrap_632.error_632_plus(training, out_of_bag, no_information).estimate
    if math.isnan(plus):
        return bootstrap_632.NOTHING_OUT_OF_BAG
    partitions = records.require(STRATIFIED_FOLDS).partitions
    cross_validated = float(np.mean([np.mean(partition.losses) for partition in partitions]))
    n, groups, remarks = bootstrap_632.effective_rows(records), records.groups, list[str]()
    if groups is not None:
        effect = f"design effect {bootstrap_632.design_effect(records):.3g} of the out-of-bag losses"
        remarks.append(f"{records.n_samples} rows counted as {n:.1f}: {effect}")
    estimates = training, cross_validated, out_of_bag, plus
    if records.kind == "probabilities":
        variance = bootstrap_632.brier_variance(records)
        further = {"no_information": no_information, "variance": variance}
        size = partial(brier_size, variance=variance, n=n)
        return Centers(*estimates, size, remarks=tuple(remarks), further=further)
    rank = math.nan if records.design is None else records.design.rank
    units = records.n_samples if groups is None else groups.n_groups
    may_be_perfect = training == 0.0 and rank <= FEW_COLUMNS * units
    n /= cost_factor(records.square_ratio, 0.0 if may_be_perfect else min(cross_validated, plus))
    further = {"no_information": no_information, "rank": rank}
    return Centers(*estimates, lambda _: n, may_be_perfect, tuple(remarks), further)


def _centers_of_scores(records: Records) -> Centers | str:
    if min(records.n_events, records.n_samples - records.n_events) < 2:
        return auc.ONE_ROW
    areas = auc.auc_estimates(records)
    cross_validated = auc_within_folds(records.require(STRATIFIED_FOLDS).partitions, records.event)
    if math.isnan(areas.out_of_bag) or math.isnan(cross_validated):
        return auc.NO_PAIR if math.isnan(areas.out_of_bag) else NO_PAIR_IN_A_FOLD
    sizes, remarks = auc.AucSize.of(records), list[str]()
    if sizes.shrinkage < 1.0:
        share = format_proportion(sizes.shrinkage)
        remarks.append(f"cases counted as {share} of their number: rows of a group vary together")
    if areas.n_never:
        remarks.append(f"pairs never out of bag together, left out of the out-of-bag AUC: {areas.n_never}")
    return Centers(
        1.0 - areas.training,
        1.0 - cross_validated,
        1.0 - areas.out_of_bag,
        1.0 - areas.plus,
        lambda center: sizes.at(1.0 - center),
        remarks=tuple(remarks),
        further={"variance": sizes.variance},
    )


def _outcome(records: Records, confidence_level: float) -> Outcome:
    centers = centers_of(records)
    if isinstance(centers, str):
        return Outcome.undefined(centers)
    remarks = centers.remarks
    if centers.may_be_perfect and centers.low > 0.0:
        remarks = (*remarks, "no training error with few columns: lower limit 0")
    details = {
        "training": centers.training,
        "cross_validated": centers.cross_validated,
        "at_632_plus": centers.plus,
        "out_of_bag": centers.out_of_bag,
        "lower_center": centers.low,
        "upper_center": centers.high,
        "lower_size": centers.size(centers.low),
        "upper_size": centers.size(centers.high),
        **centers.further,
    }
    outcome = Outcome(
        (centers.cross_validated + centers.plus) / 2.0,
        centers.limits(confidence_level),
        remarks=remarks,
        details={name: value for name, value in details.items() if not math.isnan(value)},
        center="mean of cross-validated and .632+",
    )
    return of_complement(outcome) if records.kind == "scores" else outcome


def of_complement(outcome: Outcome) -> Outcome:
    """Return the outcome for one minus a mean loss, such as the AUC, or back: limits and their details change sides."""
    limits, details = outcome.raw_interval, outcome.details
    turned = {name: details[OTHER_SIDE.get(name, name)] for name in details}
    return replace(
        outcome,
        estimate=1.0 - outcome.estimate,
        raw_interval=ConfidenceInterval(1.0 - limits.high, 1.0 - limits.low),
        details={name: value if name in NO_LOSSES else 1.0 - value for name, value in turned.items()},
    )


def _of_classes(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits around the cross-validated and the .632+ estimate.

    Formula: low = lo(n l; n), high = up(n h; n); l is the smaller of cv and e, h the largest of cv, e and (cv +
    b)/2; cv is the mean loss of 5 times 10-fold stratified cross-validation, e the .632+ estimate, b Err(1); low =
    0 if T is 0 and the rank of a linear classifier is at most a third of the rows, or groups.
    Assumptions: one of the two centers is near the error of this classifier, and varies as if observed on n new
    cases.
    Tendency: for two classes in the registered study, which was stopped early, it reached its level in 129 of 130
    settings; run again, the coverage in the other was .940; can be too short if many cases lie on the decision
    boundary.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995).
    Reference with groups: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934);
    Efron and Tibshirani (1997); Kohavi (1995); Kish (1965).
    """
    outcome = _outcome(records, confidence_level)
    # rows of groups, and those that do not count alike
    unequal = records.n_effective != records.n_samples and not math.isnan(outcome.estimate)
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

    Formula: low = lo(ne l; ne), high = up(ne h; ne); l is the smaller of cv and e, h the largest of cv, e and (cv +
    b)/2; cv is the mean loss of 5 times 10-fold stratified cross-validation, e the .632+ estimate, b Err(1); ne(c),
    at least n, is the number of 0/1 losses whose mean varies like that of the squared errors and a quarter of an
    unseen case.
    Assumptions: one of the two centers is near the error of this classifier, and varies as if observed on n new
    cases.
    Tendency: in the registered study, which was stopped early, it reached its level in 92 of 94 settings; run again,
    the lowest coverage in the others was .922.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995).
    Reference with groups: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934);
    Efron and Tibshirani (1997); Kohavi (1995); Kish (1965).
    """
    return _outcome(records, confidence_level)


def _of_scores(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits around the cross-validated and the .632+ estimate.

    Formula: low = lo(ne l; ne), high = up(ne h; ne), for the loss 1 - AUC; l is the smaller of cv and e, h the
    largest of cv, e and (cv + b)/2; cv is the loss over pairs within the folds of 5 times 10-fold stratified
    cross-validation, e the .632+ estimate, b the loss over pairs out of bag; ne(c) gives the
    larger of the variance of Hanley and McNeil and that of DeLong on the training scores, but is at least the rows, or
    groups, of the rarer class, to which it decreases near an AUC of 1.
    Assumptions: one of the two centers is near the error of this classifier, and varies as if observed on n new
    cases.
    Tendency: in the registered study, which was stopped early, it reached its level in 94 of 97 settings; run again,
    the lowest coverage in the others was .890.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Hanley and McNeil (1982); DeLong et al. (1988); Newcombe (2006).
    Reference with groups: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934);
    Efron and Tibshirani (1997); Kohavi (1995); Hanley and McNeil (1982); Obuchowski (1997); Newcombe (2006).
    """
    return _outcome(records, confidence_level)


def auc_within_folds(partitions: Iterable[FoldLosses], event: auc.Bools) -> float:
    """Return the share of pairs of an event and a non-event of the same fold that are ranked correctly.

    Ties count one half, and so does every pair of a fold whose classifier was fitted to one class. nan without a pair.

    Examples
    --------
    >>> folds = FoldLosses(None, [0, 0, 1, 1], scores=[0.1, 0.9, 0.8, 0.7])
    >>> auc_within_folds([folds], np.array([True, False, True, False]))
    0.5
    """
    won, pairs = 0.0, 0
    for folds in partitions:
        for number in range(folds.n_folds):
            tested, of_events = folds.scores[folds.fold == number], event[folds.fold == number]
            if np.isnan(tested).any():
                tested = np.zeros(tested.size)
            shares = auc.shares_won(auc.order_codes(tested), of_events)
            won, pairs = won + shares.sum(), pairs + shares.size
    return float(won / pairs) if pairs else math.nan


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
