"""The arrays of the optimization problems: checks, standard forms, selection, files."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_problems import KINDS, make

from cudbound.losses.surrogates import get_loss
from cudbound.problem.problem import Problem
from cudbound.solve.search import solve_draws

DESIGN = np.array([[1.0, -2.0], [1.0, 0.5], [1.0, 3.0]])
LABELS = np.array([-1.0, 1.0, 1.0])
COEF = np.array([0.1, 0.4])
COUNTS = np.array([[1, 2, 0], [3, 0, 0]])


def problem_with(**changes: Any) -> Problem:
    arrays: dict[str, Any] = {"design": DESIGN, "labels": LABELS, "coef": COEF, "counts": COUNTS}
    arrays.update(changes)
    positional = [arrays.pop(name) for name in ("design", "labels", "coef", "counts")]
    return Problem.of(*positional, **arrays)


def test_standard_forms_and_defaults() -> None:
    problem = problem_with(
        design=np.asfortranarray(DESIGN.astype(np.float32)),
        labels=[-1, 1, 1],
        counts=COUNTS.astype(float).tolist(),
    )
    assert problem.design.dtype == problem.labels.dtype == problem.coef.dtype == np.float64
    assert problem.design.flags.c_contiguous
    assert problem.counts.dtype == np.int32
    assert problem.counts.flags.c_contiguous
    assert problem.localization == 3.0
    assert problem.weights is None
    assert problem.penalty is None
    assert problem.loss.name == "squared"
    assert problem.n_draws == 2


def test_weights_of_the_error_by_hand() -> None:
    problem = problem_with()
    np.testing.assert_allclose(problem.score_weights(0), [0.0, 1 / 3, -1 / 3], atol=1e-16)
    np.testing.assert_allclose(problem.score_weights(1), [2 / 3, -1 / 3, -1 / 3], atol=1e-16)


def test_mean_loss_by_hand() -> None:
    # scores -0.7, 0.3, 1.3: squared residuals 0.09, 0.49, 0.09
    assert problem_with().mean_loss(0, COEF) == pytest.approx((0.09 + 2 * 0.49) / 3)
    assert problem_with().mean_loss(1, COEF) == pytest.approx(0.09)
    # the penalty 2 * 0.01 + 0.5 * 0.16 is added to the mean
    assert problem_with(penalty=[2.0, 0.5]).mean_loss(1, COEF) == pytest.approx(0.09 + 0.1)


def test_mean_loss_with_everything_by_hand() -> None:
    # the offset makes the score -0.7 of the first row 0.3, which with the label -1 is a hinge loss of 1.3
    problem = problem_with(loss="hinge", offset=1.0, sample_weight=[0.5, 2.0, 1.0])
    np.testing.assert_allclose(problem.scores(COEF), [0.3, 1.3, 2.3])
    assert problem.mean_loss(1, COEF) == pytest.approx(3 * 0.5 * 1.3 / 3)
    # coefficients (0.1, 0.4): both penalties are added to the mean and know nothing of weights and offset
    both = replace(problem, penalty=np.array([2.0, 0.5]), l1_penalty=np.array([3.0, 0.1]))
    assert both.mean_loss(1, COEF) == pytest.approx(0.65 + 0.02 + 0.08 + 0.3 + 0.04)
    rows, shares = problem.weighted_rows(1)
    np.testing.assert_array_equal(rows, [0])
    np.testing.assert_allclose(shares, [3 * 0.5 / 3])
    np.testing.assert_allclose(problem.score_weights(1), [2 / 3, -1 / 3, -1 / 3])
    # scores -0.7, -0.7, 0.8 with offsets of each row: the first two, drawn once and twice, lose 0.3 and 1.7
    apart = problem_with(loss="hinge", offset=[0.0, -1.0, -0.5])
    assert apart.mean_loss(0, COEF) == pytest.approx((0.3 + 2 * 1.7) / 3)


def test_selection_by_number_and_by_list() -> None:
    problem = problem_with(weights=np.arange(6.0).reshape(2, 3))
    second = problem.select(1)
    np.testing.assert_array_equal(second.counts, [[3, 0, 0]])
    np.testing.assert_array_equal(second.weights, [[3.0, 4.0, 5.0]])
    both = problem.select([1, 0])
    np.testing.assert_array_equal(both.counts, COUNTS[::-1])
    assert problem.select([]).n_draws == 0


def test_the_problem_stays_when_the_arrays_of_the_caller_change() -> None:
    arrays = {
        "design": DESIGN.copy(),
        "labels": LABELS.copy(),
        "coef": COEF.copy(),
        "counts": COUNTS.astype(np.int32),
        "weights": np.ones((2, 3)),
        "penalty": np.ones(2),
    }
    problem = problem_with(**arrays)
    before = problem.digest()
    for name, array in arrays.items():
        kept = getattr(problem, name).copy()
        array[:] = 7
        np.testing.assert_array_equal(getattr(problem, name), kept, err_msg=name)
    assert problem.digest() == before


@pytest.mark.parametrize("scale", [1e-99, 1e98])
def test_units_within_the_range_do_not_change_the_answer(scale: float) -> None:
    problem = make("general", 0)
    units = np.where(np.arange(problem.coef.size) % 2, scale, 1.0 / scale)
    other = Problem.of(problem.design * units, problem.labels, problem.coef / units, problem.counts)
    expected = solve_draws(replace(problem, localization=other.localization))
    np.testing.assert_allclose(solve_draws(other).upper, expected.upper, atol=1e-10)


def test_the_digest_differs_for_every_part_of_the_problem() -> None:
    problem = problem_with()
    digests = {problem.digest(), problem.digest("positive"), problem.digest("negative")}
    changes: list[dict[str, Any]] = [
        {"design": DESIGN + 1e-15 * (DESIGN == 1.0)},
        {"labels": -LABELS},
        {"coef": COEF[::-1].copy()},
        {"counts": COUNTS[::-1].copy()},
        {"counts": COUNTS * 300},
        {"localization": 2.0},
        {"localization": np.inf},
        {"loss": get_loss("hinge")},
        {"weights": np.zeros((2, 3))},
        {"penalty": np.zeros(2)},
        {"l1_penalty": np.zeros(2)},
        {"sample_weight": np.zeros(3)},
        {"offset": np.zeros(3)},
    ]
    for change in changes:
        digests.add(replace(problem, **change).digest())
    assert len(digests) == 3 + len(changes)
    assert all(len(digest) == 32 for digest in digests)
    assert problem_with(counts=COUNTS.astype(float), design=np.asfortranarray(DESIGN)).digest() in digests


def assert_equal_problems(one: Problem, other: Problem) -> None:
    arrays = ("design", "labels", "coef", "counts", "localization", "weights")
    for name in (*arrays, "penalty", "l1_penalty", "sample_weight", "offset"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b, err_msg=name)
            assert np.asarray(a).dtype == np.asarray(b).dtype, name
    assert one.loss == other.loss


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickled_draw_is_solved_to_the_same_bits(kind: str) -> None:
    problem = make(kind, 11).select(2)
    loaded = pickle.loads(pickle.dumps(problem))
    assert_equal_problems(problem, loaded)
    assert problem.digest() == loaded.digest()
    before, after = solve_draws(problem), solve_draws(loaded)
    for name in ("lower", "upper", "status", "nodes", "witness"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name), err_msg=name)
