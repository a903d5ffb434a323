"""The table of intervals: which rows, from which random numbers, for which classifiers; and refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from data import fitted_sample

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    Resampling,
    compare_intervals,
    cud_interval,
)
from cudbound.intervals import GROUPS

BASELINES = [name for name in GROUPS["paper"] if name != "cud"]


_fitted = partial(fitted_sample, labels=("healthy", "ill"))


def test_the_papers_seven_rows_in_order():
    clf, X, y = _fitted()
    table = compare_intervals(clf, X, y, n_resamples=200, rng=0, methods="paper")
    assert [row.method for row in table.rows] == [
        "cud",
        "bootstrap-percentile",
        "bootstrap-bias-corrected",
        "kohavi-normal",
        "yang-cv-normal",
        "martin-beta",
        "langford-binomial",
    ]
    for row in table.rows:
        assert str(row.estimand) == "conditional"
        assert row.confidence_level == 0.95
        assert row.degenerate is None
        assert 0.0 <= row.confidence_interval.low < row.confidence_interval.high <= 1.0
    assert table["cud"].estimate == pytest.approx(1 - clf.score(X, y), abs=1e-12)
    assert len({row.estimate for row in table.rows[1:]}) == 1
    assert [row.n_fits for row in table.rows] == [1, 10201, 10201, 201, 211, 201, 201]
    assert "draws solved exactly as far as needed" in table["cud"].remarks


def test_cud_row_is_that_of_cud_interval():
    clf, X, y = _fitted(seed=1)
    for bound, level in (
        (Bound(), 0.95),
        (Bound(localization=3.0), 0.8),
        (Bound(localization="paper-literal"), 0.95),
    ):
        methods = ["kohavi-normal", ("cud", bound)]
        table = compare_intervals(clf, X, y, methods=methods, confidence_level=level, n_resamples=100, rng=7)
        alone = cud_interval(clf, X, y, bound=bound, confidence_level=level, n_resamples=100, rng=7)
        assert table["cud"] == alone.row
        assert table["cud"].raw_interval == alone.raw_interval


def test_settings_of_the_bound_come_with_its_methods():
    clf, X, y = _fitted()
    for methods, message in (
        ([("two-center", Bound())], "'two-center' with a mapping of its options"),
        ([("cud", 5)], "'cud' with a mapping of its options"),
        ([("cud", Bound(nodes=5)), ("aci", Bound())], "methods with the same settings"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_intervals(clf, X, y, methods=methods)


def test_rows_follow_the_seed():
    clf, X, y = _fitted()

    def rows(rng):
        return compare_intervals(
            clf, X, y, n_resamples=40, rng=rng, methods="paper", resampling=Resampling(inner=5)
        ).rows

    assert rows(0) == rows(0) == rows(np.random.default_rng(0))
    assert rows(0) != rows(1)
    assert rows(None) != rows(None)


def test_degenerate_rows_are_kept_with_the_reason():
    X = np.array([-3.0, -2.5, -2.0, -1.5, 1.5, 2.0, 2.5, 3.0])[:, None]
    y = (X[:, 0] > 0).astype(int)
    table = compare_intervals(
        LeastSquaresClassifier().fit(X, y), X, y, methods=BASELINES, n_resamples=30, rng=1
    )
    frame = table.to_frame().set_index("method")
    assert len(frame) == 6
    assert frame.loc["yang-cv-normal", "degenerate"]
    assert frame.loc["yang-cv-normal", "width"] == 0.0
    assert "all cross-validated losses are equal" in frame.loc["yang-cv-normal", "remarks"]
    assert not frame.loc["langford-binomial", "degenerate"]


# ---- what is refused ----
