"""Whether coefficients minimize a loss: the residual in units of g, what is refused, and polishing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from least_loss import least_mean_loss, model_of
from scipy.optimize import minimize
from worlds import world

from cudbound.basis.exceptions import NoMinimizerError, NotMinimizerError
from cudbound.losses.surrogates import LOSSES
from cudbound.solve.minimum import (
    RESIDUAL_TOLERANCE,
    check_minimizer,
    draws_problem,
    optimality_residual,
    polish,
)


@pytest.mark.parametrize("features", ["normal", "integer", "binary"])
@pytest.mark.parametrize(("n", "p"), [(30, 3), (200, 10), (8, 12)])
def test_least_squares_fits_are_accepted(n: int, p: int, features: str) -> None:
    design, labels, coef = world(n, p, 1.0, 0, features=features)
    model = model_of(design, labels, coef)
    assert optimality_residual(model) < 1e-9
    check_minimizer(model)


def test_the_residual_is_what_g_loses() -> None:
    # squared loss: the excess of the sum of squares is |design (coef - minimizer)|^2, by Pythagoras
    design, labels, coef = world(40, 4, 1.0, 0)
    step = np.array([0.01, -0.02, 0.0, 0.03])
    moved = model_of(design, labels, coef + step)
    assert optimality_residual(moved) == pytest.approx(((design @ step) ** 2).sum(), rel=1e-9)
    # g of the minimizer at alpha_n = n on the training set itself is 1 + n (L(coef) - min L), here 1 - residual
    # of the moved one if the minimizer is the anchor
    problem = draws_problem(moved, np.ones((1, 40), dtype=np.int32))
    lost = problem.localization * (problem.mean_loss(0, coef + step) - problem.mean_loss(0, coef))
    assert optimality_residual(moved) == pytest.approx(lost, rel=1e-9)
    # neither the scale of the columns nor a copy of each row changes how far g is from 1, but for n
    scale = np.array([2.0, 1e3, 1e-3, 1.0])
    scaled = model_of(design * scale, labels, (coef + step) / scale)
    assert optimality_residual(scaled) == pytest.approx(lost, rel=1e-6)
    twice = model_of(np.vstack([design, design]), np.tile(labels, 2), coef + step)
    assert optimality_residual(twice) == pytest.approx(2 * lost, rel=1e-6)


@pytest.mark.parametrize("l1", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_residual_of_every_loss_against_cvxpy(loss: str, l1: bool) -> None:
    design, labels, coef = world(25, 3, 0.7, 1)
    rng = np.random.default_rng(0)
    model = model_of(
        design,
        labels,
        coef,
        loss,
        penalty=np.array([0.0, 0.02, 0.05]),
        l1_penalty=np.array([0.0, 0.03, 0.01]) if l1 else None,
        sample_weight=rng.uniform(0.5, 2.0, size=25),
        offset=0.3,
    )
    problem = draws_problem(model, np.ones((1, 25), dtype=np.int32))
    expected = 25 * (problem.mean_loss(0, coef) - least_mean_loss(model))
    assert expected > 0.1
    assert optimality_residual(model) == pytest.approx(expected, abs=1e-5)
    polished = polish(model)
    assert optimality_residual(polished) < 1e-5
    assert problem.mean_loss(0, polished.coef) == pytest.approx(least_mean_loss(model), abs=1e-7)


@pytest.mark.parametrize("change", ["coefficients", "row", "label"])
def test_other_data_are_noticed(change: str) -> None:
    design, labels, coef = world(200, 3, 1.0, 0)
    design, labels, coef = design.copy(), labels.copy(), coef.copy()
    if change == "coefficients":
        coef[1] += 0.02
    elif change == "row":
        design[17, 1] += 2.0
    else:
        labels[17] *= -1.0
    message = (
        r"do not minimize the mean squared loss on these X and y: optimality residual "
        r"\d\.\d\de-0\d, allowed 1e-02\. If the classifier was fitted to other rows .* pass Bound\(polish=True\)"
    )
    with pytest.raises(NotMinimizerError, match=message):
        check_minimizer(model_of(design, labels, coef))


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_separable_data_have_no_minimizer_and_the_error_says_what_to_do(loss: str) -> None:
    design = np.column_stack([np.ones(6), [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]])
    model = model_of(design, np.repeat([-1.0, 1.0], 3), np.array([0.0, 5.0]), loss)
    for action in (check_minimizer, polish, optimality_residual):
        with pytest.raises(
            NoMinimizerError, match=rf"the mean {loss} loss without a penalty has no minimizer"
        ) as e:
            action(model)
        assert "LogisticRegression(C=1.0)" in str(e.value)
        assert "LeastSquaresClassifier()" in str(e.value)
    penalized = polish(replace(model, penalty=np.array([0.0, 0.01])))
    check_minimizer(penalized)
    # least by another algorithm as well
    problem = draws_problem(penalized, np.ones((1, 6), dtype=np.int32))
    found = minimize(lambda beta: problem.mean_loss(0, beta), np.zeros(2), tol=1e-12)
    assert problem.mean_loss(0, penalized.coef) <= found.fun + 1e-9


def test_the_tolerance_is_on_the_scale_of_g() -> None:
    design, labels, coef = world(40, 3, 1.0, 0)
    step = np.array([1.0, 0.0, 0.0])
    length = np.sqrt(RESIDUAL_TOLERANCE / ((design @ step) ** 2).sum())
    check_minimizer(model_of(design, labels, coef + 0.99 * length * step))
    with pytest.raises(NotMinimizerError, match="optimality residual"):
        check_minimizer(model_of(design, labels, coef + 1.01 * length * step))
