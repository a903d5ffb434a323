"""Bars: from two seconds on where a person sees them, at once or never where that is said."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from study_cases import tiny_study

from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
)
from cudbound.basis import calls as bars
from cudbound.basis.calls import HIDDEN, Progress, shared
from cudbound.solve import Problem, solve_draws
from cudbound.study import run_study

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
Y = X[:, 0] + RNG.normal(size=20) > 0.0
LINEAR = LeastSquaresClassifier().fit(X, Y)
NEAREST = KNeighborsClassifier(3).fit(X, Y)
COUNTS = np.ones((5, 20), dtype=np.int32)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A standard error that is a terminal, before which somebody sits who does not wait.

    A fixture would be too early: pytest puts a standard error of its own in place when the test begins.
    """
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    return screen


CALLS: dict[str, Any] = {
    "performance_interval": lambda: performance_interval(NEAREST, X, Y, n_resamples=20, rng=0),
    "compare_intervals": lambda: compare_intervals(LINEAR, X, Y, methods="martin-beta", rng=0),
    "compare_learners": lambda: compare_learners([LINEAR, NEAREST], X, Y, rng=0),
    "estimate_error": lambda: estimate_error(LINEAR, X, Y, methods="k-fold", rng=0),
    "cud_interval": lambda: cud_interval(LINEAR, X, Y, n_resamples=20, rng=0),
    "solve_draws": lambda: solve_draws(Problem.of(X, np.where(Y, 1.0, -1.0), LINEAR.coef_.ravel(), COUNTS)),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_entry_point_shows_a_bar_with_the_remaining_time(name, monkeypatch):
    terminal = terminal_of(monkeypatch)
    CALLS[name]()
    assert "%|" in terminal.getvalue()
    assert "<" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")  # wiped out at the end


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_shown_if_nobody_wants_it(name, monkeypatch):
    terminal = terminal_of(monkeypatch)
    with shared(HIDDEN):
        CALLS[name]()
    assert terminal.getvalue() == ""
    monkeypatch.setattr(bars, "PATIENCE", 60.0)
    CALLS[name]()
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    CALLS[name]()
    assert pipe.getvalue() == ""
    with shared(Progress(shown=True, since=0.0)):
        CALLS[name]()
    assert "%|" in pipe.getvalue()


def test_a_study_shows_a_bar(tmp_path, monkeypatch):
    terminal = terminal_of(monkeypatch)
    study = tiny_study(n_samples=(12,), n_replicates=3, methods="langford-binomial")
    run_study(study, tmp_path / "s")
    assert "replicates:" in terminal.getvalue()
    assert "refits" not in terminal.getvalue()  # those of a replicate are its own affair
    terminal.truncate(0)
    with shared(HIDDEN):
        run_study(tiny_study(n_samples=(12,), n_replicates=5, methods="langford-binomial"), tmp_path / "s")
    assert terminal.getvalue() == ""


#: tqdm reads its variable when it is imported, so this needs an interpreter that has not done so.
IN_A_NEW_INTERPRETER = """
import io, sys
import numpy as np
from cudbound import LeastSquaresClassifier, estimate_error
from cudbound.basis import calls

class Terminal(io.StringIO):
    def isatty(self):
        return True

sys.stderr = screen = Terminal()
calls.PATIENCE = 0.0
X = np.arange(20.0)[:, None]
estimate_error(LeastSquaresClassifier(), X, np.arange(20) % 3 > 0, methods="k-fold", rng=0)
sys.stdout.write(screen.getvalue())
"""


@pytest.mark.slow
@pytest.mark.parametrize("turned_off", [True, False])
def test_the_variable_of_tqdm_turns_bars_off(turned_off):
    variables = {**os.environ, **({"TQDM_DISABLE": "1"} if turned_off else {})}
    words = [sys.executable, "-W", "ignore", "-c", IN_A_NEW_INTERPRETER]
    shown = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
    assert ("refits" in shown) != turned_off
