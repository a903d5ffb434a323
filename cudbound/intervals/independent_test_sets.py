"""Two classifiers on separate test sets: the difference of two independent proportions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.method_card import HOLDOUT_MODEL, Choice, RecordKind
from cudbound.basis.proportions import wilson_interval
from cudbound.basis.results import ConfidenceInterval, Estimand, TestOutcome
from cudbound.intervals.method import Method, Pivot
from cudbound.records import Records, TestSetLosses
from cudbound.resampling.context import RefitContext
from cudbound.resampling.splits import TEST_SET

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs
    from cudbound.resampling.refits import Refit


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
    n = context.n_samples
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
    draws, *seeds = inputs.streams["second_test_set"].spawn(3)
    labels = inputs.sample.labels
    context = RefitContext(refits_a.recorded(seeds[0]), labels, inputs.sizes, inputs.policy, draws)
    return record_own_test_sets(context, refits_b.recorded(seeds[1]))


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
