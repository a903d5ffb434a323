"""The work behind the commands, and the command as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import CLEAN, TABLE

import cudbound
from cudbound import LeastSquaresClassifier
from cudbound.cli.commands import run_interval as run
from cudbound.cli.commands.demo import FEATURES, demo_data
from cudbound.cli.commands.run_interval import Settings
from cudbound.cli.inputs.fitted import fit
from cudbound.cli.inputs.sample import new_seed
from cudbound.cli.output import destination as output
from cudbound.exceptions import CudboundWarning, NotCertifiedWarning
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_columns import TrainingData
from cudbound.solve.limits import SearchLimits
from cudbound.tables.table import IntervalTable

SAMPLE = TrainingData(np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0]), ("x",), "s", "e")
FITTED = fit(ClassifierRecipe(), SAMPLE, 3)


def compare_with(*events: Warning) -> Callable[..., IntervalTable]:
    def compare_intervals(
        estimator: object,
        X: np.ndarray,
        y: np.ndarray,
        *,
        methods: object,
        alternative: str,
        confidence_level: float,
        n_resamples: int,
        localization: object,
        inner: int | str | None,
        options: object,
        sizes: object,
        cv: object,
        groups: object,
        fallback: bool,
        polish: bool,
        solver: str,
        rng: object,
        n_jobs: int,
        limits: SearchLimits,
    ) -> IntervalTable:
        assert estimator.classes_.tolist() == [0, 1]  # type: ignore[attr-defined]  # sklearn is untyped
        assert (methods, alternative, rng, n_resamples, inner) == ("recommended", "two-sided", 3, 1000, None)
        assert (polish, solver) == (False, "native")
        assert limits == SearchLimits()
        assert (options, sizes, cv, groups, fallback) == ({}, None, None, None, False)
        for event in events:
            warnings.warn(event, stacklevel=1)
        return TABLE

    return compare_intervals


def test_chosen_seeds_differ():
    assert len({new_seed() for _ in range(20)}) == 20


def test_compute_collects_the_warnings_of_the_package(monkeypatch):
    limited = NotCertifiedWarning("not", n_limited=2, half_width=(0.2, 0.25), method="cud")
    events = (limited, CudboundWarning("ours"), CudboundWarning("ours"))
    monkeypatch.setattr("cudbound.tables.compare_intervals.compare_intervals", compare_with(*events))
    outcome = run.compute(FITTED, Settings(seed=3))
    assert outcome.warnings == (
        "cud: q is between 0.200 and 0.250; the larger value was used, which can only make the interval longer. A "
        "limit left 2 of 1000 draws open: give the search more time with --time-limit SECONDS, or let it end by itself "
        "with --total-node-limit none.",
        "ours",
    )
    assert not outcome.certified
    assert outcome.table is TABLE
    assert outcome.run.n_events == 3


def test_the_warning_of_the_signed_suprema_names_their_method_and_quantile():
    open_draws = NotCertifiedWarning("", n_limited=1, half_width=(0.2, 0.25), method="two-center")
    assert run.not_certified(open_draws, Settings(seed=3)).startswith(
        "two-center: q- is between 0.200 and 0.250; the larger value was used, which can only make the interval "
        "longer. A limit left 1 of 1000 draws open: give the search more time with --time-limit SECONDS"
    )


def test_draws_that_rounding_left_open_are_named_without_options_that_do_not_help():
    open_draws = NotCertifiedWarning("pass previous=result.draws", n_inaccurate=3)
    assert run.not_certified(open_draws, Settings(seed=3, n_resamples=50)) == (
        "aci: bounds were used, which can only make the interval longer. Rounding left 3 draws open: rescale the "
        "features or look for an outlying value."
    )
    both = run.not_certified(NotCertifiedWarning("", n_limited=1, n_inaccurate=3), Settings(seed=3))
    assert "A limit left 1 of 1000 draws open: raise --node-limit. Rounding left 3 draws open" in both


def test_compute_is_certified_without_a_warning_that_says_otherwise(monkeypatch):
    monkeypatch.setattr(
        "cudbound.tables.compare_intervals.compare_intervals", compare_with(CudboundWarning("ours"))
    )
    assert run.compute(FITTED, Settings(seed=3)).certified


def test_compute_passes_the_warnings_of_others_on(monkeypatch):
    monkeypatch.setattr(
        "cudbound.tables.compare_intervals.compare_intervals", compare_with(UserWarning("theirs"))
    )
    with pytest.warns(UserWarning, match="theirs"):
        assert run.compute(FITTED, Settings(seed=3)).warnings == ()


def test_demo_data_is_fifty_rows_of_overlapping_classes():
    data = demo_data()
    assert data.sample.X.shape == (50, len(FEATURES))
    assert data.others.y.size == 519
    assert 15 <= data.sample.y.sum() <= 35
    classifier = LeastSquaresClassifier().fit(data.sample.X, data.sample.y)
    assert 0.15 <= (classifier.predict(data.sample.X) != data.sample.y).mean() <= 0.35


def test_a_device_is_written_and_not_replaced(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        output.write_whole({fifo: "text"})
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert fifo.is_fifo()


def test_the_name_of_a_pipe_that_has_no_folder(tmp_path):
    """/dev/fd/N of a pipe is a link to a name that no folder holds."""
    reader, writer = os.pipe()
    try:
        place = Path(f"/dev/fd/{writer}")
        output.check_output(place)
        output.write_whole({place: "text"})
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
        os.close(writer)


# --- as a program


def program(*arguments: str, cwd: Path, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    root = str(Path(cudbound.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "cudbound.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
        check=False,
        timeout=120,
    )


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(CLEAN)
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--help"], 0, ""),
        ([], 2, "Usage: cudbound"),
        (
            ["interval", "patients.csv", "--target", "x", "--positive", "1"],
            1,
            "cudbound: error: --target: no column",
        ),
        (["interval", "patients.csv"], 2, "cudbound: error: Missing option '--target'"),
        (["interval", "nowhere.csv", "--target", "x", "--positive", "1"], 1, "cudbound: error: no such file"),
    ],
)
def test_exit_codes_of_the_program(patients, arguments, code, message):
    done = program(*arguments, cwd=patients.parent)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_letter_that_the_terminal_lacks_is_escaped(patients):
    arguments = ["interval", "patients.csv", "--target", "żółć", "--positive", "1"]
    done = program(*arguments, cwd=patients.parent, encoding="cp1252")
    assert done.returncode == 1
    assert r"no column '\u017có\u0142\u0107'" in done.stderr


@pytest.mark.parametrize("command", ["interval", "compare-learners", "methods"])
def test_help_loads_no_heavy_package(tmp_path, command):
    code = (
        "import sys\nfrom cudbound.cli import main\n"
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
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_limits_of_the_command_reach_the_search():
    fitted = fit(ClassifierRecipe(), demo_data().sample, 0)
    for limit in ({"total_node_limit": 0}, {"total_time_limit": 0.0}):
        outcome = run.compute(fitted, Settings(seed=0, n_resamples=50, methods=("cud",), **limit))
        assert not outcome.certified
        assert "q between" in outcome.table["cud"].remarks[0]
