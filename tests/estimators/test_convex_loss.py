"""The classifiers of the package: the minimum each promises, bases, stumps, weights, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from least_loss import least_mean_loss, model_of
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomTreesEmbedding
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from cudbound import Bound, ConvexLossClassifier, LeastSquaresClassifier, cud_interval, stump_basis
from cudbound.adapters import batched_refit, to_additive_model
from cudbound.basis.exceptions import NoMinimizerError
from cudbound.estimators.two_class import minimum_norm_fits
from cudbound.losses.surrogates import LOSSES, get_loss

# ---- the classifier for all losses ----


TIGHT = {"tol": 1e-12, "max_iter": 1_000_000}


def noisy(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5] + [0.0, 1.0, 2.0]
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


# ---- the minimum --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.05, [0.01, 0.0, 0.2]], ids=["none", "number", "array"])
@pytest.mark.parametrize("loss", LOSSES)
def test_minimum_equals_that_of_cvxpy(loss, penalty, weighted):
    X, y = noisy(1)
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
    X, y = noisy(3)
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
    X, y = noisy(5)
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
    X, y = noisy(6)
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


# ---- the least-squares classifier ----


def with_units(seed, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 100.0, 0.01][:p] + 5.0
    y = np.where(X[:, 0] + rng.normal(size=n) > 5.0, "ill", "healthy")
    return X, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_linear_regression_on_plus_minus_one(fit_intercept, weighted):
    X, y = with_units(0)
    weight = np.random.default_rng(1).random(40) if weighted else None
    ours = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    peer = LinearRegression(fit_intercept=fit_intercept)
    peer.fit(X, np.where(y == "ill", 1.0, -1.0), sample_weight=weight)
    assert ours.coef_.shape == (1, 3)
    assert ours.intercept_.shape == (1,)
    np.testing.assert_allclose(ours.coef_[0], peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_[0], peer.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), peer.predict(X), atol=1e-10)


@pytest.mark.parametrize("rows", [1.0, np.array(1.0), np.ones(3), np.empty((0, 3)), np.ones((2, 2))])
def test_what_is_no_table_of_the_columns_is_refused_as_by_scikit_learn(rows):
    X, y = noisy()
    fitted = LeastSquaresClassifier().fit(X, y)
    reasons = "2D array|0 sample|2 features"
    with pytest.raises(ValueError, match=reasons) as expected:
        LogisticRegression().fit(X, y).predict(rows)
    with pytest.raises(ValueError, match=reasons) as refused:
        fitted.predict(rows)
    assert str(refused.value) == str(expected.value).replace("LogisticRegression", "LeastSquaresClassifier")


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [1, 2], ["no", "yes"], [False, True], [1.0, 2.0]], ids=repr
)
def test_any_two_labels_second_in_order_is_positive(labels):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array(labels)[[0, 0, 1, 1]]
    clf = LeastSquaresClassifier().fit(X, y)
    assert clf.classes_.tolist() == sorted(labels)
    assert clf.predict(X).tolist() == y.tolist()
    assert (clf.decision_function(X) > 0).tolist() == [False, False, True, True]


def test_score_zero_gives_second_class_although_rounding_says_minus():
    # balanced classes at the same points: the minimizer is 0 exactly, computed scores are +-1e-17
    X = np.array([[0.1], [0.1], [0.3], [0.3], [0.7], [0.7]])
    y = np.array(["a", "b"] * 3)
    clf = LeastSquaresClassifier().fit(X, y)
    assert clf.decision_function(X).tolist() == [0.0] * 6
    assert clf.predict(X).tolist() == ["b"] * 6


def test_one_class_of_weight_gives_the_constant_classifier():
    X = np.random.default_rng(0).normal(size=(6, 9))
    clf = LeastSquaresClassifier().fit(X, [0, 0, 0, 1, 1, 1], sample_weight=[0, 0, 0, 1, 1, 1])
    assert clf.predict(X * 1000).tolist() == [1] * 6


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans(), st.booleans())
@example(1405, 6, False, True)  # more columns than rows, and draws of fewer rows than that
def test_fits_satisfy_the_normal_equations(seed, p, fit_intercept, integers):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    X = rng.integers(-1, 2, size=(n, p)).astype(float) if integers else rng.normal(size=(n, p))
    y = rng.choice([-1.0, 1.0], size=n)
    weights = rng.integers(0, 3, size=(5, n)) + np.eye(n)[rng.integers(n, size=5)]
    coef, intercept = minimum_norm_fits(X, y, weights, fit_intercept=fit_intercept)
    for w, b, b0 in zip(weights, coef, intercept, strict=True):
        residual = w * (y - X @ b - b0)
        size = max(1.0, abs(b).max())
        np.testing.assert_allclose(X.T @ residual, 0.0, atol=1e-9 * size)
        if fit_intercept:
            assert abs(residual.sum()) < 1e-9 * size
        drawn = X[w > 0] - (np.average(X, axis=0, weights=w) if fit_intercept else 0.0)
        # the coefficients lie in the row space: nothing of them is lost by projecting on it
        np.testing.assert_allclose(np.linalg.pinv(drawn, rcond=1e-10) @ (drawn @ b), b, atol=1e-8 * size)


def test_batched_refits_do_not_depend_on_the_batch():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], size=20)
    weights = rng.multinomial(20, np.full(20, 0.05), size=50).astype(float)
    refit = batched_refit(LeastSquaresClassifier().fit(X, y), X, y)
    one_by_one = np.concatenate([refit(weights[b : b + 1])[0] for b in range(50)])
    np.testing.assert_array_equal(refit(weights)[0], one_by_one)
    assert refit(weights[:0])[0].shape == (0, 20)


def test_one_class_in_a_batch_is_the_constant_classifier():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(15, 4))
    y = np.where(np.arange(15) < 5, 1.0, -1.0)
    weights = np.array([y > 0, y < 0], dtype=float)
    refit = batched_refit(LeastSquaresClassifier().fit(X, y), X, y)
    np.testing.assert_array_equal(refit(weights)[0], [y < 0, y > 0])


# ---- stumps of boosting models as a basis ----


def rounded(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0, "ill", "well")


def _models():
    X, y = rounded()
    yield "adaboost", AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    yield "boosting", GradientBoostingClassifier(n_estimators=30, max_depth=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in _models()])
def test_columns_are_the_distinct_splits(model):
    X, _ = rounded()
    basis = stump_basis(model)
    columns = basis.fit_transform(X)
    assert set(np.unique(columns)) <= {0.0, 1.0}
    at = np.float32(basis.thresholds[0])  # a value at a threshold is below it, as in a tree
    assert (
        clone(basis).set_params(thresholds=[at] * columns.shape[1]).transform(np.full((1, 3), at)).max()
        == 0.0
    )
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
    X, y = rounded()
    loss = "exponential" if isinstance(model, AdaBoostClassifier) else "logistic"
    clf = ConvexLossClassifier(loss, penalty=1e-6, basis=stump_basis(model)).fit(X, y)
    labels = np.where(y == "well", 1.0, -1.0)
    boosted = np.ravel(model.decision_function(X))
    values = [get_loss(loss).value(labels, scores).mean() for scores in (clf.decision_function(X), boosted)]
    assert values[0] < values[1]
    model_as_arrays = to_additive_model(clf, X, y)
    np.testing.assert_array_equal(model_as_arrays.design[:, 1:], stump_basis(model).transform(X))
