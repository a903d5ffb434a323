"""Problems: their draws, columns of whole steps, models, and what may not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_problems import make
from rational.integers import to_integers
from scipy.stats import binom, chisquare

from cudbound.losses.surrogates import get_loss
from cudbound.problem import draws
from cudbound.problem.coordinates import dependence_rows
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.solve.search import solve_draws

# ---- the arrays of the optimization problems: checks, standard forms, selection, files ----


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
    np.testing.assert_array_equal(problem.select([False, True]).counts, second.counts)
    np.testing.assert_array_equal(problem.select(-1).counts, second.counts)


@pytest.mark.parametrize("wrong", [2, -3, [0, 9], [True], 0.5, "first"])
def test_a_draw_that_there_is_not_is_named(wrong) -> None:
    rule = "must be numbers of draws below 2, or a boolean for each draw"
    with pytest.raises(ValueError, match=rf"The 'draws' parameter {rule}\. Got "):
        problem_with().select(wrong)


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


def test_arrays_whose_coordinates_are_kept_cannot_be_written_to() -> None:
    problem = problem_with(penalty=1.0, l1_penalty=0.5)
    model = AdditiveModel(DESIGN.copy(), LABELS.copy(), COEF.copy(), get_loss("squared"), np.array([0, 1]))
    for owner, names in (
        (problem, ("design", "coef", "penalty", "l1_penalty")),
        (model, ("design", "labels", "coef")),
    ):
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(owner, name)[:] = 0.0
    basis = model.training.basis
    assert model.problem(COUNTS).basis is basis
    assert replace(model, design=2.0 * DESIGN).training.basis is not basis


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


# ---- bootstrap counts: what each draw uses of the random numbers, and that they are an ordinary bootstrap ----


def test_the_first_draws_do_not_depend_on_how_many_follow() -> None:
    long = draw_counts(12, 50, np.random.default_rng(3))
    np.testing.assert_array_equal(draw_counts(12, 5, np.random.default_rng(3)), long[:5])


@pytest.mark.parametrize("size", [1, 12, 13, 100, 599, 600, 601])
def test_what_is_drawn_at_once_changes_nothing(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    whole = draw_counts(12, 50, np.random.default_rng(3))
    monkeypatch.setattr(draws, "CHUNK_COUNTS", size)
    np.testing.assert_array_equal(draw_counts(12, 50, np.random.default_rng(3)), whole)


def test_counts_of_a_row_are_binomial() -> None:
    # the count of one row is Bin(n, 1/n); rows of one draw are dependent, so each draw gives one number
    n, draws = 10, 20_000
    counts = draw_counts(n, draws, np.random.default_rng(5))
    for row in (0, 9):
        observed = np.bincount(np.minimum(counts[:, row], 4), minlength=5)
        expected = binom.pmf(range(4), n, 1 / n)
        assert chisquare(observed, draws * np.append(expected, 1 - expected.sum())).pvalue > 1e-3


# ---- the additive model: training error, and the check that the coefficients minimize the loss ----


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


# ---- columns of whole steps: what rounding did to them decides nothing ----


WHOLE = st.lists(st.integers(-300, 300), min_size=3, max_size=30).filter(lambda values: len(set(values)) > 1)


def rank(rows: np.ndarray) -> int:
    """The rank of rows of whole numbers that are small enough for floating-point elimination."""
    return int(np.linalg.matrix_rank(rows)) if rows.size else 0


@given(values=WHOLE, scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_what_was_standardized_is_found_again(values, scale, shift):
    column = np.array(values, dtype=float)
    moved = (column - shift) / scale
    steps = dependence_rows(np.column_stack([np.ones(column.size), moved]))[:, 1]
    if np.array_equal(steps, moved):
        assert (moved == np.rint(moved)).all()  # exact as it is
        return
    whole = column - column.min()
    assert np.array_equal(steps * whole.max(), whole * steps.max())
    assert np.allclose(
        moved.min() + np.ptp(moved) * steps / steps.max(), moved, rtol=0.0, atol=1e-12 * abs(moved).max()
    )


@given(values=WHOLE, digits=st.integers(1, 3))
def test_decimals_need_no_column_of_ones(values, digits):
    column = np.array(values, dtype=float)
    decimals = column / 10.0**digits
    steps = dependence_rows(decimals[:, None])[:, 0]
    if not np.array_equal(steps, decimals):
        assert np.array_equal(steps * np.abs(column).max(), column * np.abs(steps).max())
        assert np.array_equal(steps == 0.0, column == 0.0)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 60), ones=st.booleans())
def test_values_of_full_precision_stay(seed, n, ones):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n) if ones else rng.normal(size=n), rng.normal(size=n)])
    assert np.array_equal(dependence_rows(design), design)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_same_rows_are_dependent(seed):
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 6, size=(12, 3)).astype(float)
    features = whole * rng.uniform(0.1, 10.0, size=3) + rng.normal(size=3)
    rows = dependence_rows(np.column_stack([np.ones(12), features]))
    intended = np.column_stack([np.ones(12), whole])
    for size in (2, 3, 4):
        chosen = rng.choice(12, size=size, replace=False)
        assert rank(rows[chosen]) == rank(intended[chosen])


def test_exact_arithmetic_reads_the_same_rows():
    from rational.arrangement import exact_columns

    from cudbound.problem.problem import Problem

    ages = np.array([30.0, 41.0, 52.0, 63.0, 47.0])
    design = np.column_stack([np.ones(5), (ages - ages.mean()) / ages.std()])
    problem = Problem.of(design, [1.0, -1.0, 1.0, 1.0, -1.0], [0.1, 0.2], [[2, 0, 1, 1, 1]])
    column, _ = to_integers(exact_columns(problem)[1])
    assert column[2] - column[1] == column[1] - column[0]  # 30, 41 and 52 are equally far apart, exactly


def test_the_columns_of_the_basis_hold_their_own_ones() -> None:
    # two distinct rows: the basis drops a column, which may be that of ones, and no row may then become 0
    from cudbound.problem.problem import Problem

    rows = np.array([[1.0, -0.58, 0.1], [1.0, -0.43, 0.78]])
    problem = Problem.of(rows[[0, 1, 0, 1]], [1.0, -1.0, -1.0, 1.0], [0.1, 0.2, 0.3], [[2, 0, 1, 1]])
    exact = problem.basis.exact
    assert exact.shape == (4, 2)
    assert np.abs(exact).max(axis=1).all()
    assert rank(exact) == 2


def test_a_dependent_column_without_a_penalty_takes_no_part_in_the_smallest_one() -> None:
    column = np.array([[-1.0], [0.5], [0.7], [2.0]])
    design = np.hstack([np.ones((4, 1)), 2.0 * np.ones((4, 1)), column])
    counts = [[2, 0, 1, 1]]
    both, one = (
        Problem.of(design[:, kept], [1.0, -1.0, -1.0, 1.0], np.ones(len(kept)), counts, penalty=penalty)
        for kept, penalty in (([0, 1, 2], [0.0, 0.0, 1.0]), ([0, 2], [0.0, 1.0]))
    )
    assert np.linalg.eigvalsh(both.basis.penalty) == pytest.approx(np.linalg.eigvalsh(one.basis.penalty))
