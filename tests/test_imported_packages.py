"""What importing the package loads, and what separates its parts."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from cudbound.inputs.suspicions import IMPROBABLE, is_improbable, separates

# ---- what ``import cudbound`` loads ----


SLOW = ("cvxpy", "matplotlib", "pandas")
#: In this order, since an interpreter forgets no import: what comes later may load what came before.
STEPS = {
    "package": "import cudbound",
    "one function": "from cudbound import performance_interval",
    # some versions of scikit-learn import pandas themselves where it is installed
    "scikit-learn": "import sklearn.base, sklearn.pipeline, sklearn.utils.validation",
    "some names": "from cudbound import LeastSquaresClassifier, compare_intervals, cud_interval",
    "all names": "for name in cudbound.__all__:\n    getattr(cudbound, name)",
    "first interval": (
        "X, y = [[float(i % 9)] for i in range(30)], [int(i % 9 + i % 4 > 5) for i in range(30)]\n"
        "cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=5, rng=0)"
    ),
}
SCRIPT = """
import json, sys
session = {}
for step, statement in json.loads(sys.argv[1]).items():
    exec(statement, session)
    print(json.dumps([step, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """The modules that a fresh interpreter holds after each step."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(STEPS)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return {name: set(modules) for name, modules in map(json.loads, done.stdout.splitlines())}


def test_import_loads_no_slow_package(loaded: dict[str, set[str]]) -> None:
    assert loaded["package"].isdisjoint({*SLOW, "sklearn", "scipy", "numpy"})


def test_the_recommended_function_costs_less_than_scikit_learn(loaded: dict[str, set[str]]) -> None:
    assert "cudbound.analysis.performance_interval" in loaded["one function"]
    assert loaded["one function"].isdisjoint(
        {*SLOW, "sklearn", "joblib", "cattrs", "scipy.stats", "scipy.optimize"}
    )


@pytest.mark.parametrize("step", ["some names", "all names", "first interval"])
def test_no_step_loads_a_slow_package_beyond_those_of_scikit_learn(
    loaded: dict[str, set[str]], step: str
) -> None:
    assert "cudbound._solvers" in loaded[step]
    assert {name for name in SLOW if name in loaded[step]} <= loaded["scikit-learn"]


# ---- columns that alone separate the classes ----


RNG = np.random.default_rng(4)
Y = np.arange(40) % 2


@pytest.mark.parametrize(("n", "n_events"), [(6, 3), (12, 6), (13, 6), (14, 7), (20, 2), (40, 3)])
def test_the_chance_of_a_threshold_is_that_of_enumeration(n, n_events):
    n_orders = sum(1 for _ in combinations(range(n), n_events))
    n_separated = 2  # the events are the smallest or the largest
    y = np.array([1] * n_events + [0] * (n - n_events))
    improbable = n_separated / n_orders < IMPROBABLE
    assert is_improbable(np.bincount(y), math.log(2), 1) == improbable
    assert separates(np.arange(n), y, np.arange(n), 1) == improbable


@pytest.mark.parametrize(("size", "improbable"), [(4, False), (6, True)])
def test_the_chance_of_levels_is_at_most_the_bound(size, improbable):
    """Of the ways to choose as many events as a level has rows, among 3 levels, 3 have a single class in each level."""
    y = np.repeat([0, 1, 0], size)
    assert (
        8 / math.comb(3 * size, size) < IMPROBABLE
    ) == improbable  # the bound, 2 classes for each of 3 levels
    assert is_improbable(np.bincount(y), 3 * math.log(2), 1) == improbable
    assert separates(np.repeat([0, 1, 2], size), y, np.arange(3 * size), 1) == improbable


@pytest.mark.parametrize(
    ("values", "separated"),
    [
        (Y * 3.0 + RNG.random(40), True),
        (5.0 - Y * 3.0 + RNG.random(40), True),
        (np.where(Y == 1, 1.0, np.arange(40) % 4 // 2 * 2), True),
        (np.where(Y == 1, 1.0, np.arange(40) % 3), False),
        (RNG.random(40), False),
        (np.where(np.arange(40) < 30, np.nan, Y + 0.0), False),
        (np.where(np.arange(40) < 20, np.nan, Y + 0.0), True),
        (np.full(40, 2.0), False),
    ],
)
def test_whether_a_column_separates_two_classes(values, separated):
    given = ~np.isnan(values)
    assert separates(values[given], Y[given], np.arange(given.sum()), 1) is separated
