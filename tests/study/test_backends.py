"""What a study takes along to other processes: methods, populations and classifiers of the user's own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest
from study_cases import Shifted, tiny_study
from study_own import OWN, Counted, exact_of_training, module_of_the_user

from cudbound import LeastSquaresClassifier
from cudbound.exceptions import StudyError
from cudbound.intervals import METHODS, Outcome
from cudbound.study.design.scenario import Scenario
from cudbound.study.populations.own_data import FunctionPopulation
from cudbound.study.run import runner
from cudbound.study.run.cluster import check_workers
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "helpers")}
NEAR = (Scenario("near", Shifted(0.5), LeastSquaresClassifier),)


def dump(path: Path) -> list[tuple[object, ...]]:
    with Store.open(path) as opened:
        return list(opened.dump())


def limits(path: Path, method: str) -> dict[tuple[int, int], tuple[float, float]]:
    with Store.open(path) as opened:
        rows = opened.rows_frame().query("method == @method")
    return {(row.n, row.replicate): (row.low, row.high) for row in rows.itertuples()}


def exact_limits(path: Path) -> dict[tuple[int, int], tuple[float, float]]:
    """What `OWN` is to give, from the stored training errors."""
    with Store.open(path) as opened:
        found = {
            (row.n, row.replicate): binomtest(round(row.training_error * row.n), row.n).proportion_ci(0.95)
            for row in opened.replicates_frame().itertuples()
        }
    return {key: (interval.low, interval.high) for key, interval in found.items()}


@pytest.mark.parametrize(
    "workers", [{}, {"n_jobs": 2, "backend": "threads"}, {"n_jobs": 2}], ids=["one", "threads", "processes"]
)
def test_a_method_of_the_users_own_is_known_to_workers(tmp_path, monkeypatch, workers):
    monkeypatch.setitem(METHODS, "own", OWN)
    status = run_study(tiny_study(scenarios=NEAR, methods=("own", "cud")), tmp_path / "s", **workers)
    assert (status.n_done, status.n_failed) == (30, 0)
    found = limits(tmp_path / "s", "own")
    assert len(found) == 30
    assert found == exact_limits(tmp_path / "s")


def test_a_method_in_place_of_one_of_the_package_is_that_of_its_study_alone(tmp_path, monkeypatch):
    """The workers of the second and third study are those of the first: processes are kept between runs."""
    study = tiny_study(scenarios=NEAR)
    run_study(study, tmp_path / "one worker")
    run_study(study, tmp_path / "before", n_jobs=2)
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, "langford-binomial", replace(OWN, name="langford-binomial"))
        run_study(study, tmp_path / "changed", n_jobs=2)
    run_study(study, tmp_path / "after", n_jobs=2)
    assert limits(tmp_path / "changed", "langford-binomial") == exact_limits(tmp_path / "changed")
    assert dump(tmp_path / "before") == dump(tmp_path / "after") == dump(tmp_path / "one worker")


def test_a_method_that_cannot_be_sent_is_said(tmp_path, monkeypatch):
    lock = threading.Lock()

    def guarded(records: Any, confidence_level: float) -> Outcome:
        with lock:
            return exact_of_training(records, confidence_level)

    monkeypatch.setitem(METHODS, "own", replace(OWN, compute=guarded))
    study = tiny_study(scenarios=NEAR, methods=("own",))
    with pytest.raises(
        StudyError,
        match=r"scenario 'near': its population, its classifier or a method of the study cannot be sent to worker "
        r"processes; use backend=\"threads\" \(TypeError: cannot pickle '_thread\.lock' object\)",
    ):
        run_study(study, tmp_path / "s", n_jobs=2)
    assert run_study(study, tmp_path / "s", n_jobs=2, backend="threads").n_done == 30


def test_a_module_that_workers_lack_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "made_up", module_of_the_user())
    study = tiny_study(scenarios=(Scenario("near", Shifted(0.5), sys.modules["made_up"].make),))
    with pytest.raises(
        StudyError,
        match=r"a worker cannot read a population, a classifier or a method of the study; define it in the script "
        r"itself or in a module that workers can import \(ModuleNotFoundError: No module named 'made_up'\)",
    ):
        run_study(study, tmp_path / "s", n_jobs=2)
    assert run_study(study, tmp_path / "s", n_jobs=2, backend="threads").n_done == 30


def test_the_cases_for_true_errors_are_drawn_once_a_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "BATCH_SECONDS", 1e-9)  # a batch for every replicate
    population = FunctionPopulation(Counted(str(tmp_path / "notes")), "counted", n_truth_cases=1000)
    scenario = Scenario("counted", population, LeastSquaresClassifier)
    run_study(tiny_study(scenarios=(scenario,), methods=("langford-binomial",)), tmp_path / "s", n_jobs=2)
    workers = (tmp_path / "notes").read_text().split()
    assert 1 <= len(workers) <= 2
    assert len(set(workers)) == len(workers)
    assert str(os.getpid()) not in workers


# --- a cluster

CLUSTER = """
import os, pathlib, sys, threading, time
from dataclasses import replace
import dask
from distributed import LocalCluster
from cudbound import LeastSquaresClassifier
from cudbound.exceptions import StudyError
from cudbound.intervals import METHODS
from cudbound.study.run.runner import run_study
from cudbound.study.design.scenario import Scenario
from cudbound.study.run.store import Store
from study_cases import Deadly, Shifted, Unsendable, tiny_study
from study_own import OWN, exact_of_training, module_of_the_user

def of_this_script(records, confidence_level):
    return exact_of_training(records, confidence_level)

def refused(population, store, make=LeastSquaresClassifier, **changes):
    study = tiny_study(scenarios=(Scenario("near", population, make),), **changes)
    try:
        run_study(study, store, dask=address)
    except StudyError as error:
        print(error)

def lose(cluster, store):
    while True:
        time.sleep(0.05)
        with Store.open(store) as opened:
            if opened.finished():
                break
    cluster.loop.add_callback(cluster.scheduler.close)

if __name__ == "__main__":
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    folder, what = pathlib.Path(sys.argv[1]), sys.argv[2]
    METHODS["own"] = replace(OWN, compute=of_this_script)
    near = (Scenario("near", Shifted(0.5), LeastSquaresClassifier),)
    settings = {"threads_per_worker": 1, "dashboard_address": None, "processes": what != "lost"}
    with LocalCluster(n_workers=2, **settings) as cluster:
        address = cluster.scheduler_address
        if what == "own":
            study = tiny_study(scenarios=near, methods=("own", "cud"))
            print(run_study(study, folder / "s", dask=address).n_failed)
            refused(Unsendable(0.5), folder / "unsendable")
            sys.modules["made_up"] = module_of_the_user()
            refused(Shifted(0.5), folder / "unreadable", sys.modules["made_up"].make)
        elif what == "deadly":
            refused(Deadly(0.5), folder / "s")
        else:
            with Store.resume(folder / "s", tiny_study(scenarios=near, n_replicates=100_000)):
                pass  # a store that readers can open is there from the start
            threading.Thread(target=lose, args=(cluster, folder / "s")).start()
            refused(Shifted(0.5), folder / "s", n_replicates=100_000)
            sys.stdout.flush()
            os._exit(0)  # a cluster without a scheduler takes half a minute to end
"""


def on_cluster(folder: Path, what: str) -> list[str]:
    (folder / "script.py").write_text(CLUSTER)
    ended = subprocess.run(
        [sys.executable, folder / "script.py", folder, what],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.stdout, ended.stderr
    return ended.stdout.splitlines()


def test_a_script_with_a_method_of_its_own_runs_on_a_cluster(tmp_path):
    n_failed, unsendable, unreadable = on_cluster(tmp_path, "own")
    assert n_failed == "0"
    assert limits(tmp_path / "s", "own") == exact_limits(tmp_path / "s")
    assert len(limits(tmp_path / "s", "own")) == 30
    assert unsendable.startswith(
        "scenario 'near': its population, its classifier or a method of the study cannot"
    )
    assert unreadable.endswith("that workers can import (ModuleNotFoundError: No module named 'made_up')")


@pytest.mark.slow
def test_a_batch_that_kills_its_workers_is_given_up(tmp_path):
    (said,) = on_cluster(tmp_path, "deadly")
    assert said.startswith(
        "dask: several workers were killed, perhaps for lack of memory, while they ran the"
    )
    assert dump(tmp_path / "s") == []


@pytest.mark.slow
def test_a_cluster_that_is_lost_leaves_what_was_done(tmp_path):
    (said,) = on_cluster(tmp_path, "lost")
    # which of them is seen to go first, the scheduler or its workers, is a race
    assert said.startswith(
        ("dask: the connection to the scheduler was lost; ", "dask: several workers were killed, ")
    )
    assert "; the store keeps what was done: " in said
    done = len(dump(tmp_path / "s")) // 3
    assert 0 < done < 200_000
    study = tiny_study(scenarios=NEAR, n_replicates=100_000)
    with Store.resume(tmp_path / "s", study) as store:
        assert len(store.finished()) == done


class Workers:
    """Stands for the client of a cluster whose workers have these versions."""

    def __init__(self, *versions: object):
        self.versions = versions

    def run(self, *_: object, on_error: str) -> dict[str, object]:
        return {f"tcp://10.0.0.{number}:1": one for number, one in enumerate(self.versions)}


def test_workers_with_another_version_are_refused():
    here = version("cudbound")
    check_workers(Workers(here, here))
    with pytest.raises(
        StudyError,
        match=rf"dask: all workers must have cudbound {here}, as this process has\. Worker tcp://10\.0\.0\.1:1 has "
        r"0\.0\.7; install it there and start that worker again",
    ):
        check_workers(Workers(here, "0.0.7"))
    with pytest.raises(StudyError, match=r"Worker tcp://10\.0\.0\.0:1 has none; install it there"):
        check_workers(Workers(PackageNotFoundError("cudbound"), here))


def test_a_cluster_without_workers_is_said(tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(runner, "CONNECT_SECONDS", 0.5)
    with (
        LocalCluster(n_workers=0, dashboard_address=None, processes=False) as cluster,
        pytest.raises(
            StudyError, match=r"dask: the scheduler at '.*' has no worker; start one and try again"
        ),
    ):
        run_study(tiny_study(), tmp_path / "s", dask=cluster.scheduler_address)
    assert os.listdir(tmp_path) == []
