"""A method of the user's own beside the others: its row, and where it cannot be computed or is refused."""

from __future__ import annotations

import numpy as np
import pytest
from data import fitted_sample

from cudbound import Resampling, compare_intervals
from cudbound.intervals.own import own_method

CLF, X, Y = fitted_sample()
FAST = {"n_resamples": 20, "rng": 0, "resampling": Resampling(inner="oob")}


def limits(model, X, y, level, rng):
    return 0.3, 0.3 - 0.2 * level, 0.3 + 0.1 * level


def test_its_row_holds_what_it_returned():
    seen = []

    def interval(model, X, y, level, rng):
        seen.append((model, np.array(X), np.array(y), level, rng.random()))
        return limits(model, X, y, level, rng)

    mine = own_method("mine", interval, title="Mine", tendency="long", cost="0")
    table = compare_intervals(CLF, X, Y, methods=[mine, "langford-binomial"], confidence_level=0.9, **FAST)
    row = table["mine"]
    assert (row.estimate, *row.confidence_interval) == pytest.approx((0.3, 0.12, 0.39))
    assert (row.confidence_level, row.degenerate, str(row.estimand)) == (0.9, None, "conditional")
    assert (mine.title, mine.tendency, mine.assumptions) == ("Mine", "long", "not stated")
    ((model, rows, labels, level, _),) = seen
    assert model is CLF
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, Y)
    assert level == 0.9
    alone = compare_intervals(CLF, X, Y, methods="langford-binomial", confidence_level=0.9, **FAST)
    assert table["langford-binomial"] == alone["langford-binomial"]


def test_rows_in_groups_are_refused_unless_it_says_that_it_keeps_them():
    groups = np.repeat(np.arange(15), 2)
    with pytest.raises(ValueError, match=r"'groups' parameter is not supported by \['mine'\]"):
        compare_intervals(CLF, X, Y, methods=[own_method("mine", limits)], groups=groups, **FAST)
    kept = own_method("mine", limits, with_groups="kept")
    row = compare_intervals(CLF, X, Y, methods=[kept], groups=groups, **FAST)["mine"]
    assert row.confidence_interval.high == pytest.approx(0.395)
