"""Runs of a study: the same rows from any number of workers, after kills and after Ctrl-C."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from study_cases import Interrupted, Shifted, dump, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyInterrupted
from cudbound.study.design.scenario import Scenario
from cudbound.study.run import runner
from cudbound.study.run.replicate import run_replicate
from cudbound.study.run.replicate_rows import Key
from cudbound.study.run.runner import replay, run_study
from cudbound.study.run.store import Store

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
        assert opened.replicate(Key("near", 20, 3)) == run_replicate(STUDY, near, 20, 3)
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
            assert again == opened.replicate(key)
            assert again.failure is not None
            assert again.failure.endswith(f"ArithmeticError: no sample of {one.n}\n")
            assert "in draw" in again.failure


def test_replay_of_a_success_gives_the_stored_row(undisturbed):
    before = undisturbed.read_bytes()
    with Store.open(undisturbed) as opened:
        assert replay(STUDY, undisturbed, "near", 12, 14) == opened.replicate(Key("near", 12, 14))
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
