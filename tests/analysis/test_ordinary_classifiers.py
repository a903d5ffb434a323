"""The recommended interval of classifiers that have no CUD bound, or whose bound would not know what was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from data import sample
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn_versions import logistic_cv, sparse_logistic

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    Resampling,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.basis.exceptions import (
    NotResampledWarning,
)

N_DRAWS = 25


SPARSE = {
    "LASSO of liblinear": sparse_logistic(1.0, solver="liblinear", tol=1e-8),
    "LASSO of saga": sparse_logistic(1.0, solver="saga", tol=1e-8, max_iter=20000),
    "elastic net": sparse_logistic(0.5, solver="saga", tol=1e-8, max_iter=20000),
    "SGD log_loss": SGDClassifier("log_loss", penalty="l1", alpha=0.02, random_state=0),
    "SGD squared_error": SGDClassifier(
        "squared_error", penalty="elasticnet", l1_ratio=0.5, alpha=0.05, random_state=0
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_classifiers_have_the_bound(name):
    X, y = sample(40, 3)
    bound = Bound(polish=name.startswith("SGD"))
    fitted = SPARSE[name].fit(X, y)
    table = compare_intervals(fitted, X, y, methods=("recommended", bound), n_resamples=N_DRAWS, rng=0)
    assert table["cud"].high > table["cud"].estimate
    assert table["cud"].degenerate is None


SELECTION = make_pipeline(SelectKBest(f_classif, k=2), LeastSquaresClassifier())


def test_no_bound_unless_named_where_a_step_reads_the_labels():
    X, y = sample(40, 30)
    selection = SELECTION.fit(X, y)
    table = compare_intervals(selection, X, y, methods="recommended", n_resamples=N_DRAWS, rng=0)
    row = table["two-center"]
    assert "SelectKBest, which uses the labels" in table["cud"].degenerate
    with pytest.warns(NotResampledWarning, match="SelectKBest") as caught:
        named = compare_intervals(selection, X, y, methods=["cud", "two-center"], n_resamples=N_DRAWS, rng=0)
    assert str(caught[0].message).startswith("SelectKBest uses the labels")
    assert named["cud"].low < named["cud"].high
    assert named["two-center"].confidence_interval == row.confidence_interval
    with pytest.warns(NotResampledWarning, match="SelectKBest"):
        alone = cud_interval(selection, X, y, n_resamples=N_DRAWS, rng=0)
    assert alone.confidence_interval == named["cud"].confidence_interval


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=3),
        logistic_cv(Cs=[0.1, 1.0], cv=3),
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_bound_unless_named_where_something_was_chosen_inside(search):
    X, y = sample(40, 3)
    search.fit(X, y)
    table = compare_intervals(search, X, y, methods="recommended", n_resamples=6, rng=0)
    assert f"the choice of {type(search).__name__} on these data as fixed" in table["cud"].degenerate
    with pytest.warns(NotResampledWarning):
        named = compare_intervals(search, X, y, methods=["cud"], n_resamples=6, rng=0)
    assert named["cud"].low < named["cud"].high


class FailsOnFolds(LeastSquaresClassifier):
    """Cannot be fitted to rows that are all different but some, as those of a fold's training set are."""

    def fit(self, X, y):
        if 24 < len(np.unique(X, axis=0)) < 30:
            raise ValueError("no such rows")
        return super().fit(X, y)


def test_folds_that_cannot_be_fitted_are_an_error():
    X, y = sample(30, 3)
    with pytest.raises(ValueError, match="no such rows"):
        performance_interval(
            FailsOnFolds().fit(X, y),
            X,
            y,
            n_resamples=40,
            rng=0,
            resampling=Resampling(on_single_class="fit"),
        )
