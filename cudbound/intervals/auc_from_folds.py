"""Intervals for the AUC from cross-validated scores, fold by fold or pooled over all rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from cudbound.basis.groups import Groups
from cudbound.basis.method_card import GROUPED
from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome, Words
from cudbound.intervals.auc_at_estimate import delong_outcome
from cudbound.intervals.method import Method
from cudbound.intervals.pivot import EQUAL
from cudbound.point_estimates.auc import Bools, placements
from cudbound.records import ScoreRecords

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


def _cv_auc(records: ScoreRecords, confidence_level: float) -> Outcome:
    folds = records.require("folds")
    estimate, error, n_lost = cv_auc(folds.scores[0], records.event, folds.fold[0])
    if math.isnan(estimate):
        return Outcome.undefined(NO_FOLD)
    error = 0.0 if error <= EQUAL else error
    reach = float(ndtri(0.5 + confidence_level / 2.0)) * error
    return Outcome(
        estimate,
        ConfidenceInterval(estimate - reach, estimate + reach),
        remarks=(f"{n_lost} folds with one class left out",) if n_lost else (),
        degenerate=SAME_IN_FOLDS,
        standard_error=error,
    )


def _pooled(records: ScoreRecords, confidence_level: float) -> Outcome:
    folds = records.require("folds")
    scores = folds.scores[0]
    known = ~np.isnan(scores)
    groups = None if records.groups is None else Groups.of(records.groups.codes[known])
    n_lost = int(known.size - known.sum())
    remarks = (f"{n_lost} rows left out because their classifier was fitted to one class",) if n_lost else ()
    return delong_outcome(scores[known], records.event[known], confidence_level, groups, remarks)


CVAUC = Method(
    name="cvauc",
    reads="scores",
    title="Normal interval for the mean AUC of the folds, by influence curves",
    formula="A +/- z(1 - d/2) sqrt(v / n); A is the mean of the AUCs of the K folds, v the mean over folds of the mean "
    "square of (V - A_k)/q; V is the share of the other class in the fold against which a row is ranked correctly, A_k "
    "the AUC of fold k, q the share of the row's class in all folds",
    estimand=Estimand("cv-average"),
    needs=frozenset({"folds"}),
    assumptions="n is large; the classifiers of the folds hardly differ; every fold has many rows of each class",
    tendency="liberal for the AUC of the fitted classifier: at level .95, coverage was 0 in the worst and .80 in "
    "the median of 91 settings; AUCs of small folds vary too little about their own mean",
    reference="LeDell, Petersen and van der Laan (2015), section 4; ties count one half in the influence curve too, "
    "and folds of one class are left out",
    cost="K",
    with_groups="refits",
    compute=_cv_auc,
)

TITLE = "Normal interval for the AUC of all cross-validated scores, with DeLong's variance"
DELONG_10_FOLD = Method(
    name="delong-10-fold",
    reads="scores",
    title=TITLE,
    formula="A +/- z(1 - d/2) sqrt(V); A is the AUC of all cross-validated scores, V DeLong's variance, var(share of "
    "others below each event)/n1 + var(share of events above each other)/n0, or its version for groups",
    estimand=Estimand("conditional"),
    needs=frozenset({"folds"}),
    assumptions="scores from different folds are comparable, as if from one classifier",
    tendency="liberal: at level .95, coverage was .21 in the worst and .86 in the median of 91 settings; too low on "
    "small samples, because it compares scores across folds whose classifiers differ in location",
    reference="DeLong, DeLong and Clarke-Pearson (1988)",
    ways={GROUPED: Words(TITLE.replace("DeLong", "Obuchowski"), "Obuchowski (1997)")},
    cost="K",
    compute=_pooled,
)
