"""The surrogate losses: values, derivatives, inequalities, the registry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudbound.losses.surrogates import LOSSES, get_loss

# value, first and second derivative in the score at margins m, label +1
BY_HAND = {
    # (1 - m)^2, 2 (m - 1), 2
    "squared": [(-2.0, 9.0, -6.0, 2.0), (0.5, 0.25, -1.0, 2.0), (3.0, 4.0, 4.0, 2.0)],
    # at m = log 3: log(4/3), -1/4, 1/4 * 3/4
    "logistic": [(0.0, math.log(2.0), -0.5, 0.25), (math.log(3.0), math.log(4.0 / 3.0), -0.25, 0.1875)],
    "exponential": [(0.0, 1.0, -1.0, 1.0), (math.log(2.0), 0.5, -0.5, 0.5), (-math.log(2.0), 2.0, -2.0, 2.0)],
    "squared_hinge": [(-2.0, 9.0, -6.0, 2.0), (0.5, 0.25, -1.0, 2.0), (1.5, 0.0, 0.0, 0.0)],
    "hinge": [(-2.0, 3.0, -1.0, 0.0), (0.5, 0.5, -1.0, 0.0), (1.5, 0.0, 0.0, 0.0)],
    # -4 m below m = -1
    "huber": [(-2.0, 8.0, -4.0, 0.0), (-0.5, 2.25, -3.0, 2.0), (0.5, 0.25, -1.0, 2.0), (1.5, 0.0, 0.0, 0.0)],
}
# at a kink, the derivatives from the side of large margins
AT_KINKS = {
    "squared_hinge": [(1.0, 0.0, 0.0, 0.0)],
    "hinge": [(1.0, 0.0, 0.0, 0.0)],
    "huber": [(1.0, 0.0, 0.0, 0.0), (-1.0, 4.0, -4.0, 2.0)],
}
MARGINS = st.floats(-30.0, 30.0)


@pytest.mark.parametrize("name", LOSSES)
def test_values_and_derivatives_by_hand(name: str) -> None:
    loss = get_loss(name)
    margins, values, slopes, bends = np.array([*BY_HAND[name], *AT_KINKS.get(name, [])]).T
    for label in (1.0, -1.0):
        labels = np.full_like(margins, label)
        np.testing.assert_allclose(loss.value(labels, label * margins), values, atol=1e-15)
        np.testing.assert_allclose(loss.gradient(labels, label * margins), label * slopes, atol=1e-15)
        np.testing.assert_allclose(loss.curvature(labels, label * margins), bends, atol=1e-15)


@pytest.mark.parametrize("name", LOSSES)
@given(first=MARGINS, second=MARGINS)
def test_no_tangent_is_above_the_loss(name: str, first: float, second: float) -> None:
    # convexity, at kinks as well; the tangent is taken at one margin and compared at the other
    loss, one = get_loss(name), np.ones(1)
    at, to = np.array([first]), np.array([second])
    tangent = loss.value(one, at) + loss.gradient(one, at) * (to - at)
    assert loss.value(one, to) >= tangent - 1e-12 * (1.0 + np.abs(tangent))
    assert loss.curvature(one, at) >= 0.0


@pytest.mark.parametrize("name", LOSSES)
@given(score=MARGINS)
def test_exchanging_the_classes_exchanges_the_sign_of_the_score(name: str, score: float) -> None:
    loss, labels, scores = get_loss(name), np.ones(1), np.array([score])
    np.testing.assert_array_equal(loss.value(labels, scores), loss.value(-labels, -scores))
    np.testing.assert_array_equal(loss.gradient(labels, scores), -loss.gradient(-labels, -scores))
    np.testing.assert_array_equal(loss.curvature(labels, scores), loss.curvature(-labels, -scores))


@pytest.mark.parametrize("name", ["logistic", "exponential"])
@given(margin=MARGINS, step=st.floats(-5.0, 5.0))
def test_self_concordant_losses_change_their_curvature_slowly(name: str, margin: float, step: float) -> None:
    # |third derivative| <= second derivative (Bach 2010, section 2) on the way from m to m + h means that the
    # second derivatives at its ends differ by a factor of e^|h| at most
    loss, one = get_loss(name), np.ones(1)
    before, after = (float(loss.curvature(one, np.array([m]))[0]) for m in (margin, margin + step))
    assert before > 0.0
    assert math.exp(-abs(step)) * (1.0 - 1e-12) <= after / before <= math.exp(abs(step)) * (1.0 + 1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_vanishes_if_it_falls_to_0_without_reaching_it(name: str) -> None:
    loss = get_loss(name)
    values = loss.value(np.ones(3), np.array([1.0, 10.0, 40.0]))
    falls = bool((np.diff(values) < 0.0).all() and 0.0 < values[-1] < 1e-16)
    assert falls == loss.vanishes


def test_the_exponential_loss_of_a_far_point_is_infinite() -> None:
    loss = get_loss("exponential")
    labels, scores = np.array([1.0, -1.0]), np.array([-1000.0, -1000.0])
    np.testing.assert_array_equal(loss.value(labels, scores), [np.inf, 0.0])
    np.testing.assert_array_equal(loss.gradient(labels, scores), [-np.inf, 0.0])
    np.testing.assert_array_equal(loss.curvature(labels, scores), [np.inf, 0.0])
