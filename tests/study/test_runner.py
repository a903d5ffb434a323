"""Runs of a study: replicates, failures, backends."""

from __future__ import annotations

import itertools
import os
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from study_cases import Deadly, Interrupted, Shifted, dump, stored, tiny_study
from study_own import OWN, Counted, exact_limits, exact_of_training, limits
from tiers import quick_first

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import ParameterError, StudyError, StudyInterrupted
from cudbound.basis.results import Outcome
from cudbound.intervals import find_methods
from cudbound.study import Scenario, Study, replay, run_study, runner
from cudbound.study.replicate import Key, reason, run_replicate
from cudbound.study.store import Store
from cudbound.study.study_report import FORMATS, write_report
from cudbound.study.summary import summarize

# ---- runs of a study ----


STUDY = tiny_study()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """A store of the whole study, run by one worker."""
    path = tmp_path_factory.mktemp("undisturbed") / "s"
    run_study(STUDY, path)
    return path


def test_store_holds_what_each_replicate_gives(undisturbed):
    near = STUDY.scenarios[0]
    with Store.open(undisturbed) as opened, pytest.warns(RuntimeWarning, match="every sample says so"):
        assert stored(opened, Key("near", 20, 3)) == run_replicate(STUDY, near, 20, 3)
    assert len(opened_keys(undisturbed)) == 60


def opened_keys(path: Path) -> set[Key]:
    with Store.open(path) as opened:
        return opened.finished()


def test_failures_are_rows_that_can_be_replayed(undisturbed):
    with Store.open(undisturbed) as opened:
        status = opened.status()
        frame = opened.frames()[0]
        failed = frame[frame["failure"].notna()]
        assert status.n_failed == len(failed) > 0
        assert set(failed["scenario"]) == {"broken"}
        for one in failed.itertuples():
            key = Key(one.scenario, one.n, one.replicate)
            again = replay(STUDY, undisturbed, *[one.scenario, one.n, one.replicate])
            assert again == stored(opened, key)
            assert again.failure is not None
            assert again.failure.endswith(f"ArithmeticError: no sample of {one.n}\n")
            assert "in draw" in again.failure


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("nearby", 12, 0), "it has no scenario 'nearby' at n = 12; choose one of \\[\\('near', 12\\)"),
        (("near", 13, 0), "it has no scenario 'near' at n = 13"),
        (("near", 12, -1), "'replicate' parameter must be an integer of at least 0. Got -1"),
        (("near", 12, 15), "'replicate' parameter must be an integer of at most 14. Got 15"),
    ],
)
def test_a_replicate_that_the_study_does_not_have_is_not_replayed(undisturbed, place, message):
    with pytest.raises((StudyError, ParameterError), match=message):
        replay(STUDY, undisturbed, *place)


def test_replay_of_a_success_gives_the_stored_row(undisturbed):
    before = undisturbed.read_bytes()
    with Store.open(undisturbed) as opened:
        assert replay(STUDY, undisturbed, "near", 12, 14) == stored(opened, Key("near", 12, 14))
    assert undisturbed.read_bytes() == before


@pytest.mark.slow
def test_grown_study_equals_one_that_was_large_from_the_start(tmp_path):
    third = Scenario("third", Shifted(2.0), LeastSquaresClassifier)
    larger = tiny_study(n_replicates=17, n_samples=(12, 16, 20), scenarios=(third, *STUDY.scenarios))
    run_study(STUDY, tmp_path / "grown")
    run_study(larger, tmp_path / "grown")
    run_study(larger, tmp_path / "large")
    assert dump(tmp_path / "grown") == dump(tmp_path / "large")
    assert len(opened_keys(tmp_path / "grown")) == 3 * 3 * 17


def test_rows_do_not_depend_on_other_methods(tmp_path, undisturbed):
    run_study(tiny_study(methods=("cud",)), tmp_path / "s")
    with Store.open(tmp_path / "s") as alone, Store.open(undisturbed) as beside:
        rows = beside.frames()[1].query("method == 'cud'").reset_index(drop=True)
        pd.testing.assert_frame_equal(alone.frames()[1], rows)


# kills and Ctrl-C


def test_interrupt_keeps_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "BATCH_SECONDS", 1e-9)
    study = tiny_study(
        scenarios=(Scenario("near", Interrupted(0.5), LeastSquaresClassifier),), n_samples=(12,)
    )
    with pytest.raises(
        StudyInterrupted,
        match=r"stopped with 2 of 15 replicates done and stored in .*s; run the same study with the same store",
    ) as caught:
        run_study(study, tmp_path / "s")
    assert (caught.value.n_done, caught.value.n_total) == (2, 15)
    assert opened_keys(tmp_path / "s") == {Key("near", 12, 0), Key("near", 12, 1)}
    assert run_study(study, tmp_path / "s").n_done == 15


# what goes wrong


# ---- studies in which replicates fail ----


PAPER = tuple(method.name for method in find_methods("paper"))


class Stubborn(LeastSquaresClassifier):
    def fit(self, X: Any, y: Any) -> Stubborn:
        raise ValueError("All the 3 fits failed.\n  File not found\nIt is very likely: \n    no penalty")


def stubborn_study(methods: Any = "paper") -> Study:
    return tiny_study(
        scenarios=(Scenario("near", Shifted(0.5), Stubborn),),
        n_samples=(12,),
        n_replicates=3,
        methods=methods,
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    run_study(stubborn_study(), tmp_path / "store.sqlite")
    return tmp_path / "store.sqlite"


@pytest.mark.parametrize("form", FORMATS)
def test_a_store_of_failures_alone_is_reported(tmp_path, store, form):
    text = write_report(store, tmp_path / "report", form).read_text()
    assert all(name in text for name in PAPER)
    if form != "csv":
        assert "3 of 3 replicates done, 3 of them failed." in text
        assert "near, n = 12: replicate 0, FailedRefitsError: The classifier failed in Stubborn with" in text
    assert (summarize(store).cells["coverage"] == 0.0).all()


def test_the_reason_is_the_whole_message_in_one_line(store):
    with Store.open(store) as opened:
        (cell,) = opened.status().cells
        failure = stored(opened, Key("near", 12, 0)).failure
    assert failure is not None
    assert (cell.first_failure, cell.reason) == (0, reason(failure))
    assert reason(failure).endswith("All the 3 fits failed. File not found It is very likely: no penalty.")


@pytest.mark.parametrize("methods", ["paper", ("martin-beta", "cud", "bayle-cv")])
def test_a_learner_without_a_bound_is_refused_before_the_run(tmp_path, methods):
    scenarios = (
        Scenario("fine", Shifted(), LeastSquaresClassifier),
        Scenario("forest", Shifted(), lambda: RandomForestClassifier(2)),
    )
    study = tiny_study(scenarios=scenarios, methods=methods)
    with pytest.raises(StudyError, match=r"scenario 'forest': .*Leave cud and aci out of methods") as caught:
        run_study(study, tmp_path / "s")
    assert str(caught.value).endswith(f"{', '.join(name for name in study.methods if name != 'cud')}.")
    assert list(tmp_path.iterdir()) == []  # a store would refuse the mended study
    mended = tiny_study(scenarios=scenarios, methods="langford-binomial", n_samples=(12,), n_replicates=2)
    assert run_study(mended, tmp_path / "s").n_done == 4


# ---- studies on worker processes ----


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
    assert dump(tmp_path / "s") == [row for row in dump(tmp_path / "whole") if row[2] % 3 == 1]


@pytest.mark.parametrize("workers", quick_first([{"n_jobs": 2}, {}]), ids=["processes", "one"])
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
