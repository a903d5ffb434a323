"""The additive model: training error, and the check that the coefficients minimize the loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudbound.losses.surrogates import LogisticLoss, SquaredLoss
from cudbound.problem.problem import AdditiveModel

Array = NDArray[np.float64]


def model_of(design: Array, labels: Array, coef: Array) -> AdditiveModel:
    return AdditiveModel(design, labels, coef, SquaredLoss(), np.array(["no", "yes"]))


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


def test_the_other_orientation_is_the_same_classifier() -> None:
    design = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 0.5], [1.0, 2.0]])
    labels = np.array([-1.0, -1.0, 1.0, -1.0])
    model = replace(model_of(design, labels, np.array([0.1, 1.0])), offset=0.3)
    other = model.reversed()
    np.testing.assert_array_equal(other.training_errors, model.training_errors)
    assert other.classes.tolist() == ["yes", "no"]
    assert other.offset == -0.3
    # the losses depend on label times score alone
    np.testing.assert_allclose(
        LogisticLoss().value(other.labels, design @ other.coef + other.offset),
        LogisticLoss().value(labels, design @ model.coef + model.offset),
    )
    # a score of 0 is the class +1 of either
    zero = model_of(np.zeros((1, 2)), np.array([1.0]), np.ones(2))
    assert zero.training_error == 0.0
    assert zero.reversed().training_error == 1.0
