"""Missing values inside a pipeline: filled anew in every refit, and fixed as fitted for the CUD bound."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.impute._iterative import IterativeImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import (
    LeastSquaresClassifier,
    cud_interval,
)
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.problem.draws import draw_counts
from cudbound.resampling.refits import prepare_refits

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
        ("least-squares", "most-frequent"),
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
    made = refits.recorded(np.random.default_rng(0))(counts)
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
