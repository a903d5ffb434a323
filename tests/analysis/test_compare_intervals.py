"""The table of intervals: which rows, from which random numbers, for which classifiers; and refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from data import fitted_sample

from cudbound import (
    Bound,
    Resampling,
    compare_intervals,
    cud_interval,
    performance_interval,
)

_fitted = partial(fitted_sample, labels=("healthy", "ill"))


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


def test_whole_numbers_may_be_floats_as_r_passes_them():
    clf, X, y = fitted_sample()
    expected = performance_interval(clf, X, y, n_resamples=20, rng=0, n_jobs=1)
    result = performance_interval(clf, X, y, n_resamples=20.0, rng=0.0, n_jobs=1.0)
    assert (result.low, result.high) == (expected.low, expected.high)
    for value in (0.5, float("nan"), -1.0):
        with pytest.raises(ValueError, match="'rng' parameter must be a non-negative integer"):
            performance_interval(clf, X, y, rng=value)
