"""The classifier for all losses: the minimum it promises, bases, weights, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from least_loss import least_mean_loss, model_of
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from cudbound import Bound, ConvexLossClassifier, LeastSquaresClassifier, cud_interval
from cudbound.adapters import to_additive_model
from cudbound.basis.exceptions import NoMinimizerError
from cudbound.losses.surrogates import LOSSES

TIGHT = {"tol": 1e-12, "max_iter": 1_000_000}


def _data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5] + [0.0, 1.0, 2.0]
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


# ---- the minimum --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.05, [0.01, 0.0, 0.2]], ids=["none", "number", "array"])
@pytest.mark.parametrize("loss", LOSSES)
def test_minimum_equals_that_of_cvxpy(loss, penalty, weighted):
    X, y = _data(1)
    weight = np.random.default_rng(2).uniform(0.2, 3.0, size=40) if weighted else None
    intercept_penalty = 0.1 if weighted else 0.0
    clf = ConvexLossClassifier(loss, penalty, intercept_penalty=intercept_penalty).fit(X, y, weight)
    model = model_of(
        np.column_stack([np.ones(40), X]),
        np.where(y == "ill", 1.0, -1.0),
        np.concatenate([clf.intercept_, clf.coef_[0]]),
        loss,
        penalty=np.append(intercept_penalty, np.broadcast_to(penalty, 3)),
        sample_weight=np.ones(40) if weight is None else weight / weight.mean(),
    )
    scores = model.design @ model.coef
    reached = (
        model.sample_weight @ model.loss.value(model.labels, scores)
    ) / 40 + model.penalty @ model.coef**2
    assert reached == pytest.approx(least_mean_loss(model), abs=1e-7)
    np.testing.assert_allclose(clf.decision_function(X), scores, atol=1e-12)


PEERS = {
    "logistic": ("logistic", 0.5, LogisticRegression(C=0.5, **TIGHT), 0.0),
    "logistic balanced": ("logistic", 2.0, LogisticRegression(C=2.0, class_weight="balanced", **TIGHT), 0.0),
    "linear svc": ("squared_hinge", 0.5, LinearSVC(C=0.5, random_state=0, **TIGHT), 1.0),
    "linear svc hinge": ("hinge", 0.05, LinearSVC("l2", loss="hinge", C=0.05, random_state=0, **TIGHT), 1.0),
    "svc": ("hinge", 0.3, SVC(kernel="linear", C=0.3, tol=1e-9), 0.0),
    "ridge": ("squared", 0.25, RidgeClassifier(alpha=2.0), 0.0),
    "ridge balanced": ("squared", 0.25, RidgeClassifier(alpha=2.0, class_weight="balanced"), 0.0),
}


@pytest.mark.parametrize("name", PEERS)
def test_equals_scikit_learn(name):
    X, y = _data(3)
    loss, c, peer, intercept_share = PEERS[name]
    strength = 1.0 / (2.0 * c * 40)
    clf = ConvexLossClassifier(
        loss, strength, intercept_penalty=intercept_share * strength, class_weight=peer.class_weight
    )
    peer.fit(X, y)
    np.testing.assert_allclose(clf.fit(X, y).coef_[0], np.ravel(peer.coef_), atol=2e-5)
    np.testing.assert_allclose(clf.intercept_, peer.intercept_, atol=2e-5)
    assert clf.coef_.shape == (1, 3)
    assert clf.intercept_.shape == (1,)


def test_squared_loss_is_the_classifier_of_the_paper():
    rng = np.random.default_rng(0)
    for n, p in ((40, 3), (12, 20)):
        X, y = rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2)
        for fit_intercept in (True, False):
            ours = ConvexLossClassifier("squared", fit_intercept=fit_intercept).fit(X, y)
            paper = LeastSquaresClassifier(fit_intercept).fit(X, y)
            np.testing.assert_allclose(ours.coef_, paper.coef_, atol=1e-9)
            np.testing.assert_allclose(ours.intercept_, paper.intercept_, atol=1e-9)


# ---- bases --------------------------------------------------------------------------------------------------------

BASES = {
    "polynomials": PolynomialFeatures(2, include_bias=False),
    "splines": SplineTransformer(n_knots=4, degree=2, include_bias=False),
    "sparse splines": SplineTransformer(n_knots=4, degree=2, sparse_output=True),
    "principal components": PCA(2),
    "random features": RBFSampler(n_components=6, random_state=0),
    "nystroem": Nystroem(n_components=6, random_state=0),
    "random trees": RandomTreesEmbedding(n_estimators=4, max_depth=1, random_state=0),
    "a pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)),
}


@pytest.mark.parametrize("name", BASES)
def test_a_basis_is_the_pipeline_of_both(name):
    X, y = _data(5)
    basis = BASES[name]
    whole = ConvexLossClassifier("squared_hinge", 0.02, basis=clone(basis)).fit(X, y)
    rows = clone(basis).fit(X).transform(X)
    rows = rows.toarray() if sparse.issparse(rows) else rows
    parts = ConvexLossClassifier("squared_hinge", 0.02).fit(rows, y)
    np.testing.assert_allclose(whole.coef_, parts.coef_, atol=1e-9)
    np.testing.assert_array_equal(whole.predict(X), parts.predict(rows))
    assert whole.coef_.shape == (1, rows.shape[1])
    model = to_additive_model(whole, X, y)
    np.testing.assert_allclose(model.design[:, 1:], rows, atol=1e-12)
    result = cud_interval(whole, X, y, n_resamples=5, rng=0, bound=Bound(nodes_per_draw=None))
    assert result.estimate == pytest.approx(1.0 - whole.score(X, y))


def test_a_frozen_basis_survives_cloning():
    X, y = _data(6)
    fitted = StandardScaler().fit(X[:5])
    forgotten = clone(ConvexLossClassifier(penalty=0.1, basis=fitted)).fit(X, y)
    np.testing.assert_allclose(forgotten.basis_.mean_, X.mean(axis=0))
    kept = clone(ConvexLossClassifier(penalty=0.1, basis=FrozenEstimator(fitted))).fit(X, y)
    np.testing.assert_array_equal(kept.basis_rows(X), fitted.transform(X))
    assert np.isfinite(cross_val_score(kept, X, y, cv=3)).all()


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_separable_data(loss):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = [0, 0, 1, 1]
    if LOSSES[loss].vanishes:
        with pytest.raises(NoMinimizerError, match=rf"the mean {loss} loss without a penalty.*penalty=0\.01"):
            ConvexLossClassifier(loss).fit(X, y)
    else:
        assert ConvexLossClassifier(loss).fit(X, y).score(X, y) == 1.0
    assert ConvexLossClassifier(loss, penalty=0.01).fit(X, y).score(X, y) == 1.0
