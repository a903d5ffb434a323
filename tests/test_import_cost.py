"""What ``import cudbound`` loads and what it costs, each in a fresh interpreter."""

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
import json, sys, time
begun = time.perf_counter()
{statement}
print(json.dumps([time.perf_counter() - begun, sorted(sys.modules)]))
"""


def run(statement: str) -> tuple[float, set[str]]:
    """Return the seconds that a statement takes in a fresh interpreter, and the modules loaded then."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(statement=statement)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    seconds, modules = json.loads(done.stdout)
    return seconds, set(modules)


def test_import_loads_no_slow_package() -> None:
    _, modules = run("import cudbound")
    assert modules.isdisjoint({*SLOW, "sklearn", "scipy", "numpy"})


@pytest.mark.parametrize("statement", PUBLIC)
def test_public_names_load_no_slow_package_beyond_those_of_scikit_learn(statement: str) -> None:
    # some versions of scikit-learn import pandas themselves where it is installed
    _, base = run("import sklearn.base, sklearn.pipeline, sklearn.utils.validation")
    _, modules = run(statement)
    assert "cudbound._solvers" in modules
    assert {name for name in SLOW if name in modules} <= base


def test_a_first_interval_loads_no_slow_package_beyond_those_of_scikit_learn() -> None:
    _, base = run("import sklearn.base, sklearn.pipeline, sklearn.utils.validation")
    _, modules = run(
        "from cudbound import LeastSquaresClassifier, cud_interval\n"
        "X, y = [[0.0], [1.0], [2.0], [3.0], [2.5]], [0, 0, 1, 1, 0]\n"
        "cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=5, rng=0)"
    )
    assert {name for name in SLOW if name in modules} <= base


def test_import_costs_little_more_than_scikit_learn() -> None:
    # in turns, and the best of five each: what another process takes in between does not count
    statements = ("import sklearn.base", "import cudbound", PUBLIC[1])
    rounds = [[run(statement)[0] for statement in statements] for _ in range(5)]
    base, bare, public = (min(seconds) for seconds in zip(*rounds, strict=True))
    print(f"sklearn.base {base:.3f} s, cudbound {bare:.3f} s, its public names {public:.3f} s")
    assert bare < 0.3
    assert public - base < 0.3
