"""What all public calls do: they show their own signature, and warnings point at the caller."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import cudbound
from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.basis.exceptions import SmallSampleWarning
from cudbound.resampling.settings import Resampling

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
FUNCTIONS = [name for name in cudbound.__all__ if inspect.isfunction(getattr(cudbound, name))]


def test_unknown_keywords_are_refused_by_name():
    clf = LeastSquaresClassifier().fit(X, Y)
    for function in (cud_interval, compare_intervals, performance_interval):
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'n_resample'"):
            function(clf, X, Y, n_resample=5)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'iner'"):
        Resampling(iner="oob")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_shows_its_own_signature(name):
    function = getattr(cudbound, name)
    shown = inspect.signature(function)
    assert shown == inspect.signature(inspect.unwrap(function))
    assert inspect.unwrap(function) is not function


@pytest.mark.parametrize("function", [cud_interval, compare_intervals, performance_interval])
def test_warnings_point_at_the_caller(function):
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.warns(SmallSampleWarning) as caught:
        function(clf, X, Y, metric="sensitivity", n_resamples=20, rng=0)
    assert SmallSampleWarning in {one.category for one in caught}
    assert {one.filename for one in caught} == {__file__}
