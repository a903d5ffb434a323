"""Columns of whole steps: what rounding did to them decides nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rational.integers import to_integers

from cudbound.problem.coordinates import dependence_rows, in_whole_steps

WHOLE = st.lists(st.integers(-300, 300), min_size=3, max_size=30).filter(lambda values: len(set(values)) > 1)


def rank(rows: np.ndarray) -> int:
    """The rank of rows of whole numbers that are small enough for floating-point elimination."""
    return int(np.linalg.matrix_rank(rows)) if rows.size else 0


@given(values=WHOLE, scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_what_was_standardized_is_found_again(values, scale, shift):
    column = np.array(values, dtype=float)
    moved = (column - shift) / scale
    (_, found) = in_whole_steps(np.column_stack([np.ones(column.size), moved]))
    if found is None:
        assert (moved == np.rint(moved)).all()  # exact as it is
        return
    whole = column - column.min()
    assert np.array_equal(found.steps * whole.max(), whole * found.n_steps)
    assert np.allclose(
        found.start + found.span * found.steps / found.n_steps, moved, rtol=0.0, atol=1e-12 * abs(moved).max()
    )


@given(values=WHOLE, digits=st.integers(1, 3))
def test_decimals_need_no_column_of_ones(values, digits):
    column = np.array(values, dtype=float)
    (found,) = in_whole_steps((column / 10.0**digits)[:, None])
    if found is not None:
        assert np.array_equal(found.steps * np.abs(column).max(), column * found.n_steps)
        assert np.array_equal(found.steps == 0.0, column == 0.0)


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
    from cudbound.problem.coordinates import orthonormal_basis
    from cudbound.problem.problem import Problem

    rows = np.array([[1.0, -0.58, 0.1], [1.0, -0.43, 0.78]])
    problem = Problem.of(rows[[0, 1, 0, 1]], [1.0, -1.0, -1.0, 1.0], [0.1, 0.2, 0.3], [[2, 0, 1, 1]])
    exact = orthonormal_basis(problem).exact
    assert exact.shape == (4, 2)
    assert np.abs(exact).max(axis=1).all()
    assert rank(exact) == 2
