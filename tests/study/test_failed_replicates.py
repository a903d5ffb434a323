"""Studies in which replicates fail: refused before they run, counted with their reason, reported and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier
from study_cases import Shifted, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.intervals import find_methods
from cudbound.study import Scenario, Study, run_study
from cudbound.study.measure.summary import summarize
from cudbound.study.run.replicate_rows import Key, reason
from cudbound.study.run.store import Store
from cudbound.study.study_report import FORMATS, write_report

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
        failure = opened.replicate(Key("near", 12, 0)).failure
    assert failure is not None
    assert (cell.first_failure, cell.reason) == (0, reason(failure))
    assert "All the 3 fits failed. File not found It is very likely: no penalty. Training sets" in reason(
        failure
    )


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
