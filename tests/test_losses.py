"""The surrogate losses: values, derivatives, the registry."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from cudbound.losses import LOSSES, SquaredLoss, get_loss


def test_squared_loss_by_hand() -> None:
    loss = SquaredLoss()
    labels, scores = np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.5, 1.0])
    np.testing.assert_array_equal(loss.value(labels, scores), [0.25, 2.25, 0.0])
    np.testing.assert_array_equal(loss.gradient(labels, scores), [-1.0, 3.0, 0.0])
    np.testing.assert_array_equal(loss.curvature(labels, scores), [2.0, 2.0, 2.0])


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_the_value(name: str) -> None:
    loss = LOSSES[name]
    scores = np.linspace(-2.3, 2.1, 9)
    for label in (-1.0, 1.0):
        labels = np.full_like(scores, label)
        for i, score in enumerate(scores):
            slope = approx_fprime(np.array([score]), lambda f, y=label: loss.value(np.array([y]), f)[0])[0]
            assert loss.gradient(labels, scores)[i] == pytest.approx(slope, abs=1e-5)
            bend = approx_fprime(np.array([score]), lambda f, y=label: loss.gradient(np.array([y]), f)[0])[0]
            assert loss.curvature(labels, scores)[i] == pytest.approx(bend, abs=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_convex_and_even_in_the_margin(name: str) -> None:
    loss = LOSSES[name]
    scores = np.linspace(-3.0, 3.0, 13)
    labels = np.ones_like(scores)
    assert (loss.curvature(labels, scores) >= 0.0).all()
    # exchanging the classes exchanges the sign of the score
    np.testing.assert_array_equal(loss.value(labels, scores), loss.value(-labels, -scores))


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_registered_under_its_name(name: str) -> None:
    assert get_loss(name).name == name


def test_an_unknown_loss_is_named_with_those_that_exist() -> None:
    with pytest.raises(
        ValueError, match=r"'loss' parameter must be one of \['squared'\]\. Got 'cubic' instead"
    ):
        get_loss("cubic")
