"""Refits without copies of rows, in batches or whole, and missing values that each fills anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from data import sample
from direct_refits import choose_refit, prepare_refits
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFECV, SelectFromModel, SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.impute._iterative import IterativeImputer
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
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer, StandardScaler, TargetEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tiers import quick_first

from cudbound import LeastSquaresClassifier, Resampling, cud_interval
from cudbound.adapters.parts import splits_rows
from cudbound.basis.sample import Sample
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.problem.draws import draw_counts
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.make_records import RecordingInputs, make_records
from cudbound.resampling.settings import Streams

# ---- refits without copies of rows for learners that split their rows ----


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
    recording = RecordingInputs(sample=found, counts=counts, streams=Streams(rng), resampling=resampling)
    return counts, make_records({BOOTSTRAP}, recording)["bootstrap"]


@pytest.mark.parametrize("groups", quick_first([np.arange(30) // 2, None]), ids=["groups", "rows"])
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


# ---- missing values inside a pipeline ----


N = 40


@pytest.fixture(scope="module")
def gaps():
    """Two numbers and a category of three levels, each with missing values that are not missing at random."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=N), rng.normal(5.0, 20.0, N), rng.integers(0, 3, N)])
    y = (X[:, 0] + 0.05 * X[:, 1] + rng.normal(size=N) > 0.5).astype(int)
    X[(rng.random(N) < 0.2) & (y == 1), 1] = np.nan
    X[rng.random(N) < 0.1, 0] = np.nan
    X[rng.random(N) < 0.15, 2] = np.nan
    return X, y


def by_hand(estimator, X, y, counts):
    """Losses of clones that are fitted to the drawn rows and nothing else."""
    losses = []
    for row in counts:
        drawn = np.repeat(np.arange(row.size), row)
        losses.append(clone(estimator).fit(X[drawn], y[drawn]).predict(X) != y)
    return np.array(losses)


@pytest.mark.parametrize(
    ("classifier", "missing"),
    [
        ("least-squares", "median"),
        pytest.param("least-squares", "most-frequent", marks=pytest.mark.slow),
        ("logistic", "median"),
        ("tree", "median"),
    ],
)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_every_refit_fills_from_its_own_rows(gaps, missing, classifier):
    """Against clones, one by one: what is filled, the indicators and the scaling are those of the drawn rows."""
    X, y = gaps
    options = (
        (("max_depth", 2),) if classifier == "tree" else (("tol", 1e-10),) if classifier == "logistic" else ()
    )
    recipe = ClassifierRecipe(classifier, options, standardize=True, missing=missing, levels=(2,))
    estimator = recipe().fit(X, y)
    counts = draw_counts(N, 40, np.random.default_rng(1))
    refits = prepare_refits(estimator, X, y)
    assert refits.batched == (classifier != "tree")
    made = refits.outputs(counts, np.random.default_rng(0))
    np.testing.assert_array_equal(made, by_hand(estimator, X, y, counts))
    fixed = estimator[:-1].transform(X)  # filled once, from all rows: another procedure
    assert (made != by_hand(estimator[-1], fixed, y, counts)).any()


@pytest.mark.parametrize("imputer", [SimpleImputer(strategy="median"), IterativeImputer(max_iter=2, tol=1.0)])
def test_for_the_bound_what_was_filled_stays(gaps, imputer):
    X, y = gaps
    pipeline = make_pipeline(imputer, StandardScaler(), LeastSquaresClassifier()).fit(X, y)
    filled = pipeline[:-1].transform(X)
    whole = cud_interval(pipeline, X, y, n_resamples=50, rng=0)
    fixed = cud_interval(pipeline[-1], filled, y, n_resamples=50, rng=0)
    assert whole.confidence_interval == fixed.confidence_interval


# ---- pipelines of scaling ----


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
