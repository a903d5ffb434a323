"""What a methodologist brings: estimators, functions, sizes of a scenario, differences of two errors."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.tree import DecisionTreeClassifier
from study_cases import Interrupted, Shifted, dump, stored, tiny_study
from study_own import limits, wilson
from tiers import quick_first

from cudbound import LeastSquaresClassifier, compare_learners
from cudbound.basis.exceptions import StudyInterrupted
from cudbound.resampling import Resampling
from cudbound.study import Scenario, Study, run_study, runner, summarize
from cudbound.study.design_file import read_design
from cudbound.study.population import draw_both_classes
from cudbound.study.replicate import Key, run_replicate, true_metrics
from cudbound.study.store import Store
from cudbound.study.study_report import report_text
from cudbound.study.worlds import WORLDS

# ---- what a methodologist brings ----


def jittered(model, X, y, level, rng):
    middle = rng.uniform(0.2, 0.3)
    return middle, middle - 0.1, middle + 0.1


def of(population, classifier=LeastSquaresClassifier, **changes):
    return tiny_study(scenarios=(Scenario("near", population, classifier),), **changes)


@pytest.mark.parametrize("n_jobs", quick_first([1, 2]))
def test_a_function_is_a_method_of_a_study(tmp_path, n_jobs):
    study = of(Shifted(0.5), methods=(wilson, "langford-binomial"))
    assert study.methods == ("wilson", "langford-binomial")
    assert [(one.name, one.title) for one in study.user_methods] == [
        ("wilson", "Wilson's interval on the training error")
    ]
    status = run_study(study, tmp_path / "s", n_jobs=n_jobs)
    assert (status.n_done, status.n_failed) == (30, 0)
    with Store.open(tmp_path / "s") as opened:
        rows = list(opened.frames()[0].itertuples())
    expected = {
        (row.n, row.replicate): tuple(
            binomtest(round(row.training_error * row.n), row.n).proportion_ci(0.95, method="wilson")
        )
        for row in rows
    }
    found = limits(tmp_path / "s", "wilson")
    assert found.keys() == expected.keys()
    for key, interval in found.items():
        assert interval == pytest.approx(expected[key])
    assert summarize(tmp_path / "s").methods == study.methods


def test_a_function_has_the_random_numbers_of_its_replicate(tmp_path):
    """So a study that was stopped by Ctrl-C ends as one that was not."""
    asked = {"methods": (jittered, "langford-binomial")}
    with pytest.raises(StudyInterrupted, match="2 of 30"):
        run_study(of(Interrupted(0.5), **asked), tmp_path / "stopped")
    assert run_study(of(Interrupted(0.5, drawn=[0] * 9), **asked), tmp_path / "stopped").n_done == 30
    run_study(of(Interrupted(0.5, drawn=[0] * 9), **asked), tmp_path / "whole")
    assert dump(tmp_path / "stopped") == dump(tmp_path / "whole")
    assert len(set(limits(tmp_path / "whole", "jittered").values())) == 30


def test_a_function_that_fails_is_a_failure_of_its_own(tmp_path):
    def failing(model, X, y, level, rng):
        raise RuntimeError("no luck")

    status = run_study(of(Shifted(0.5), methods=(failing, "langford-binomial")), tmp_path / "s")
    assert (status.n_done, status.n_failed) == (30, 0)
    cells = summarize(tmp_path / "s").cells.groupby("method")["n_failed"].sum()
    assert cells.to_dict() == {"failing": 30, "langford-binomial": 0}


# ---- scenarios with sizes and numbers of their own ----


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
        fits = {name: stored(store, Key(name, n, 0)).intervals[0].n_fits for name, n in CELLS}
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


# ---- studies of differences of two errors ----


GAUSSIANS = WORLDS["gaussians"]()
METHODS = ("corrected-resampled-t", "5x2cv-t", "k-fold-t", "mcnemar")
SIZES = Resampling(n_splits=4, test_fraction=0.25, n_folds=5)


# of scikit-learn's class, which worker processes can import
_stump = partial(DecisionTreeClassifier, max_depth=1, random_state=0)


def _study(**changes: object) -> Study:
    scenario = Scenario("line and stump", GAUSSIANS, LeastSquaresClassifier, rival=_stump)
    study = Study("compared", (scenario,), (24,), 6, METHODS, confidence_level=0.9, resampling=SIZES, seed=5)
    return replace(study, **changes)


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_a_replicate_is_the_comparison_of_its_sample():
    study = _study()
    (scenario,) = study.scenarios
    found = run_replicate(study, scenario, 24, 2)
    rng = study.rng("line and stump", 24, 2)
    drawn = GAUSSIANS.draw(24, rng)
    pair = [LeastSquaresClassifier().fit(drawn.X, drawn.y), _stump().fit(drawn.X, drawn.y)]
    table = compare_learners(
        pair, drawn.X, drawn.y, methods=METHODS, confidence_level=0.9, resampling=SIZES, rng=rng
    )
    assert [row.pvalue for row in found.intervals] == [row.pvalue for row in table.rows]
    assert [row.low for row in found.intervals] == [row.confidence_interval.low for row in table.rows]
    assert [row.n_fits for row in found.intervals] == [8, 20, 10, 2]
    assert found.truth == drawn.true_error(pair[0]).value - drawn.true_error(pair[1]).value
    errors = [np.mean(one.predict(drawn.X) != drawn.y) for one in pair]
    assert found.training_error == errors[0] - errors[1]


def test_expected_error_of_one_algorithm_is_that_of_the_world():
    """Whatever is fitted to noise errs half of the time."""
    scenario = Scenario("noise", WORLDS["noise"](), LeastSquaresClassifier)
    study = Study("one", (scenario,), (20,), 3, ("resampled-t", "langford-binomial"), n_resamples=20)
    rows = [run_replicate(study, scenario, 20, number) for number in range(3)]
    assert [[(one.n_train, one.truth) for one in row.expected] for row in rows] == [[(18, 0.5)]] * 3


def test_the_expected_value_of_a_metric_is_that_of_the_metric():
    one = Scenario("one", GAUSSIANS, LeastSquaresClassifier, metric=("sensitivity",))
    both = replace(one, metric=("sensitivity", "specificity"))
    study = Study("study", (one,), (40,), 1, ("repeated-k-fold-t",), n_resamples=20)
    (expected,) = run_replicate(study, one, 40, 0).expected
    drawn, _ = draw_both_classes(GAUSSIANS, 40, study.rng("one", 40, 0, 36))
    fitted = LeastSquaresClassifier().fit(drawn.X[:36], drawn.y[:36])
    (truth,) = true_metrics(GAUSSIANS, fitted, one.metrics)
    assert (expected.n_train, expected.truth) == (36, truth.value)
    assert run_replicate(replace(study, scenarios=(both,)), both, 40, 0).expected == ()


def test_rivals_in_some_scenarios_only_are_refused():
    (compared,) = _study().scenarios
    alone = Scenario("alone", GAUSSIANS, LeastSquaresClassifier)
    with pytest.raises(ValueError, match=r"must have a rival, or none\. Got 'alone' without one"):
        _study(scenarios=(compared, alone))
