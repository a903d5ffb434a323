"""Pipelines of scaling, principal components and least squares refitted in batches, against scikit-learn fit by fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from direct_refits import choose_refit
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer, StandardScaler
from sklearn.svm import SVC

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals

Array = NDArray[np.float64]


class LoopedLeastSquares(LeastSquaresClassifier):
    """The same classifier, of which the package does not know that its refits can be batched."""


def batched(pipe: Pipeline, X: Any, y: Any) -> Any:
    refit, is_batched = choose_refit(pipe.fit(X, y), X, y, np.random.default_rng(0))
    assert is_batched
    return refit


def noisy_labels(X: Array, rng: np.random.Generator) -> Array:
    y = np.where(X[:, 0] - X[:, 0].mean() + rng.normal(size=len(X)) * X[:, 0].std() > 0.0, 1.0, -1.0)
    y[:4] = [1.0, -1.0, 1.0, -1.0]
    return y


# ---- the same losses as one fit after the other ----


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
