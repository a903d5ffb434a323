"""Tests of the difference between two errors from recorded losses, and of several at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import NO_OPTIONS, Needs
from cudbound.basis.outcomes import ConfidenceInterval, TestOutcome
from cudbound.basis.results import ComparisonResult
from cudbound.basis.validation import check_choice
from cudbound.intervals.independent_test_sets import OWN_TEST_SETS
from cudbound.intervals.method import ALTERNATIVES, Method, why_no_limits
from cudbound.records import Records, ScoreRecords
from cudbound.records.records import based_on, check_records, shared_remarks, tested_in

#: Of a difference of errors; "equivalent": that it is between -null and null.
COMPARISON_ALTERNATIVES = (*ALTERNATIVES, "equivalent")
#: Why a difference has no limits.
NO_VARIANCE = "the differences do not vary"


def check_alternative(
    alternative: str, methods: Iterable[Method], null: float = 0.0, confidence_level: float = 0.95
) -> None:
    """Check an alternative and its margin.

    Raises
    ------
    ValueError
        If the alternative is unknown, or is directional and one of the methods is not; if the margin is outside (-1, 1)
        or not positive for "equivalent", or one of the methods can only test for a difference of 0.
    """
    check_choice("alternative", alternative, COMPARISON_ALTERNATIVES)
    methods = tuple(methods)
    undirected = [method.name for method in methods if method.two_sided_only]
    if alternative != "two-sided" and undirected:
        rule = f"'two-sided' for {', '.join(undirected)}, because the statistic has no sign"
        raise ParameterError("alternative", rule, alternative, " Name only the other methods.")
    if not isinstance(null, Real) or not -1.0 < float(null) < 1.0:
        raise ParameterError("null", "a number in the range (-1, 1)", null)
    if alternative == "equivalent" and not null > 0.0:
        raise ParameterError(
            "null",
            "above 0 for the alternative 'equivalent': the smallest difference that would matter",
            null,
        )
    if alternative == "equivalent" and not confidence_level > 0.5:
        rule = "above 0.5 for the alternative 'equivalent', because its interval has level 2 * confidence_level - 1"
        raise ParameterError("confidence_level", rule, confidence_level)
    fixed = [method.name for method in methods if method.pivot is None]
    if null != 0.0 and fixed:
        rule = f"0 for {', '.join(fixed)}, which can only test for equal errors"
        way_on = " Name only methods with a standard error, such as repeated-k-fold-t."
        raise ParameterError("null", rule, null, way_on)


def compute_comparison(
    method: Method,
    records: Records | ScoreRecords,
    confidence_level: float,
    alternative: str = "two-sided",
    options: Mapping[str, Any] = NO_OPTIONS,
    *,
    null: float = 0.0,
) -> ComparisonResult:
    """Test whether two errors are equal, and compute an interval for their difference, from recorded losses.

    Parameters
    ----------
    method : Method
        One that `compares`.
    records : Records or ScoreRecords
        Must hold what ``method.needs`` names: losses of the first minus losses of the second on matched splits, or, for
        "second_test_set", the losses of each on its own test set.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        "less": error(a) - error(b) < null, with an upper limit only; "greater": error(a) - error(b) > null, with a
        lower one; "equivalent": the difference is between -null and null, by two one-sided tests, with an interval at
        ``2 * confidence_level - 1``.
    options : mapping, default={}
        Options of the method that differ from their defaults.
    null : float, default=0.0
        Margin, in (-1, 1); with "less" and a positive one the test is of non-inferiority. Methods without a standard
        error allow only 0.

    Raises
    ------
    ValueError
        If the method does not compare, a record is missing, the alternative or an option is unknown, or a value is not
        allowed.

    Notes
    -----
    If losses without variance differ from the hypothesis, there is neither a statistic nor a limit: the p-value is 1
    and the limits are -1 and 1. For a p-value or limit that is nan, or an interval with zero width after clipping to
    [-1, 1], ``degenerate`` gives the reason. The p-value is then 1 or nan, except where a confidence set is empty or
    lies outside [-1, 1]: such a set excludes every difference, including 0.

    Examples
    --------
    >>> from cudbound.intervals.mcnemar import MCNEMAR
    >>> from cudbound.records import Records, TestSetLosses
    >>> differences = [1] * 9 + [-1] * 2 + [0] * 39
    >>> found = compute_comparison(MCNEMAR, Records(test_set=TestSetLosses(differences, 50)), 0.95)
    >>> round(found.estimate, 2), round(found.pvalue, 4)
    (0.14, 0.0654)
    """
    if method.compares and method.reads != records.kind:
        raise ValueError(method.why_not_read([records.kind]))
    chosen = method.resolve_options(options)
    needs = method.needed(chosen)
    check_records(method, records, needs)
    check_alternative(alternative, [method] if method.compares else [], null, confidence_level)
    if method.test is not None:
        outcome = method.test(records, confidence_level, alternative, **chosen)
    elif method.pivot is not None:
        outcome = method.pivot(records, **chosen).test_outcome(confidence_level, alternative, null)
    else:
        raise ValueError(
            f"{method.name} is an interval for the error of one classifier, not a comparison; use compare_intervals."
        )
    outcome = _without_variance(outcome)
    tested = tested_in(records, needs)
    return ComparisonResult.of(
        outcome,
        method=method.name,
        estimand=outcome.estimand or method.estimand,
        words=outcome.words or method.words_with(chosen, records.groups is not None),
        confidence_level=confidence_level,
        alternative=alternative,
        null=float(null),
        n_fits=_count_fits(needs, records),
        remarks=(
            *based_on(tested),
            *shared_remarks(records, needs, method.with_groups),
            *outcome.remarks,
        ),
        degenerate=outcome.degenerate or _why_degenerate(outcome),
        tested=tested,
    )


def _without_variance(outcome: TestOutcome) -> TestOutcome:
    """Return an outcome of losses without variance as degenerate, without a statistic and limits that contradict it.

    Such a test rejects nothing; an infinite statistic and limits of zero width beside the hypothesis say the opposite.
    """
    if math.isinf(outcome.statistic) and outcome.pvalue == 1.0:
        no_limits = ConfidenceInterval(-math.inf, math.inf)
        outcome = replace(outcome, statistic=math.nan, raw_interval=no_limits, standard_error=0.0)
    if outcome.standard_error == 0.0:
        outcome = replace(outcome, degenerate=outcome.degenerate or NO_VARIANCE)
    return outcome


def _why_degenerate(outcome: TestOutcome) -> str | None:
    if math.isnan(outcome.estimate) or math.isnan(outcome.pvalue) or math.isnan(outcome.statistic):
        return "undefined difference or test"
    return why_no_limits(outcome.raw_interval, -1.0)


def _count_fits(needs: Needs, records: Records | ScoreRecords) -> int:
    """Count the fits of both: a record of differences has one of each behind every fit that it counts."""
    each = 1 if OWN_TEST_SETS in needs else 2
    return each * sum(getattr(records.get(kind), "n_fits", 0) for kind in needs)


def holm_adjusted(pvalues: Sequence[float]) -> NDArray[np.float64]:
    """Return adjusted p-values: all hypotheses with values at or below a level can be rejected together.

    For any dependence between the tests, the probability of one or more false rejections is at most the level. An
    undefined p-value stays undefined and counts as a test.

    Parameters
    ----------
    pvalues : sequence of float
        In [0, 1], or nan.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(pvalues, dtype=float)
    order = np.argsort(values, kind="stable")  # nan comes last
    steps = np.minimum(1.0, (values.size - np.arange(values.size)) * values[order])
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def adjusted(by_pair: Sequence[Sequence[ComparisonResult]]) -> tuple[ComparisonResult, ...]:
    """Return the rows of all pairs by method, with p-values adjusted for the number of pairs if there are several."""
    if len(by_pair) == 1:
        return tuple(by_pair[0])
    return tuple(
        replace(row, adjusted_pvalue=pvalue)
        for same in zip(*by_pair, strict=True)
        for row, pvalue in zip(same, holm_adjusted([row.pvalue for row in same]).tolist(), strict=True)
    )
