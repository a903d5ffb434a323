"""Stumps of boosting models as a basis."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier

from cudbound import ConvexLossClassifier, stump_basis
from cudbound.adapters import to_additive_model
from cudbound.losses.surrogates import get_loss


def _data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0, "ill", "well")


def _models():
    X, y = _data()
    yield "adaboost", AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    yield "boosting", GradientBoostingClassifier(n_estimators=30, max_depth=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in _models()])
def test_columns_are_the_distinct_splits(model):
    X, _ = _data()
    basis = stump_basis(model)
    columns = basis.fit_transform(X)
    assert set(np.unique(columns)) <= {0.0, 1.0}
    splits = list(zip(basis.features, basis.thresholds, strict=True))
    assert splits == sorted(set(splits))
    new = np.random.default_rng(1).normal(size=(100, 3)).round(1)
    # every tree is constant on either side of one of the columns
    trees = np.ravel(np.asarray(model.estimators_, dtype=object))
    for rows in (X, new):
        columns = basis.transform(rows)
        for tree in trees:
            values = np.ravel(tree.predict(rows))
            assert any(
                len(set(values[column == 0.0].tolist())) <= 1
                and len(set(values[column == 1.0].tolist())) <= 1
                for column in columns.T
            )


@pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in _models()])
def test_the_refit_has_a_smaller_loss_than_boosting(model):
    X, y = _data()
    loss = "exponential" if isinstance(model, AdaBoostClassifier) else "logistic"
    clf = ConvexLossClassifier(loss, penalty=1e-6, basis=stump_basis(model)).fit(X, y)
    labels = np.where(y == "well", 1.0, -1.0)
    boosted = np.ravel(model.decision_function(X))
    values = [get_loss(loss).value(labels, scores).mean() for scores in (clf.decision_function(X), boosted)]
    assert values[0] < values[1]
    model_as_arrays = to_additive_model(clf, X, y)
    np.testing.assert_array_equal(model_as_arrays.design[:, 1:], stump_basis(model).transform(X))
