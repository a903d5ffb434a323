"""Estimate, standard error and reference distribution in one object, which gives the interval and the test."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtr, stdtrit

from cudbound.basis.outcomes import ConfidenceInterval, Outcome, PointOutcome, TestOutcome

#: Values whose range is at most this count as equal: they are sums of the same losses in a different order.
EQUAL = 1e-12


@dataclass(frozen=True)
class Pivot(PointOutcome):
    """A quantity (estimate - truth) / standard_error with a t or normal distribution.

    Attributes
    ----------
    estimate : float
        Mean loss, or mean difference of losses.
    standard_error : float
        Non-negative. At 0 the interval has zero width and the test does not reject.
    df : float
        Degrees of freedom of the t distribution, at least 1; infinity for the normal distribution.
    remarks, degenerate, estimand, details
        As in `cudbound.basis.outcomes.PointOutcome`; `degenerate` gives the reason if the standard error is 0 or
        undefined.

    Examples
    --------
    >>> pivot = Pivot(0.25, 0.05, df=4)
    >>> interval = pivot.interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.111, 0.389)
    >>> round(pivot.pvalue(), 4)
    0.0075
    """

    standard_error: float
    df: float = math.inf

    def outcome(self, confidence_level: float) -> Outcome:
        """Return the estimate and its interval."""
        interval = self.interval(confidence_level)
        return Outcome(raw_interval=interval, standard_error=self.standard_error, **self.common_fields())

    def test_outcome(self, confidence_level: float, alternative: str, null: float = 0.0) -> TestOutcome:
        """Return the test of truth = null, or of |truth| >= null for "equivalent", and the interval.

        Equivalence is tested by two one-sided tests. The statistic is that of the larger p-value; the interval, at
        ``2 * confidence_level - 1``, lies within (-null, null) if the p-value is below ``1 - confidence_level``.

        References
        ----------
        Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for
        assessing the equivalence of average bioavailability. J. Pharmacokinetics and Biopharmaceutics 15, 657-680.
        """
        tests = {"less": null, "greater": -null} if alternative == "equivalent" else {alternative: null}
        decisive = max(tests, key=lambda way: self.pvalue(tests[way], way))
        if alternative == "equivalent":
            interval = self.interval(2.0 * confidence_level - 1.0)
        else:
            interval = self.interval(confidence_level, alternative)
        return TestOutcome(
            statistic=self.statistic(tests[decisive]),
            pvalue=self.pvalue(tests[decisive], decisive),
            raw_interval=interval,
            standard_error=self.standard_error,
            **self.common_fields(),
        )

    def interval(self, confidence_level: float, alternative: str = "two-sided") -> ConfidenceInterval:
        """Return the raw limits.

        Parameters
        ----------
        confidence_level : float
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            As in `scipy.stats`: "less" gives an upper limit only, "greater" a lower one only.
        """
        if alternative == "two-sided":
            half = float(stdtrit(self.df, 0.5 + confidence_level / 2)) * self.standard_error
            return ConfidenceInterval(self.estimate - half, self.estimate + half)
        reach = float(stdtrit(self.df, confidence_level)) * self.standard_error
        if alternative == "less":
            return ConfidenceInterval(-math.inf, self.estimate + reach)
        return ConfidenceInterval(self.estimate - reach, math.inf)

    def statistic(self, null: float = 0.0) -> float:
        """Return (estimate - null) / standard_error; infinite or 0 if the standard error is 0."""
        if self.standard_error == 0.0:
            return 0.0 if self.estimate == null else math.copysign(math.inf, self.estimate - null)
        return (self.estimate - null) / self.standard_error

    def pvalue(self, null: float = 0.0, alternative: str = "two-sided") -> float:
        """Return the p-value for truth = null; 1 if the standard error is 0 or undefined.

        Losses with zero variance do not show how the estimate varies, so the test never rejects.
        """
        if not self.standard_error > 0.0:
            return 1.0
        statistic = self.statistic(null)
        if alternative == "two-sided":
            return 2.0 * float(stdtr(self.df, -abs(statistic)))
        return float(stdtr(self.df, statistic if alternative == "less" else -statistic))
