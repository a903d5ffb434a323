"""Refits in batches against scikit-learn fit by fit: every classifier, every step, all kinds of columns and draws.

scikit-learn's solvers stop early with their default tolerances, and the batches do not: here its classifiers have
tolerances with which they come as near to the minimizer as rounding lets them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing
from sklearn_versions import older_than

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.adapters import batched_refit
from cudbound.estimators.batched.classifiers import FIRST_VERSION

Array = NDArray[np.float64]
Rows = Callable[[int, int, np.random.Generator], Array]


def logistic(**options: Any) -> LogisticRegression:
    return LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000).set_params(**options)


def svc(**options: Any) -> LinearSVC:
    # its default intercept is penalized; dual steps end at 1e-10 within so many rounds on rows of mild size
    return LinearSVC(tol=1e-10, max_iter=10**6, random_state=0, **options)


# ---- rows ----


def normal(n: int, p: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=(n, p))


def integer(n: int, p: int, rng: np.random.Generator) -> Array:
    return rng.integers(0, 4, size=(n, p)).astype(float)


def rare_binary(n: int, p: int, rng: np.random.Generator) -> Array:
    return (rng.random((n, p)) < 0.15).astype(float)


def duplicates(n: int, p: int, rng: np.random.Generator) -> Array:
    """Pairs of equal rows, many of them with opposite labels."""
    return rng.normal(size=(n, p))[rng.integers(0, n, n)]


def collinear(n: int, p: int, rng: np.random.Generator) -> Array:
    X = rng.normal(size=(n, p))
    X[:, p // 2 :] = 2.0 * X[:, : p - p // 2] - 1.0
    return X


def degenerate(n: int, p: int, rng: np.random.Generator) -> Array:
    """One constant column, one that only a single row differs in, others in units of their own."""
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2.0, 2.0, size=p) + rng.normal(size=p)
    X[:, 0] = 0.1
    X[:, -1] = np.arange(n) == 0
    return X


def wide(n: int, p: int, rng: np.random.Generator) -> Array:
    """At least as many columns as rows."""
    return rng.normal(size=(n, n + p))


ROWS: dict[str, Rows] = {
    one.__name__: one for one in (normal, integer, rare_binary, duplicates, collinear, degenerate, wide)
}


def with_gaps(X: Array, rng: np.random.Generator) -> Array:
    """A sixth of the entries missing."""
    return np.where(rng.random(X.shape) < 0.15, np.nan, X)


def mixed_frame(X: Array, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers with and without gaps beside words with gaps."""
    frame = pd.DataFrame({"x": X[:, 0], "z": with_gaps(X[:, 1:2], rng)[:, 0], "v": X[:, -1]})
    words = np.array(["i", "ii", "iii", "iv"], dtype=object)[
        np.clip(np.abs(X[:, 0]).round(), 0, 3).astype(int)
    ]
    words[rng.random(len(X)) < 0.1] = np.nan
    frame["stage"] = pd.Series(words, dtype=object)
    frame["sex"] = pd.Series(np.where(X[:, -1] > 0.3, "f", "m"), dtype=object)
    return frame


# ---- pipelines ----


@dataclass(frozen=True)
class Kind:
    """A pipeline, and what is made of plain rows before it."""

    pipe: Any
    data: Callable[[Array, np.random.Generator], Any] = lambda X, _: X


def _kinds() -> dict[str, Any]:
    scaled = StandardScaler
    by_name = {"class_weight": {"ill": 3.0, "well": 0.5}}
    balanced = {"class_weight": "balanced"}
    ignore = {"handle_unknown": "ignore"}
    gaps, mixed = with_gaps, mixed_frame
    return {
        "logistic": logistic(),
        "logistic without intercept": logistic(fit_intercept=False, C=3.0),
        "logistic liblinear": LogisticRegression(
            solver="liblinear", tol=1e-10, max_iter=10**5, intercept_scaling=2.0
        ),
        "logistic lbfgs": LogisticRegression(tol=1e-12, max_iter=10**4),
        "logistic unpenalized, scaled": make_pipeline(scaled(), logistic(C=np.inf)),
        "logistic, scaled": make_pipeline(scaled(), logistic()),
        "logistic balanced, scaled": make_pipeline(scaled(), logistic(C=0.1, **balanced)),
        "logistic by name, scaled": make_pipeline(scaled(), logistic(C=20.0, **by_name)),
        "logistic, not centered": make_pipeline(scaled(with_mean=False), logistic()),
        "logistic, centered": make_pipeline(scaled(with_std=False), logistic(fit_intercept=False)),
        "logistic, range": make_pipeline(MinMaxScaler((-1.0, 2.0)), logistic(C=5.0)),
        "ridge": RidgeClassifier(),
        "ridge balanced, scaled": make_pipeline(scaled(), RidgeClassifier(0.3, **balanced)),
        "svc, scaled": make_pipeline(scaled(), svc(C=0.3)),
        "svc hinge, scaled": make_pipeline(scaled(), svc(loss="hinge", C=0.1)),
        "own squared hinge, scaled": make_pipeline(
            scaled(), ConvexLossClassifier("squared_hinge", penalty=0.1, intercept_penalty=0.2)
        ),
        "own hinge, scaled": make_pipeline(
            scaled(), ConvexLossClassifier("hinge", penalty=0.05, intercept_penalty=0.02)
        ),
        "own hinge by name": ConvexLossClassifier("hinge", penalty=0.03, intercept_penalty=0.03, **by_name),
        "own hinge balanced": ConvexLossClassifier("hinge", penalty=0.1, intercept_penalty=0.1, **balanced),
        "own squared hinge unpenalized": ConvexLossClassifier("squared_hinge"),
        "own huber balanced": ConvexLossClassifier("huber", penalty=0.3, fit_intercept=False, **balanced),
        "least squares, quantiles": make_pipeline(RobustScaler(), LeastSquaresClassifier()),
        "discriminant": LinearDiscriminantAnalysis(),
        "discriminant with priors, scaled": make_pipeline(
            scaled(), LinearDiscriminantAnalysis(priors=[0.3, 0.7])
        ),
        "logistic, components": make_pipeline(scaled(), PCA(2, svd_solver="full"), logistic()),
        "logistic, terms": make_pipeline(PolynomialFeatures(2), logistic(C=0.3)),
        "logistic, splines at quantiles": make_pipeline(
            SplineTransformer(3, degree=2, knots="quantile", extrapolation="continue", include_bias=False),
            logistic(),
        ),
        "logistic, fixed knots": make_pipeline(
            FunctionTransformer(np.tanh),
            SplineTransformer(knots=np.linspace(-1.0, 1.0, 4)[:, None] * np.ones(3)),
            scaled(),
            logistic(),
        ),
        "logistic, best columns": make_pipeline(SelectKBest(k=2), logistic()),
        "svc, best counts": make_pipeline(
            FunctionTransformer(np.square), SelectKBest(chi2, k=2), scaled(), svc(C=0.1)
        ),
        "logistic, one-hot": make_pipeline(OneHotEncoder(**ignore), logistic()),
        "logistic, means for gaps": Kind(make_pipeline(SimpleImputer(), scaled(), logistic()), gaps),
        "logistic, constant for gaps": Kind(
            make_pipeline(SimpleImputer(strategy="constant", fill_value=-1.0), logistic()), gaps
        ),
        "logistic, mixed columns": Kind(
            make_pipeline(
                ColumnTransformer(
                    [
                        ("numbers", make_pipeline(SimpleImputer(strategy="median"), scaled()), ["x", "z"]),
                        (
                            "words",
                            make_pipeline(
                                SimpleImputer(strategy="most_frequent"),
                                OneHotEncoder(drop="if_binary", **ignore),
                            ),
                            make_column_selector(dtype_include=object),
                        ),
                    ],
                    remainder="passthrough",
                ),
                logistic(class_weight="balanced"),
            ),
            mixed,
        ),
        "svc, mixed columns": Kind(
            make_pipeline(
                ColumnTransformer(
                    [
                        ("components", PCA(1), ["v"]),
                        (
                            "words",
                            make_pipeline(
                                SimpleImputer(strategy="constant", fill_value="none"),
                                OneHotEncoder(sparse_output=False, **ignore),
                            ),
                            ["stage", "sex"],
                        ),
                        ("scaled", make_pipeline(SimpleImputer(), scaled()), ["z"]),
                        ("gone", "drop", ["x"]),
                    ]
                ),
                scaled(),
                svc(C=0.3),
            ),
            mixed,
        ),
    }


KINDS = {
    name: one if isinstance(one, Kind) else Kind(one)
    for name, one in _kinds().items()
    if not (name.startswith("discriminant") and older_than(FIRST_VERSION))
}


@dataclass
class Tally:
    """Fits of both classes, those among them that were compared, and those that were not clear."""

    fits: int = 0
    alone: int = 0


def labels_of(X: Array, rng: np.random.Generator) -> NDArray[Any]:
    y = np.where(
        X[:, 1] - X[:, 1].mean() + rng.normal(size=len(X)) * (X[:, 1].std() + 0.1) > 0.0, "ill", "well"
    )
    y[:4] = ["ill", "well", "ill", "well"]
    return y


def training_sets(n: int, n_draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Bootstrap draws, bootstrap draws of those, small ones, and sets with rows left out."""
    draws = rng.multinomial(n, np.full(n, 1 / n), size=n_draws)
    again = np.array([rng.multinomial(n, row / n) for row in draws[: n_draws // 3]])
    few = rng.multinomial(n // 2, np.full(n, 1 / n), size=n_draws // 6)
    left_out = 1 - np.eye(n, dtype=np.int64)[: n_draws // 6]
    return np.concatenate([draws[: n_draws // 3], again, few, left_out])


def compare(kind: str, rows: str, n_draws: int, seed: int, tally: Tally) -> None:
    """Fit the batch and every training set one by one, and demand the same losses on every row."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 32))
    plain = ROWS[rows](n, 3 if "knots" in kind else int(rng.integers(2, 7)), rng)
    if "knots" in kind:
        plain = plain[:, :3]
    y = labels_of(plain, rng)
    X = KINDS[kind].data(plain, rng)
    counts = training_sets(n, n_draws, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, on degenerate training sets
        pipe = clone(KINDS[kind].pipe).fit(X, y)
        batch = batched_refit(pipe, X, y)
        assert batch is not None
        losses, clear, _ = batch(counts.astype(np.float64))
        for fit, row in enumerate(counts):
            drawn = np.repeat(np.arange(n), row)
            if (y[drawn] == y[drawn[0]]).all():
                assert clear[fit]
                np.testing.assert_array_equal(losses[fit], y != y[drawn[0]])
                continue
            tally.fits += 1
            tally.alone += not clear[fit]
            if clear[fit]:
                predicted = clone(pipe).fit(_safe_indexing(X, drawn), y[drawn]).predict(X)
                where = f"{kind}, {rows}, seed {seed}, fit {fit}"
                np.testing.assert_array_equal(losses[fit], predicted != y, err_msg=where)


@pytest.mark.parametrize("kind", list(KINDS))
def test_losses_equal_those_of_scikit_learn(kind: str) -> None:
    tally = Tally()
    for number in range(3):  # every kind of rows for some pipelines; all of them for each in the slow test
        place = (list(KINDS).index(kind) + 2 * number) % len(ROWS)
        compare(kind, list(ROWS)[place], 9, 100 + place, tally)
    assert tally.fits >= 12


@pytest.mark.parametrize(
    ("kind", "rows", "n_draws", "seed"),
    [
        ("logistic, scaled", "degenerate", 24, 10012),
        ("logistic, scaled", "rare_binary", 24, 10016),
        ("logistic, centered", "degenerate", 60, 70019),
    ],
)
def test_no_column_varies_and_rounding_decides(kind: str, rows: str, n_draws: int, seed: int) -> None:
    """All scores are 0 but for rounding: once they counted as exactly 0, and the fits as clear."""
    tally = Tally()
    compare(kind, rows, n_draws, seed, tally)
    assert tally.alone > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", list(KINDS))
def test_twenty_thousand_fits_of_each_kind(kind: str) -> None:
    tally, seed = Tally(), 0
    while tally.fits < 20_000:
        for rows in ROWS:
            compare(kind, rows, 60, 10_000 + seed, tally)
            seed += 1
    print(f"{kind}: {tally.fits} fits, {tally.alone} of them not clear")


# ---- shares of fits that are made alone ----


@pytest.mark.parametrize(
    "kind", ["logistic, scaled", "ridge balanced, scaled", "svc, scaled", "logistic, range"]
)
def test_ordinary_rows_are_clear(kind: str) -> None:
    for number, rows in enumerate(("normal", "integer", "rare_binary", "duplicates", "degenerate", "wide")):
        rng = np.random.default_rng(number)
        X = ROWS[rows](30, 4, rng)
        y = labels_of(X, rng)
        batch = batched_refit(clone(KINDS[kind].pipe).fit(X, y), X, y)
        assert batch is not None
        _, clear, _ = batch(rng.multinomial(30, np.full(30, 1 / 30), size=300).astype(np.float64))
        assert clear.mean() > 0.98


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler(), LeastSquaresClassifier()],
        [MinMaxScaler(), LogisticRegression()],
        [RobustScaler(), LogisticRegression()],
        [SelectKBest(k=2), LogisticRegression()],
        [SplineTransformer(), LogisticRegression()],
    ],
    ids=lambda steps: type(steps[0]).__name__,
)
def test_nothing_common_is_refitted_one_training_set_at_a_time(steps):
    """Refits take up to fifty times as long where fits are not clear; one column repeats another here."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, 2.0 * X[:, 0]])
    y = X[:, 0] + rng.normal(size=50) > 0
    pipe = make_pipeline(*steps).fit(X, y)
    batch = batched_refit(pipe, X, y)
    assert batch is not None
    _, clear, _ = batch(training_sets(50, 100, rng).astype(np.float64))
    assert clear.mean() > 0.9
