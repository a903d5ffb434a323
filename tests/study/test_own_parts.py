"""What a methodologist brings: an estimator, of which clones are fitted, and intervals that are plain functions."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study_cases import Interrupted, Shifted, dump, tiny_study
from study_own import limits, wilson

from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    own_method,
    performance_interval,
    plan_sample_size,
    verify_result,
)
from cudbound.basis.exceptions import ParameterError, StudyError, StudyInterrupted
from cudbound.study import Scenario, Study, run_study, summarize
from cudbound.study.design.scenario import describe
from cudbound.study.run.replicate_rows import REPLICATES
from cudbound.study.run.store import Store


def jittered(model, X, y, level, rng):
    middle = rng.uniform(0.2, 0.3)
    return middle, middle - 0.1, middle + 0.1


def of(population, classifier=LeastSquaresClassifier, **changes):
    return tiny_study(scenarios=(Scenario("near", population, classifier),), **changes)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_is_a_method_of_a_study(tmp_path, n_jobs):
    study = of(Shifted(0.5), methods=(wilson, "langford-binomial"))
    assert study.methods == ("wilson", "langford-binomial")
    assert [(one.name, one.title) for one in study.user_methods] == [
        ("wilson", "Wilson's interval on the training error")
    ]
    status = run_study(study, tmp_path / "s", n_jobs=n_jobs)
    assert (status.n_done, status.n_failed) == (30, 0)
    with Store.open(tmp_path / "s") as opened:
        rows = list(opened.frame(REPLICATES).itertuples())
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


def test_a_learner_that_splits_its_rows_is_refitted_without_copies_and_without_inner_draws(tmp_path):
    methods = ("two-center", "bootstrap-percentile")
    study = of(Shifted(0.5), RidgeClassifierCV, methods=methods, n_resamples=4, n_replicates=2)
    status = run_study(study, tmp_path / "s")
    assert (status.n_done, status.n_failed) == (4, 0)  # two of each of two sizes
    for name in methods:
        assert np.isfinite(list(limits(tmp_path / "s", name).values())).all()


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


def test_functions_and_methods_are_set_beside_others():
    X = np.random.default_rng(0).normal(size=(30, 1))
    y = X[:, 0] + np.random.default_rng(1).normal(size=30) > 0
    clf = LeastSquaresClassifier().fit(X, y)
    named = own_method("mine", wilson, title="Mine", tendency="too low")
    table = compare_intervals(clf, X, y, methods=[wilson, named, "cud"], n_resamples=20, rng=0)
    assert table["wilson"].confidence_interval == table["mine"].confidence_interval
    alone = compare_intervals(clf, X, y, methods=wilson, n_resamples=20, rng=0)
    assert alone.rows == (table["wilson"],)
    assert own_method("mine", partial(wilson)).title == partial.__doc__.splitlines()[0].rstrip(".")
    assert own_method("mine", lambda model, X, y, level, rng: (0.0, 0.0, 1.0)).title == "mine"


def test_a_function_has_its_title_wherever_a_method_has(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 1))
    y = X[:, 0] + np.random.default_rng(1).normal(size=30) > 0
    clf = LeastSquaresClassifier().fit(X, y)
    table = compare_intervals(clf, X, y, methods=["two-center", wilson], n_resamples=20, rng=0)
    assert "Wilson's interval on the training error (wilson)" in table.describe().methods
    assert "Wilson's interval on the training error" in table.to_text(style="paper")
    assert table.pictured["title"].tolist()[1] == "Wilson's interval on the training error"
    assert "wilson interval" in str(performance_interval(clf, X, y, method=wilson, n_resamples=20, rng=0))
    table.save(tmp_path / "table.json")
    rows = verify_result(tmp_path / "table.json", clf, X, y).checks[-1]
    assert (rows.name, rows.passed) == ("rows", None)
    assert rows.found.endswith("a file cannot contain user-defined methods: wilson")


def test_a_size_is_planned_for_a_function():
    plan = plan_sample_size(
        LeastSquaresClassifier(), world="gaussians", method=wilson, n_samples=(20, 40), n_replicates=10, rng=0
    )
    assert plan.method == "wilson"
    assert "by: wilson." in plan.describe().methods


def test_limits_in_the_wrong_order_are_no_interval():
    X = np.arange(20.0)[:, None]
    clf = LeastSquaresClassifier().fit(X, X[:, 0] > 9.5)
    asked = ["langford-binomial", own_method("reversed", lambda *_: (0.3, 0.5, 0.1))]
    table = compare_intervals(clf, X, X[:, 0] > 9.5, methods=asked, n_resamples=20, rng=0)
    assert table["reversed"].degenerate.endswith(
        "The method 'reversed' must return a lower limit that is not above the upper one. Got 0.5 and 0.1 instead."
    )


@pytest.mark.parametrize("result", [None, (0.1, 0.2), (2.0, 0.0, 1.0)])
def test_an_error_of_a_method_names_it(result):
    X = np.arange(20.0)[:, None]
    clf = LeastSquaresClassifier().fit(X, X[:, 0] > 9.5)
    with pytest.raises(ValueError, match=r"^The method 'mine' must return an estimate .* Got .* instead"):
        compare_intervals(clf, X, X[:, 0] > 9.5, methods=own_method("mine", lambda *_: result), rng=0)


def test_worlds_are_imported_first():
    """In a process that has imported nothing else: what others import may hide what is missing."""
    code = "from cudbound.study import worlds; print(worlds.Gaussians().name)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"gaussians\n"
    )


def test_an_estimator_is_cloned(tmp_path):
    given = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))

    def make():
        return make_pipeline(StandardScaler(), LogisticRegression(C=0.5))

    studies = {"given": of(Shifted(0.5), given), "made": of(Shifted(0.5), make)}
    for name, study in studies.items():
        run_study(study, tmp_path / name)
    assert dump(tmp_path / "given") == dump(tmp_path / "made")
    assert describe(studies["given"]) == describe(studies["made"])
    assert not hasattr(given[-1], "coef_")
    run_study(studies["made"], tmp_path / "given")  # the same study


def test_an_estimator_with_other_parameters_is_another_study(tmp_path):
    run_study(of(Shifted(0.5), LogisticRegression(C=0.5)), tmp_path / "s")
    with pytest.raises(StudyError, match=r"classifier: stored .*C=0\.5.*, now .*C=2"):
        run_study(of(Shifted(0.5), LogisticRegression(C=2.0)), tmp_path / "s")


@pytest.mark.parametrize("name", ["classifier", "rival"])
def test_what_is_no_estimator_is_said(name):
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be an estimator, such as"):
        Scenario("near", Shifted(0.5), **{"classifier": LeastSquaresClassifier(), name: "logistic"})
    with pytest.raises(ParameterError, match="'classifier' parameter must be an estimator"):
        Scenario("near", Shifted(0.5), None)


def test_methods_of_a_study_are_named_for_good():
    study = of(Shifted(0.5), methods=(wilson, "paper"))
    again = Study(**{**vars(study), "methods": study.methods})
    assert again.methods == study.methods
    assert again.find_methods() == study.find_methods()


def test_a_population_is_no_name():
    with pytest.raises(
        ParameterError, match=r"'population' parameter must be an object .*WORLDS\['noise'\]\(\)"
    ):
        Scenario("noise", "noise", LogisticRegression())
