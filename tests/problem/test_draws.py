"""Bootstrap counts: what each draw uses of the random numbers, and that they are an ordinary bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chisquare, multinomial

from cudbound.problem import draws
from cudbound.problem.draws import draw_counts


def test_shape_type_and_sums() -> None:
    counts = draw_counts(7, 200, np.random.default_rng(0))
    assert counts.shape == (200, 7)
    assert counts.dtype == np.int32
    assert counts.flags.c_contiguous
    np.testing.assert_array_equal(counts.sum(axis=1), 7)
    assert counts.min() == 0


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


def test_draws_of_three_rows_are_multinomial() -> None:
    counts = draw_counts(3, 27_000, np.random.default_rng(6))
    cells, observed = np.unique(counts, axis=0, return_counts=True)
    assert len(cells) == 10
    assert chisquare(observed, 27_000 * multinomial.pmf(cells, 3, [1 / 3] * 3)).pvalue > 1e-3
