"""Searches refitted in batches, against scikit-learn's own search on every training set."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from direct_refits import prepare_refits
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cudbound import performance_interval
from cudbound.adapters import batched_refit

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::cudbound.basis.exceptions.CudboundWarning",
)
C = [0.01, 0.1, 1.0, 10.0]
EXACT: dict[str, Any] = {"tol": 1e-10, "max_iter": 10_000}
LOGISTIC = LogisticRegression(**EXACT)
SEARCHES = {
    "C": GridSearchCV(LOGISTIC, {"C": C}, cv=3),
    "C, ten folds": GridSearchCV(LOGISTIC, {"C": C}, cv=10),
    "C behind a scaler": GridSearchCV(
        make_pipeline(StandardScaler(), LOGISTIC), {"logisticregression__C": C}, cv=3, scoring="accuracy"
    ),
    "alpha": GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1.0, 100.0]}),
    "path": LogisticRegressionCV(Cs=C, cv=3, **EXACT),
    "path behind a scaler": make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=3, **EXACT)),
    "path, ten folds": LogisticRegressionCV(Cs=3, cv=10, **EXACT),
}


def data(kind: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of two classes; binary features make many equal scores and equal accuracies."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3)) if kind == "normal" else rng.integers(2, size=(40, 3)).astype(float)
    return X, (X[:, 0] + 0.7 * rng.normal(size=40) > 0.2).astype(np.int64)


@pytest.mark.parametrize("kind", ["normal", pytest.param("binary", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow if "ten" in one else ()) for one in SEARCHES]
)
def test_each_training_set_chooses_what_scikit_learn_chooses(name: str, kind: str) -> None:
    X, y = data(kind)
    search = clone(SEARCHES[name]).fit(X, y)
    counts = np.random.default_rng(5).multinomial(40, np.full(40, 1 / 40), size=4)
    refit = batched_refit(search, X, y)
    assert refit is not None
    wrong, clear, scores = refit(counts.astype(float))
    assert clear.mean() >= 0.75
    for row, found, of_rows in zip(counts[clear], wrong[clear], scores[clear], strict=True):
        drawn = np.repeat(np.arange(40), row)
        alone = clone(search).fit(X[drawn], y[drawn])
        np.testing.assert_array_equal(found, alone.predict(X) != y)
        np.testing.assert_allclose(of_rows, alone.decision_function(X), atol=1e-5)


def test_the_interval_is_that_of_single_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data("normal")
    y[np.flatnonzero(y == 1)[6:]] = 0  # some draws have fewer events than folds, which scikit-learn warns of
    search = clone(SEARCHES["C"]).fit(X, y)
    arguments: dict[str, Any] = {"n_resamples": 20, "rng": 1}
    with warnings.catch_warnings(action="ignore"):
        found = performance_interval(search, X, y, **arguments)
        assert not prepare_refits(
            search, X, y
        ).batched  # defaults of inner draws and of one class stay as they were
        monkeypatch.setattr("cudbound.resampling.refits.batched_refit", lambda *_, **__: None)
        assert performance_interval(search, X, y, **arguments).row == found.row


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(LOGISTIC, {"C": C}, scoring="roc_auc"),
        GridSearchCV(LOGISTIC, {"C": C}, cv=KFold(3)),
        GridSearchCV(LOGISTIC, {"C": C}, refit=lambda results: 0),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}),
        GridSearchCV(LogisticRegression(solver="liblinear"), {"l1_ratio": [0.0, 1.0]}),
        make_pipeline(StandardScaler(), GridSearchCV(LOGISTIC, {"C": C})),
        LogisticRegressionCV(Cs=3, scoring="roc_auc"),
        LogisticRegressionCV(Cs=3, cv=KFold(3)),
        LogisticRegressionCV(Cs=3, class_weight="balanced"),
        LogisticRegressionCV(Cs=3, refit=False),
        LogisticRegressionCV(Cs=3, l1_ratios=(0.0, 0.5), solver="saga", penalty="elasticnet"),
    ],
)
def test_other_searches_are_fitted_one_by_one(search: Any) -> None:
    X, y = data("normal")
    assert batched_refit(search.fit(X, y), X, y) is None
