"""One contract for all adapters: what is written as arrays is the estimator, its loss, and its minimum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV, SGDClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn_versions import logistic_cv, sparse_logistic

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.adapters import to_additive_model
from cudbound.adapters.families import ADAPTERS, find_adapter
from cudbound.adapters.model import facts_of
from cudbound.basis.exceptions import NotMinimizerError, NotResampledWarning
from cudbound.basis.sample import Sample
from cudbound.problem.problem import AdditiveModel
from cudbound.solve.search import optimality_residual

Array = NDArray[np.float64]
Objective = Callable[[Any, Array, Array, Array, Array, float], float]


def simulated() -> tuple[Array, NDArray[np.str_]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 2.0, 0.5] + [0.0, 1.0, 0.0]
    return X, np.where(X[:, 0] + rng.normal(size=40) > 0.3, "ill", "well")


def breast_cancer() -> tuple[Array, NDArray[np.str_]]:
    """Return 40 rows of the Wisconsin data, two features in which the classes overlap, standardized."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(1).choice(len(y), 40, replace=False)
    return StandardScaler().fit_transform(X[rows][:, [1, 4]]), np.where(y[rows] == 1, "well", "ill")


DATA = {"simulated": simulated, "breast cancer": breast_cancer}


# ---- the objectives as scikit-learn documents them ---------------------------------------------------------------


def hinge(m: Array) -> Array:
    return np.maximum(0.0, 1.0 - m)


def logistic(m: Array) -> Array:
    return np.log1p(np.exp(-m))


def modified_huber(m: Array) -> Array:
    return np.where(m >= -1.0, hinge(m) ** 2, -4.0 * m)


def ridge_objective(est: Any, X: Array, y: Array, c: Array, w: Array, b: float) -> float:
    alpha = getattr(est, "alpha_", est.alpha if hasattr(est, "alpha") else None)
    return float(c @ (y - X @ w - b) ** 2 + alpha * w @ w)


def logistic_objective(est: Any, X: Array, y: Array, c: Array, w: Array, b: float) -> float:
    C = float(np.ravel(getattr(est, "C_", est.C if hasattr(est, "C") else None))[0])
    ratio = float(
        np.ravel(getattr(est, "l1_ratio_", getattr(est, "l1_ratio", 0.0)))[0] or est.penalty == "l1"
    )
    penalty = (1.0 - ratio) / 2.0 * w @ w + ratio * np.abs(w).sum()
    if est.solver == "liblinear":
        extra = b / est.intercept_scaling
        penalty += (1.0 - ratio) / 2.0 * extra**2 + ratio * abs(extra)
    return float(c @ logistic(y * (X @ w + b)) + penalty / C)


def linear_svc_objective(est: Any, X: Array, y: Array, c: Array, w: Array, b: float) -> float:
    v = np.append(w, b / est.intercept_scaling if est.fit_intercept else 0.0)
    penalty = np.abs(v).sum() if est.penalty == "l1" else v @ v / 2.0
    losses = hinge(y * (X @ w + b)) ** (1 if est.loss == "hinge" else 2)
    return float(penalty + est.C * c @ losses)


def svc_objective(est: Any, X: Array, y: Array, c: Array, w: Array, b: float) -> float:
    return float(w @ w / 2.0 + est.C * c @ hinge(y * (X @ w + b)))


def sgd_objective(est: Any, X: Array, y: Array, c: Array, w: Array, b: float) -> float:
    f = X @ w + b
    losses = {
        "hinge": hinge(y * f),
        "squared_hinge": hinge(y * f) ** 2,
        "log_loss": logistic(y * f),
        "modified_huber": modified_huber(y * f),
        "squared_error": (y - f) ** 2 / 2.0,
    }[est.loss]
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": est.l1_ratio, None: 0.0}[est.penalty]
    alpha = 0.0 if est.penalty is None else est.alpha
    penalty = alpha * ((1.0 - ratio) / 2.0 * w @ w + ratio * np.abs(w).sum())
    return float(c @ losses / y.size + penalty)


def own_objective(est: Any, X: Array, y: Array, c: Array, w: Array, b: float) -> float:
    m = y * (X @ w + b)
    losses = {
        "logistic": logistic(m),
        "squared": (1.0 - m) ** 2,
        "exponential": np.exp(-m),
        "squared_hinge": hinge(m) ** 2,
        "hinge": hinge(m),
        "huber": modified_huber(m),
    }[getattr(est, "loss", "squared")]
    penalty = np.sum(getattr(est, "penalty", 0.0) * w**2) + getattr(est, "intercept_penalty", 0.0) * b**2
    return float(np.average(losses, weights=c) + penalty)


@dataclass(frozen=True)
class Case:
    """An estimator with tolerances so tight that it reaches its minimum, and its objective."""

    estimator: Any
    objective: Objective
    converges: bool = True


TIGHT = {"tol": 1e-10, "max_iter": 1_000_000}
BALANCED = {"class_weight": "balanced"}
BY_NAME = {"class_weight": {"ill": 3.0}}

CASES = {
    "least squares": Case(LeastSquaresClassifier(), own_objective),
    **{
        f"own {loss}": Case(ConvexLossClassifier(loss, penalty=0.02), own_objective)
        for loss in ("logistic", "squared", "exponential", "squared_hinge", "hinge", "huber")
    },
    "own balanced": Case(ConvexLossClassifier(penalty=0.1, intercept_penalty=0.3, **BALANCED), own_objective),
    "own by name": Case(ConvexLossClassifier("huber", fit_intercept=False, **BY_NAME), own_objective),
    "ridge": Case(RidgeClassifier(alpha=2.0), ridge_objective),
    "ridge balanced": Case(RidgeClassifier(fit_intercept=False, **BALANCED), ridge_objective),
    "ridge by name": Case(RidgeClassifier(**BY_NAME), ridge_objective),
    "ridge cv": Case(RidgeClassifierCV(alphas=[0.3, 3.0], **BALANCED), ridge_objective),
    "ridge cv folds": Case(RidgeClassifierCV(alphas=[0.3, 3.0], cv=3), ridge_objective),
    "logistic": Case(LogisticRegression(**TIGHT), logistic_objective),
    "logistic balanced": Case(
        LogisticRegression(C=0.3, fit_intercept=False, **TIGHT, **BALANCED), logistic_objective
    ),
    "logistic by name": Case(
        LogisticRegression(solver="newton-cholesky", **TIGHT, **BY_NAME), logistic_objective
    ),
    "logistic unpenalized": Case(LogisticRegression(C=np.inf, **TIGHT), logistic_objective),
    "logistic liblinear": Case(
        LogisticRegression(C=0.5, solver="liblinear", intercept_scaling=3.0, **TIGHT), logistic_objective
    ),
    "logistic saga": Case(LogisticRegression(solver="saga", **TIGHT), logistic_objective),
    "logistic cv": Case(logistic_cv(Cs=[0.1, 1.0], **TIGHT), logistic_objective),
    "linear svc": Case(LinearSVC(random_state=0, **TIGHT), linear_svc_objective),
    "linear svc hinge": Case(
        LinearSVC(C=0.1, loss="hinge", random_state=0, **TIGHT, **BALANCED), linear_svc_objective
    ),
    "linear svc scaled": Case(
        LinearSVC(C=0.1, intercept_scaling=5.0, dual=False, random_state=0, **TIGHT, **BY_NAME),
        linear_svc_objective,
    ),
    "linear svc without intercept": Case(
        LinearSVC(fit_intercept=False, random_state=0, **TIGHT), linear_svc_objective
    ),
    "svc": Case(SVC(kernel="linear", tol=1e-10), svc_objective),
    "svc balanced": Case(SVC(kernel="linear", C=0.2, tol=1e-10, **BALANCED), svc_objective),
    **{
        f"sgd {loss}": Case(
            SGDClassifier(loss, alpha=0.01, random_state=0, **BY_NAME), sgd_objective, converges=False
        )
        for loss in ("hinge", "log_loss", "modified_huber", "squared_hinge", "squared_error")
    },
}
L1_CASES = {
    "logistic l1": Case(
        sparse_logistic(1.0, C=0.5, solver="saga", random_state=0, **TIGHT), logistic_objective
    ),
    "logistic l1 liblinear": Case(
        sparse_logistic(1.0, C=0.5, solver="liblinear", intercept_scaling=2.0, random_state=0, **TIGHT),
        logistic_objective,
    ),
    "logistic elastic net": Case(
        sparse_logistic(0.3, solver="saga", random_state=0, **TIGHT), logistic_objective
    ),
    "linear svc l1": Case(
        LinearSVC(penalty="l1", dual=False, C=0.5, random_state=0, **TIGHT), linear_svc_objective
    ),
}
WRAPPED = {
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression(**TIGHT)),
    "columns": make_pipeline(
        ColumnTransformer(
            [("bins", OneHotEncoder(handle_unknown="ignore"), [1]), ("rest", StandardScaler(), [0])],
            sparse_threshold=1.0,
        ),
        LogisticRegression(**TIGHT),
    ),
    "union": make_pipeline(
        FeatureUnion([("line", StandardScaler()), ("curve", SplineTransformer(n_knots=3, degree=2))]),
        SVC(kernel="linear", tol=1e-10),
    ),
    "grid": GridSearchCV(
        make_pipeline(StandardScaler(), RidgeClassifier()), {"ridgeclassifier__alpha": [1, 9]}
    ),
    "random": RandomizedSearchCV(LogisticRegression(**TIGHT), {"C": [0.1, 1.0]}, n_iter=2, random_state=0),
    "threshold": FixedThresholdClassifier(LogisticRegression(**TIGHT), threshold=0.3),
    "threshold on a score": FixedThresholdClassifier(
        SVC(kernel="linear", tol=1e-10), threshold=-0.4, response_method="decision_function"
    ),
    "threshold auto": FixedThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression(**TIGHT))),
    "tuned threshold": TunedThresholdClassifierCV(LogisticRegression(**TIGHT), thresholds=10),
    "pipeline with a search": make_pipeline(
        StandardScaler(), GridSearchCV(LogisticRegression(**TIGHT), {"C": [0.1, 1.0]})
    ),
}

each_data = pytest.mark.parametrize("data", DATA)
each_case = pytest.mark.parametrize("name", [*CASES, *L1_CASES])
each_estimator = pytest.mark.parametrize("name", [*CASES, *WRAPPED])


def case(name: str) -> Case:
    return {**CASES, **L1_CASES}[name]


def estimator(name: str) -> Any:
    return clone(WRAPPED[name] if name in WRAPPED else case(name).estimator)


def fitted(name: str, X: Array, y: NDArray[np.str_]) -> Any:
    return estimator(name).fit(X, y)


def expressed(est: Any, X: Array, y: NDArray[np.str_], **options: Any) -> AdditiveModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotResampledWarning)
        return to_additive_model(est, X, y, **options)


@each_data
@each_case
def test_the_loss_is_the_documented_objective_up_to_a_factor(name: str, data: str) -> None:
    X, y = DATA[data]()
    est = fitted(name, X, y)
    model = find_adapter(est).to_additive_model(est, X, y)
    weights = compute_sample_weight(getattr(est, "class_weight", None), y)
    problem = model.training
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(6):
        coef = rng.normal(size=model.coef.size) * 2.0
        w, b = (coef[1:], coef[0]) if model.design.shape[1] > X.shape[1] else (coef, 0.0)
        labels = np.where(y == est.classes_[1], 1.0, -1.0)
        ratios.append(case(name).objective(est, X, labels, weights, w, b) / problem.mean_loss(0, coef))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-10)


@each_data
@each_estimator
def test_the_rank_is_that_of_the_design(name: str, data: str) -> None:
    X, y = DATA[data]()
    est = fitted(name, X, y)
    assert facts_of(est, Sample.of(est, X, y)).design.rank == np.linalg.matrix_rank(
        expressed(est, X, y, polish=True).design
    )


@each_data
@each_estimator
def test_the_side_of_the_hyperplane_is_the_prediction(name: str, data: str) -> None:
    X, y = DATA[data]()
    est = fitted(name, X, y)
    new = np.random.default_rng(3).normal(size=(200, X.shape[1])) * 2.0
    labels = est.classes_[np.arange(200) % 2]
    adapter = find_adapter(est)
    for rows, names in ((X, y), (new, labels)):
        model = adapter.to_additive_model(est, rows, names)
        side = model.classes[(model.design @ model.coef >= 0.0).astype(int)]
        np.testing.assert_array_equal(side, est.predict(rows))
        np.testing.assert_array_equal(model.labels, np.where(names == model.classes[1], 1.0, -1.0))


@each_data
@pytest.mark.parametrize(
    "name", [name for name in [*CASES, *L1_CASES, *WRAPPED] if not name.startswith("sgd")]
)
def test_fitted_coefficients_are_the_minimizer(name: str, data: str) -> None:
    X, y = DATA[data]()
    model = expressed(fitted(name, X, y), X, y)
    assert optimality_residual(model) < 1e-5
    assert model.polish is None
    polished = expressed(fitted(name, X, y), X, y, polish=True)
    assert polished.polish is not None
    assert polished.polish.residual < 1e-5
    assert polished.polish.n_changed_predictions == 0


@each_estimator
def test_a_clone_fitted_to_resampled_rows_is_understood_too(name: str) -> None:
    X, y = simulated()
    rows = np.random.default_rng(4).choice(40, 40)
    again = clone(fitted(name, X, y)).fit(X[rows], y[rows])
    polish = name.startswith("sgd")
    model = expressed(again, X[rows], y[rows], polish=polish)
    if not polish:
        assert model.training_error == pytest.approx(1.0 - again.score(X[rows], y[rows]))


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("sgd")])
def test_stochastic_fits_are_refused_unless_they_are_polished(name: str) -> None:
    X, y = simulated()
    est = fitted(name, X, y)
    with pytest.raises(
        NotMinimizerError,
        match=r"pass Bound\(polish=True\), see cudbound.Bound, for the interval of the exact minimizer",
    ):
        to_additive_model(est, X, y)
    assert optimality_residual(to_additive_model(est, X, y, polish=True)) < 1e-6


def test_every_adapter_is_in_the_contract() -> None:
    X, y = simulated()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        used = {id(find_adapter(fitted(name, X, y))) for name in [*CASES, *WRAPPED]}
    assert used == {id(adapter) for adapter in ADAPTERS}


def test_a_threshold_is_an_offset_of_the_loss_alone() -> None:
    X, y = simulated()
    inner = LogisticRegression(**TIGHT).fit(X, y)
    plain = to_additive_model(inner, X, y)
    for threshold, positive in ((0.3, None), (0.3, "well"), (0.8, "ill")):
        est = FixedThresholdClassifier(LogisticRegression(**TIGHT), threshold=threshold, pos_label=positive)
        model = to_additive_model(est.fit(X, y), X, y)
        # the classes in sorted order are ill, well: a threshold for "ill" turns the orientation
        sign = -1.0 if positive == "ill" else 1.0
        assert model.classes.tolist() == (["well", "ill"] if positive == "ill" else ["ill", "well"])
        assert expit(model.offset) == pytest.approx(threshold)
        np.testing.assert_allclose(
            model.design @ model.coef + model.offset, sign * plain.design @ plain.coef, atol=1e-7
        )
        assert model.training_error == pytest.approx(1.0 - est.score(X, y))
