"""The additive model: training error, and the check that the coefficients minimise the loss."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from worlds import world

from cudbound.exceptions import NotMinimiserError
from cudbound.losses import SquaredLoss
from cudbound.model import RESIDUAL_TOLERANCE, AdditiveModel, check_minimiser, optimality_residual

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


@pytest.mark.parametrize("features", ["normal", "integer", "binary"])
@pytest.mark.parametrize(("n", "p"), [(30, 3), (200, 10), (8, 12)])
def test_least_squares_fits_are_accepted(n: int, p: int, features: str) -> None:
    design, labels, coef = world(n, p, 1.0, 0, features=features)
    model = model_of(design, labels, coef)
    assert optimality_residual(model) < 1e-9
    check_minimiser(model)


def test_badly_scaled_columns_are_accepted() -> None:
    design, labels, coef = world(40, 4, 1.0, 0)
    scale = np.array([1.0, 1e6, 1e-6, 1e3])
    check_minimiser(model_of(design * scale, labels, coef / scale))


def test_the_residual_depends_neither_on_the_scale_of_columns_nor_on_copies_of_the_rows() -> None:
    design, labels, coef = world(40, 4, 1.0, 0)
    coef = coef + 0.01
    scale = np.array([2.0, 1e3, 1e-3, 1.0])
    residual = optimality_residual(model_of(design, labels, coef))
    assert residual > RESIDUAL_TOLERANCE
    assert optimality_residual(model_of(design * scale, labels, coef / scale)) == pytest.approx(residual)
    twice = model_of(np.vstack([design, design]), np.tile(labels, 2), coef)
    assert optimality_residual(twice) == pytest.approx(residual)


def test_the_residual_is_a_cosine() -> None:
    design, labels, _ = world(40, 4, 1.0, 0)
    for coef in np.random.default_rng(0).normal(size=(20, 4)) * 10:
        assert 0.0 <= optimality_residual(model_of(design, labels, coef)) <= 1.0 + 1e-12


def test_an_exact_fit_has_no_residual() -> None:
    # three points in general position in three dimensions: every label is fitted, the gradient is rounding alone
    design, labels, coef = world(3, 3, 1.0, 0)
    assert optimality_residual(model_of(design, labels, coef)) == 0.0


def test_a_column_of_zeros_does_not_count() -> None:
    design, labels, coef = world(30, 3, 1.0, 0)
    wider = np.column_stack([design, np.zeros(30)])
    check_minimiser(model_of(wider, labels, np.append(coef, 5.0)))


@pytest.mark.parametrize("change", ["coefficients", "row", "label"])
def test_other_data_are_noticed(change: str) -> None:
    design, labels, coef = world(200, 3, 1.0, 0)
    design, labels, coef = design.copy(), labels.copy(), coef.copy()
    if change == "coefficients":
        coef[1] += 1e-4
    elif change == "row":
        design[17, 1] += 0.01
    else:
        labels[17] *= -1.0
    message = (
        r"do not minimise the mean squared loss on the X and y that were passed: optimality residual "
        r"\d\.\d\de-0\d, allowed 1e-06\. Pass the X and y"
    )
    with pytest.raises(NotMinimiserError, match=message):
        check_minimiser(model_of(design, labels, coef))


def test_coefficients_that_are_not_numbers_are_refused() -> None:
    design, labels, coef = world(20, 3, 1.0, 0)
    with pytest.raises(NotMinimiserError, match="optimality residual nan"):
        check_minimiser(model_of(design, labels, coef * np.nan))
