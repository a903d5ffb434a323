"""What ``import cudbound`` loads, in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SLOW = ("cvxpy", "matplotlib", "pandas")
PUBLIC = (
    "import cudbound\nfor name in cudbound.__all__:\n    getattr(cudbound, name)",
    "from cudbound import LeastSquaresClassifier, compare_intervals, cud_interval, solve_draws",
)
REPORT = """
import json, sys
{statement}
print(json.dumps(sorted(sys.modules)))
"""


def loaded(statement: str) -> set[str]:
    """Return the modules that a statement has loaded in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(statement=statement)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(json.loads(done.stdout))


def test_import_loads_no_slow_package() -> None:
    modules = loaded("import cudbound")
    assert modules.isdisjoint({*SLOW, "sklearn", "scipy", "numpy"})


@pytest.mark.parametrize("statement", PUBLIC)
def test_public_names_load_no_slow_package_beyond_those_of_scikit_learn(statement: str) -> None:
    # some versions of scikit-learn import pandas themselves where it is installed
    base = loaded("import sklearn.base, sklearn.pipeline, sklearn.utils.validation")
    modules = loaded(statement)
    assert "cudbound._solvers" in modules
    assert {name for name in SLOW if name in modules} <= base


def test_a_first_interval_loads_no_slow_package_beyond_those_of_scikit_learn() -> None:
    base = loaded("import sklearn.base, sklearn.pipeline, sklearn.utils.validation")
    modules = loaded(
        "from cudbound import LeastSquaresClassifier, cud_interval\n"
        "X, y = [[0.0], [1.0], [2.0], [3.0], [2.5]], [0, 0, 1, 1, 0]\n"
        "cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=5, rng=0)"
    )
    assert {name for name in SLOW if name in modules} <= base
