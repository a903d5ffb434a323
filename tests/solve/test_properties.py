"""Relations that Q must satisfy, on random problems beyond the reach of enumeration (n to 40, p to 6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_cases import (
    PROPERTY,
    Case,
    assert_same_bits,
    assert_same_q,
    cases,
    mapped,
    of_examples,
    reordered,
    solved,
    tolerance_of,
    with_weights,
    zero_rows,
)
from numpy.typing import NDArray
from oracles import check_witness
from worlds import world_problem

from cudbound.losses.surrogates import LOSSES
from cudbound.problem.problem import Problem
from cudbound.solve.native import minimize
from cudbound.solve.search import solve_draws

Array = NDArray[np.float64]

#: Squared loss alone, and any loss with weights of the rows, offsets and penalties.
any_loss = cases(losses=tuple(LOSSES), penalized=True, infinite=False)
EITHER = of_examples(150)

# ---- the arrays of one problem, written in another way -------------------------------------------------------


@EITHER
@given(cases() | any_loss)
def test_order_of_the_rows(case: Case) -> None:
    order = case.rng.permutation(case.problem.labels.size)
    assert_same_q(case.problem, reordered(case.problem, order))


@PROPERTY
@given(cases())
def test_names_of_the_classes(case: Case) -> None:
    problem = case.problem
    if zero_rows(problem).any():
        return
    assert_same_q(problem, replace(problem, labels=-problem.labels, coef=-problem.coef))


@EITHER
@given(cases() | any_loss)
def test_turning_rows_with_their_labels(case: Case) -> None:
    # (x, y) and (-x, -y) have the same loss and are right or wrong together, an offset turned with them
    problem = case.problem
    turn = np.where(case.rng.random(problem.labels.size) < 0.5, -1.0, 1.0)
    turn[zero_rows(problem)] = 1.0
    offset = None if problem.offset is None else problem.offset * turn
    turned = replace(
        problem, design=problem.design * turn[:, None], labels=problem.labels * turn, offset=offset
    )
    assert_same_q(problem, turned)


@EITHER
@given(
    st.tuples(cases(features=("normal",), infinite=False), st.sampled_from([1.0, 1e2, 1e6]))
    | st.tuples(
        cases(losses=tuple(LOSSES), features=("normal",), infinite=False), st.sampled_from([1.0, 1e2, 1e4])
    )
)
def test_invertible_linear_map_of_the_design(one: tuple[Case, float]) -> None:
    case, condition = one
    p = case.problem.coef.size
    left, right = (np.linalg.qr(case.rng.normal(size=(p, p)))[0] for _ in range(2))
    linear = left @ np.diag(condition ** np.linspace(0.0, 1.0, p)) @ right
    assert_same_q(case.problem, mapped(case.problem, linear))


@PROPERTY
@given(cases(infinite=False))
def test_a_column_that_adds_nothing(case: Case) -> None:
    problem = case.problem
    copy = problem.design @ case.rng.integers(-2, 3, size=problem.coef.size)
    assert_same_q(
        problem,
        replace(problem, design=np.column_stack([copy, problem.design]), coef=np.append(0.0, problem.coef)),
    )


def extended(problem: Problem, row: Array, label: float, weights: Array, counts: Array) -> Problem:
    """Add a row with its weights and counts, alpha adapted so that the sum of the loss stays as it was."""
    n = problem.labels.size
    return Problem.of(
        np.vstack([problem.design, row]),
        np.append(problem.labels, label),
        problem.coef,
        np.column_stack([problem.counts, counts]),
        localization=problem.localization * ((n + 1) / n),
        weights=np.column_stack([with_weights(problem).weights, weights]),
    )


@PROPERTY
@given(cases(infinite=False))
def test_opposite_labels_on_one_row_are_one_hyperplane_and_a_constant(case: Case) -> None:
    # w1 1{+1 is wrong} + w2 1{-1 is wrong} = w2 + (w1 - w2) 1{+1 is wrong}; a zero row labeled -1 is always
    # wrong, as sign(0) = +1, and carries the constant
    problem = with_weights(case.problem)
    i = int(case.rng.integers(problem.labels.size))
    if zero_rows(problem)[i]:
        return
    weight = case.rng.normal(size=3)
    none = np.zeros(3)
    twin = extended(problem, problem.design[i], -problem.labels[i], weight, none)
    weights = problem.weights.copy()
    weights[:, i] -= weight
    constant = extended(replace(problem, weights=weights), np.zeros_like(problem.coef), -1.0, weight, none)
    assert_same_q(twin, constant)


@PROPERTY
@given(cases(infinite=False), st.integers(2, 50))
def test_scale_of_counts_and_alpha(case: Case, factor: int) -> None:
    # the sum loss with alpha is the mean loss with n alpha: only alpha times the loss enters
    problem = with_weights(case.problem)
    assert_same_q(
        problem, replace(problem, counts=factor * problem.counts, localization=problem.localization / factor)
    )


@PROPERTY
@given(cases(), st.sampled_from([-1.0, -3.0, 1e-4, 1e3]))
def test_scale_of_the_weights(case: Case, factor: float) -> None:
    problem = with_weights(case.problem)
    scaled = replace(problem, weights=factor * problem.weights)
    q, q_scaled = solved(problem).upper, solved(scaled).upper
    np.testing.assert_allclose(q_scaled, abs(factor) * q, rtol=1e-10, atol=1e-12)
    # a negative factor exchanges the two sides
    turned = "negative" if factor < 0 else "positive"
    np.testing.assert_allclose(
        solved(scaled, side=turned).upper,
        abs(factor) * solved(problem, side="positive").upper,
        rtol=1e-10,
        atol=1e-12,
    )


def rounding_of(problem: Problem) -> float:
    """By what bounds and order may be missed; values of squared loss come out of one formula."""
    return 1e-12 if problem.loss.name == "squared" else tolerance_of(problem)


# ---- bounds and order ------------------------------------------------------------------------------------------


@EITHER
@given(cases() | any_loss)
def test_q_does_not_increase_in_alpha(case: Case) -> None:
    n = case.problem.labels.size
    grid = [0.0, 0.1, 1.0, n / 4, n / 2, n, 2 * n, n**2, 1e9, np.inf]
    q = np.array([solved(replace(case.problem, localization=float(alpha))).upper for alpha in grid])
    assert (np.diff(q, axis=0) <= rounding_of(case.problem)).all(), q


@EITHER
@given(cases() | any_loss)
def test_q_is_at_least_the_value_of_any_classifier(case: Case) -> None:
    problem = case.problem
    draws, starts = solved(problem), minimize(problem).coef
    for draw in range(problem.n_draws):
        weights, anchor = problem.score_weights(draw), problem.mean_loss(draw, problem.coef)
        least, around = starts[draw], draws.witness[draw]
        near = problem.coef + (least - problem.coef) * case.rng.normal(size=(20, 1))
        wide = least + 0.3 * case.rng.normal(size=(40, least.size))
        beside = around + 0.3 * np.linalg.norm(around) * case.rng.normal(size=(20, least.size))
        for beta in (problem.coef, least, *near, *wide, *beside):
            scores = problem.design @ beta
            if np.abs(scores[~zero_rows(problem)]).min(initial=1.0) < 1e-9:
                continue  # on a hyperplane: not inside an open cell
            deviation = abs(weights @ (np.where(scores >= 0.0, 1.0, -1.0) != problem.labels))
            with np.errstate(over="ignore"):  # exp(-m) far out
                rise = problem.mean_loss(draw, beta) - anchor
            falls = problem.localization > 0.0 and rise > 0.0
            g = max(0.0, 1.0 - problem.localization * rise) if falls else 1.0
            assert draws.upper[draw] >= deviation * g - min(1e-9, rounding_of(problem))


# ---- the same bits ---------------------------------------------------------------------------------------------


@of_examples(60)
@given(cases() | any_loss)
def test_threads_and_grouping_of_the_draws_do_not_change_a_bit(case: Case) -> None:
    counts = case.rng.multinomial(
        case.problem.labels.size, np.full(case.problem.labels.size, 1 / case.problem.labels.size), size=24
    )
    problem = replace(case.problem, counts=counts.astype(np.int32))
    together = solve_draws(problem)
    for n_jobs in (2, 3, -1, None):
        assert_same_bits(together, solve_draws(problem, n_jobs=n_jobs))
    order = case.rng.permutation(24)
    shuffled = solve_draws(problem.select(order), n_jobs=2)
    alone = [solve_draws(problem.select(draw)) for draw in range(24)]
    for name in ("lower", "upper", "status", "nodes", "witness"):
        whole = getattr(together, name)
        np.testing.assert_array_equal(getattr(shuffled, name), whole[order], err_msg=name)
        parts = np.concatenate([getattr(draws, name) for draws in alone])
        np.testing.assert_array_equal(parts, whole, err_msg=name)


# ---- larger problems by their certificates ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "p", "signal", "features"),
    [
        (100, 5, 1.0, "normal"),
        (100, 5, 0.0, "normal"),
        (100, 5, 0.5, "integer"),
        (100, 6, 0.5, "binary"),
        (200, 10, 1.0, "normal"),
        (1000, 5, 1.0, "normal"),
        (30, 20, 1.0, "normal"),
    ],
)
def test_witnesses_of_larger_problems(n: int, p: int, signal: float, features: str) -> None:
    problem = world_problem(n, p, signal, seed=3, n_draws=4, features=features)
    draws = solved(problem)
    for draw in range(problem.n_draws):
        check_witness(problem, draw, draws)
