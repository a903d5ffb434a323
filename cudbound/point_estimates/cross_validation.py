"""Estimates that are means of losses: on the training set, on a test set and by cross-validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import Estimand, PointOutcome
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import LOSSES, Records
from cudbound.resampling.folds import FOLDS, LEAVE_ONE_OUT, REPEATED_FOLDS
from cudbound.resampling.splits import TEST_SET


def _mean(losses: ArrayLike) -> float:
    return float(np.asarray(losses).mean())


def _resubstitution(records: Records) -> PointOutcome:
    return PointOutcome(_mean(records.require(LOSSES)))


def _holdout(records: Records) -> PointOutcome:
    test_set = records.require(TEST_SET)
    return PointOutcome(_mean(test_set.losses), estimand=Estimand(test_set.estimand))


def _k_fold(records: Records) -> PointOutcome:
    folds = records.require(FOLDS)
    return PointOutcome(_mean(folds.losses), estimand=Estimand("expected", folds.n_train))


def _repeated_k_fold(records: Records) -> PointOutcome:
    partitions = records.require(REPEATED_FOLDS).partitions
    n_train = float(np.mean([folds.n_train for folds in partitions]))
    return PointOutcome(
        float(np.mean([_mean(folds.losses) for folds in partitions])), estimand=Estimand("expected", n_train)
    )


def _leave_one_out(records: Records) -> PointOutcome:
    return PointOutcome(_mean(records.require(LEAVE_ONE_OUT).losses))


RESUBSTITUTION = PointEstimator(
    name="resubstitution",
    title="Training error",
    formula="T = mean of the losses on the training set",
    estimand=Estimand("conditional"),
    needs=frozenset({LOSSES}),
    assumptions="no assumptions make it unbiased",
    tendency="too low: the classifier was fitted to the same rows",
    reference="Smith (1947)",
    cost="0",
    compute=_resubstitution,
)

HOLDOUT = PointEstimator(
    name="holdout",
    title="Error on a test set",
    formula="mean of the losses on the test set",
    estimand=Estimand("holdout-model"),
    needs=frozenset({TEST_SET}),
    assumptions="the test rows are independent of the fit",
    tendency="unbiased for the tested classifier; if rows were held out, too high for the classifier fitted to all "
    "rows",
    reference="Devroye, Gyorfi and Lugosi (1996). A probabilistic theory of pattern recognition, chapter 22",
    cost="1, or 0 with a new test set",
    compute=_holdout,
)

K_FOLD = PointEstimator(
    name="k-fold",
    title="k-fold cross-validation",
    formula="mean over the n rows of the loss on the row after a fit to the other folds",
    estimand=Estimand("expected"),
    needs=frozenset({FOLDS}),
    assumptions="none beyond independent rows",
    tendency="unbiased for training sets of n - n/k rows, and so too high for n rows",
    reference="Stone (1974); the mean is over all rows; it differs from the mean over folds if folds differ in size",
    cost="K",
    compute=_k_fold,
)

REPEATED_K_FOLD = PointEstimator(
    name="repeated-k-fold",
    title="k-fold cross-validation on several partitions",
    formula="mean over the partitions of the mean over the n rows of the loss on the row after a fit to the "
    "other folds",
    estimand=Estimand("expected"),
    needs=frozenset({REPEATED_FOLDS}),
    assumptions="none beyond independent rows",
    tendency="as k-fold, without most of the variance from the choice of folds",
    reference="Burman (1989); the mean over partitions of their means over rows",
    cost="R K",
    compute=_repeated_k_fold,
)

LEAVE_ONE_OUT_ERROR = PointEstimator(
    name="leave-one-out",
    title="Leave-one-out cross-validation",
    formula="mean over the n rows of the loss on the row after a fit to the others",
    estimand=Estimand("rule"),
    needs=frozenset({LEAVE_ONE_OUT}),
    assumptions="none beyond independent rows",
    tendency="nearly unbiased for n rows, but more variable than the bootstrap estimates for small n",
    reference="Lachenbruch and Mickey (1968)",
    cost="n (least squares: all of them from one fit)",
    compute=_leave_one_out,
)
