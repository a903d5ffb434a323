"""The recommended interval, from cudbound: binomial limits around the cross-validated and the .632+ estimate.

Each metric is a mean loss: the share of misclassified rows, one minus the AUC, the Brier score. Two estimates of it are
the centers, and a third protects the upper limit:

    cv   the mean loss of 5 times 10-fold cross-validation, on rows that no refit has seen
    e    the .632+ estimate, which can vary less
    b    the out-of-bag loss Err(1), which is usually too high

The limits are those of n new cases with the mean loss min(cv, e) for the lower one, and max(cv, e, (cv + b)/2) for the
upper one. A classifier with few columns that makes no training error may make no errors at all: its lower limit is 0.

With new cases of the same population, "pooled" adds the counts of both: the mean loss on m of them is observed. A check
compares both parts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betainc, betaln, expit, log_expit

from cudbound.basis.method_card import GROUPED
from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.basis.results import ConfidenceInterval, IntervalEstimate, Outcome
from cudbound.basis.validation import check_number
from cudbound.basis.words import format_proportion
from cudbound.intervals.method import Method
from cudbound.point_estimates import auc, bootstrap_632
from cudbound.point_estimates.auc import AucSize, delong_variance, placements
from cudbound.point_estimates.bootstrap_632 import effective_rows
from cudbound.records import DESIGN, LOSSES, SCORES, FoldLosses, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import STRATIFIED_FOLDS
from cudbound.resampling.splits import TEST_SET

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
    """

    training: float
    cross_validated: float
    out_of_bag: float
    plus: float
    size: Callable[[float], float]
    may_be_perfect: bool = False
    remarks: tuple[str, ...] = ()
    further: Mapping[str, float] = field(default_factory=dict)


def centers_of(records: Records) -> Centers | str:
    """Return the centers of the mean loss and the cases behind them, or why they are undefined.

    The loss is that of the records: whether a row is misclassified or its cost, the squared error, or 1 - AUC.
    """
    if records.kind == "scores":
        return _centers_of_scores(records)
    of_bootstrap = bootstrap_632.estimate_632_plus(records)
    training, plus = of_bootstrap.resubstitution, of_bootstrap.estimate
    if math.isnan(plus):
        return bootstrap_632.NOTHING_OUT_OF_BAG
    partitions = records.require(STRATIFIED_FOLDS).partitions
    cross_validated = float(np.mean([np.mean(partition.losses) for partition in partitions]))
    n, groups, remarks = bootstrap_632.effective_rows(records), records.groups, list[str]()
    if groups is not None:
        effect = f"design effect {bootstrap_632.design_effect(records):.3g} of the out-of-bag losses"
        remarks.append(f"{records.n_samples} rows counted as {n:.1f}: {effect}")
    # of rows that do not count alike the mean over those that were left out may be above 1
    estimates = training, cross_validated, min(of_bootstrap.out_of_bag, 1.0), plus
    if records.kind == "probabilities":
        variance = bootstrap_632.brier_variance(records)
        further = {"no_information": of_bootstrap.no_information, "variance": variance}
        size = partial(brier_size, variance=variance, n=n)
        return Centers(*estimates, size, remarks=tuple(remarks), further=further)
    rank = math.nan if records.design is None else records.design.rank
    units = records.n_samples if groups is None else groups.n_groups
    may_be_perfect = training == 0.0 and rank <= FEW_COLUMNS * units
    if not math.isnan(records.square_ratio):
        n /= cost_factor(records.square_ratio, 0.0 if may_be_perfect else min(cross_validated, plus))
    further = {"no_information": of_bootstrap.no_information, "rank": rank}
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


def _limits_around_centers(records: Records, confidence_level: float) -> Outcome:
    centers = centers_of(records)
    if isinstance(centers, str):
        return Outcome.undefined(centers)
    remarks, cross_validated = centers.remarks, centers.cross_validated
    lower = min(cross_validated, centers.plus)
    upper = max(cross_validated, centers.plus, (cross_validated + centers.out_of_bag) / 2.0)
    lower_size, upper_size = centers.size(lower), centers.size(upper)
    low, _ = inverted_binomial_limits(lower_size * lower, lower_size, confidence_level)
    _, high = inverted_binomial_limits(upper_size * upper, upper_size, confidence_level)
    if centers.may_be_perfect and lower > 0.0:
        remarks = (*remarks, "no training error with few columns: lower limit 0")
    details = {
        "training": centers.training,
        "cross_validated": cross_validated,
        "at_632_plus": centers.plus,
        "out_of_bag": centers.out_of_bag,
        "lower_center": lower,
        "upper_center": upper,
        "lower_size": lower_size,
        "upper_size": upper_size,
        **centers.further,
    }
    outcome = Outcome(
        (cross_validated + centers.plus) / 2.0,
        ConfidenceInterval(0.0 if centers.may_be_perfect else float(low), float(high)),
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
    outcome = _limits_around_centers(records, confidence_level)
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
    return _limits_around_centers(records, confidence_level)


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
    return _limits_around_centers(records, confidence_level)


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


NEW_CASES_OF_ONE_CLASS = "undefined: the new cases are of one class"
NOT_NEW = (
    "pooled adds new cases to the training rows, and these are rows held out of them: pass new_cases=(X_new, y_new), "
    "or TestSetLosses(..., estimand='conditional'). Without new cases, use two-center."
)


def new_worse_pvalue(center: float, n: float, loss: float, m: float) -> float:
    """Return the p-value for a larger mean loss of new cases than the training data promised.

    It is the probability of m `loss` errors or more among m new cases, averaged over what n cases with n `center`
    errors leave open about the error. For whole numbers it is Fisher's exact test, which counts the uncertainty of both
    parts and rejects a true hypothesis at most at its level; incomplete beta functions continue it to other numbers.

    References
    ----------
    Altham, P. M. E. (1969). Exact Bayesian analysis of a 2 x 2 contingency table, and Fisher's "exact" significance
    test. Journal of the Royal Statistical Society B 31, 261-269.

    Examples
    --------
    >>> round(new_worse_pvalue(0.2, 50, 0.4, 25), 4), new_worse_pvalue(0.2, 50, 0.0, 25)
    (0.0599, 1.0)
    """
    if loss <= 0.0 or center >= 1.0:
        return 1.0
    errors, before, after = m * loss, n * center + 1.0, n * (1.0 - center)
    # over the log-odds of the error the density is smooth, and sums of equal steps are as good as exact
    step = min(0.05, 0.5 / math.sqrt(n + m))
    odds = np.arange(-40.0, 40.0, step)
    density = np.exp(before * log_expit(odds) + after * log_expit(-odds) - betaln(before, after))
    fewer = betainc(m - errors + 1.0, errors, expit(-odds))
    return min(max(1.0 - step * float(density @ fewer), 0.0), 1.0)


def _pooled(
    trained: Outcome, loss: float, size: Callable[[float], float], confidence_level: float
) -> Outcome:
    """Return the interval of a mean loss; ``size(center)``: number of zeros and ones that the new cases count as."""
    numbers = trained.details
    low_size, high_size = numbers["lower_size"], numbers["upper_size"]
    low_new, high_new = size(numbers["lower_center"]), size(numbers["upper_center"])
    # its lower limit is also 0 for a classifier that may be perfect
    lower = numbers["lower_center"] if trained.raw_interval.low > 0.0 else 0.0
    errors = low_size * lower + low_new * loss, high_size * numbers["upper_center"] + high_new * loss
    low = float(inverted_binomial_limits(errors[0], low_size + low_new, confidence_level)[0])
    high = float(inverted_binomial_limits(errors[1], high_size + high_new, confidence_level)[1])
    estimate = (high_size * trained.estimate + high_new * loss) / (high_size + high_new)
    return replace(
        trained,
        estimate=min(max(estimate, low), high),
        raw_interval=ConfidenceInterval(low, high),
        details={
            **numbers,
            "new_cases": loss,
            "new_size": high_new,
            "new_worse_pvalue": new_worse_pvalue(numbers["upper_center"], high_size, loss, high_new),
        },
        center="mean of training and new cases",
        words=None,
    )


def cases_needed(row: IntervalEstimate, n_samples: int, half_width: float) -> int:
    """Return the smallest number of new cases for which the expected half-width of "pooled" is at most a target.

    The new cases are expected to have the estimate of `row`, and the same share of events as the training rows.

    Parameters
    ----------
    row : IntervalEstimate
        By "two-center" or "pooled", two-sided; only what it says of the training rows is used.
    n_samples : int
        Training rows.
    half_width : float
        On the scale of the mean loss, in [0.0001, 0.5).

    Raises
    ------
    ValueError
        If the row has no centers, or has one limit only.
    """
    check_number("half_width", half_width, 1e-4, 0.5)
    numbers, level = row.details, row.confidence_level
    if "lower_size" not in numbers or row.alternative != "two-sided":
        raise ValueError(
            "The number of new cases follows from two-sided intervals by two-center and pooled, of metrics not made "
            f"from others. This one is by {row.method}, {row.alternative}, for the {row.metric}."
        )
    expected = (numbers["cross_validated"] + numbers["at_632_plus"]) / 2.0
    sizes, centers = (
        np.array([numbers[f"{side}_{what}"] for side in ("lower", "upper")]) for what in ("size", "center")
    )

    def half(m: int) -> float:
        added = sizes * m / n_samples
        limits = inverted_binomial_limits(sizes * centers + added * expected, sizes + added, level)
        return float(limits[1][1] - limits[0][0]) / 2.0

    most = 1
    while half(most) > half_width:
        most *= 2
    return bisect_left(range(most + 1), True, key=lambda m: half(m) <= half_width)


def _trained(records: Records, confidence_level: float) -> Outcome:
    """Return the recommended interval; raise ValueError if the tested rows were held out of the training set."""
    if records.require(TEST_SET).estimand != "conditional":
        raise ValueError(NOT_NEW)
    method: Any = TWO_CENTER.reading(records.kind)
    outcome: Outcome = method.compute(records, confidence_level)
    return outcome


def _pooled_of_classes(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits for the training cases, as in two-center, and new cases together.

    Formula: low = lo(n l + k; n + m), high = up(n h + k; n + m); k errors on m new cases; l, h and n are the
    centers and numbers of cases of two-center; low = lo(k; n + m) where two-center has the lower limit 0.
    Assumptions: those of two-center; the new cases are independent, and of the same population.
    Tendency: in the registered study, with new cases of the same population, it reached its level in 45 of 45 cells for
    the error and in 84 of 90 for sensitivity and specificity; run again, the lowest coverage in the others was .901;
    wrong if the new cases are of another population.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Altham (1969).
    """
    trained, record = _trained(records, confidence_level), records.require(TEST_SET)
    if math.isnan(trained.estimate):
        return trained
    # costs count as in training
    size = record.n_effective * trained.details["upper_size"] / effective_rows(records)
    return _pooled(trained, float(np.mean(record.losses)), lambda _: size, confidence_level)


def _pooled_of_probabilities(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits for the training cases, as in two-center, and new cases together.

    Formula: low = lo(n l + me b; n + me), high = up(n h + me b; n + me); l, h and n are the centers and numbers of
    cases of two-center; b is the Brier score of the new cases; me is their number of cases by the same rule, with
    the larger of the variances in training and among them.
    Assumptions: those of two-center; the new cases are independent, and of the same population.
    Tendency: in the registered study, with new cases of the same population, it reached its level in 36 of 36 cells;
    the lowest coverage was .927.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Altham (1969).
    """
    trained = _trained(records, confidence_level)
    losses = np.asarray(records.require(TEST_SET).losses, dtype=float)
    if math.isnan(trained.estimate):
        return trained
    m = float(losses.size)
    variance = max(trained.details["variance"], float(losses.var(ddof=1)) if m > 1.0 else 0.0)
    return _pooled(
        trained, float(losses.mean()), lambda center: brier_size(center, variance, m), confidence_level
    )


def _pooled_of_scores(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits for the training cases, as in two-center, and new cases together.

    Formula: low = lo(n l + me a; n + me), high = up(n h + me a; n + me), for the loss 1 - AUC; l, h and n are the
    centers and numbers of cases of two-center; 1 - a is the AUC of the new cases; me is their number of cases by
    the same rule.
    Assumptions: those of two-center; the new cases are independent, and of the same population.
    Tendency: in the registered study, with new cases of the same population, it reached its level in 36 of 36 cells;
    the lowest coverage was .933.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Hanley and McNeil (1982); DeLong et al. (1988); Newcombe (2006); Altham
    (1969).
    """
    trained, record = _trained(records, confidence_level), records.require(TEST_SET)
    if math.isnan(trained.estimate):
        return trained
    n_events, n_others = int(record.event.sum()), int((~record.event).sum())
    if min(n_events, n_others) == 0:
        return Outcome.undefined(NEW_CASES_OF_ONE_CLASS)
    parts = placements(record.scores, record.event)
    sizes = AucSize(n_events, n_others, min(n_events, n_others), delong_variance(*parts))
    of_loss = _pooled(
        of_complement(trained),
        1.0 - float(parts[0].mean()),
        lambda center: sizes.at(1.0 - center),
        confidence_level,
    )
    return of_complement(of_loss)


POOLED = Method(
    "pooled",
    TWO_CENTER.needs | {TEST_SET},
    cost="B + 50",
    compute=_pooled_of_classes,
    variants={
        kind: {"compute": compute, "needs": TWO_CENTER.variants[kind].needs | {TEST_SET}}
        for kind, compute in (("scores", _pooled_of_scores), ("probabilities", _pooled_of_probabilities))
    },
)
