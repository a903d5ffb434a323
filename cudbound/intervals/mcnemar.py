"""McNemar's test: two classifiers on one test set, based on the points that exactly one of them gets wrong."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from cudbound.basis.method_card import HOLDOUT_MODEL, Choice
from cudbound.basis.results import ConfidenceInterval, Estimand, TestOutcome
from cudbound.intervals.method import Method, Pivot
from cudbound.records import Records
from cudbound.resampling.splits import TEST_SET

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
    cost="1, or 0 with a new test set",
    test=_mcnemar,
    options={"form": Choice(FORMS)},
)
