"""What the solver claims of small nasty problems, judged in rational arithmetic.

Of every draw: no classifier is worth more than `upper`, and some cell is worth `lower`. Of an optimal one: the
bounds agree, and in plain floating point on the raw columns its witness is worth `lower` and lies off every
hyperplane that counts. All to 1e-9. And every search ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from exact_oracle import exact_q
from exact_verdicts import Judges, Verdicts, faults
from nasty_draws import FAMILIES, nearly_singular_reproducer, outlier_reproducers

from cudbound.solve import solve_problem

#: Seeds a family; 8 draws each: 20,400 draws, in about 40 seconds of one core.
SEEDS = 150
#: More than a million draws.
MANY_SEEDS = 7_500


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges() as processes:
        yield processes


def report(family: str, verdicts: Verdicts) -> str:
    counts = ", ".join(f"{name}: {count}" for name, count in sorted(verdicts.counts.items()))
    return "\n".join([f"{family}: {counts}", *verdicts.where[:10]])


def test_the_nearly_singular_reproducer() -> None:
    problem = nearly_singular_reproducer()
    draws = solve_problem(problem)
    assert draws.upper[0] >= 0.5 - 1e-9
    assert faults(problem, draws, 0, "both") == []


@pytest.mark.parametrize("which", [0, 1])
def test_the_outlier_reproducers(which: int) -> None:
    problem, true = outlier_reproducers()[which], [0.5, 0.2][which]
    assert float(exact_q(problem, 0).value) == pytest.approx(true, abs=1e-12)
    draws = solve_problem(problem)
    assert draws.upper[0] >= true - 1e-9
    assert faults(problem, draws, 0, "both") == []


@pytest.mark.parametrize("family", FAMILIES)
def test_claims_hold_in_exact_arithmetic(family: str, judges: Judges) -> None:
    verdicts = judges.judge(family, range(SEEDS))
    assert verdicts.counts["draws"] == SEEDS * 8
    assert not verdicts.where, report(family, verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_claims_hold_on_a_million_draws(family: str) -> None:
    with Judges(os.cpu_count() or 1) as judges:
        verdicts = judges.judge(family, np.arange(SEEDS, SEEDS + MANY_SEEDS).tolist())
    assert not verdicts.where, report(family, verdicts)
