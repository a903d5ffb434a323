"""What the solver claims of small nasty problems, judged in rational arithmetic, and that oracle itself.

Of every draw: no classifier is worth more than `upper`, and some cell is worth `lower`. Of an optimal one: the
bounds agree, and in plain floating point on the raw columns its witness is worth `lower` and lies off every
hyperplane that counts. All to 1e-9, relative to the largest score if that is above 1. And every search ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import nasty_draws
import numpy as np
import pytest
from exact_oracle import ExactDraw, classes, exact_q, localization, mean_loss
from exact_verdicts import TOO_SMALL, TOO_SMALL_EXACTLY, Verdicts, faults, judge
from nasty_draws import FAMILIES, nearly_singular_reproducer, outlier_reproducers
from oracles import enumerate_q
from random_problems import KINDS, make
from rational.arrangement import exact_columns
from tiers import each_tier
from watched import Watched

from cudbound.problem.problem import Problem
from cudbound.solve.search import solve_draws

# ---- what the solver claims of small nasty problems ----


#: Seeds per family, of 8 draws each: 2,280 draws, 6,840, and more than a million.
QUICK, SLOW, MANY = range(10), range(10, 45), range(45, 6_645)

#: Columns, rows or draws that are singular but for rounding. Cells made by the rounding alone, in which no score
#: exceeds its own rounding, are nobody's classifiers; they may be missed here.
ROUNDED = ("rounded_multiples", "dependent_columns", "standardized_integers")
#: Everywhere else a cell may be missed only if no row's score in it exceeds this share of the sizes of its terms: that
#: takes columns that depend on each other to 12 digits, which count as dependent.
THINNEST = 1e-11


@pytest.fixture(scope="module")
def processes() -> Iterator[Watched]:
    with Watched() as watched:
        yield watched


def excused(family: str, line: str) -> bool:
    if family in ROUNDED and TOO_SMALL_EXACTLY in line:
        return True
    return TOO_SMALL in line and float(line.rpartition(" ")[2]) < THINNEST


def assert_right(family: str, verdicts: Verdicts, seeds: int) -> None:
    wrong = [line for line in verdicts.where if not excused(family, line)]
    counts = ", ".join(f"{name}: {count}" for name, count in sorted(verdicts.counts.items()))
    assert not wrong, "\n".join([f"{family}: {counts}", *wrong[:10]])
    assert verdicts.counts["draws"] == 8 * seeds


def test_the_nearly_singular_reproducer() -> None:
    problem = nearly_singular_reproducer()
    draws = solve_draws(problem)
    assert draws.upper[0] >= 0.5 - 1e-9
    assert faults(problem, draws, 0, "both") == []


@pytest.mark.parametrize("which", [0, 1])
def test_the_outlier_reproducers(which: int) -> None:
    problem, true = outlier_reproducers()[which], [0.5, 0.2][which]
    assert float(exact_q(problem, 0).value) == pytest.approx(true, abs=1e-12)
    draws = solve_draws(problem)
    assert draws.upper[0] >= true - 1e-9
    assert faults(problem, draws, 0, "both") == []


@each_tier(QUICK, SLOW)
@pytest.mark.parametrize("family", FAMILIES)
def test_claims_hold_in_exact_arithmetic(family: str, seeds: list[int], processes: Watched) -> None:
    assert_right(family, judge(processes, family, seeds), len(seeds))


@pytest.mark.parametrize(
    ("family", "seed"),
    [
        ("near_duplicates", 1189),  # the search for an open cone went round and round
        ("near_singular_draws", 229),  # the anchor's own loss was off where its coefficients are huge
        ("near_singular_draws", 5411),  # at localization = inf a witness had more loss than the anchor
        ("clustered_duplicates", 5474),
        ("near_coplanar", 4975),  # a row of length 1e-12 was off by some per cent after orthonormalizing
        ("near_coplanar", 6290),  # proximal steps that crept counted as having arrived
        (
            "near_singular_draws",
            805,
        ),  # a minimizer counted as no worse than an anchor with coefficients of 1e11
        ("near_duplicates", 673),
        ("wide_sample_weights", 1349),  # the sharper rise took the proved loss for the length of the point
        ("wide_sample_weights", 2335),
        ("integer_grid", 2301),  # a penalty of 1e-8 is all that curves the loss along one direction
    ],
)
def test_seeds_that_went_wrong(family: str, seed: int, processes: Watched) -> None:
    assert_right(family, judge(processes, family, [seed]), 1)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_claims_hold_on_a_million_draws(family: str) -> None:
    with Watched(os.cpu_count() or 1) as processes:
        verdicts = judge(processes, family, MANY)
    assert_right(family, verdicts, len(MANY))


# ---- the oracle in rational arithmetic against the one in floating point ----


# in the other kinds, rows or columns are multiples of each other but for rounding, which the float oracle ignores
EXACT_KINDS = sorted(set(KINDS) - {"collinear_rows", "dependent_columns", "two_coefficients"})


def value_at(problem: Problem, draw: int, coef: tuple[Fraction, ...], side: str) -> Fraction:
    """Evaluate coefficients by the definition, row by row."""
    n = problem.labels.size
    signed = Fraction(0)
    for i, row in enumerate(zip(*exact_columns(problem), strict=True)):
        score = sum(x * b for x, b in zip(row, coef, strict=True))
        weight = (
            Fraction(int(problem.counts[draw, i]) - 1, n)
            if problem.weights is None
            else Fraction(float(problem.weights[draw, i]))
        )
        signed += weight * ((1 if score >= 0 else -1) != problem.labels[i])
    size = {"both": abs(signed), "positive": max(signed, Fraction(0)), "negative": max(-signed, Fraction(0))}[
        side
    ]
    anchor = mean_loss(problem, draw, problem.coef.tolist())
    return size * localization(problem, anchor, mean_loss(problem, draw, coef))


@each_tier(range(2), range(2, 6))
@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_agrees_with_enumeration_in_floating_point(kind: str, seeds: list[int]) -> None:
    for seed in seeds:
        problem = make(kind, seed)
        for draw in range(problem.n_draws):
            enumerated = enumerate_q(problem, draw)
            expected = enumerated.q, max(enumerated.q_plus, 0.0), max(enumerated.q_minus, 0.0)
            for side, q in zip(("both", "positive", "negative"), expected, strict=True):
                found = float(exact_q(problem, draw, side).value)
                assert found == pytest.approx(q, abs=1e-7), (kind, seed, draw, side)


@each_tier(range(4), range(4, 12))
@pytest.mark.parametrize("family", sorted(nasty_draws.FAMILIES))
def test_a_classifier_worth_q_exists(family: str, seeds: list[int]) -> None:
    """Coefficients inside the cell, evaluated by the definition, come as close to Q as one likes."""
    for seed in seeds:
        problem, side = nasty_draws.make(family, seed), nasty_draws.side_of(seed)
        for draw in range(problem.n_draws):
            exact = ExactDraw(problem, draw)
            cell = exact_q(problem, draw, side)
            inside = next(islice(exact.approach(cell), 100, None))
            if problem.localization == np.inf and mean_loss(problem, draw, inside) > exact.anchor:
                assert (
                    cell.loss == exact.anchor
                )  # approached from above the anchor's loss, where g is 0 already
                continue
            assert 0 <= cell.value - value_at(problem, draw, inside, side) <= Fraction(1, 10**12), (
                seed,
                draw,
            )


def test_one_coefficient_by_hand() -> None:
    # rows 1 and -1 with labels +1 and -1, drawn twice and never: beta > 0 is right on both, beta < 0 wrong on both,
    # S = (2 - 1)/2 - 1/2 = 0 there; with weights 1 and 1/2 it is 3/2, at the least loss of beta <= 0, that of 0
    problem = Problem.of([[1.0], [-1.0]], [1, -1], [1.0], [[2, 0]], localization=0.25, weights=[[1.0, 0.5]])
    cell = exact_q(problem, 0)
    assert cell.score == Fraction(3, 2)
    assert cell.loss == 1  # (2/2) (1 - 0)^2
    assert cell.value == Fraction(3, 2) * Fraction(3, 4)  # g = 1 + .25 (0 - 1)
    assert classes(ExactDraw(problem, 0), cell) == (-1, 1)
    assert exact_q(problem, 0, "negative").value == 0
