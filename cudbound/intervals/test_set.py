"""Binomial intervals and one-sided bounds from independent losses on a test set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.proportions import (
    agresti_coull_interval,
    corrected_wilson_interval,
    inverted_binomial_interval,
    jeffreys_interval,
    wald_interval,
    wilson_interval,
)
from cudbound.basis.validation import check_choice
from cudbound.intervals.method import Method
from cudbound.records import Records
from cudbound.resampling.splits import TEST_SET

SIDES = ("two-sided", "upper", "lower")


def _wald(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    share = errors / n_tested
    return wald_interval(share, share * (1.0 - share), n_tested, confidence_level)


def _wilson(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    return wilson_interval(errors / n_tested, n_tested, confidence_level)


#: Two-sided limits by the name of the formula: ``(errors, n_tested, confidence_level)``.
FORMS: dict[str, Callable[[float, float, float], ConfidenceInterval]] = {
    "wald": _wald,
    "wilson": _wilson,
    "clopper-pearson": inverted_binomial_interval,
    "wilson-corrected": corrected_wilson_interval,
    "agresti-coull": agresti_coull_interval,
    "jeffreys": jeffreys_interval,
}


def held_out_interval(
    errors: float,
    n_tested: float,
    confidence_level: float,
    *,
    form: str = "wilson",
    side: str = "two-sided",
) -> ConfidenceInterval:
    """Interval for the error of one classifier from the number of errors on independent test points.

    Parameters
    ----------
    errors : float
        Number of wrong points k, in [0, n_tested].
    n_tested : float
        Number of test points m, at least 1.
    confidence_level : float
        In (0, 1).
    form : {"wilson", "clopper-pearson", "wald", "wilson-corrected", "agresti-coull", "jeffreys"}, default="wilson"
        "wilson" inverts the normal approximation, "clopper-pearson" both binomial tails, "wald" is
        k/m +- z sqrt(k/m (1 - k/m) / m); the others are those of `cudbound.basis.proportions`.
    side : {"two-sided", "upper", "lower"}, default="two-sided"
        "upper" gives [0, u], where u has the whole error probability; "lower" gives [l, 1]. With
        "clopper-pearson" u is the test set bound of Langford.

    Returns
    -------
    ConfidenceInterval
        Within [0, 1], except for "agresti-coull" and for "wald", which has zero width at 0 and at `n_tested` errors.

    Raises
    ------
    ValueError
        If `errors` or `n_tested` is out of range, or `form` or `side` is not one of the words.

    Notes
    -----
    With "clopper-pearson" and independent test points, the interval covers the error of the classifier with probability
    at least `confidence_level` for any error. The others do so approximately.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). Biometrika 26, 404-413; Wilson, E. B. (1927). JASA 22, 209-212;
    Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion. Statistical
    Science 16, 101-133; Langford, J. (2005). Tutorial on practical prediction theory for classification. JMLR 6,
    273-306, section 3, the test set bound.

    Examples
    --------
    >>> interval = held_out_interval(3, 20, 0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0524, 0.3604)
    >>> round(held_out_interval(0, 20, 0.95, form="clopper-pearson", side="upper").high, 4)
    0.1391
    """
    if not n_tested >= 1:
        raise ParameterError("n_tested", "at least 1", n_tested)
    if not 0 <= errors <= n_tested:
        raise ValueError(
            f"The 'errors' parameter must be in [0, n_tested] = [0, {n_tested:g}]. Got {errors!r} instead; "
            "count 0/1 losses, not differences of losses."
        )
    limits = FORMS[check_choice("form", form, FORMS)]
    if check_choice("side", side, SIDES) == "two-sided":
        return limits(errors, n_tested, confidence_level)
    # each limit of this two-sided interval leaves out 1 - confidence_level; below 1/2 its level is negative and its
    # limits change places, which all the formulas carry through
    outer = limits(errors, n_tested, 2.0 * confidence_level - 1.0)
    return ConfidenceInterval(0.0, outer.high) if side == "upper" else ConfidenceInterval(outer.low, 1.0)


def _outcome(records: Records, confidence_level: float, *, form: str, side: str) -> Outcome:
    record = records.require(TEST_SET)
    losses = np.asarray(record.losses)
    error, size = float(losses.mean()), record.n_effective
    # whole numbers stay whole where every loss is 0 or 1 and counts as one row
    errors = float(losses.sum()) if size == losses.size else error * size
    interval = held_out_interval(errors, size, confidence_level, form=form, side=side)
    return Outcome(
        error,
        interval,
        degenerate=f"all losses on the test set are {losses[0]:g}: their variance is 0",
        estimand=Estimand(record.estimand),
    )


def _each_at(records: Records, confidence_level: float, _: str, *, form: str, side: str) -> Outcome:
    return _outcome(records, 2.0 * confidence_level - 1.0, form=form, side="two-sided")


INDEPENDENT = "test points are independent and new to the classifier"

TEST_SET_WILSON = Method(
    name="test-set-wilson",
    title="Wilson score interval for the error on a test set",
    formula="(2 k + z^2 +/- z sqrt(z^2 + 4 k (1 - r))) / (2 (m + z^2)); r = k/m, k errors on m test points, z = "
    "z(1 - d/2)",
    estimand=Estimand("holdout-model"),
    needs=frozenset({TEST_SET}),
    assumptions=INDEPENDENT,
    tendency="near nominal on average over errors; a one-sided limit near error 0 or 1 can be liberal",
    reference="Wilson (1927); Brown, Cai and DasGupta (2001), section 3.1.1",
    cost="1, or 0 with a new test set",
    compute=partial(_outcome, form="wilson"),
    one_sided=partial(_each_at, form="wilson"),
    options={"side": Choice(SIDES)},
)

TEST_SET_WALD = replace(
    TEST_SET_WILSON,
    name="test-set-wald",
    title="Normal interval for the error on a test set",
    formula="r +/- z sqrt(r (1 - r) / m); r = k/m, k errors on m test points, z = z(1 - d/2)",
    assumptions=f"{INDEPENDENT}; the number of errors is nearly normal",
    tendency="liberal if errors are few; zero width if no point or every point is wrong",
    reference="Brown, Cai and DasGupta (2001), section 2, with its coverage",
    compute=partial(_outcome, form="wald"),
    one_sided=partial(_each_at, form="wald"),
)

TEST_SET_CLOPPER_PEARSON = replace(
    TEST_SET_WILSON,
    name="test-set-clopper-pearson",
    title="Exact binomial interval for the error on a test set",
    formula="p with P(X >= k) = d/2 and p with P(X <= k) = d/2; X is binomial(m, p), k errors on m test points",
    tendency="conservative: coverage is at least nominal for any error",
    reference="Clopper and Pearson (1934)",
    compute=partial(_outcome, form="clopper-pearson"),
    one_sided=partial(_each_at, form="clopper-pearson"),
)

TEST_SET_LANGFORD = replace(
    TEST_SET_CLOPPER_PEARSON,
    name="test-set-langford",
    title="Exact one-sided binomial bound for the error on a test set",
    formula="0 and p with P(X <= k) = d; X is binomial(m, p), k errors on m test points",
    reference="Langford (2005), section 3, the test set bound",
    options={"side": Choice(("upper", "two-sided", "lower"))},
    ways={("side", "two-sided"): TEST_SET_CLOPPER_PEARSON.words},
)

TEST_SET_WILSON_CORRECTED = replace(
    TEST_SET_WILSON,
    name="test-set-wilson-corrected",
    title="Wilson score interval with continuity correction for the error on a test set",
    formula="(2 k + z^2 - 1 - z sqrt(z^2 - 2 - 1/m + 4 r (m (1 - r) + 1))) / (2 (m + z^2)) and (2 k + z^2 + 1 + "
    "z sqrt(z^2 + 2 - 1/m + 4 r (m (1 - r) - 1))) / (2 (m + z^2)); r = k/m, k errors on m test points, "
    "z = z(1 - d/2)",
    tendency="conservative on average over errors, as the exact interval is",
    reference="Newcombe (1998a), method 4",
    compute=partial(_outcome, form="wilson-corrected"),
    one_sided=partial(_each_at, form="wilson-corrected"),
)

TEST_SET_AGRESTI_COULL = replace(
    TEST_SET_WILSON,
    name="test-set-agresti-coull",
    title="Agresti-Coull interval for the error on a test set",
    formula="c +/- z sqrt(c (1 - c) / (m + z^2)); c = (k + z^2/2) / (m + z^2), k errors on m test points, z = "
    "z(1 - d/2)",
    tendency="near nominal on average over errors, and slightly longer than the score interval",
    reference="Agresti and Coull (1998)",
    compute=partial(_outcome, form="agresti-coull"),
    one_sided=partial(_each_at, form="agresti-coull"),
)

TEST_SET_JEFFREYS = replace(
    TEST_SET_WILSON,
    name="test-set-jeffreys",
    title="Posterior interval under Jeffreys' prior for the error on a test set",
    formula="the d/2 and 1 - d/2 quantiles of Beta(k + 1/2, m - k + 1/2); k errors on m test points; the lower "
    "limit is 0 at k = 0, the upper 1 at k = m",
    tendency="near nominal on average over errors, including one-sided limits",
    reference="Brown, Cai and DasGupta (2001), section 4.1.1, with limit 0 for no errors and 1 for all errors",
    compute=partial(_outcome, form="jeffreys"),
    one_sided=partial(_each_at, form="jeffreys"),
)

ON_TEST_SET = (
    TEST_SET_WALD,
    TEST_SET_WILSON,
    TEST_SET_CLOPPER_PEARSON,
    TEST_SET_LANGFORD,
    TEST_SET_WILSON_CORRECTED,
    TEST_SET_AGRESTI_COULL,
    TEST_SET_JEFFREYS,
)
