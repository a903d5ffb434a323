"""Comparisons of two nearest shrunken centroid classifiers, after Bayle, Janson and Mackey (2025).

    python run.py run STORE              a store of a study; resumes
    python run.py trial STORE            two sets of each cell with another seed, for the times
    python run.py check                  the classifier beside scikit-learn's NearestCentroid
    python run.py summary STORE          cells.csv in this folder

registration.md has the rules. Nothing here changes once the first set has been drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid

from cudbound.study import Scenario, Study, run_study, summarize
from cudbound.study.worlds import Gaussians

SEED = 20261201
N_SETS = 500
#: A cell with fewer sets is not published.
FEWEST_SETS = 100
#: Shrinkage thresholds of the two classifiers.
PAIRS = ((0.5, 0.6), (0.5, 1.0))
METHODS = ("repeated-k-fold-t", "corrected-resampled-t", "bayle-cv", "k-fold-t", "5x2cv-t")
COLUMNS = [
    *("scenario", "n", "method", "n_replicates", "mean_truth", "coverage", "coverage_mcse"),
    *("expected", "coverage_of_expected", "width", "n_degenerate", "n_failed"),
]
WORLD = Gaussians(n_features=20, n_signal=5)


class ShrunkenCentroids(ClassifierMixin, BaseEstimator):
    """The rule of `sklearn.neighbors.NearestCentroid` for two classes, in a tenth of the time; it is linear."""

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> ShrunkenCentroids:
        """Fit the centroids, shrunken toward the mean of all rows."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        sizes = np.bincount(codes)[:, None]
        centroids = np.stack([X[codes == code].mean(axis=0) for code in range(2)])
        spread = np.sqrt(((X - centroids[codes]) ** 2).sum(axis=0) / (len(X) - 2))
        scale = np.sqrt(1.0 / sizes - 1.0 / len(X)) * (spread + np.median(spread))
        deviations = (centroids - X.mean(axis=0)) / scale
        shrunken = np.sign(deviations) * np.maximum(np.abs(deviations) - self.threshold, 0.0)
        first, second = X.mean(axis=0) + scale * shrunken
        self.coef_ = (second - first)[None]
        self.intercept_ = np.array([(first @ first - second @ second) / 2.0])
        return self

    def decision_function(self, X: Any) -> Any:
        """Return half the squared distance to the first centroid minus that to the second."""
        return X @ self.coef_[0] + self.intercept_[0]

    def predict(self, X: Any) -> Any:
        """Return the class of the nearest centroid."""
        return self.classes_[(self.decision_function(X) > 0.0).astype(int)]


def study(seed: int, n_sets: int) -> Study:
    """Return the study."""
    scenarios = tuple(
        Scenario(
            f"thresholds {first:g} and {second:g}",
            WORLD,
            ShrunkenCentroids(first),
            rival=ShrunkenCentroids(second),
        )
        for first, second in PAIRS
    )
    return Study("stable-learners", scenarios, (100, 400), n_sets, METHODS, seed=seed)


def check() -> None:
    """Stop if a prediction differs from scikit-learn's, or an exact error from that on 400,000 cases."""
    rng = np.random.default_rng(1)
    X_new, y_new = WORLD.sample(400_000, rng)
    for n in (30, 100, 400):
        for threshold in (0.5, 0.6, 1.0):
            X, y = WORLD.sample(n, rng)
            ours = ShrunkenCentroids(threshold).fit(X, y)
            predicted = ours.predict(X_new)
            assert (predicted == NearestCentroid(shrink_threshold=threshold).fit(X, y).predict(X_new)).all()
            truth = WORLD.true_error(ours)
            assert truth.standard_error == 0.0
            assert abs(truth.value - (predicted != y_new).mean()) < 0.003
    print("the same predictions and errors")


def main(action: str, store: str = "") -> None:
    """Run the sets, or write what they show."""
    if action == "check":
        check()
    elif action in ("run", "trial"):
        run_study(study(SEED, N_SETS) if action == "run" else study(1, 2), store)
    else:
        summary = summarize(store)
        cells = summary.cells.merge(summary.samples[["scenario", "n", "mean_truth"]], on=["scenario", "n"])
        cells = cells[cells["n_replicates"] >= FEWEST_SETS][COLUMNS]
        cells.to_csv(Path(__file__).with_name("cells.csv"), index=False, float_format="%.6g")


if __name__ == "__main__":
    main(*sys.argv[1:])
