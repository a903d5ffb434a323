"""Training cases and new ones in one interval: the formula in plain Python, its limits, and the check of both parts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, fisher_exact
from test_two_center import LEVELS, auc, delong_by_hand, lower_limit, some_losses, some_scores, upper_limit

from cudbound import available_methods
from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.two_center import new_worse_pvalue
from cudbound.metrics.views import scored, squared_errors
from cudbound.records import TestSetLosses

PROPERTY = settings(max_examples=50, deadline=None, derandomize=True, database=None)
CASES = {"seed": st.integers(0, 10**6), "n": st.sampled_from([6, 11, 30]), "grouped": st.booleans()}
NEW = {"m": st.integers(1, 40), "k": st.integers(0, 40)}


def pooled(records, level=0.95):
    return compute_interval(METHODS["pooled"], records, level)


def trained(records, level=0.95):
    return compute_interval(METHODS["two-center"], records, level)


def new_losses(k, m, **known):
    return TestSetLosses(np.arange(m) < k, 30, "conditional", **known)


def new_outputs(event, **outputs):
    return TestSetLosses(None, 30, "conditional", event=event, **outputs)


def by_hand(row, loss, size, tail):
    """The limits of a mean loss from the two-center row of that loss, and the new cases that a center counts."""
    numbers, (low, high) = row.details, (row.details["lower_center"], row.details["upper_center"])
    n_low, n_high, m_low, m_high = numbers["lower_size"], numbers["upper_size"], size(low), size(high)
    low = 0.0 if row.raw_interval.low == 0.0 else low
    return (
        lower_limit((n_low * low + m_low * loss) / (n_low + m_low), n_low + m_low, tail),
        upper_limit((n_high * high + m_high * loss) / (n_high + m_high), n_high + m_high, tail),
    )


@PROPERTY
@given(**CASES, **NEW, wrong=st.sampled_from([0.0, 0.3, 1.0]), memorized=st.booleans(), level=LEVELS)
def test_counts_of_errors_are_added(seed, n, grouped, m, k, wrong, memorized, level):
    k = min(k, m)
    records = some_losses(seed, n, wrong, grouped, rank=1, memorized=memorized)
    expected = by_hand(trained(records, level), k / m, lambda _: m, (1 - level) / 2)
    row = pooled(replace(records, test_set=new_losses(k, m)), level)
    assert tuple(row.raw_interval) == pytest.approx(expected, abs=1e-9)
    assert row.low <= row.estimate <= row.high


@PROPERTY
@given(**CASES, m=st.integers(4, 30), level=LEVELS)
def test_effective_cases_of_an_auc_are_added(seed, n, grouped, m, level):
    records = scored(some_scores(seed, n, grouped))
    rng = np.random.default_rng(seed)
    event, scores = np.arange(m) % 4 == 0, rng.normal(size=m).round(1)
    n_events, n_others = int(event.sum()), int((~event).sum())
    variance = delong_by_hand(scores.tolist(), event.tolist()) if n_events > 1 else 0.0

    def size(loss):
        a, fewer = 1.0 - loss, min(n_events, n_others)
        ratio = (1 + (m / 2 - 1) * ((1 - a) / (2 - a) + a / (1 + a))) / (n_events * n_others)
        cases = fewer + (max(1 / ratio, fewer) - fewer) * min(1.0, fewer * loss)
        return max(min(cases, a * (1 - a) / variance) if variance > 0 else cases, fewer)

    row = trained(records, level)
    assume(not math.isnan(row.estimate))
    numbers = row.details
    sides = {
        f"{side}_{what}": numbers[f"{other}_{what}"] if what == "size" else 1 - numbers[f"{other}_{what}"]
        for side, other in (("lower", "upper"), ("upper", "lower"))
        for what in ("center", "size")
    }
    low, high = row.raw_interval
    of_loss = replace(row, details=sides, raw_interval=row.raw_interval._replace(low=1 - high, high=1 - low))
    low, high = by_hand(of_loss, 1 - auc(scores.tolist(), event.tolist()), size, (1 - level) / 2)
    both = pooled(replace(records, test_set=new_outputs(event, scores=scores)), level)
    assert tuple(both.raw_interval) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    assert both.low <= both.estimate <= both.high


@PROPERTY
@given(**CASES, m=st.integers(1, 30), level=LEVELS)
def test_cases_of_a_brier_score_are_added(seed, n, grouped, m, level):
    records = some_scores(seed, n, grouped, probabilities=True)
    rng = np.random.default_rng(seed)
    event, risks = rng.random(m) < 0.4, rng.random(m).round(2)
    row = trained(squared_errors(records), level)
    losses = (event - risks) ** 2
    variance = max(row.details["variance"], losses.var(ddof=1) if m > 1 else 0.0)

    def size(center):
        most = center * (1 - center)
        return m if most == 0 else m * most / min(variance + 0.25 * (1 - center) ** 2 / m, most)

    expected = by_hand(row, losses.mean(), size, (1 - level) / 2)
    both = pooled(squared_errors(replace(records, test_set=new_outputs(event, probabilities=risks))), level)
    assert tuple(both.raw_interval) == pytest.approx(expected, abs=1e-9)


@PROPERTY
@given(**CASES, m=st.integers(1, 40))
def test_more_errors_on_new_cases_move_both_limits_up(seed, n, grouped, m):
    records = some_losses(seed, n, 0.3, grouped, rank=1)
    rows = [pooled(replace(records, test_set=new_losses(k, m))) for k in range(m + 1)]
    for limit in ("low", "high", "estimate"):
        assert (np.diff([getattr(row, limit) for row in rows]) >= 0).all()
    pvalues = [row.details["new_worse_pvalue"] for row in rows]
    assert pvalues[0] == 1.0
    assert (np.diff(pvalues) <= 1e-9).all()


@PROPERTY
@given(**CASES, **NEW, level=LEVELS)
def test_it_is_two_center_or_binomial_if_the_other_part_counts_nothing(seed, n, grouped, m, k, level):
    k = min(k, m)
    records = some_losses(seed, n, 0.3, grouped, rank=1)
    no_new = new_losses(k, m, effective_rows=1e-9)
    alone = pooled(replace(records, test_set=no_new), level).raw_interval
    assert tuple(alone) == pytest.approx(tuple(trained(records, level).raw_interval), abs=1e-6)
    no_training = replace(records, groups=None, effective_rows=1e-9, test_set=new_losses(k, m))
    binomial = compute_interval(METHODS["test-set-clopper-pearson"], no_training, level).raw_interval
    assert tuple(pooled(no_training, level).raw_interval) == pytest.approx(tuple(binomial), abs=1e-6)


@PROPERTY
@given(n=st.integers(2, 60), m=st.integers(1, 40), data=st.data())
def test_for_whole_numbers_the_check_is_fishers_exact_test(n, m, data):
    x, k = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    exact = fisher_exact([[k, m - k], [x, n - x]], alternative="greater").pvalue
    assert new_worse_pvalue(x / n, n, k / m, m) == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("n", [20, 60])
def test_the_check_rejects_equal_errors_at_most_at_its_level(n):
    """Over all outcomes of both samples, for any error that they share."""
    m = 15
    pvalue = np.array([[new_worse_pvalue(x / n, n, k / m, m) for k in range(m + 1)] for x in range(n + 1)])
    for error in np.linspace(0.02, 0.98, 25):
        weights = np.outer(binom.pmf(np.arange(n + 1), n, error), binom.pmf(np.arange(m + 1), m, error))
        for level in (0.01, 0.05, 0.2):
            assert weights[pvalue <= level].sum() <= level


def test_the_check_averages_the_binomial_tail_over_what_the_training_cases_leave_open():
    """For counts that are not whole numbers: by a sum over quantiles."""
    n, center, m, loss = 41.3, 0.21, 17.6, 0.43
    shares = (np.arange(200_000) + 0.5) / 200_000
    errors = beta.ppf(shares, n * center + 1, n * (1 - center))
    tail = beta.cdf(errors, m * loss, m * (1 - loss) + 1).mean()
    assert new_worse_pvalue(center, n, loss, m) == pytest.approx(tail, abs=1e-5)


def test_rows_that_were_held_out_of_training_are_refused():
    records = replace(some_losses(0, 30, 0.3, False), test_set=TestSetLosses([0, 1, 0], 27))
    with pytest.raises(ValueError, match=r"pass new_cases=\(X_new, y_new\), or TestSetLosses"):
        pooled(records)


def test_new_cases_of_one_class_have_no_auc():
    records = scored(some_scores(0, 30, False))
    row = pooled(replace(records, test_set=new_outputs(np.ones(4, bool), scores=np.arange(4.0))))
    assert math.isnan(row.estimate)
    assert row.degenerate == "undefined: the new cases are of one class"


def test_it_keeps_groups_as_its_new_cases_are_always_there():
    """Methods on a test set alone would split groups, unless it is of new cases."""
    with_groups = available_methods()["with_groups"]
    assert (with_groups["pooled"], with_groups["test-set-wilson"]) == ("kept", "no")
