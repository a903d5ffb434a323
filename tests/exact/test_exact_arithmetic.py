"""What the solver claims of small nasty problems, judged in rational arithmetic.

Of every draw: no classifier is worth more than `upper`, and some cell is worth `lower`. Of an optimal one: the
bounds agree, and in plain floating point on the raw columns its witness is worth `lower` and lies off every
hyperplane that counts. All to 1e-9, relative to the largest score if that is above 1. And every search ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from exact_oracle import exact_q
from exact_verdicts import TOO_SMALL, TOO_SMALL_EXACTLY, Verdicts, faults, judge
from nasty_draws import FAMILIES, nearly_singular_reproducer, outlier_reproducers
from tiers import each_tier
from watched import Watched

from cudbound.solve.search import solve_draws

#: Seeds per family, of 8 draws each: 2,280 draws, 6,840, and more than a million.
QUICK, SLOW, MANY = range(15), range(15, 45), range(45, 6_645)

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
