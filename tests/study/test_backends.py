"""Studies on worker processes: the same rows, and what is taken along: methods, populations, classifiers of the user.

The workers are kept from test to test, since each takes two seconds to start.
"""

from __future__ import annotations

import itertools
import os
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from study_cases import Deadly, Shifted, dump, tiny_study
from study_own import OWN, Counted, exact_limits, exact_of_training, limits

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.basis.outcomes import Outcome
from cudbound.study.design.scenario import Scenario
from cudbound.study.run import runner
from cudbound.study.run.runner import run_study

NEAR = (Scenario("near", Shifted(0.5), LeastSquaresClassifier),)


@pytest.mark.slow
def test_worker_processes_do_not_change_the_rows(tmp_path):
    run_study(tiny_study(), tmp_path / "one worker")
    status = run_study(tiny_study(), tmp_path / "s", n_jobs=2)
    assert dump(tmp_path / "s") == dump(tmp_path / "one worker")
    assert (status.n_done, status.n_total, status.running) == (60, 60, False)
    assert sorted(os.listdir(tmp_path)) == ["one worker", "s"]


@pytest.mark.slow
def test_worker_processes_run_a_shard_until_a_limit(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(runner, "BATCH_SECONDS", 1e-9)
        # every look at the clock sets it forward by a minute
        patch.setattr(runner, "time", SimpleNamespace(monotonic=itertools.count(0.0, 60.0).__next__))
        status = run_study(tiny_study(), tmp_path / "s", n_jobs=2, shard=(2, 3), limit_minutes=4)
    assert (status.n_done, status.running) == (3, False)
    assert run_study(tiny_study(), tmp_path / "s", n_jobs=2, shard=(2, 3)).n_done == 20
    run_study(tiny_study(), tmp_path / "whole")
    assert dump(tmp_path / "s") == [row for row in dump(tmp_path / "whole") if row[3] % 3 == 1]


@pytest.mark.parametrize("workers", [{}, {"n_jobs": 2}], ids=["one", "processes"])
def test_a_method_of_the_users_own_is_known_to_workers(tmp_path, workers):
    status = run_study(tiny_study(scenarios=NEAR, methods=(OWN, "cud")), tmp_path / "s", **workers)
    assert (status.n_done, status.n_failed) == (30, 0)
    found = limits(tmp_path / "s", "own")
    assert len(found) == 30
    assert found == exact_limits(tmp_path / "s")


@pytest.mark.slow
def test_the_cases_for_true_errors_are_drawn_once_a_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "BATCH_SECONDS", 1e-9)  # a batch for every replicate
    population = Counted(str(tmp_path / "notes"))
    scenario = Scenario("counted", population, LeastSquaresClassifier)
    run_study(tiny_study(scenarios=(scenario,), methods=("langford-binomial",)), tmp_path / "s", n_jobs=2)
    workers = (tmp_path / "notes").read_text().split()
    assert 1 <= len(workers) <= 2
    assert len(set(workers)) == len(workers)
    assert str(os.getpid()) not in workers


# --- what cannot be sent


def test_a_method_that_cannot_be_sent_is_said(tmp_path):
    lock = threading.Lock()

    def guarded(records: Any, confidence_level: float) -> Outcome:
        with lock:
            return exact_of_training(records, confidence_level)

    study = tiny_study(scenarios=NEAR, methods=(replace(OWN, compute=guarded),))
    with pytest.raises(
        StudyError,
        match=r"scenario 'near': its population, its classifier or a method of the study cannot be sent to worker "
        r"processes \(TypeError: cannot pickle '_thread\.lock' object\); use one worker",
    ):
        run_study(study, tmp_path / "s", n_jobs=2)
    assert run_study(study, tmp_path / "s").n_done == 30


# --- what ends the workers, so that the next test has to start others: these come last


@pytest.mark.slow
def test_killed_worker_is_said(tmp_path):
    study = tiny_study(scenarios=(Scenario("near", Deadly(0.5), LeastSquaresClassifier),))
    with pytest.raises(
        StudyError,
        match="a worker was killed, perhaps for lack of memory; run the study again with fewer workers",
    ):
        run_study(study, tmp_path / "s", n_jobs=2)
    assert run_study(study, tmp_path / "s").n_done == 30
