"""What ``import cudbound`` loads, in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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
