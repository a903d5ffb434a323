"""The work behind the commands, and the command as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import TABLE

import cudbound
from cudbound.analysis.table import IntervalTable
from cudbound.basis.exceptions import CudboundWarning, NotCertifiedWarning
from cudbound.cli.fitted import fit
from cudbound.cli.interval import compute
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_columns import TrainingData
from cudbound.report.tables import Run

SAMPLE = TrainingData(np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0]), ("x",), "s", "e")
FITTED = fit(ClassifierRecipe(), SAMPLE, 3)


ARGUMENTS = {"methods": "recommended", "n_resamples": 1000}


def compare_with(*events: Warning) -> Callable[..., IntervalTable]:
    def compare_intervals(estimator: object, X: object, y: object, **arguments: object) -> IntervalTable:
        assert estimator.classes_.tolist() == [0, 1]  # type: ignore[attr-defined]  # sklearn is untyped
        assert arguments == ARGUMENTS | {"rng": 3}
        for event in events:
            warnings.warn(event, stacklevel=1)
        return replace(TABLE, run=Run(None, 6, 0, 0, "", (), 1000, "n", 3))

    return compare_intervals


def test_compute_collects_the_warnings_of_the_package(monkeypatch):
    limited = NotCertifiedWarning("not", n_limited=2, half_width=(0.2, 0.25), method="cud")
    events = (limited, CudboundWarning("ours"), CudboundWarning("ours"))
    monkeypatch.setattr("cudbound.analysis.compare_intervals.compare_intervals", compare_with(*events))
    table, heard, ranges = compute(FITTED, 3, **ARGUMENTS)
    assert heard.messages == ["not", "ours", "ours"]
    assert not heard.certified
    assert table.rows == TABLE.rows
    assert table.run.n_events == 3
    assert ranges is None


# --- as a program


def program(*arguments: str, cwd: Path, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    root = str(Path(cudbound.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "cudbound", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
        check=False,
        timeout=900,
    )


@pytest.mark.parametrize("command", ["interval", "compare-learners", "methods"])
def test_help_loads_no_heavy_package(tmp_path, command):
    code = (
        "import sys\nfrom cudbound.cli.group import main\n"
        "try:\n    main(['" + command + "', '--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'sklearn', 'pandas', 'scipy', 'joblib', 'tqdm', 'tabulate', 'cvxpy', 'matplotlib', 'skops'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    root = str(Path(cudbound.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
