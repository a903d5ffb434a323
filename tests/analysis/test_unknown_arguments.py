"""Keywords that a function does not have, above all the alpha of others."""

from __future__ import annotations

import numpy as np
import pytest

from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    cud_interval,
    error_interval,
    recorded_interval,
    solve_draws,
)
from cudbound.records import SplitLosses

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
LEVEL = "the level of the intervals is confidence_level, such as 0.95"
RATE = "the rate alpha_n of the CUD bound is localization"


@pytest.mark.parametrize("function", [cud_interval, compare_intervals])
def test_alpha_may_mean_the_level_or_the_rate(function):
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(TypeError) as raised:
        function(clf, X, Y, alpha=0.05)
    assert (
        str(raised.value)
        == f"{function.__name__}() got an unexpected keyword argument 'alpha': {LEVEL}; {RATE}"
    )


def test_alpha_of_single_draws_is_the_rate():
    with pytest.raises(TypeError, match=rf"solve_draws\(\) got an .*'alpha': {RATE}$"):
        solve_draws(X, 2 * Y - 1, [1.0], np.ones((1, 8), dtype=int), alpha=0.05)


def test_alpha_where_options_of_methods_are_taken():
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(TypeError, match=rf"error_interval\(\) got an .*'alpha': {LEVEL}$"):
        error_interval(clf, X, Y, alpha=0.05)
    with pytest.raises(TypeError, match=rf"recorded_interval\(\) got an .*'alpha': {LEVEL}$"):
        recorded_interval("corrected-resampled-t", SplitLosses([0.2, 0.3, 0.4], 90, 10), alpha=0.05)


def test_a_slip_of_the_pen_is_named():
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(TypeError, match=r"argument 'n_resample': did you mean n_resamples\?"):
        cud_interval(clf, X, Y, n_resample=5)
    with pytest.raises(TypeError, match=r"argument 'xyz': the arguments are estimator, X, y, methods"):
        compare_intervals(clf, X, Y, xyz=5)
