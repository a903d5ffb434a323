"""Scenarios with sizes and numbers of their own, and the order in which a study is run."""

from __future__ import annotations

import math

from study_cases import Shifted, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.study import run_study
from cudbound.study.design.design_file import read_design
from cudbound.study.design.scenario import Scenario
from cudbound.study.run import runner
from cudbound.study.run.replicate_rows import Key
from cudbound.study.run.store import Store
from cudbound.study.study_report import report_text

DESIGN = """
n_samples = [12, 20]
n_replicates = 4
n_resamples = 10
methods = ["langford-binomial", "cud"]
[[scenario]]
name = "shared"
world = "gaussians"
[[scenario]]
name = "own"
world = "gaussians"
n_samples = 16
n_replicates = 2
n_resamples = 5
"""
CELLS = {("shared", 12): 4, ("shared", 20): 4, ("own", 16): 2}


def read(folder, text=DESIGN, **arguments):
    path = folder / "d.toml"
    path.write_text(text)
    return read_design(path, **arguments)


def test_a_scenario_has_its_own_cells_and_draws(tmp_path):
    study = read(tmp_path)
    assert study.cells == CELLS
    status = run_study(study, tmp_path / "s")
    assert {(one.scenario, one.n): (one.n_done, one.n_total) for one in status.cells} == {
        cell: (n_each, n_each) for cell, n_each in CELLS.items()
    }
    with Store.open(tmp_path / "s") as store:
        assert store.missing() == {}
        fits = {name: store.replicate(Key(name, n, 0)).intervals[0].n_fits for name, n in CELLS}
        assert "Scenarios: 2, at n = 12, 16, 20; 2 to 4 replicates of each planned." in report_text(
            tmp_path / "s"
        )
    assert fits == {"shared": 11, "own": 6}


def test_a_run_that_is_stopped_has_about_the_same_share_of_every_cell(tmp_path, monkeypatch):
    scenarios = (
        Scenario("many", Shifted(0.5), LeastSquaresClassifier, n_replicates=20),
        Scenario("few", Shifted(0.5), LeastSquaresClassifier, n_replicates=5),
    )
    monkeypatch.setattr(runner, "BATCH_SECONDS", 1e-9)  # one replicate each
    study = tiny_study(scenarios=scenarios, n_samples=(12,), methods=("langford-binomial",))
    with Store.resume(tmp_path / "s", study) as store:
        left = store.missing()
    order = [(name, number) for (name, _), (number,) in runner._batches(study, left, {}, math.inf)]
    assert order[:6] == [("many", 0), ("few", 0), *(("many", number) for number in (1, 2, 3, 4))]
    for place in range(2, len(order)):
        done = [sum(name == one for name, _ in order[:place]) / n for one, n in (("many", 20), ("few", 5))]
        assert abs(done[0] - done[1]) <= 0.2 + 1e-12
