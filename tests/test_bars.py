"""Bars: from two seconds on where a person sees them, at once or never where that is said."""

from __future__ import annotations

import io
import sys
import time
import types
from typing import Any

import numpy as np
import pytest
from cli_fakes import invoke
from sklearn.neighbors import KNeighborsClassifier
from study_cases import tiny_study

from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    compare_learners,
    cud_interval,
    error_interval,
    estimate_error,
    run_study,
    solve_draws,
)
from cudbound.basis import bars
from cudbound.basis.bars import Progress

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
    "error_interval": lambda **asked: error_interval(NEAREST, X, Y, n_resamples=20, rng=0, **asked),
    "compare_intervals": lambda **asked: compare_intervals(
        LINEAR, X, Y, methods="martin-beta", rng=0, **asked
    ),
    "compare_learners": lambda **asked: compare_learners(LINEAR, NEAREST, X, Y, rng=0, **asked),
    "estimate_error": lambda **asked: estimate_error(LINEAR, X, Y, methods="k-fold", rng=0, **asked),
    "cud_interval": lambda **asked: cud_interval(LINEAR, X, Y, n_resamples=20, rng=0, **asked),
    "solve_draws": lambda **asked: solve_draws(
        X, np.where(Y, 1.0, -1.0), LINEAR.coef_.ravel(), COUNTS, **asked
    ),
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
    CALLS[name](progress=False)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(bars, "PATIENCE", 60.0)
    CALLS[name]()
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    CALLS[name]()
    assert pipe.getvalue() == ""
    CALLS[name](progress=True)
    assert "%|" in pipe.getvalue()


def test_a_study_shows_a_bar(tmp_path, monkeypatch):
    terminal = terminal_of(monkeypatch)
    study = tiny_study(n_samples=(12,), n_replicates=3, methods="langford-binomial")
    run_study(study, tmp_path / "s")
    assert "replicates:" in terminal.getvalue()
    assert "refits" not in terminal.getvalue()  # those of a replicate are its own affair
    terminal.truncate(0)
    run_study(
        tiny_study(n_samples=(12,), n_replicates=5, methods="langford-binomial"),
        tmp_path / "s",
        progress=False,
    )
    assert terminal.getvalue() == ""


def test_the_commands_decide_by_the_same_rule(tmp_path, monkeypatch):
    lines = [f"{a:.3f},{b:.3f},{int(label)}" for (a, b), label in zip(X, Y, strict=True)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,b,ill", *lines, ""]))
    decided: list[bool] = []
    of = Progress.of

    def heard(asked: Any) -> Progress:
        decided.append(asked is None)
        return of(asked)

    monkeypatch.setattr(Progress, "of", heard)
    data = [str(path), "--target", "ill", "--positive", "1", "--seed", "0"]
    assert invoke("interval", *data, "--methods", "martin-beta").exit_code == 0
    assert invoke("compare-learners", *data, "--a", "ridge", "--b", "tree").exit_code == 0
    assert decided[0]
    assert decided.count(True) >= 2


def test_the_parts_of_a_call_share_their_patience(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    whole = Progress(shown=True, since=now[0] + bars.PATIENCE)
    assert Progress.of(whole) is whole
    assert not whole.due
    now[0] = 102.5
    assert whole.due
    assert not Progress(shown=False, since=0.0).due


def test_a_notebook_is_seen(monkeypatch):
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert bars.in_notebook()
    assert Progress.of(None).shown
    shell.config = {}
    assert not bars.in_notebook()  # IPython on a terminal
