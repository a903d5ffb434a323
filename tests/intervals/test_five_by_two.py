"""5x2 cross-validation: the t with its repairs and the F set, against worked numbers, peers and plain code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from direct_refits import Scored, next_score
from hypothesis import assume, given
from hypothesis import strategies as st
from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv
from scipy import stats
from shared_files import shared_vectors

from cudbound.intervals.five_by_two import (
    FIVE_BY_TWO_F,
    FIVE_BY_TWO_T,
    five_by_two_f,
    five_by_two_f_set,
    five_by_two_t_pivot,
)
from cudbound.intervals.method import compute_interval
from cudbound.records import HalvingLosses, Records

VECTORS = shared_vectors()
MEAN = st.integers(-20, 20).map(lambda k: k / 20)
PAIRS = st.lists(st.tuples(MEAN, MEAN), min_size=5, max_size=5)
EXAMPLE = VECTORS["nb_5x2_fix1"]["inputs"]["p"]


def _records(pairs, n_train=20):
    return Records(halvings=HalvingLosses(np.array(pairs, dtype=float), n_train))


# ---- worked numbers ----


def test_worked_first_repair():
    value = VECTORS["nb_5x2_fix1"]["value"]
    pivot = five_by_two_t_pivot(EXAMPLE, repair="drop-first-split")
    assert (pivot.estimate, pivot.df) == (value["center"], value["df"])
    assert pivot.standard_error**2 == pytest.approx(value["var"], abs=1e-12)
    assert pivot.interval(0.95) == pytest.approx(value["interval"], abs=1e-9)
    row = compute_interval(FIVE_BY_TWO_T, _records(EXAMPLE), 0.95, {"repair": "drop-first-split"})
    assert row.raw_interval == pytest.approx(value["interval"], abs=1e-9)


def test_worked_f_and_t():
    entry = VECTORS["alpaydin_F"]
    pairs, value = entry["inputs"]["d"], entry["value"]
    assert five_by_two_f(pairs) == pytest.approx((value["F"], value["p"]), abs=1e-9)
    pivot = five_by_two_t_pivot(pairs)
    assert (pivot.statistic(), pivot.pvalue()) == pytest.approx(
        (value["t_dietterich"], value["p_dietterich"]), abs=1e-9
    )


# ---- peers ----


@pytest.mark.parametrize("seed", range(10))
def test_t_and_f_are_those_of_mlxtend(seed):
    """Theirs compares scores, so that the sign of t is the other one.

    Two differences of definition do not show here: its halves differ by one row where the number of rows is odd, where
    ours leaves one out, and it divides by zero where ours says that there is no variance.
    """
    errors = np.random.default_rng(seed).uniform(size=(2, 5, 2))

    def run(test):
        return test(*map(Scored, errors), np.zeros((20, 1)), np.arange(20), scoring=next_score)

    differences = errors[0] - errors[1]
    statistic, pvalue = run(paired_ttest_5x2cv)
    pivot = five_by_two_t_pivot(differences)
    assert (pivot.statistic(), pivot.pvalue()) == pytest.approx((-statistic, pvalue), rel=1e-9)
    assert five_by_two_f(differences) == pytest.approx(run(combined_ftest_5x2cv), rel=1e-9)


# ---- plain code and properties ----


@given(pairs=PAIRS, null=st.floats(-0.5, 0.5))
def test_repairs_in_plain_python(pairs, null):
    squares = [(a - b) ** 2 for a, b in pairs]
    assume(sum(squares[1:]) > 0)
    (a, b), rest = pairs[0], sum(squares[1:])
    expected = {
        "none": ((a - null) / math.sqrt(sum(squares) / 10), 5),
        "drop-first-split": ((a - null) / math.sqrt(rest / 8), 4),
        "average-numerator": (math.sqrt(2) * ((a + b) / 2 - null) / math.sqrt(sum(squares) / 10), 5),
    }
    for repair, (statistic, df) in expected.items():
        pivot = five_by_two_t_pivot(pairs, repair=repair)
        assert pivot.statistic(null) == pytest.approx(statistic, rel=1e-9, abs=1e-9)
        assert pivot.pvalue(null) == pytest.approx(2 * stats.t.sf(abs(statistic), df), rel=1e-9)


@given(pairs=PAIRS, level=st.floats(0.5, 0.99))
def test_the_f_set_holds_what_the_f_test_does_not_reject(pairs, level):
    interval = five_by_two_f_set(pairs, level)
    assume(any(a != b for a, b in pairs))
    center = float(np.mean(pairs))
    if math.isnan(interval.low):  # the test rejects even what it likes best
        assert five_by_two_f(pairs, center)[1] < 1 - level + 1e-9
        return
    assert five_by_two_f(pairs, interval.low)[1] == pytest.approx(1 - level, abs=1e-6)
    assert five_by_two_f(pairs, interval.high)[1] == pytest.approx(1 - level, abs=1e-6)
    assert interval.low + interval.high == pytest.approx(2 * center, abs=1e-12)
    assert five_by_two_f(pairs, center)[1] >= 1 - level - 1e-9
    assert five_by_two_f_set(pairs, level + 0.009).width > interval.width


# ---- the methods ----


@pytest.mark.parametrize("number", [1, 4, 6])
def test_other_numbers_of_halvings_are_refused(number):
    pairs = [[0.1, 0.2]] * number
    message = rf"exactly 5 halvings\. Got {number} instead"
    for call in (five_by_two_t_pivot, five_by_two_f, lambda one: five_by_two_f_set(one, 0.95)):
        with pytest.raises(ValueError, match=message):
            call(pairs)
    with pytest.raises(ValueError, match=message):
        compute_interval(FIVE_BY_TWO_T, _records(pairs), 0.95)


# ---- without variance ----


def test_no_variance_is_no_evidence():
    assert five_by_two_f(np.zeros((5, 2))) == (0.0, 1.0)
    assert five_by_two_f(np.full((5, 2), 0.3)) == (math.inf, 1.0)
    assert five_by_two_t_pivot(np.zeros((5, 2))).pvalue() == 1.0
    outcome = FIVE_BY_TWO_F.test(_records(np.zeros((5, 2))), 0.95, "two-sided")
    assert (outcome.statistic, outcome.pvalue) == (0.0, 1.0)
    assert outcome.degenerate.startswith("both halves have the same mean loss")
