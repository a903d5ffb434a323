"""Methods that only compare two classifiers: on one test set, on separate ones, and by the difference of two AUCs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from cudbound.basis.method_card import COST_OF_TEST_SET, HOLDOUT_MODEL, Choice, RecordKind
from cudbound.basis.proportions import wilson_interval
from cudbound.basis.results import ConfidenceInterval, Estimand, TestOutcome
from cudbound.basis.validation import Array
from cudbound.intervals.method import Method, Pivot
from cudbound.point_estimates import auc
from cudbound.records import SCORES, Records, TestSetLosses
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.settings import RefitContext
from cudbound.resampling.splits import TEST_SET

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs
    from cudbound.resampling.refits import Refit


FORMS = ("exact", "asymptotic", "mid-p")


class DiscordantPairs(NamedTuple):
    """Test points that exactly one of two classifiers gets wrong.

    Attributes
    ----------
    only_a, only_b : int
        Points that only the first, and only the second, gets wrong.
    n_tested : int
        All points of the test set.
    """

    only_a: int
    only_b: int
    n_tested: int

    @property
    def estimate(self) -> float:
        """Difference of the two errors, error(a) - error(b)."""
        return (self.only_a - self.only_b) / self.n_tested


def discordant_pairs(differences: ArrayLike) -> DiscordantPairs:
    """Count the points that only one of two classifiers gets wrong.

    Parameters
    ----------
    differences : array-like, shape (n_tested,)
        Loss of the first classifier minus that of the second on each test point: -1, 0 or 1.

    Raises
    ------
    ValueError
        If a value is not -1, 0 or 1.

    Examples
    --------
    >>> discordant_pairs([1, 0, 0, -1, 1])
    DiscordantPairs(only_a=2, only_b=1, n_tested=5)
    """
    values = np.asarray(differences)
    others = np.setdiff1d(values, (-1, 0, 1))
    if others.size:
        raise ValueError(
            "The 'differences' parameter must contain only -1, 0 and 1: the 0/1 losses of the first classifier minus "
            f"those of the second on the same points. Also got {others[:5].tolist()}; for other losses use a t-test."
        )
    return DiscordantPairs(int((values == 1).sum()), int((values == -1).sum()), values.size)


def mcnemar_statistic(pairs: DiscordantPairs) -> float:
    """Return (n10 - n01) / sqrt(n10 + n01), whose square is McNemar's statistic; 0 without discordant pairs.

    There is no continuity correction.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika 12, 153-157.

    Examples
    --------
    >>> mcnemar_statistic(DiscordantPairs(12, 4, 100))
    2.0
    """
    return (pairs.only_a - pairs.only_b) / math.sqrt(max(1, pairs.only_a + pairs.only_b))


def mcnemar_pvalue(pairs: DiscordantPairs, alternative: str = "two-sided", *, form: str = "exact") -> float:
    """Return the p-value of equal errors, given the number of discordant pairs.

    Under equal errors the number of points that only the first classifier gets wrong is binomial with probability
    1/2 among the discordant ones.

    Parameters
    ----------
    pairs : DiscordantPairs
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less": error(a) < error(b); "greater": error(a) > error(b).
    form : {"exact", "asymptotic", "mid-p"}, default="exact"
        "exact" is the binomial test: its size never exceeds the nominal one. "asymptotic" compares `mcnemar_statistic`
        with the normal distribution, without continuity correction. "mid-p" subtracts half of the
        probability of the observed outcome, two-sided also of a different mirror image; its size may slightly exceed
        the nominal one.

    Returns
    -------
    float
        In (0, 1]; 1 without discordant pairs.

    References
    ----------
    McNemar (1947); Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs
    data: mid-p and asymptotic are better than exact conditional. BMC Medical Research Methodology 13, 91.

    Examples
    --------
    >>> pairs = DiscordantPairs(1, 7, 50)
    >>> [round(mcnemar_pvalue(pairs, form=form), 4) for form in ("exact", "asymptotic", "mid-p")]
    [0.0703, 0.0339, 0.0391]
    """
    from scipy.stats import binom, binomtest

    n_discordant = pairs.only_a + pairs.only_b
    if n_discordant == 0:
        return 1.0
    if form == "asymptotic":
        statistic = mcnemar_statistic(pairs)
        if alternative == "two-sided":
            return 2.0 * float(ndtr(-abs(statistic)))
        return float(ndtr(statistic if alternative == "less" else -statistic))
    exact = float(binomtest(pairs.only_a, n_discordant, 0.5, cast("Any", alternative)).pvalue)
    if form == "exact":
        return exact
    as_probable = float(binom.pmf(pairs.only_a, n_discordant, 0.5))
    if alternative == "two-sided" and pairs.only_a != pairs.only_b:
        as_probable *= 2.0  # the mirrored outcome is as probable as the observed one
    return exact - as_probable / 2.0


def bonett_price_interval(
    pairs: DiscordantPairs, confidence_level: float, alternative: str = "two-sided"
) -> ConfidenceInterval:
    """Interval for error(a) - error(b) on one test set: adjusted Wald limits.

    One point is added to each of the two discordant counts, so the interval has positive width even without discordant
    pairs. It is centered at (n10 - n01) / (n + 2), slightly closer to 0 than the difference itself.

    Parameters
    ----------
    pairs : DiscordantPairs
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less" gives an upper limit only, "greater" a lower one only.

    References
    ----------
    Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.

    Examples
    --------
    >>> interval = bonett_price_interval(DiscordantPairs(0, 0, 48), 0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0554, 0.0554)
    """
    share_a = (pairs.only_a + 1) / (pairs.n_tested + 2)
    share_b = (pairs.only_b + 1) / (pairs.n_tested + 2)
    difference = share_a - share_b
    variance = (share_a + share_b - difference**2) / (pairs.n_tested + 2)
    return Pivot(difference, math.sqrt(variance)).interval(confidence_level, alternative)


def _mcnemar(records: Records, confidence_level: float, alternative: str, *, form: str) -> TestOutcome:
    """McNemar's test on one test set, with the Bonett-Price interval for the difference.

    Formula: p-value: n10 is binomial(n10 + n01, 1/2), n10 and n01 test points that only a or only b gets wrong;
    interval: p - q +/- z(1 - d/2) sqrt((p + q - (p - q)^2) / (m + 2)), p = (n10 + 1) / (m + 2), q = (n01 + 1) / (m +
    2), m test points.
    Assumptions: test points are independent of each other and of both training sets.
    Tendency: the exact form keeps its level for the two classifiers; 5 % test of learning algorithms: false rejections
    up to .089 in 17 settings.
    Reference: McNemar (1947); interval: Bonett and Price (2012).
    With form=mid-p: McNemar's mid-p test on one test set, with the Bonett-Price interval for the difference.
    Reference with form=mid-p: McNemar (1947); Fagerland, Lydersen and Laake (2013); interval: Bonett and Price (2012).
    """
    tested = records.require(TEST_SET)
    pairs = discordant_pairs(tested.losses)
    return TestOutcome(
        pairs.estimate,
        mcnemar_statistic(pairs),
        mcnemar_pvalue(pairs, alternative, form=form),
        bonett_price_interval(pairs, confidence_level, alternative),
        degenerate=None
        if pairs.only_a + pairs.only_b
        else "no point is misclassified by exactly one of the two: the test has no information",
        estimand=Estimand(tested.estimand),
        details={"only_a_wrong": pairs.only_a, "only_b_wrong": pairs.only_b, "n_tested": pairs.n_tested},
    )


MCNEMAR = Method(
    "mcnemar",
    {TEST_SET},
    estimand=HOLDOUT_MODEL,
    cost=COST_OF_TEST_SET,
    test=_mcnemar,
    options={"form": Choice(FORMS)},
)


def record_own_test_sets(context: RefitContext, other: Refit) -> tuple[TestSetLosses, TestSetLosses]:
    """Hold out ``sizes.n_held_out`` rows, at least two, and test each classifier on half of them.

    Parameters
    ----------
    context : RefitContext
        The context with the refits of the first classifier.
    other : callable
        The refits of the second classifier.

    Raises
    ------
    ValueError
        If there are fewer than three rows.
    """
    n = context.labels.size
    if n < 3:
        raise ValueError(f"Two test sets and a training set need at least 3 rows. Got {n}; add more rows.")
    n_tested = min(max(2, context.sizes.n_held_out(n)), n - 1)

    def training(order: NDArray[np.int64]) -> NDArray[np.int32]:
        counts = np.ones((1, n), dtype=np.int32)
        counts[0, order[:n_tested]] = 0
        return counts

    (order,), remarks = context.draw_parts(
        [lambda: context.rng.permutation(n)], training, "training sets of the holdout split"
    )
    rows = order[: (n_tested + 1) // 2], order[(n_tested + 1) // 2 : n_tested]
    of_a, of_b = (
        TestSetLosses(refit(training(order))[0, tested], n - n_tested, remarks=remarks)
        for refit, tested in zip((context.refit, other), rows, strict=True)
    )
    return of_a, of_b


def _record(inputs: RecordingInputs, _: Any) -> tuple[TestSetLosses, TestSetLosses]:
    """Return the losses of two classifiers on separate test sets, which are not differences."""
    assert inputs.refits_of_each is not None
    refits_a, refits_b = inputs.refits_of_each
    # the refits of each classifier are counted where they are made
    context = replace(inputs, given_refits=refits_a, advance=lambda _: None).context(OWN_TEST_SETS)
    (seeds,) = inputs.streams[OWN_TEST_SETS.name].spawn(1)
    return record_own_test_sets(context, partial(refits_b.outputs, rng=seeds))


OWN_TEST_SETS = RecordKind(
    "second_test_set",
    TestSetLosses,
    "a test set for each classifier",
    holder="TestSetLosses of the second classifier",
    record=_record,
    resamples=False,
)


def two_test_sets_pivot(
    error_a: float, n_a: int, error_b: float, n_b: int, *, variance: str = "unpooled"
) -> Pivot:
    """Return the difference between two errors on independent test sets, with a normal reference.

    Parameters
    ----------
    error_a, error_b : float
        Errors on the two test sets, in [0, 1].
    n_a, n_b : int
        Points of the test sets.
    variance : {"unpooled", "pooled"}, default="unpooled"
        "unpooled" is e_a (1 - e_a) / n_a + e_b (1 - e_b) / n_b. "pooled" uses the error of all points together for
        both; it is valid only if the errors are equal, and so for a test but not for an interval.

    References
    ----------
    Mitchell, T. M. (1997). Machine Learning, section 5.5, with d = error(a) - error(b); pooled:
    Fleiss, J. L., Levin, B. and Paik, M. C. (2003). Statistical Methods for Rates and Proportions, 3rd ed., section
    3.2, without correction for continuity.

    Examples
    --------
    Errors .2 and .3 on 100 points each: b errs more at a confidence of 95%, which is not the probability that it does.

    >>> pivot = two_test_sets_pivot(0.2, 100, 0.3, 100)
    >>> round(pivot.standard_error, 4), round(pivot.statistic(), 3)
    (0.0608, -1.644)
    >>> round(1 - pivot.pvalue(alternative="less"), 4)
    0.9499
    """
    if variance == "pooled":
        together = (error_a * n_a + error_b * n_b) / (n_a + n_b)
        spread = together * (1.0 - together) * (1.0 / n_a + 1.0 / n_b)
    else:
        spread = error_a * (1.0 - error_a) / n_a + error_b * (1.0 - error_b) / n_b
    return Pivot(error_a - error_b, math.sqrt(spread))


def newcombe_interval(
    error_a: float,
    n_a: int,
    error_b: float,
    n_b: int,
    confidence_level: float,
    alternative: str = "two-sided",
) -> ConfidenceInterval:
    """Interval for the difference between two independent errors, from the Wilson limits of each.

    It has positive width even if both errors are 0 or 1, and stays within [-1, 1] except on the open side of a
    one-sided interval.

    Parameters
    ----------
    error_a, error_b : float
        In [0, 1].
    n_a, n_b : int
    confidence_level : float
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less" gives an upper limit only, "greater" a lower one only.

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions: comparison of
    eleven methods. Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> interval = newcombe_interval(56 / 70, 70, 48 / 80, 80, 0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0524, 0.3339)
    """
    # a one-sided limit is that of the two-sided interval which leaves the same probability beyond it
    level = confidence_level if alternative == "two-sided" else 2.0 * confidence_level - 1.0
    a, b = wilson_interval(error_a, n_a, abs(level)), wilson_interval(error_b, n_b, abs(level))
    difference = error_a - error_b
    low = difference - math.hypot(error_a - a.low, b.high - error_b)
    high = difference + math.hypot(a.high - error_a, error_b - b.low)
    if level < 0.0:  # a one-sided limit with a level below one half lies on the other side
        low, high = high, low
    return ConfidenceInterval(
        -math.inf if alternative == "less" else low, math.inf if alternative == "greater" else high
    )


def _error(name: str, losses: ArrayLike) -> tuple[float, int]:
    values = np.asarray(losses)
    others = np.setdiff1d(values, (0, 1))
    if others.size:
        raise ValueError(
            f"The losses of '{name}' must be 0 or 1, those of one classifier on its own test set. "
            f"Also got {others[:5].tolist()}; for differences of losses on one test set use mcnemar."
        )
    return float(values.mean()), values.size


def _two_test_sets(records: Records, confidence_level: float, alternative: str, *, form: str) -> TestOutcome:
    """Normal test and interval for the errors on two test sets, one per classifier.

    Formula: r_a - r_b +/- z(1 - d/2) sqrt(r_a (1 - r_a) / m_a + r_b (1 - r_b) / m_b); r_a and r_b are the errors on
    m_a and m_b test points.
    Assumptions: test points are independent of each other and of both training sets.
    Tendency: 5 % test of learning algorithms: false rejections up to .113 in 17 settings.
    Reference: Mitchell (1997).
    With form=newcombe: Test with the pooled variance, and Newcombe's score interval, for the errors on two test sets,
    one per classifier.
    Reference with form=newcombe: Newcombe (1998b), method 10; the test has the pooled variance.
    """
    tested_a, tested_b = records.require(TEST_SET), records.require(OWN_TEST_SETS)
    a, b = _error("test_set", tested_a.losses), _error("second_test_set", tested_b.losses)
    (error_a, _), (error_b, _) = a, b
    pooled = form == "newcombe"
    pivot = two_test_sets_pivot(*a, *b, variance="pooled" if pooled else "unpooled")
    interval = pivot.interval(confidence_level, alternative)
    if pooled:
        interval = newcombe_interval(*a, *b, confidence_level, alternative)
    remedy = "" if pooled or error_a == error_b else "; form='newcombe' tests with the pooled variance"
    reason = f"the variance is 0 at errors of {error_a:g} and {error_b:g}{remedy}"
    return TestOutcome(
        pivot.estimate,
        pivot.statistic(),
        pivot.pvalue(alternative=alternative),
        interval,
        degenerate=None if pivot.standard_error > 0.0 else reason,
        estimand=Estimand(tested_a.estimand if tested_a.estimand == tested_b.estimand else "holdout-model"),
        details={"error_a": error_a, "error_b": error_b},
        standard_error=pivot.standard_error,
    )


INDEPENDENT_TEST_SETS = Method(
    "independent-test-sets",
    {TEST_SET, OWN_TEST_SETS},
    estimand=HOLDOUT_MODEL,
    cost="1",
    test=_two_test_sets,
    options={"form": Choice(("wald", "newcombe"))},
)


SECOND = RecordKind("second", Records, "scores of a second classifier", holder="second")


PROVISIONAL = "provisional: studied only in the 20 settings that were used to choose it"


@dataclass(frozen=True)
class BetweenCenters(Pivot):
    """A pivot for a true value anywhere between two centers, `spread` below and above the estimate.

    Limits lie farther out by `spread`, and only a null value outside the centers can be rejected.
    """

    spread: float = 0.0

    def interval(self, confidence_level: float, alternative: str = "two-sided") -> ConfidenceInterval:
        """Return the raw limits, each computed from the nearer center."""
        low, high = super().interval(confidence_level, alternative)
        return ConfidenceInterval(low - self.spread, high + self.spread)

    def statistic(self, null: float = 0.0) -> float:
        """Return the distance of a null value from the nearer center in standard errors; 0 between the centers."""
        nearer = min(max(null, self.estimate - self.spread), self.estimate + self.spread)
        return Pivot(nearer, self.standard_error, self.df).statistic(null)

    def pvalue(self, null: float = 0.0, alternative: str = "two-sided") -> float:
        """Return the p-value for truth = null; a two-sided test between the centers has 1."""
        low, high = self.estimate - self.spread, self.estimate + self.spread
        center = {"less": high, "greater": low}.get(alternative, min(max(null, low), high))
        return Pivot(center, self.standard_error, self.df).pvalue(null, alternative)


def _variance(won: Array, records: Records) -> float:
    """Return DeLong's variance of a mean over pairs, or its version for groups."""
    of_events, of_others = won.mean(axis=1), won.mean(axis=0)
    if records.groups is None:
        return auc.delong_variance(of_events, of_others)
    return auc.clustered_variance(of_events, of_others, records.event, records.groups)


def _difference(records: Records) -> Pivot:
    """t limits around the out-of-bag and the optimism-corrected difference of two AUCs (provisional).

    Formula: min(D1, Do) - t s, max(D1, Do) + t s; D1 and Do are the differences of the out-of-bag and of the
    optimism-corrected AUCs; s^2 = max(V1, VT) + v, V1 and VT DeLong's variances of the difference, or Obuchowski's for
    groups, out of bag and on the training rows, v the variance over the draws of the difference on the training rows; t
    the 1 - d/2 quantile with s_min - 1 degrees of freedom, s_min rows of the rarer class, or groups with one.
    Assumptions: one of the two centers is close to the difference between the AUCs.
    Tendency: provisional: chosen by a trial in 20 settings, and not studied in others.
    Reference: this package, docs/how_to/compare_two_learners.md; DeLong et al. (1988).
    Reference with groups: this package, docs/how_to/compare_two_learners.md; Obuchowski (1997).
    """
    second, event = records.require(SECOND), records.event
    counts = records.require(BOOTSTRAP).counts
    if not (np.array_equal(event, second.event) and np.array_equal(counts, second.require(BOOTSTRAP).counts)):
        raise ValueError(
            "The scores of both classifiers must come from the same rows and the same bootstrap draws."
        )
    if min(records.n_fewer, records.n_events, records.n_samples - records.n_events) < 2:
        return Pivot(math.nan, math.nan, degenerate=auc.ONE_ROW)
    both = (records, second)
    apparent = np.subtract(*(auc.shares_won(auc.order_codes(each.require(SCORES)), event) for each in both))
    codes = (auc.order_codes(each.require(BOOTSTRAP).scores) for each in both)
    out = np.subtract(*(auc.out_of_bag_shares(of_each, event, counts) for of_each in codes))
    if np.isnan(out).all():
        return Pivot(math.nan, math.nan, degenerate=auc.NO_PAIR)
    left_out = float(np.nanmean(out))
    on_training = np.subtract(*map(auc.aucs_on_training_rows, both))
    optimism = np.subtract(*map(auc.aucs_on_draws, both)) - on_training
    corrected = float(apparent.mean()) - float(optimism.mean())
    # pairs never out of bag together say nothing of how the others vary
    sampled = max(_variance(np.where(np.isnan(out), left_out, out), records), _variance(apparent, records))
    refitted = float(on_training.var())
    return BetweenCenters(
        (left_out + corrected) / 2.0,
        math.sqrt(sampled + refitted),
        df=records.n_fewer - 1.0,
        remarks=(PROVISIONAL,),
        spread=abs(left_out - corrected) / 2.0,
        details={
            "difference_training": float(apparent.mean()),
            "difference_out_of_bag": left_out,
            "difference_optimism_corrected": corrected,
            "variance_of_cases": sampled,
            "variance_of_refits": refitted,
        },
    )


AUC_DIFFERENCE = Method(
    "auc-difference", {SCORES, BOOTSTRAP, SECOND}, reads="scores", cost="B", pivot=_difference
)
