"""The additive model: training error, and the check that the coefficients minimize the loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.losses.surrogates import get_loss
from cudbound.problem.problem import AdditiveModel

Array = NDArray[np.float64]


def model_of(design: Array, labels: Array, coef: Array) -> AdditiveModel:
    return AdditiveModel(design, labels, coef, get_loss("squared"), np.array(["no", "yes"]))


def test_training_error_by_hand() -> None:
    # scores -1, 0, 0.5, 2 with labels -1, -1, +1, -1: a score of 0 is class +1
    model = model_of(
        np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 0.5], [1.0, 2.0]]),
        np.array([-1.0, -1.0, 1.0, -1.0]),
        np.array([0.0, 1.0]),
    )
    np.testing.assert_array_equal(model.training_errors, [False, True, False, True])
    assert model.training_error == 0.5


def test_a_score_of_zero_is_plus_one_whatever_the_rounding() -> None:
    design = np.array([[1.0], [-1.0]])
    for coef in (0.0, 1e-13, -1e-13):
        model = model_of(design, np.array([1.0, 1.0]), np.array([coef]))
        assert model.training_error == 0.0
