"""The command with everything real behind it: numbers, exit codes, progress bar, Ctrl-C, and what its help loads."""

from __future__ import annotations

import io
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import cudbound
from cudbound import compare_intervals

# ---- the command with everything real behind it: numbers, exit codes, progress bar, Ctrl-C ----


METHODS = ["two-center", "cud", "langford-binomial"]


def training_set(n: int, features: int, signal: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, features))
    return X, (signal * X[:, 0] + rng.normal(size=n) > 0).astype(int)


def write(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(died=np.where(y == 1, "yes", "no")).to_csv(folder / "data.csv", index=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, *training_set(30, 2, 1.0))
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "cudbound.cli", *arguments]


def interval(*arguments: str) -> list[str]:
    return command("interval", "data.csv", "--target", "died", "--positive", "yes", "--seed", "3", *arguments)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(cudbound.__file__).parents[1])}


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=900
    )


def test_the_table_is_that_of_compare_intervals(folder):
    """A pipe gets no progress bar either."""
    done = run(interval("--resamples", "2000", "--confidence-level", "0.9", "--format", "csv"), folder)
    assert (done.returncode, done.stderr) == (0, "")
    X, y = training_set(30, 2, 1.0)
    table = compare_intervals(
        LogisticRegression().fit(X, y),
        X,
        y,
        methods="recommended",
        confidence_level=0.9,
        n_resamples=2000,
        rng=3,
    )
    printed = pd.read_csv(io.StringIO(done.stdout), keep_default_na=False)
    assert (printed.pop("n_test") == "").all()
    pd.testing.assert_frame_equal(printed, table.to_frame().drop(columns="n_test"), rtol=0, atol=1e-15)
    assert printed["method"].tolist() == METHODS


def test_a_limit_that_is_hit_exits_3_with_the_table(tmp_path):
    write(tmp_path, *training_set(50, 4, 0.0))
    done = run(interval("--resamples", "50", "--methods", "cud", "--bound", "nodes_per_draw=1"), tmp_path)
    assert done.returncode == 3
    assert re.search(r"^cud +\d\.\d{3}", done.stdout, re.MULTILINE)
    assert re.fullmatch(
        r"cudbound: warning: The half-width is between 0\.\d+ and 0\.\d+; the larger value was used, which can only "
        r"make the interval longer\. .* stopped .*\d+ of 50 draws unsolved: to complete it, increase "
        r"the limit that you set, .*\n",
        done.stderr,
    )


def on_terminal(
    arguments: list[str], folder: Path, *, interrupt_after: str | None = None
) -> tuple[int, str, str]:
    """Run with a terminal for stderr; press Ctrl-C once what `interrupt_after` matches was written."""
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    import termios

    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))  # a terminal without a width shows no bar
    process = subprocess.Popen(
        arguments, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=slave, text=True
    )
    os.close(slave)
    begin = time.monotonic()
    written = b""
    interrupted = False
    try:
        while chunk := _read(master, deadline=begin + 900.0):
            written += chunk
            if (
                interrupt_after is not None
                and not interrupted
                and re.search(interrupt_after.encode(), written)
            ):
                time.sleep(0.02)  # not while the bar itself is being written
                process.send_signal(signal.SIGINT)
                interrupted = True
        stdout = process.communicate(timeout=900)[0]
    finally:
        os.close(master)
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode, stdout, written.decode()


def _read(master: int, deadline: float) -> bytes:
    """Return what was written next; nothing once the other end is closed or time is up."""
    if not select.select([master], [], [], max(0.0, deadline - time.monotonic()))[0]:
        return b""
    try:
        return os.read(master, 65536)
    except OSError:  # how Linux says that the other end of a terminal was closed
        return b""


def test_ctrl_c_exits_130_at_once_and_writes_nothing(tmp_path):
    """Labels of pure noise at n = 200, p = 11 would keep the solver busy for far longer than the test."""
    write(tmp_path, *training_set(200, 10, 0.0))
    arguments = interval(
        "--resamples", "5000", "--methods", "cud", "--output", "out.txt", "--bound", "nodes=1000000000"
    )
    code, stdout, stderr = on_terminal(arguments, tmp_path, interrupt_after=r"draws: ")
    assert code == 130
    assert stdout == ""
    assert stderr.rstrip().endswith("cudbound: interrupted")
    assert "Traceback" not in stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


@pytest.mark.slow
def test_a_comparison_shows_a_bar_with_the_remaining_time_and_stops_at_ctrl_c(folder):
    arguments = command(
        *["compare-learners", "data.csv", "--target", "died", "--positive", "yes", "--seed", "3"],
        *[
            "--learners",
            "logistic,svm",
            "--standardize",
            "--methods",
            "all",
            "--resampling",
            "n_nested_repeats=5000",
        ],
    )
    code, stdout, stderr = on_terminal(arguments, folder, interrupt_after=r"\dfit/s")
    assert code == 130
    assert stdout == ""
    assert re.search(r"\d+/\d+ \[\d+:\d+<[\d:]+, +[\d.]+fit/s\]", stderr)
    assert stderr.rstrip().endswith("cudbound: interrupted")
    assert "Traceback" not in stderr


# --- as a program


@pytest.mark.parametrize("command", ["interval", "compare-learners", "methods"])
def test_help_loads_no_heavy_package(tmp_path, command):
    code = (
        "import sys\nfrom cudbound.cli.command import main\n"
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
