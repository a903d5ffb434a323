"""The interface of a point estimator of the error, and its results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cudbound.basis.method_card import NO_OPTIONS, MethodCard
from cudbound.basis.outcomes import PointOutcome
from cudbound.basis.results import PointEstimate
from cudbound.records import Records
from cudbound.records.records import based_on, check_records, count_fits, shared_remarks, tested_in


@dataclass(frozen=True, kw_only=True)
class PointEstimator(MethodCard):
    """A point estimator of the error.

    Attributes
    ----------
    compute : callable
        ``compute(records, **options) -> PointOutcome``.
    """

    compute: Callable[..., PointOutcome] = field(repr=False)


def compute_estimate(
    estimator: PointEstimator, records: Records, options: Mapping[str, Any] = NO_OPTIONS
) -> PointEstimate:
    """Compute one point estimate from recorded losses.

    Parameters
    ----------
    estimator : PointEstimator
        From `cudbound.point_estimates.ESTIMATORS`.
    records : Records
        Must contain what ``estimator.needs`` names.
    options : mapping, default={}
        Options of the estimator that differ from their defaults.

    Raises
    ------
    ValueError
        If a record is missing, an option is unknown or its value is not allowed.

    Notes
    -----
    ``degenerate`` gives the reason if, and only if, the estimate is nan.

    Examples
    --------
    >>> from cudbound.point_estimates import ESTIMATORS
    >>> from cudbound.records import FoldLosses, Records
    >>> folds = FoldLosses.from_blocks([[1, 0, 0], [0, 0], [0, 1]])
    >>> row = compute_estimate(ESTIMATORS["k-fold"], Records(folds=folds))
    >>> round(row.estimate, 4), str(row.estimand), row.n_fits
    (0.2857, 'expected(n1=4.66667)', 4)
    """
    check_records(estimator, records, estimator.needs)
    outcome = estimator.compute(records, **estimator.resolve_options(options))
    undefined = math.isnan(outcome.estimate)
    tested = tested_in(records, estimator.needs)
    return PointEstimate.of(
        outcome,
        method=estimator.name,
        estimand=outcome.estimand or estimator.estimand,
        words=outcome.words or estimator.words,
        n_fits=count_fits(records, estimator.needs),
        remarks=(
            *based_on(tested),
            *shared_remarks(records, estimator.needs, estimator.with_groups),
            *outcome.remarks,
        ),
        degenerate=(outcome.degenerate or "undefined") if undefined else None,
        tested=tested,
    )
