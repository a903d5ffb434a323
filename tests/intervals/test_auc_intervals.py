"""The intervals for the AUC against plain loops over the definitions of the papers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.auc_at_estimate import cv_auc
from cudbound.point_estimates.auc import hanley_mcneil_size
from cudbound.records import BootstrapScores, FoldScores, ScoreRecords, TestSetScores


def random_scores(seed, n=24, signal=1.0, n_draws=30, decimals=1):
    """Return records of all kinds of scores, with ties, in which no draw is of one class."""
    rng = np.random.default_rng([seed, n])
    event = np.arange(n) % 3 == 0

    def draw(*shape, rows=event):
        return (rng.normal(size=shape) + signal * rows).round(decimals)

    counts = np.stack(
        [
            np.bincount(np.r_[0, 1, rng.integers(0, n, n - 2)], minlength=n)
            if number % 2
            else np.bincount(np.r_[3, 2, rng.integers(0, n, n - 2)], minlength=n)
            for number in range(n_draws)
        ]
    )
    folds = np.stack([rng.permutation(np.arange(n) % 4) for _ in range(3)])
    new = rng.random(15) < 0.4
    new[:4] = [True, True, False, False]
    return ScoreRecords(
        event,
        draw(n),
        BootstrapScores(counts, draw(n_draws, n)),
        FoldScores(draw(1, n), np.arange(n)[None] // 6),
        FoldScores(draw(3, n), folds),
        TestSetScores(new, draw(15, rows=new), n),
        stratified_folds=FoldScores(draw(3, n), folds),
    )


def limits(row):
    return (row.estimate, *row.raw_interval)


def of(name, records, level=0.95, **options):
    return compute_interval(METHODS[name], records, level, options)


# ---- plain loops ----


def won(one, other):
    return 1.0 if one > other else 0.5 if one == other else 0.0


def loop_auc(scores, event, weights=None):
    weights = np.ones(len(scores)) if weights is None else weights
    total = pairs = 0.0
    for i in np.flatnonzero(event):
        for j in np.flatnonzero(~np.asarray(event)):
            total += weights[i] * weights[j] * won(scores[i], scores[j])
            pairs += weights[i] * weights[j]
    return total / pairs if pairs else math.nan


def loop_delong(scores, event):
    events, others = np.flatnonzero(event), np.flatnonzero(~np.asarray(event))
    auc = loop_auc(scores, event)
    variance = 0.0
    for own, across, sign in ((events, others, 1), (others, events, -1)):
        parts = [sum(won(sign * scores[i], sign * scores[j]) for j in across) / len(across) for i in own]
        variance += sum((part - auc) ** 2 for part in parts) / (len(own) - 1) / len(own)
    half = norm.ppf(0.975) * math.sqrt(variance)
    return auc, auc - half, auc + half


@pytest.mark.parametrize("seed", range(4))
def test_delong_intervals_equal_a_loop_over_pairs(seed):
    records = random_scores(seed)
    test = records.test_set
    for name, scores, event in (
        ("delong-training", records.scores, records.event),
        ("delong-10-fold", records.folds.scores[0], records.event),
        ("test-set-delong", test.scores, test.event),
    ):
        assert limits(of(name, records)) == pytest.approx(loop_delong(scores, event), abs=1e-12), name


@pytest.mark.parametrize("seed", range(4))
def test_cvauc_equals_a_loop_over_the_influence_curve(seed):
    records = random_scores(seed)
    scores, fold, event = records.folds.scores[0], records.folds.fold[0], records.event
    n, share = len(event), event.mean()
    aucs, squares = [], []
    for number in range(4):
        rows = np.flatnonzero(fold == number)
        events, others = [i for i in rows if event[i]], [i for i in rows if not event[i]]
        auc = loop_auc(scores[rows], event[rows])
        square = 0.0
        for i in rows:
            across = others if event[i] else events
            right = [won(scores[i], scores[j]) if event[i] else won(scores[j], scores[i]) for j in across]
            square += ((np.mean(right) - auc) / (share if event[i] else 1.0 - share)) ** 2
        aucs.append(auc)
        squares.append(square / len(rows))
    half = norm.ppf(0.975) * math.sqrt(np.mean(squares) / n)
    expected = (np.mean(aucs), np.mean(aucs) - half, np.mean(aucs) + half)
    assert limits(of("cvauc", records)) == pytest.approx(expected, abs=1e-12)


def hanley_mcneil_variance(c, n1, n0, n1_less, n0_less):
    q1, q2 = c / (2 - c), 2 * c**2 / (1 + c)
    return (c * (1 - c) + n1_less * (q1 - c**2) + n0_less * (q2 - c**2)) / (n1 * n0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("center", ["cross-validated", "632-plus"])
def test_hanley_mcneil_and_newcombe_satisfy_their_equations(seed, center):
    records = random_scores(seed)
    if center == "cross-validated":
        auc = np.mean([loop_auc(scores, records.event) for scores in records.repeated_folds.scores])
    else:
        auc = of("two-center", records).details["at_632_plus"]
    n1, n0 = records.n_events, records.n_samples - records.n_events
    z = norm.ppf(0.975)
    half = z * math.sqrt(hanley_mcneil_variance(auc, n1, n0, n1 - 1, n0 - 1))
    row = of("hanley-mcneil", records, center=center)
    assert limits(row) == pytest.approx((auc, auc - half, auc + half), abs=1e-12)
    row = of("newcombe", records, center=center)
    less = (n1 + n0) / 2 - 1
    assert row.estimate == pytest.approx(auc)
    for limit in row.raw_interval:
        reach = z * math.sqrt(hanley_mcneil_variance(limit, n1, n0, less, less))
        assert abs(limit - auc) == pytest.approx(reach, abs=1e-9)
    assert 0.0 <= row.raw_interval.low < auc < row.raw_interval.high <= 1.0


@pytest.mark.parametrize("seed", range(4))
def test_bootstrap_intervals_equal_loops_over_draws(seed):
    records = random_scores(seed)
    boot, event = records.bootstrap, records.event
    draws = list(zip(boot.counts, boot.scores, strict=True))
    inside = np.array([loop_auc(scores, event, counts) for counts, scores in draws])
    on_all = np.array([loop_auc(scores, event) for _, scores in draws])
    outside = np.array([loop_auc(scores, event, counts == 0) for counts, scores in draws])
    training = loop_auc(records.scores, event)
    corrected = min(max(training - np.mean(inside - on_all), 0.0), 1.0)
    n_draws = len(inside)
    low, high = math.ceil(0.025 * n_draws) - 1, math.ceil(0.975 * n_draws) - 1
    row = of("out-of-bag-percentile", records)
    ordered = np.sort(outside)
    assert limits(row) == pytest.approx((outside.mean(), ordered[low], ordered[high]))
    row, shift = of("location-shifted", records), corrected - training
    ordered = np.sort(inside) + shift
    assert limits(row) == pytest.approx((corrected, ordered[low], ordered[high]))
    w = inside - 1.25 * on_all
    spread = [
        math.sqrt(((side - w.mean()) ** 2).sum() / (len(side) - 1)) * norm.ppf(0.975)
        for side in (w[w >= w.mean()], w[w <= w.mean()])
    ]
    row = of("abcloc", records)
    assert limits(row) == pytest.approx((corrected, corrected - spread[0], corrected + spread[1]))


# ---- what may not matter, and what is at the edge ----


def test_a_class_of_one_row_has_no_variance_of_delong():
    event = np.arange(6) == 0
    records = ScoreRecords(event, np.arange(6.0), test_set=TestSetScores(event, np.arange(6.0), 20))
    for name in ("delong-training", "test-set-delong"):
        assert of(name, records).degenerate == "undefined: a class has a single row"
    assert limits(of("test-set-newcombe", records))[:2] == (0.0, 0.0)
    one_class = ScoreRecords(event, test_set=TestSetScores(np.zeros(3, bool), np.arange(3.0), 20))
    for name in ("test-set-newcombe", "test-set-delong"):
        assert of(name, one_class).degenerate == "undefined: all scores belong to one class"


def rated(normal, abnormal):
    """Return records of ratings 1, 2, ..., from how many of each class were given each."""
    scores = np.concatenate([np.repeat(np.arange(len(n)), n) for n in (abnormal, normal)]).astype(float)
    event = np.arange(scores.size) < sum(abnormal)
    return ScoreRecords(event, test_set=TestSetScores(event, scores, len(event)))


def test_the_109_images_of_hanley_and_mcneil_agree_with_other_programs():
    # Radiology 143 (1982), table 1; the numbers are those of roc_comparison (Python) and auRoc (R)
    records = rated([33, 6, 6, 11, 2], [3, 2, 2, 11, 33])
    delong, newcombe = of("test-set-delong", records), of("test-set-newcombe", records)
    assert delong.estimate == newcombe.estimate == pytest.approx(0.8931710615280595, abs=1e-15)
    assert delong.standard_error == pytest.approx(0.03072440837938112, abs=1e-12)
    assert limits(newcombe)[1:] == pytest.approx((0.8116884072884332, 0.940006182640461), abs=1e-12)
    # the standard error that the paper gives, from its equations (1) and (2)
    size = hanley_mcneil_size(0.893, 51, 58)
    assert math.sqrt(0.893 * 0.107 / size) == pytest.approx(0.032, abs=5e-4)


def test_cvauc_agrees_with_the_program_of_its_authors():
    scores = [
        1.13,
        -0.13,
        0.64,
        1.1,
        0.46,
        0.36,
        1.3,
        0.95,
        -0.7,
        -0.27,
        -0.62,
        1.04,
        -1.33,
        -0.22,
        -0.25,
        -0.73,
    ]
    scores += [0.46, -0.32, 1.41, 1.04, -0.13, 1.37, 0.33, 1.35]
    event = np.array([1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1], dtype=bool)
    found = cv_auc(scores, event, np.repeat([0, 1, 2], 8))
    assert found == (
        pytest.approx(0.6597222222222222, abs=1e-15),
        pytest.approx(0.12042134354867999, abs=1e-15),
        0,
    )
