"""How far a study is and what it found: as a frame, as a table, in a notebook, as a picture."""

from __future__ import annotations

import pandas as pd
import pytest
from study_cases import Shifted, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.study.design.scenario import Scenario
from cudbound.study.measure.summary import summarize
from cudbound.study.run.runner import run_study


@pytest.fixture(scope="module")
def study():
    scenarios = (
        Scenario("<b>near", Shifted(0.5), LeastSquaresClassifier()),
        Scenario("broken", Shifted(1.0, breaks=60), LeastSquaresClassifier()),
    )
    return tiny_study(scenarios=scenarios, n_replicates=4)


@pytest.fixture(scope="module")
def path(study, tmp_path_factory):
    return tmp_path_factory.mktemp("shown") / "s"


@pytest.fixture(scope="module")
def status(study, path):
    return run_study(study, path)


@pytest.fixture(scope="module")
def summary(status, path):
    return summarize(path)


def test_a_status_is_a_frame(status):
    frame = status.to_frame()
    assert frame[["scenario", "n", "n_done", "n_failed", "n_total"]].to_numpy().tolist() == [
        [cell.scenario, cell.n, cell.n_done, cell.n_failed, cell.n_total] for cell in status.cells
    ]
    assert frame["n_failed"].tolist()[:2] == [0, 0]
    failed = status.cells[-1]
    assert frame["n_failed"].tolist()[-1] > 0
    assert frame["first_failure"].tolist()[:2] == [pd.NA, pd.NA]
    assert (frame["first_failure"].iloc[-1], frame["reason"].iloc[-1]) == (
        failed.first_failure,
        failed.reason,
    )


def test_a_summary_is_its_primary_table(summary):
    assert summary.to_frame() is summary.cells
    rows = str(summary).splitlines()
    assert rows[2].split() == ["scenario", "n", "langford-binomial", "cud"]
    for row, (_, cells) in zip(rows[4:8], summary.cells.groupby(["scenario", "n"], sort=False), strict=True):
        for coverage in cells["coverage"]:
            assert f" {coverage:.3f} " in row
