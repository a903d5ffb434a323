"""Refits without copies of rows for learners that split their rows, the caller's folds, and rows by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from data import sample
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFECV, SelectFromModel, SelectKBest
from sklearn.linear_model import (
    LassoCV,
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from cudbound import (
    LeastSquaresClassifier,
    Resampling,
)
from cudbound.adapters.parts import splits_rows
from cudbound.basis.sample import Sample
from cudbound.problem.draws import draw_counts
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.make_records import RecordingInputs, make_records
from cudbound.resampling.settings import spawn_streams

REMARK = "refits without copies of rows, since the classifier splits its rows when it is fitted"
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
NEIGHBORS, LOGISTIC = KNeighborsClassifier(), LogisticRegression()
SEARCH = GridSearchCV(NEIGHBORS, {"n_neighbors": [1, 5, 9]}, cv=FOLDS)

SPLITTING = [
    SEARCH,
    RandomizedSearchCV(NEIGHBORS, {"n_neighbors": [1, 5]}, n_iter=1),
    LogisticRegressionCV(),
    RidgeClassifierCV(),
    make_pipeline(TargetEncoder(), LOGISTIC),
    make_pipeline(make_column_transformer((TargetEncoder(), [0])), LOGISTIC),
    StackingClassifier([("a", LOGISTIC), ("b", NEIGHBORS)]),
    VotingClassifier([("a", LOGISTIC), ("b", SEARCH)]),
    BaggingClassifier(SEARCH),
    CalibratedClassifierCV(LOGISTIC),
    TunedThresholdClassifierCV(LOGISTIC),
    FixedThresholdClassifier(SEARCH),
    make_pipeline(RFECV(LOGISTIC), LOGISTIC),
    make_pipeline(SelectFromModel(LassoCV()), LOGISTIC),
    SGDClassifier(early_stopping=True),
    MLPClassifier(early_stopping=True),
    HistGradientBoostingClassifier(early_stopping=True),
    GradientBoostingClassifier(n_iter_no_change=5),
]
NOT_SPLITTING = [
    LOGISTIC,
    NEIGHBORS,
    LeastSquaresClassifier(),
    DecisionTreeClassifier(),
    RandomForestClassifier(),
    BaggingClassifier(LOGISTIC),
    VotingClassifier([("a", LOGISTIC), ("b", NEIGHBORS)]),
    make_pipeline(StandardScaler(), SelectKBest(k=1), LOGISTIC),
    FixedThresholdClassifier(LOGISTIC),
    SGDClassifier(),
    MLPClassifier(),
    HistGradientBoostingClassifier(),
    GradientBoostingClassifier(),
    StackingClassifier([("a", LOGISTIC)], cv="prefit"),
]


class WithoutParameters:
    """A classifier of one's own, which scikit-learn knows nothing of."""

    cv = 5


@pytest.mark.parametrize("estimator", SPLITTING, ids=lambda one: str(one)[:40])
def test_learners_that_split_their_rows_are_seen(estimator):
    assert splits_rows(estimator)


@pytest.mark.parametrize("estimator", [*NOT_SPLITTING, WithoutParameters()], ids=lambda one: str(one)[:40])
def test_other_learners_are_refitted_with_copies(estimator):
    assert not splits_rows(estimator)


def recorded(estimator, X, y, resampling, groups=None):
    """Return the draws, and the records of the refits to them."""
    rng = np.random.default_rng(0)
    found = Sample.of(estimator, X, y, groups)
    counts = draw_counts(len(y), 12, rng, found.groups)
    recording = RecordingInputs(
        sample=found, counts=counts, streams=spawn_streams(rng), estimator=estimator, resampling=resampling
    )
    return counts, make_records({BOOTSTRAP}, recording)["bootstrap"]


@pytest.mark.parametrize("groups", [None, np.arange(30) // 2], ids=["rows", "groups"])
@pytest.mark.parametrize(
    ("estimator", "copies", "without"),
    [
        (SEARCH, None, True),
        (SEARCH, True, False),
        (SEARCH, False, True),
        (NEIGHBORS, None, False),
        (NEIGHBORS, False, True),
        (LeastSquaresClassifier(), None, False),
        (LeastSquaresClassifier(), False, True),
    ],
    ids=lambda one: str(one)[:12],
)
def test_draws_without_copies_hold_the_same_rows(estimator, copies, without, groups):
    X, y = sample()
    counts, found = recorded(estimator.fit(X, y), X, y, Resampling(copies=copies), groups)
    assert (REMARK in found.remarks) == without
    assert np.array_equal(found.counts, np.minimum(counts, 1) if without else counts)
    # the rows out of bag are those of the draw
    assert np.array_equal(found.counts == 0, counts == 0)


@pytest.mark.parametrize("copies", [False, True])
def test_refits_are_those_of_the_rows_of_the_draw(copies):
    X, y = sample(n=40)
    clf = KNeighborsClassifier(3).fit(X, y)
    counts, found = recorded(clf, X, y, Resampling(copies=copies))
    for count, losses in zip(counts, found.losses, strict=True):
        rows = np.repeat(np.arange(40), count if copies else count > 0)
        wrong = KNeighborsClassifier(3).fit(X[rows], y[rows]).predict(X) != y
        assert np.array_equal(losses, wrong)


# ---- the folds of cross-validation ----


# ---- the learners that the interval is for ----
