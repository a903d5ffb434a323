"""What a methodologist brings: an estimator, of which clones are fitted, and intervals that are plain functions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study_cases import Interrupted, Shifted, dump, tiny_study
from study_own import limits, wilson

from cudbound import (
    LeastSquaresClassifier,
    Scenario,
    Study,
    compare_intervals,
    own_method,
    run_study,
    summarize,
)
from cudbound.basis.exceptions import StudyError, StudyInterrupted
from cudbound.basis.parameter_error import ParameterError
from cudbound.study.design.identity import describe
from cudbound.study.run.store import Store
from cudbound.study.run.store_tables import REPLICATES


def jittered(model, X, y, level, rng):
    middle = rng.uniform(0.2, 0.3)
    return middle, middle - 0.1, middle + 0.1


def of(population, classifier=LeastSquaresClassifier, **changes):
    return tiny_study(scenarios=(Scenario("near", population, classifier),), **changes)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_is_a_method_of_a_study(tmp_path, n_jobs):
    study = of(Shifted(0.5), methods=(wilson, "langford-binomial"))
    assert study.methods == ("wilson", "langford-binomial")
    assert [(one.name, one.title) for one in study.own] == [
        ("wilson", "Wilson's interval on the training error.")
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
    assert own_method("mine", partial(wilson)).title == partial.__doc__.splitlines()[0]
    assert own_method("mine", lambda model, X, y, level, rng: (0.0, 0.0, 1.0)).title == "mine"


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
