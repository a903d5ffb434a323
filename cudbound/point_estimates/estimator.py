"""The interface of a point estimator of the error, its results, and the estimators that are means of losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cudbound.basis.method_card import (
    COST_OF_TEST_SET,
    EXPECTED,
    HOLDOUT_MODEL,
    NO_OPTIONS,
    RULE,
    MethodCard,
)
from cudbound.basis.results import Estimand, PointEstimate, PointOutcome
from cudbound.records import LOSSES, Records
from cudbound.records.records import check_records, count_fits, fields_of_row
from cudbound.resampling.folds import FOLDS, LEAVE_ONE_OUT, REPEATED_FOLDS
from cudbound.resampling.splits import TEST_SET


@dataclass(frozen=True)
class PointEstimator(MethodCard):
    """A point estimator of the error.

    Attributes
    ----------
    compute : callable
        ``compute(records, **options) -> PointOutcome``.
    """

    compute: Callable[..., PointOutcome] = field(repr=False, kw_only=True)


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
    chosen = estimator.resolve_options(options)
    outcome = estimator.compute(records, **chosen)
    undefined = math.isnan(outcome.estimate)
    return PointEstimate.of(
        outcome,
        **fields_of_row(estimator, records, estimator.needs, chosen, outcome),
        n_fits=count_fits(records, estimator.needs),
        degenerate=(outcome.degenerate or "undefined") if undefined else None,
    )


def _resubstitution(records: Records) -> PointOutcome:
    """Training error.

    Formula: T = mean of the losses on the training set.
    Assumptions: the rows are new to the classifier; they are not.
    Reference: Smith (1947).
    """
    return PointOutcome(float(np.mean(records.require(LOSSES))))


def _holdout(records: Records) -> PointOutcome:
    """Error on a test set.

    Formula: mean of the losses on the test set.
    Assumptions: the test rows are independent of the fit.
    Tendency: unbiased for the tested classifier.
    Reference: Devroye, Gyorfi and Lugosi (1996).
    """
    test_set = records.require(TEST_SET)
    return PointOutcome(float(np.mean(test_set.losses)), estimand=Estimand(test_set.estimand))


def _k_fold(records: Records) -> PointOutcome:
    """k-fold cross-validation.

    Formula: mean over the n rows of the loss on the row after a fit to the other folds.
    Assumptions: rows in different folds are independent.
    Reference: Stone (1974).
    """
    folds = records.require(FOLDS)
    return PointOutcome(float(np.mean(folds.losses)), estimand=Estimand("expected", folds.n_train))


def _repeated_k_fold(records: Records) -> PointOutcome:
    """k-fold cross-validation on several partitions.

    Formula: mean of k-fold over the partitions.
    Assumptions: as k-fold.
    Reference: Burman (1989).
    """
    partitions = records.require(REPEATED_FOLDS).partitions
    n_train = float(np.mean([folds.n_train for folds in partitions]))
    estimate = float(np.mean([np.mean(folds.losses) for folds in partitions]))
    return PointOutcome(estimate, estimand=Estimand("expected", n_train))


def _leave_one_out(records: Records) -> PointOutcome:
    """Leave-one-out cross-validation.

    Formula: mean over the n rows of the loss on the row after a fit to the others.
    Assumptions: as k-fold.
    Reference: Lachenbruch and Mickey (1968).
    """
    return PointOutcome(float(np.mean(records.require(LEAVE_ONE_OUT).losses)))


#: Estimators that are means of losses, in the order of the table.
MEANS = (
    PointEstimator("resubstitution", {LOSSES}, cost="0", compute=_resubstitution),
    PointEstimator("holdout", {TEST_SET}, estimand=HOLDOUT_MODEL, cost=COST_OF_TEST_SET, compute=_holdout),
    PointEstimator("k-fold", {FOLDS}, estimand=EXPECTED, cost="K", compute=_k_fold),
    PointEstimator(
        "repeated-k-fold", {REPEATED_FOLDS}, estimand=EXPECTED, cost="R K", compute=_repeated_k_fold
    ),
    PointEstimator("leave-one-out", {LEAVE_ONE_OUT}, estimand=RULE, cost="n", compute=_leave_one_out),
)
