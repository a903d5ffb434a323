"""A comparison of two classifiers or learning algorithms from recorded losses, by any comparison method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from cudbound.intervals.method import ALTERNATIVES, Method, why_no_limits
from cudbound.method_card import NO_OPTIONS
from cudbound.outcomes import TestOutcome
from cudbound.records import Records
from cudbound.records.reading import check_records, shared_remarks
from cudbound.results import ComparisonResult
from cudbound.validation import check_choice


def check_alternative(alternative: str, methods: Iterable[Method]) -> None:
    """Raise ValueError if the alternative is unknown, or directed while one of the methods has no direction."""
    check_choice("alternative", alternative, ALTERNATIVES)
    undirected = [method.name for method in methods if method.two_sided_only]
    if alternative != "two-sided" and undirected:
        raise ValueError(
            f"The 'alternative' parameter must be 'two-sided' for {', '.join(undirected)}, whose statistic has no "
            f"sign. Got {alternative!r} instead; ask for the other methods by their names."
        )


def compute_comparison(
    method: Method,
    records: Records,
    confidence_level: float,
    alternative: str = "two-sided",
    options: Mapping[str, Any] = NO_OPTIONS,
) -> ComparisonResult:
    """Test whether two errors are equal, and compute an interval for their difference, from recorded losses.

    Parameters
    ----------
    method : Method
        One that `compares`.
    records : Records
        Must hold what ``method.needs`` names: losses of the first minus losses of the second on matched splits, or, for
        "second_test_set", the losses of each on its own test set.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less": error(a) < error(b), with an upper limit only; "greater": error(a) > error(b), with a lower one.
    options : mapping, default={}
        Options of the method that differ from their defaults.

    Raises
    ------
    ValueError
        If the method compares nothing, a record is missing, the alternative or an option is unknown, or its value is
        not allowed.

    Guarantee
    ---------
    A p-value or limit that is nan, and a zero-width interval after clipping to [-1, 1], carry the reason in
    ``degenerate``. The p-value is then 1 or nan, except where a confidence set is empty or lies outside [-1, 1]: such
    a set excludes 0 along with every other difference.

    Examples
    --------
    >>> from cudbound.intervals.mcnemar import MCNEMAR
    >>> from cudbound.records import Records, TestSetLosses
    >>> differences = [1] * 9 + [-1] * 2 + [0] * 39
    >>> found = compute_comparison(MCNEMAR, Records(test_set=TestSetLosses(differences, 50)), 0.95)
    >>> round(found.estimate, 2), round(found.pvalue, 4)
    (0.14, 0.0654)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_records(method, records)
    chosen = method.resolve_options(options)
    if method.test is not None:
        outcome = method.test(records, confidence_level, alternative, **chosen)
    elif method.pivot is not None:
        outcome = method.pivot(records, **chosen).test_outcome(confidence_level, alternative)
    else:
        raise ValueError(
            f"{method.name} gives an interval for the error of one classifier and compares nothing; "
            "use compare_intervals."
        )
    return ComparisonResult.of(
        outcome,
        method=method.name,
        estimand=outcome.estimand or method.estimand,
        confidence_level=confidence_level,
        alternative=alternative,
        n_fits=_count_fits(method, records),
        remarks=(*shared_remarks(method, records), *outcome.remarks),
        degenerate=outcome.degenerate or _why_degenerate(outcome),
    )


def _why_degenerate(outcome: TestOutcome) -> str | None:
    if math.isnan(outcome.estimate) or math.isnan(outcome.pvalue) or math.isnan(outcome.statistic):
        return "undefined difference or test"
    return why_no_limits(outcome.raw_interval, -1.0)


def _count_fits(method: Method, records: Records) -> int:
    """Count the fits of both: a record of differences has one of each behind every fit that it counts."""
    each = 1 if "second_test_set" in method.needs else 2
    return each * sum(getattr(getattr(records, need), "n_fits", 0) for need in method.needs)
