"""Studies on a Dask cluster: the same rows, what is taken along, and what is said of workers and schedulers that go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from study_cases import DeadlyOnce, Shifted, dump, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.study.runner import check_workers, run_study
from cudbound.study.scenario import Scenario
from cudbound.study.store import Store

pytestmark = pytest.mark.slow  # a cluster and its workers are processes that import everything

#: One script with one cluster, since starting its workers takes longer than all studies; a line of JSON for each.
SCRIPT = """
import json, os, pathlib, sys, threading
from dataclasses import replace
from distributed import LocalCluster
from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.study.runner import run_study
from cudbound.study.scenario import Scenario
from cudbound.study.store import Store
from study_cases import Deadly, DeadlyOnce, Shifted, Unsendable, tiny_study
from study_own import OWN, exact_of_training, module_of_the_user

def of_this_script(records, confidence_level):
    return exact_of_training(records, confidence_level)

def near(population, make=LeastSquaresClassifier, **changes):
    return tiny_study(scenarios=(Scenario("near", population, make),), **changes)

def run(name, study, **more):
    try:
        said = run_study(study, folder / name, dask=cluster.scheduler_address, **more).n_failed
    except StudyError as error:
        said = str(error)
    print(json.dumps([name, said]), flush=True)

def lose(store, over):
    while not over.wait(0.05):
        with Store.open(store) as opened:
            if opened.finished():
                cluster.loop.add_callback(cluster.scheduler.close)
                return

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster:
        run("undisturbed", tiny_study())
        run("shard", tiny_study(), shard=(2, 3), limit_minutes=60)
        run("no time", tiny_study(), limit_minutes=0)
        run("own", near(Shifted(0.5), methods=(replace(OWN, compute=of_this_script), "cud")))
        run("unsendable", near(Unsendable(0.5)))
        sys.modules["made_up"] = module_of_the_user()
        run("unreadable", near(Shifted(0.5), sys.modules["made_up"].make))
        run("killed", near(DeadlyOnce(0.5, marker=str(folder / "marker"))))
        cluster.scheduler.allowed_failures = 0
        run("deadly", near(Deadly(0.5)))
    with LocalCluster(processes=False, **settings) as cluster:
        study = near(Shifted(0.5), n_replicates=100_000)
        with Store.resume(folder / "lost", study):
            pass  # a store that readers can open is there from the start
        over = threading.Event()
        threading.Thread(target=lose, args=(folder / "lost", over)).start()
        run("lost", study)
        over.set()
        os._exit(0)  # a cluster without a scheduler takes half a minute to end
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the stores of the script are."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def said(folder) -> dict[str, Any]:
    """What each study of the script came to: how many replicates failed, or the error."""
    (folder / "script.py").write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, folder / "script.py", folder],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "helpers")},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stderr
    return dict(map(json.loads, ended.stdout.splitlines()))


def near(population: Any, **changes: Any) -> Any:
    return tiny_study(scenarios=(Scenario("near", population, LeastSquaresClassifier),), **changes)


def test_a_cluster_does_not_change_the_rows(folder, said, tmp_path):
    status = run_study(tiny_study(), tmp_path / "one worker")
    assert said["undisturbed"] == status.n_failed > 0
    assert dump(folder / "undisturbed") == dump(tmp_path / "one worker")


def test_a_worker_that_is_killed_does_not_change_the_rows(folder, said, tmp_path):
    marker = folder / "marker"
    assert said["killed"] == 0
    assert int(marker.read_text()) != os.getpid()
    run_study(near(DeadlyOnce(0.5, marker=str(marker))), tmp_path / "one worker")
    assert len(dump(folder / "killed")) == 30
    assert dump(folder / "killed") == dump(tmp_path / "one worker")


def test_what_cannot_be_sent_or_read_is_said(said):
    assert said["unsendable"].startswith(
        "scenario 'near': its population, its classifier or a method of the study cannot"
    )
    assert said["unreadable"].endswith(
        "that workers can import (ModuleNotFoundError: No module named 'made_up')"
    )


def test_a_batch_that_kills_its_workers_is_given_up(folder, said):
    assert said["deadly"].startswith("dask: workers or the connection to the scheduler were lost (")
    assert dump(folder / "deadly") == []


def test_a_cluster_that_is_lost_leaves_what_was_done(folder, said):
    assert said["lost"].startswith("dask: workers or the connection to the scheduler were lost (")
    assert "; the store keeps finished replicates: " in said["lost"]
    done = len(dump(folder / "lost"))
    assert 0 < done < 200_000
    with Store.resume(folder / "lost", near(Shifted(0.5), n_replicates=100_000)) as store:
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
        match=rf"dask: all workers must have cudbound {here}, like this process\. Worker tcp://10\.0\.0\.1:1 has "
        rf"0\.0\.7; install {here} there and restart that worker",
    ):
        check_workers(Workers(here, "0.0.7"))
    with pytest.raises(
        StudyError, match=r"Worker tcp://10\.0\.0\.0:1 has No package metadata .*; install .* there"
    ):
        check_workers(Workers(PackageNotFoundError("cudbound"), here))
