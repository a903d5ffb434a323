"""Pipelines of scaling, principal components and least squares refitted in batches, against scikit-learn fit by fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from direct_refits import choose_refit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer, StandardScaler
from sklearn.svm import SVC

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals
from cudbound.problem.draws import draw_counts

Array = NDArray[np.float64]
Counts = NDArray[np.int32]
Bools = NDArray[np.bool_]

# derandomized: the same examples on every run; the seeds inside an example are drawn by hypothesis
PROPERTY = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


class LoopedLeastSquares(LeastSquaresClassifier):
    """The same classifier, of which the package does not know that its refits can be batched."""


@pytest.fixture
def fitted_alone(monkeypatch: pytest.MonkeyPatch) -> list[Pipeline]:
    """Pipelines that were cloned, one per fit outside the batch."""
    clones: list[Pipeline] = []

    def cloned(estimator: Any) -> Any:
        clones.append(estimator)
        return clone(estimator)

    monkeypatch.setattr("cudbound.adapters.parts.clone", cloned)
    return clones


def batched(pipe: Pipeline, X: Any, y: Any) -> Any:
    refit, is_batched = choose_refit(pipe.fit(X, y), X, y, np.random.default_rng(0))
    assert is_batched
    return refit


def one_by_one(pipe: Pipeline, X: Array, y: NDArray[Any], counts: Counts) -> Bools:
    """What batched refits must equal: scikit-learn, and the constant classifier for one class."""
    losses = []
    for row in counts:
        drawn = np.repeat(np.arange(row.size), row)
        one_class = (y[drawn] == y[drawn[0]]).all()
        predicted = y[drawn[0]] if one_class else clone(pipe).fit(X[drawn], y[drawn]).predict(X)
        losses.append(predicted != y)
    return np.array(losses)


def training_sets(n: int, n_draws: int, rng: np.random.Generator) -> Counts:
    """Bootstrap draws, every leave-one-out training set, the folds of a 3-fold split, and all rows."""
    folds = np.arange(n) % 3 != np.arange(3)[:, None]
    sets = (draw_counts(n, n_draws, rng), 1 - np.eye(n), folds, np.ones((1, n)))
    return np.concatenate([np.asarray(part, dtype=np.int32) for part in sets])


def noisy_labels(X: Array, rng: np.random.Generator) -> Array:
    y = np.where(X[:, 0] - X[:, 0].mean() + rng.normal(size=len(X)) * X[:, 0].std() > 0.0, 1.0, -1.0)
    y[:4] = [1.0, -1.0, 1.0, -1.0]
    return y


# ---- the same losses as one fit after the other ----


def rows_of(kind: str, n: int, p: int, rng: np.random.Generator) -> Array:
    X = rng.normal(size=(n, p))
    if kind == "integer":
        return rng.integers(0, 3, size=(n, p)).astype(float)
    if kind == "rare binary":
        return (rng.random((n, p)) < 0.15).astype(float)
    if kind == "duplicate rows":
        return X[rng.integers(0, n, n)]
    if kind == "far from 0":
        return X + 10.0 ** rng.uniform(0.0, 8.0, size=p)
    if kind == "other units":
        X *= 10.0 ** rng.uniform(-4.0, 6.0, size=p)
        X[:, 0] = rng.uniform()  # its mean is rounded
        X[:, -1] = rng.random(n) < 0.15
    if kind == "collinear":
        X[:, p // 2 :] = X[:, : p - p // 2] * 3.0 - 1.0
    if kind == "corners":
        return np.sign(X[np.arange(n) // 2])
    return X


@PROPERTY
@given(st.data())
def test_losses_equal_those_of_scikit_learn(data: st.DataObject) -> None:
    n = data.draw(st.integers(6, 24), label="n")
    p = data.draw(st.integers(2, 28), label="p")
    kinds = "normal integer,rare binary,duplicate rows,far from 0,other units,collinear,corners"
    kind = data.draw(st.sampled_from(kinds.split(",")), label="features")
    with_mean, with_std = (data.draw(st.booleans() | st.just(True), label=name) for name in ("mean", "std"))
    steps: list[Any] = [StandardScaler(with_mean=with_mean, with_std=with_std)]
    k = data.draw(st.none() | st.integers(1, min(p, n // 2)), label="components")
    if k is not None:
        solver = data.draw(st.sampled_from(["full", "auto", "covariance_eigh"]), label="solver")
        steps = [*steps[data.draw(st.integers(0, 1), label="unscaled") :], PCA(k, svd_solver=solver)]
    if p < 6 and data.draw(st.booleans(), label="polynomial terms"):
        steps.insert(0, PolynomialFeatures(2, include_bias=with_mean))
    pipe = make_pipeline(
        *steps, LeastSquaresClassifier(data.draw(st.booleans() | st.just(True), label="intercept"))
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6), label="seed"))
    X = rows_of(kind, n, p, rng)
    y = noisy_labels(X, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # PCA of rows that are all equal divides 0 by 0
        counts = training_sets(n, 15, rng)
        np.testing.assert_array_equal(batched(pipe, X, y)(counts), one_by_one(pipe, X, y, counts))


@dataclass(frozen=True)
class Case:
    """A pipeline and its rows, and the share of the fits that are made alone."""

    pipe: Pipeline
    X: Array
    alone: tuple[float, float]


def _cases() -> dict[str, Case]:
    rng = np.random.default_rng(3)
    scaled, components = StandardScaler(), lambda k: PCA(k, svd_solver="full")
    normal = rng.normal(size=(30, 8)) * [1.0, 1e4, 1e-3, 1.0, 5.0, 1.0, 1.0, 1.0] + [0, 1e5, 0, 5, 0, 0, 0, 0]
    wide = rng.normal(size=(14, 40)) @ rng.normal(size=(40, 40))
    binary = (rng.random((25, 12)) < 0.2).astype(float)
    constant = np.column_stack([normal[:, :4], np.full(30, 0.1)])
    cube = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T
    classifier = LeastSquaresClassifier()
    none, some, nearly_all = (0.0, 0.0), (0.0, 0.9), (0.9, 1.0)
    return {
        "scaled components": Case(make_pipeline(scaled, components(3), classifier), normal, none),
        "no intercept": Case(
            make_pipeline(scaled, components(3), LeastSquaresClassifier(False)), normal, none
        ),
        "default solver": Case(make_pipeline(scaled, PCA(3), classifier), normal, none),
        "unscaled components": Case(make_pipeline(components(2), classifier), normal, none),
        "all components": Case(make_pipeline(scaled, components(8), classifier), normal, none),
        "more columns than rows": Case(make_pipeline(scaled, components(4), classifier), wide, none),
        "rare binary columns": Case(make_pipeline(scaled, components(3), classifier), binary, (0.0, 0.1)),
        "constant column": Case(make_pipeline(scaled, components(2), classifier), constant, none),
        "one column": Case(make_pipeline(scaled, components(1), classifier), normal[:, :1], none),
        "scaled": Case(make_pipeline(scaled, classifier), normal, none),
        "scaled, more columns than rows": Case(make_pipeline(scaled, classifier), wide, nearly_all),
        "scaled, collinear": Case(
            make_pipeline(scaled, classifier), normal[:, [0, 1, 0, 2, 1]] * [1, 1, 2, 1, 3], nearly_all
        ),
        "scaled, constant columns, fewer distinct rows than columns": Case(
            make_pipeline(scaled, classifier),
            np.column_stack([wide[:, :11], np.full((14, 2), [0.1, 17.7])]),
            nearly_all,
        ),
        "scaled, no intercept": Case(make_pipeline(scaled, LeastSquaresClassifier(False)), normal, none),
        "terms, scaled, components": Case(
            make_pipeline(PolynomialFeatures(2), scaled, components(4), classifier), normal[:, :3], none
        ),
        # a bootstrap draw of 14 rows spans 8 dimensions on average
        "components as many as rows": Case(
            make_pipeline(scaled, components(9), classifier), wide, (0.3, 0.9)
        ),
        "tied eigenvalues": Case(
            make_pipeline(components(2), classifier), np.tile(cube, (2, 1)), (0.01, 0.9)
        ),
        "covariance of rows far away": Case(
            make_pipeline(PCA(2, svd_solver="covariance_eigh"), classifier),
            rng.normal(size=(30, 3)) * [3.0, 2.0, 1.0] + 1e6,
            nearly_all,
        ),
        "nearly collinear columns": Case(
            make_pipeline(scaled, classifier),
            np.column_stack([normal, normal[:, 3] + 1e-8 * rng.normal(size=30)]),
            nearly_all,
        ),
        "centered, more columns than rows": Case(
            make_pipeline(StandardScaler(with_std=False), classifier),
            wide * np.logspace(-1, 1, 40),
            nearly_all,
        ),
        "scaled, more columns than rows, no intercept": Case(
            make_pipeline(scaled, LeastSquaresClassifier(False)), wide[:, :14] + 1e5, nearly_all
        ),
        "constant column without intercept": Case(
            make_pipeline(scaled, LeastSquaresClassifier(False)), constant, nearly_all
        ),
        "nearly constant column": Case(
            make_pipeline(scaled, components(2), classifier), normal[:, :3] + [0.0, 0.0, 1e7], nearly_all
        ),
        "some draws without a column": Case(make_pipeline(scaled, classifier), binary[:, :3], some),
    }


@pytest.mark.parametrize("name", list(_cases()))
def test_only_unclear_fits_are_made_alone(name: str, fitted_alone: list[Pipeline]) -> None:
    case = _cases()[name]
    rng = np.random.default_rng(11)
    y = noisy_labels(case.X, rng)
    counts = training_sets(len(y), 60, rng)
    refit = batched(case.pipe, case.X, y)
    fitted_alone.clear()
    losses = refit(counts)
    low, high = case.alone
    assert low <= len(fitted_alone) / len(counts) <= high
    np.testing.assert_array_equal(losses, one_by_one(case.pipe, case.X, y, counts))
    assert 0.0 < losses.mean() < 1.0


def test_one_class_gives_the_constant_classifier() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(15, 4))
    y = np.where(np.arange(15) < 5, "ill", "well")
    counts = np.array([y == "ill", y == "well", np.arange(15) == 7], dtype=np.int32)
    for fit_intercept in (True, False):
        pipe = make_pipeline(StandardScaler(), PCA(2), LeastSquaresClassifier(fit_intercept))
        losses = batched(pipe, X, y)(counts)
        np.testing.assert_array_equal(losses, [y == "well", y == "ill", y == "ill"])


# ---- single steps ----


# ---- which pipelines ----


class ScalerOfAnotherKind(StandardScaler):
    pass


def _other_pipelines() -> dict[str, Pipeline]:
    steps = {
        "whitened": [PCA(2, whiten=True)],
        "random solver": [PCA(2, svd_solver="randomized")],
        "share of the variance": [PCA(0.9)],
        "all components": [PCA()],
        "unknown scaler": [QuantileTransformer(n_quantiles=5)],
        "subclass": [ScalerOfAnotherKind()],
        "terms of components": [PCA(2), PolynomialFeatures(2)],
        "terms of selected columns": [SelectKBest(k=2), PolynomialFeatures(2)],
    }
    made = {name: make_pipeline(*few, LeastSquaresClassifier()) for name, few in steps.items()}
    made["subclass of the classifier"] = make_pipeline(StandardScaler(), LoopedLeastSquares())
    made["other classifier"] = make_pipeline(StandardScaler(), PCA(2), SVC(kernel="linear"))
    return made


@pytest.mark.parametrize("name", list(_other_pipelines()))
def test_other_pipelines_are_refitted_whole(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    y = noisy_labels(X, np.random.default_rng(1))
    assert not choose_refit(_other_pipelines()[name].fit(X, y), X, y, np.random.default_rng(0))[1]


def test_intervals_are_those_of_refits_one_by_one() -> None:
    rng = np.random.default_rng(12)
    X = rng.normal(size=(24, 10)) @ rng.normal(size=(10, 10))
    y = noisy_labels(X, rng)
    tables = []
    for final in (LeastSquaresClassifier(), LoopedLeastSquares()):
        pipe = make_pipeline(StandardScaler(), PCA(2, svd_solver="full"), final).fit(X, y)
        table = compare_intervals(
            pipe,
            X,
            y,
            n_resamples=30,
            rng=0,
            methods="paper",
            resampling=Resampling(inner="oob", on_single_class="fit"),
        )
        tables.append(table.to_frame())
    pd.testing.assert_frame_equal(*tables)
    assert len(tables[0]) == 7
