"""Small standardized logistic regressions on real data: every call ends with its quantile proved."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from numpy.typing import NDArray
from shared_files import PUBLISHED_SETS, needs_published_sets
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tiers import each_tier

from cudbound import CudResult, cud_interval
from cudbound.problem.draws import SolveStatus

FEATURES = {
    "birthwt": ["age", "lwt", "race", "smoke", "ptl", "ht", "ui", "ftv"],
    "haberman": ["age", "op_year", "nodes"],
    "heart_statlog": [
        *["age", "sex", "chest_pain", "rest_bp", "chol", "fasting_bs", "rest_ecg", "max_hr"],
        *["ex_angina", "oldpeak", "slope", "n_vessels", "thal"],
    ],
}
#: The seeds of a set whose calls ended with a bracket, because of cells that exist by rounding alone, of a draw that
#: ended the search of the others, or of nodes that nobody spent.
ONCE_OPEN = {"haberman": [0, 10, 23, 31], "heart_statlog": [42, 53, 55, 86], "birthwt": [44, 60, 63, 70]}

Array = NDArray[np.float64]


def rows(name: str) -> tuple[Array, Array]:
    with open(PUBLISHED_SETS / f"{name}.csv", newline="") as file:
        cells = list(csv.DictReader(file))
    X = np.array([[float(row[column]) for column in FEATURES[name]] for row in cells])
    return X, np.array([float(row["target"]) for row in cells])


def small_call(name: str, seed: int) -> CudResult:
    """The interval of 24 to 73 rows and 2 to 4 features, of strong and of weak ridge penalties in turn."""
    X, y = rows(name)
    rng = np.random.default_rng(seed * 7 + len(name))
    n, p = int(rng.integers(24, 74)), min(int(rng.integers(2, 5)), X.shape[1])
    chosen = rng.choice(len(X), n, replace=False)
    columns = rng.choice(FEATURES[name], p, replace=False).tolist()
    X, y = X[np.ix_(chosen, [FEATURES[name].index(column) for column in columns])], y[chosen]
    clf = make_pipeline(StandardScaler(), LogisticRegression(C=(1, 100)[seed % 2], max_iter=10000))
    return cud_interval(clf.fit(X, y), X, y, n_resamples=100, rng=seed)


@needs_published_sets
@pytest.mark.parametrize("name", list(FEATURES))
@each_tier([], range(134))
def test_every_call_is_proved(name: str, seeds: list[int]) -> None:
    for seed in seeds or ONCE_OPEN[name]:
        result = small_call(name, seed)
        assert result.certified, seed
        for status in (SolveStatus.NODE_LIMIT, SolveStatus.TIME_LIMIT, SolveStatus.INACCURATE):
            assert not (result.draws.status == status).any(), (seed, status)
