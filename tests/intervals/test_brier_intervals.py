"""The intervals for the Brier score against plain loops over the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from cudbound.intervals import METHODS, compute_interval
from cudbound.metrics.views import squared_errors
from cudbound.records import BootstrapScores, FoldScores, ScoreRecords, TestSetScores

OF_PROBABILITIES = tuple(name for name, method in METHODS.items() if method.reading("probabilities"))


def random_probabilities(seed, n=24, n_draws=30, constant=None):
    rng = np.random.default_rng([seed, n])

    def draw(*shape):
        return rng.random(shape) if constant is None else np.full(shape, constant)

    counts = rng.multinomial(n, np.full(n, 1.0 / n), n_draws)
    return ScoreRecords(
        np.arange(n) % 2 == 0,
        draw(n),
        BootstrapScores(counts, draw(n_draws, n)),
        FoldScores(draw(1, n), np.arange(n)[None] // 6),
        test_set=TestSetScores(np.arange(11) % 2 == 0, draw(11), n),
        probabilities=True,
        stratified_folds=FoldScores(draw(2, n), np.tile(np.arange(n) // 6, (2, 1))),
    )


def limits(name, records, level=0.95):
    row = compute_interval(METHODS[name], squared_errors(records), level)
    return (row.estimate, *row.raw_interval)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_equal_loops_over_rows_and_draws(seed):
    records = random_probabilities(seed)
    y, boot, n = records.event.astype(float), records.bootstrap, records.n_samples
    e = [(y[i] - records.scores[i]) ** 2 for i in range(n)]
    draws = [
        (c, [(y[i] - p[i]) ** 2 for i in range(n)]) for c, p in zip(boot.counts, boot.scores, strict=True)
    ]
    inside = np.array([sum(c[i] * loss[i] for i in range(n)) / n for c, loss in draws])
    on_all = np.array([sum(loss) / n for _, loss in draws])
    outside = [np.mean([loss[i] for i in range(n) if c[i] == 0]) for c, loss in draws]
    low, high = math.ceil(0.025 * len(draws)) - 1, math.ceil(0.975 * len(draws)) - 1
    ordered = np.sort(outside)
    found = limits("out-of-bag-percentile", records)
    assert found == pytest.approx((np.mean(outside), ordered[low], ordered[high]))

    corrected = np.mean(e) - np.mean(inside - on_all)
    ordered = np.sort(inside) + corrected - np.mean(e)
    found = limits("location-shifted", records)
    assert found == pytest.approx((corrected, ordered[low], ordered[high]))

    w = inside - 1.25 * on_all
    above, below = (
        norm.ppf(0.975) * math.sqrt(((side - w.mean()) ** 2).sum() / (len(side) - 1))
        for side in (w[w >= w.mean()], w[w <= w.mean()])
    )
    assert limits("abcloc", records) == pytest.approx((corrected, corrected - above, corrected + below))

    cross = np.array([(y[i] - records.folds.scores[0, i]) ** 2 for i in range(n)])
    half = norm.ppf(0.975) * cross.std() / math.sqrt(n)
    assert limits("bayle-cv", records) == pytest.approx(
        (cross.mean(), cross.mean() - half, cross.mean() + half)
    )

    known = compute_interval(METHODS["two-center"], squared_errors(records), 0.95).details
    plus = known["at_632_plus"]
    rows = [[loss[i] for c, loss in draws if c[i] == 0] for i in range(n)]
    left_out = np.mean([np.mean(row) for row in rows])
    spread = np.mean([np.mean(np.square(row)) for row in rows]) - left_out**2
    half = t.ppf(0.975, n - 1) * math.sqrt(max(spread, np.var(e, ddof=1)) / n)
    assert limits("632-plus-t", records) == pytest.approx((plus, plus - half, plus + half))

    new = (records.test_set.event - records.test_set.scores) ** 2
    half = t.ppf(0.975, 10) * new.std(ddof=1) / math.sqrt(11)
    assert limits("test-set-t", records) == pytest.approx((new.mean(), new.mean() - half, new.mean() + half))


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_exchanged_classes_with_the_probability_of_the_other_change_nothing(name):
    records = random_probabilities(1)
    boot, folds, test = records.bootstrap, records.folds, records.test_set
    stratified = records.stratified_folds
    swapped = ScoreRecords(
        ~records.event,
        1.0 - records.scores,
        BootstrapScores(boot.counts, 1.0 - boot.scores),
        FoldScores(1.0 - folds.scores, folds.fold),
        test_set=TestSetScores(~test.event, 1.0 - test.scores, test.n_train),
        probabilities=True,
        stratified_folds=FoldScores(1.0 - stratified.scores, stratified.fold),
    )
    assert limits(name, swapped) == pytest.approx(limits(name, records))


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_equal_squared_errors_are_flagged_or_have_width(name):
    row = compute_interval(METHODS[name], squared_errors(random_probabilities(0, constant=0.5)), 0.95)
    assert row.estimate == pytest.approx(0.25)
    assert (row.degenerate is None) == (name == "two-center")
    if row.degenerate is not None:
        assert row.raw_interval.width == pytest.approx(0.0, abs=1e-12)
