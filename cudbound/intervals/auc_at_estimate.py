"""Intervals for the AUC from variances of it on new cases: at a corrected estimate, from folds, and on a test set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from cudbound.basis.groups import Groups
from cudbound.basis.method_card import Choice, Needs
from cudbound.basis.results import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.validation import Array
from cudbound.intervals.binomial import on_test_set
from cudbound.intervals.method import EQUAL, Method, Pivot
from cudbound.point_estimates.auc import (
    NO_PAIR,
    ONE_ROW,
    Bools,
    auc_estimates,
    clustered_variance,
    delong_variance,
    hanley_mcneil_size,
    placements,
)
from cudbound.records import SCORES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import FOLDS, REPEATED_FOLDS
from cudbound.resampling.splits import TEST_SET

CENTER = Choice(("cross-validated", "632-plus"))
NO_VARIANCE = (
    "all events have the same rank among the others, and all others among the events: the variance is 0"
)
AT_THE_EDGE = "the AUC is 0 or 1, where this variance is 0; 'newcombe' has positive width there"
ONE_CLASS = "undefined: all scores belong to one class"
NO_REPEAT = "undefined: no repeat has cross-validated scores of both classes"

#: ``(auc, n_events, n_others, confidence_level)``.
Limits = Callable[[float, int, int, float], ConfidenceInterval]


def _normal(auc: float, error: float, confidence_level: float, **fields: Any) -> Outcome:
    """Return normal limits of an AUC with this standard error, which is 0 if only rounding kept it from that."""
    return Pivot(auc, 0.0 if error <= EQUAL else error, **fields).outcome(confidence_level)


def delong_outcome(
    scores: Array,
    event: Bools,
    confidence_level: float,
    groups: Groups | None = None,
    remarks: tuple[str, ...] = (),
    estimand: Estimand | None = None,
) -> Outcome:
    """Return the AUC of these scores with normal limits from DeLong's variance, or its version for groups.

    It is undefined if a class has a single row, or all rows of a class belong to one group.
    """
    if min(event.sum(), (~event).sum()) < 2:
        return Outcome.undefined(ONE_ROW if np.unique(event).size == 2 else ONE_CLASS)
    parts = placements(scores, event)
    variance = delong_variance(*parts) if groups is None else clustered_variance(*parts, event, groups)
    if math.isnan(variance):
        return Outcome.undefined("undefined: all rows of a class belong to one group")
    auc, error = float(parts[0].mean()), math.sqrt(max(variance, 0.0))
    return _normal(auc, error, confidence_level, remarks=remarks, degenerate=NO_VARIANCE, estimand=estimand)


def hanley_mcneil_interval(
    auc: float, n_events: int, n_others: int, confidence_level: float
) -> ConfidenceInterval:
    """Normal interval around a corrected AUC, with the variance of Hanley and McNeil.

    Formula: A +/- z(1 - d/2) sqrt((A (1 - A) + (n1 - 1)(A/(2 - A) - A^2) + (n0 - 1)(2 A^2/(1 + A) - A^2)) / (n1 n0)); A
    is the mean cross-validated or the .632+ AUC; n1 events, n0 others.
    Assumptions: the estimate varies like the AUC on n new cases; scores in each class are roughly exponential.
    Tendency: liberal: at level .95, coverage was .25 in the worst and .87 in the median of 91 settings.
    Reference: Hanley and McNeil (1982).
    With center=632-plus: Normal interval around the .632+ AUC, with the variance of Hanley and McNeil.
    Reference with center=632-plus: Hanley and McNeil (1982); Efron and Tibshirani (1997).

    Examples
    --------
    >>> interval = hanley_mcneil_interval(0.8, 20, 30, 0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.668, 0.932)
    """
    of_events, of_others = auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)
    spread = (n_events - 1) * (of_events - auc**2) + (n_others - 1) * (of_others - auc**2)
    variance = max(auc * (1.0 - auc) + spread, 0.0) / (n_events * n_others)
    return Pivot(auc, math.sqrt(variance)).interval(confidence_level)


def newcombe_interval(
    auc: float, n_events: int, n_others: int, confidence_level: float
) -> ConfidenceInterval:
    """Score interval around a corrected AUC: Newcombe's method 5.

    Formula: the c with |A - c| = z(1 - d/2) sqrt(c (1 - c) (1 + (n/2 - 1) ((1 - c)/(2 - c) + c/(1 + c))) / (n1 n0)); A,
    n1 and n0 as in hanley-mcneil.
    Assumptions: as hanley-mcneil.
    Tendency: liberal: at level .95, coverage was .37 in the worst and .85 in the median of 91 settings.
    Reference: Newcombe (2006), method 5.
    With center=632-plus: Score interval around the .632+ AUC: Newcombe's method 5.
    Reference with center=632-plus: Newcombe (2006), method 5; Efron and Tibshirani (1997).

    Examples
    --------
    >>> interval = newcombe_interval(1.0, 10, 10, 0.95)
    >>> round(interval.low, 3), interval.high
    (0.8, 1.0)
    """
    from scipy.optimize import brentq

    z = float(ndtri(0.5 + confidence_level / 2.0))

    def limit(center: float, reach: float) -> float:
        if reach < 0.0:
            return 1.0 - limit(1.0 - center, -reach)
        if center <= 0.0 or reach == 0.0:
            return center

        def beyond(c: float) -> float:
            return center - c - reach * math.sqrt(c * (1.0 - c) / hanley_mcneil_size(c, n_events, n_others))

        # at 1 itself both sides are 0, which is not the limit
        last = min(center, 1.0 - 1e-12)
        return float(brentq(beyond, 0.0, last, xtol=1e-14)) if beyond(last) < 0.0 else last

    # the number of cases is the same at 1 - c
    return ConfidenceInterval(limit(auc, z), 1.0 - limit(1.0 - auc, z))


def cross_validated_auc(records: Records) -> float:
    """Return the mean over repeats of the AUC of all scores in a repeat; nan if no repeat has both classes."""
    aucs = []
    for scores in (folds.scores for folds in records.require(REPEATED_FOLDS).partitions):
        scored = ~np.isnan(scores)
        if np.unique(records.event[scored]).size == 2:
            aucs.append(float(placements(scores[scored], records.event[scored])[0].mean()))
    return float(np.mean(aucs)) if aucs else math.nan


def _at_estimate(records: Records, confidence_level: float, *, center: str, limits: Limits) -> Outcome:
    cross_validated = center == "cross-validated"
    auc = cross_validated_auc(records) if cross_validated else auc_estimates(records).plus
    if math.isnan(auc):
        return Outcome.undefined(NO_REPEAT if cross_validated else NO_PAIR)
    n_others = records.n_samples - records.n_events
    return Outcome(auc, limits(auc, records.n_events, n_others, confidence_level), degenerate=AT_THE_EDGE)


def _needs(options: Mapping[str, Any]) -> Needs:
    return {REPEATED_FOLDS} if options["center"] == "cross-validated" else {SCORES, BOOTSTRAP}


HANLEY_MCNEIL, NEWCOMBE = (
    Method(
        name,
        {REPEATED_FOLDS},
        needs_with=_needs,
        reads="scores",
        cost="R K, or B with the .632+ AUC",
        with_groups="refits",
        compute=partial(_at_estimate, limits=limits),
        options={"center": CENTER},
    )
    for name, limits in {"hanley-mcneil": hanley_mcneil_interval, "newcombe": newcombe_interval}.items()
)


def _training(records: Records, confidence_level: float) -> Outcome:
    """Normal interval for the AUC on the training rows, with DeLong's variance.

    Formula: A +/- z(1 - d/2) sqrt(V); A is the AUC of the scores of the training rows, V DeLong's variance of it,
    var(share of others below each event)/n1 + var(share of events above each other)/n0, n1 events and n0 others, or its
    version for groups.
    Assumptions: the rows are new to the classifier; they are not.
    Tendency: liberal: at level .95, coverage was 0 in the worst and .57 in the median of 91 settings.
    Reference: DeLong, DeLong and Clarke-Pearson (1988).
    With groups: Normal interval for the AUC on the training rows, with Obuchowski's variance.
    Reference with groups: Obuchowski (1997).
    """
    return delong_outcome(records.require(SCORES), records.event, confidence_level, records.groups)


DELONG_TRAINING = Method("delong-training", {SCORES}, reads="scores", cost="0", compute=_training)


def _test_set_delong(records: Records, confidence_level: float) -> Outcome:
    """Normal interval for the AUC on a test set, with DeLong's variance.

    Formula: A +/- z(1 - d/2) sqrt(V); A is the AUC on the test set, V as in delong-training for its scores.
    Assumptions: test points are independent and new to the classifier; there are many of each class.
    Reference: DeLong, DeLong and Clarke-Pearson (1988).
    """
    record = records.require(TEST_SET)
    return delong_outcome(record.scores, record.event, confidence_level, estimand=Estimand(record.estimand))


def _test_set_newcombe(records: Records, confidence_level: float) -> Outcome:
    """Score interval for the AUC on a test set: Newcombe's method 5.

    Formula: as newcombe, with A, m, m1 and m0 of the test set in place of A, n, n1 and n0.
    Assumptions: test points are independent and new to the classifier; scores in each class are roughly exponential.
    Reference: Newcombe (2006), method 5.
    """
    record = records.require(TEST_SET)
    n_events, size = int(record.event.sum()), record.event.size
    if n_events in (0, size):
        return Outcome.undefined(ONE_CLASS)
    auc = float(placements(record.scores, record.event)[0].mean())
    interval = newcombe_interval(auc, n_events, size - n_events, confidence_level)
    return Outcome(auc, interval, estimand=Estimand(record.estimand))


TEST_SET_DELONG = on_test_set("test-set-delong", reads="scores", compute=_test_set_delong)
TEST_SET_NEWCOMBE = on_test_set("test-set-newcombe", reads="scores", compute=_test_set_newcombe)

NO_FOLD = "undefined: no fold has rows of both classes and a classifier fitted to both"
SAME_IN_FOLDS = (
    "within each fold, all events have the same rank among the others, and all others among the events"
)


def cv_auc(scores: ArrayLike, event: Bools, fold: ArrayLike) -> tuple[float, float, int]:
    """Return the mean of the AUCs of the folds, its standard error by influence curves, and the folds left out.

    Folds with rows of one class, or whose classifier was fitted to one class (scores are nan), are left out; only the
    rows of the remaining folds count. Ties count one half, in the AUC and in its influence curve.

    Parameters
    ----------
    scores : array-like of float, shape (n_samples,)
        Score of each row by the classifier fitted without its fold.
    event : ndarray of bool, shape (n_samples,)
    fold : array-like of int, shape (n_samples,)

    Returns
    -------
    estimate, standard_error : float
        nan if every fold is left out.
    n_lost : int

    References
    ----------
    LeDell, E., Petersen, M. and van der Laan, M. (2015). Computationally efficient confidence intervals for
    cross-validated area under the ROC curve estimates. Electronic Journal of Statistics 9, 1583-1607, section 4.

    Examples
    --------
    >>> event = np.array([True, False, False, True, False, True])
    >>> estimate, standard_error, n_lost = cv_auc([3, 1, 2, 1, 2, 3], event, [0, 0, 0, 1, 1, 1])
    >>> estimate, round(standard_error, 3), n_lost
    (0.75, 0.236, 0)
    """
    values, folds = np.asarray(scores, dtype=np.float64), np.asarray(fold)
    parts = [folds == number for number in np.unique(folds)]
    used = [rows for rows in parts if np.unique(event[rows]).size == 2 and not np.isnan(values[rows]).any()]
    if not used:
        return math.nan, math.nan, len(parts)
    n = int(np.sum(used))
    share = sum(int(event[rows].sum()) for rows in used) / n
    aucs, squares = [], []
    for rows in used:
        of_events, of_others = placements(values[rows], event[rows])
        auc = float(of_events.mean())
        aucs.append(auc)
        curve = (((of_events - auc) / share) ** 2).sum() + (((of_others - auc) / (1.0 - share)) ** 2).sum()
        squares.append(curve / rows.sum())
    return float(np.mean(aucs)), math.sqrt(np.mean(squares) / n), len(parts) - len(used)


def _cv_auc(records: Records, confidence_level: float) -> Outcome:
    """Normal interval for the mean AUC of the folds, by influence curves.

    Formula: A +/- z(1 - d/2) sqrt(v / n); A is the mean of the AUCs A_k of the folds with both classes, n their rows, v
    the mean over these folds of the mean square of (V - A_k)/q; V is the share of the other class in the fold against
    which a row is ranked correctly, q the share of the row's class in these folds.
    Assumptions: the classifiers of the folds hardly differ; every fold has many rows of each class.
    Tendency: liberal for the AUC of the fitted classifier: at level .95, coverage was 0 in the worst and .80 in the
    median of 91 settings.
    Reference: LeDell, Petersen and van der Laan (2015).
    """
    folds = records.require(FOLDS)
    estimate, error, n_lost = cv_auc(folds.scores, records.event, folds.fold)
    if math.isnan(estimate):
        return Outcome.undefined(NO_FOLD)
    remarks = (f"{n_lost} folds with one class left out",) if n_lost else ()
    return _normal(estimate, error, confidence_level, remarks=remarks, degenerate=SAME_IN_FOLDS)


def _pooled(records: Records, confidence_level: float) -> Outcome:
    """Normal interval for the AUC of all cross-validated scores, with DeLong's variance.

    Formula: A +/- z(1 - d/2) sqrt(V); A is the AUC of all cross-validated scores, V as in delong-training.
    Assumptions: scores from different folds are comparable.
    Tendency: liberal: at level .95, coverage was .21 in the worst and .86 in the median of 91 settings.
    Reference: DeLong, DeLong and Clarke-Pearson (1988).
    With groups: Normal interval for the AUC of all cross-validated scores, with Obuchowski's variance.
    Reference with groups: Obuchowski (1997).
    """
    folds = records.require(FOLDS)
    scores = folds.scores
    scored = ~np.isnan(scores)
    groups = None if records.groups is None else Groups.of(records.groups.codes[scored])
    n_lost = int(scored.size - scored.sum())
    remarks = (f"{n_lost} rows left out because their classifier was fitted to one class",) if n_lost else ()
    return delong_outcome(scores[scored], records.event[scored], confidence_level, groups, remarks)


CVAUC = Method(
    "cvauc",
    {FOLDS},
    reads="scores",
    estimand=Estimand("cv-average"),
    cost="K",
    with_groups="refits",
    compute=_cv_auc,
)
DELONG_10_FOLD = Method("delong-10-fold", {FOLDS}, reads="scores", cost="K", compute=_pooled)

#: For the AUC, without new cases and with them, in the order of the table.
FOR_AUC = (NEWCOMBE, HANLEY_MCNEIL, DELONG_10_FOLD, CVAUC, DELONG_TRAINING)
AUC_ON_TEST_SET = (TEST_SET_DELONG, TEST_SET_NEWCOMBE)
