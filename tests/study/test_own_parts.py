"""What a methodologist brings: an estimator, of which clones are fitted, and intervals that are plain functions."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest
from study_cases import Interrupted, Shifted, dump, tiny_study
from study_own import limits, wilson

from cudbound import (
    LeastSquaresClassifier,
)
from cudbound.basis.exceptions import StudyInterrupted
from cudbound.study import Scenario, run_study, summarize
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
