"""The AUC and the Brier score through the calls of the package."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import cudbound as cb
from cudbound.basis.exceptions import ManyFeaturesWarning
from cudbound.records import Records
from tests.data import sample

X, Y = sample(40, seed=3)
CLASSIFIER = LogisticRegression().fit(X, Y)
SETTINGS = {"n_resamples": 60, "rng": 1}


def rows_of(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    return frame[frame["metric"] == metric].reset_index(drop=True).drop(columns="remarks")


def test_other_metrics_keep_their_rows_beside_the_auc_and_the_brier_score():
    alone = cb.compare_intervals(CLASSIFIER, X, Y, **SETTINGS).to_frame()
    beside = cb.compare_intervals(CLASSIFIER, X, Y, metric=["error", "auc", "brier"], **SETTINGS).to_frame()
    pd.testing.assert_frame_equal(rows_of(beside, "error"), rows_of(alone, "error"))
    classes = cb.compare_intervals(CLASSIFIER, X, Y, methods="two-center", metric=["sensitivity"], **SETTINGS)
    more = cb.compare_intervals(
        CLASSIFIER, X, Y, methods="two-center", metric=["sensitivity", "auc"], **SETTINGS
    )
    pd.testing.assert_frame_equal(
        rows_of(more.to_frame(), "sensitivity"), rows_of(classes.to_frame(), "sensitivity")
    )


def test_exchanging_the_classes_leaves_the_auc_and_the_brier_score_as_they_are():
    for metric in ("auc", "brier"):
        one, other = (
            cb.performance_interval(CLASSIFIER, X, Y, metric=cb.Metrics(metric, event=event), **SETTINGS).row
            for event in (0, 1)
        )
        assert (one.estimate, *one.raw_interval) == pytest.approx(
            (other.estimate, *other.raw_interval), abs=1e-12
        )


def test_batches_and_clones_agree():
    class Cloned(LogisticRegression):  # is not known, and so fitted one draw at a time
        pass

    exact = {"tol": 1e-10, "max_iter": 10_000}
    one, other = (
        cb.performance_interval(kind(**exact).fit(X, Y), X, Y, metric="brier", **SETTINGS)
        for kind in (LogisticRegression, Cloned)
    )
    assert (one.estimate, *one.confidence_interval) == pytest.approx(
        (other.estimate, *other.confidence_interval), abs=1e-6
    )


def test_recorded_scores_give_the_interval_of_the_call():
    found = cb.compare_intervals(CLASSIFIER, X, Y, methods="two-center", metric="auc", **SETTINGS)
    records = found.analysis.records
    scores = Records(
        event=Y == 1,
        scores=records.scores,
        bootstrap=replace(records.bootstrap, losses=None),
        stratified_folds=records.stratified_folds,
    )
    row = cb.from_records(scores, "two-center", metric="auc")
    assert (row.metric, row.raw_interval) == ("auc", found.rows[0].raw_interval)
    with pytest.raises(
        ValueError, match="two-center needs losses of refits on bootstrap draws, not recorded"
    ):
        cb.from_records(scores, "two-center")
    with pytest.raises(ValueError, match="'event' parameter must be which training rows are events"):
        cb.from_records(replace(scores, event=None), "two-center", metric="auc")


def test_equal_rows_have_equal_scores():
    lattice = np.random.default_rng(0).integers(0, 2, size=(40, 3)).astype(float)
    y = np.where(np.arange(40) % 3 == 0, 1, 0)
    order = np.random.default_rng(1).permutation(40)
    first, second = (
        cb.compare_intervals(
            LogisticRegression().fit(rows, labels),
            rows,
            labels,
            methods="delong-training",
            metric="auc",
            **SETTINGS,
        ).rows[0]
        for rows, labels in ((lattice, y), (lattice[order], y[order]))
    )
    assert first.estimate == pytest.approx(second.estimate, abs=1e-12)


@pytest.mark.parametrize("metric", ["auc", "brier"])
def test_nearly_as_many_features_as_rows_are_warned_of(metric):
    X = np.random.default_rng(2).normal(size=(40, 38))
    with pytest.warns(ManyFeaturesWarning, match=r"rank of the design 39\) for 40 rows"):
        cb.performance_interval(LogisticRegression().fit(X, Y), X, Y, metric=metric, **SETTINGS)


def test_draws_of_one_class_ask_for_more_draws():
    labels = np.arange(len(X)) < 2
    classifier = LogisticRegression().fit(X, labels)
    alone = cb.performance_interval(classifier, X, labels, metric="auc", n_resamples=1, rng=2)
    rows = cb.compare_intervals(
        classifier, X, labels, methods="two-center", metric=["error", "auc"], n_resamples=1, rng=2
    )
    reasons = [alone.row.why_degenerate, rows["two-center", "auc"].why_degenerate]
    assert reasons == ["undefined: no bootstrap draw has both classes; use more bootstrap draws"] * 2


def test_scores_stand_beside_errors_with_inner_draws_where_a_draw_has_one_class():
    labels = np.arange(len(X)) < 3
    call = {"methods": ["bootstrap-percentile", "two-center"], "n_resamples": 60, "rng": 0}
    table = cb.compare_intervals(LogisticRegression(), X, labels, metric=["error", "auc", "brier"], **call)
    alone = cb.performance_interval(LogisticRegression(), X, labels, metric="auc", n_resamples=60, rng=0)
    assert table["two-center", "auc"].estimate == alone.estimate
    assert any("draws contain only one class" in remark for remark in table["two-center", "auc"].remarks)


@pytest.mark.parametrize("metric", ["auc", "brier", ["error", "auc"]])
def test_a_table_of_scores_can_be_pickled(metric):
    table = cb.compare_intervals(LogisticRegression(), X, Y, metric=metric, **SETTINGS)
    again = pickle.loads(pickle.dumps(table))
    assert again.rows == table.rows
    assert again.analysis.question.readings == table.analysis.question.readings
