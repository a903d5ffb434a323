"""Intervals for the AUC, its differences and the Brier score, against plain loops over their definitions."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from cudbound import compare_learners, from_records
from cudbound.basis.groups import Groups
from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.comparisons import SECOND
from cudbound.intervals.method import compute_comparison
from cudbound.metrics.views import squared_errors
from cudbound.point_estimates.auc import hanley_mcneil_size
from cudbound.records import BootstrapLosses, FoldLosses, Records, RepeatedFoldLosses, TestSetLosses

# ---- the intervals for the AUC against plain loops over the definitions of the papers ----


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
    return Records(
        event=event,
        scores=draw(n),
        bootstrap=BootstrapLosses(counts, scores=draw(n_draws, n)),
        folds=FoldLosses(None, np.arange(n) // 6, scores=draw(1, n)[0]),
        repeated_folds=of_folds(draw(3, n), folds),
        test_set=TestSetLosses(None, n, "conditional", event=new, scores=draw(15, rows=new)),
        stratified_folds=of_folds(draw(3, n), folds),
        kind="scores",
    )


def of_folds(scores, folds):
    return RepeatedFoldLosses(
        [FoldLosses(None, fold, scores=each) for each, fold in zip(scores, folds, strict=True)]
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
        ("delong-10-fold", records.folds.scores, records.event),
        ("test-set-delong", test.scores, test.event),
    ):
        assert limits(of(name, records)) == pytest.approx(loop_delong(scores, event), abs=1e-12), name


@pytest.mark.parametrize("seed", range(4))
def test_cvauc_equals_a_loop_over_the_influence_curve(seed):
    records = random_scores(seed)
    scores, fold, event = records.folds.scores, records.folds.fold, records.event
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
        auc = np.mean(
            [
                loop_auc(scores, records.event)
                for scores in (folds.scores for folds in records.repeated_folds.partitions)
            ]
        )
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
    tested = TestSetLosses(None, 20, event=event, scores=np.arange(6.0))
    records = Records(event=event, scores=np.arange(6.0), test_set=tested, kind="scores")
    for name in ("delong-training", "test-set-delong"):
        assert of(name, records).degenerate == "undefined: a class has a single row"
    assert limits(of("test-set-newcombe", records))[:2] == (0.0, 0.0)
    one_class = TestSetLosses(None, 20, event=np.zeros(3, bool), scores=np.arange(3.0))
    for name in ("test-set-newcombe", "test-set-delong"):
        row = from_records(one_class, name, metric="auc")
        assert row.degenerate == "undefined: all scores belong to one class"


@pytest.mark.parametrize("classes", [[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0]])
def test_a_class_of_two_rows_has(classes):
    event, scores = np.array(classes) == 1, np.array([1.0, 4.0, 0.0, 2.0, 3.0, 5.0])
    records = Records(event=event, scores=scores, kind="scores")
    assert limits(of("delong-training", records)) == pytest.approx(loop_delong(scores, event))


def test_scores_that_separate_the_classes_have_no_variance():
    event, fold = np.arange(12) >= 6, np.arange(12) % 3
    records = Records(
        event=event,
        scores=np.arange(12.0),
        folds=FoldLosses(None, fold, scores=np.arange(12.0)),
        kind="scores",
    )
    for name in ("delong-training", "delong-10-fold", "cvauc"):
        row = of(name, records)
        assert limits(row) == (1.0, 1.0, 1.0)
        assert row.standard_error == 0.0
        assert row.degenerate


def rated(normal, abnormal):
    """Return records of ratings 1, 2, ..., from how many of each class were given each."""
    scores = np.concatenate([np.repeat(np.arange(len(n)), n) for n in (abnormal, normal)]).astype(float)
    event = np.arange(scores.size) < sum(abnormal)
    tested = TestSetLosses(None, len(event), event=event, scores=scores)
    return Records(test_set=tested, kind="scores")


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


# ---- the difference of two AUCs: the definition in loops, invariances, and what the records must be ----


METHOD = METHODS["auc-difference"]


def two(seed, n=14, n_draws=12):
    """Return scores of two classifiers with ties, on draws of both classes."""
    rng = np.random.default_rng(seed)
    event = np.arange(n) < 6
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_draws)
    counts = counts[(counts[:, event].sum(axis=1) > 0) & (counts[:, ~event].sum(axis=1) > 0)]

    def one(signal, second=None):
        scores, of_draws = (
            np.round(rng.normal(size=shape) + signal * event, 1) for shape in (n, (len(counts), n))
        )
        draws = BootstrapLosses(counts, scores=of_draws)
        records = Records(event=event, scores=scores, bootstrap=draws, kind="scores")
        return records if second is None else records.with_record(SECOND, second)

    return one(1.0, one(0.6))


def pair_won(scores, i, j):
    return 1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0


def by_loops(records, level):
    """Return center of the out-of-bag pairs, the other center and both limits, from the formula of the card."""
    event, counts = records.event, records.bootstrap.counts
    pairs = list(product(np.flatnonzero(event), np.flatnonzero(~event)))
    both = (records, records.require(SECOND))

    def matrix(value):
        return np.array([value(i, j) for i, j in pairs]).reshape(event.sum(), -1)

    def out(scores, i, j):
        shares = [pair_won(s, i, j) for s, c in zip(scores, counts, strict=True) if c[i] == 0 == c[j]]
        return np.mean(shares) if shares else math.nan

    def variance(values):
        return np.var(values.mean(1), ddof=1) / len(values) + np.var(values.mean(0), ddof=1) / values.shape[1]

    one, other = (matrix(lambda i, j, r=r: out(r.bootstrap.scores, i, j)) for r in both)
    left_out = np.nanmean(one - other)
    apparent = np.subtract(*(matrix(lambda i, j, r=r: pair_won(r.scores, i, j)) for r in both))
    optimism, training = [], []
    for b, c in enumerate(counts):
        on_draw = [roc_auc_score(event, r.bootstrap.scores[b], sample_weight=c) for r in both]
        on_training = [roc_auc_score(event, r.bootstrap.scores[b]) for r in both]
        training.append(on_training[0] - on_training[1])
        optimism.append(on_draw[0] - on_draw[1] - training[-1])
    corrected = apparent.mean() - np.mean(optimism)
    filled = np.where(np.isnan(one - other), left_out, one - other)
    s = math.sqrt(max(variance(filled), variance(apparent)) + np.var(training))
    reach = t.ppf(0.5 + level / 2, min(event.sum(), (~event).sum()) - 1) * s
    return left_out, corrected, min(left_out, corrected) - reach, max(left_out, corrected) + reach


@pytest.mark.parametrize("seed", range(6))
def test_it_is_its_definition_in_loops(seed):
    records = two(seed)
    found = compute_comparison(METHOD, records, 0.9)
    left_out, corrected, low, high = by_loops(records, 0.9)
    assert found.estimate == pytest.approx((left_out + corrected) / 2, abs=1e-12)
    assert tuple(found.raw_interval) == pytest.approx((low, high), abs=1e-12)
    assert found.details["difference_out_of_bag"] == pytest.approx(left_out, abs=1e-12)
    assert found.details["difference_optimism_corrected"] == pytest.approx(corrected, abs=1e-12)


def test_rows_of_a_group_vary_together():
    records = two(1)
    codes = Groups.of(np.arange(14) // 2)
    grouped = replace(records, groups=codes).with_record(
        SECOND, replace(records.require(SECOND), groups=codes)
    )
    alone = replace(records, groups=Groups.of(np.arange(14)))
    widths = [compute_comparison(METHOD, one, 0.95).width for one in (grouped, alone, records)]
    assert widths[0] > widths[1] == pytest.approx(widths[2], rel=0.2)


def test_a_call_refits_all_on_the_same_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "ill", "well")
    learners = {"weak": LogisticRegression(C=0.01), "usual": LogisticRegression(), "majority": "majority"}
    settings = {"metric": "c-statistic", "n_resamples": 60, "rng": 1}
    table = compare_learners(learners, X, y, **settings)
    assert [(row.a, row.b) for row in table] == [
        ("weak", "usual"),
        ("weak", "majority"),
        ("usual", "majority"),
    ]
    by_name = {(row.a, row.b): row.estimate for row in table}
    assert by_name["weak", "majority"] - by_name["usual", "majority"] == pytest.approx(
        by_name["weak", "usual"]
    )
    assert "AUC(a) - AUC(b)" in str(table)
    assert "error(" not in str(table)
    alone = compare_learners({name: learners[name] for name in ("weak", "usual")}, X, y, **settings)
    assert alone.estimate == by_name["weak", "usual"]
    assert "The AUCs of these classifiers were compared" in alone.describe().methods
    assert "Bootstrap methods used 60 resamples." in alone.describe().methods
    assert "Run: 60 resamples, seed 1." in str(alone)
    noise = compare_learners(["majority", LogisticRegression()], X[::-1, 1:], y, **settings)
    assert any("no evidence that LogisticRegression beats the majority" in one for one in noise.row.remarks)


# ---- the intervals for the Brier score against plain loops over the definitions ----


OF_PROBABILITIES = tuple(name for name, method in METHODS.items() if method.reading("probabilities"))


def random_probabilities(seed, n=24, n_draws=30, constant=None):
    rng = np.random.default_rng([seed, n])

    def draw(*shape):
        return rng.random(shape) if constant is None else np.full(shape, constant)

    counts = rng.multinomial(n, np.full(n, 1.0 / n), n_draws)
    fold = np.arange(n) // 6
    return Records(
        event=np.arange(n) % 2 == 0,
        probabilities=draw(n),
        bootstrap=BootstrapLosses(counts, probabilities=draw(n_draws, n)),
        folds=FoldLosses(None, fold, probabilities=draw(n)),
        test_set=TestSetLosses(None, n, "conditional", event=np.arange(11) % 2 == 0, probabilities=draw(11)),
        stratified_folds=RepeatedFoldLosses(
            [FoldLosses(None, fold, probabilities=each) for each in draw(2, n)]
        ),
    )


def limits_of_brier(name, records, level=0.95):
    row = compute_interval(METHODS[name], squared_errors(records), level)
    return (row.estimate, *row.raw_interval)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_equal_loops_over_rows_and_draws(seed):
    records = random_probabilities(seed)
    y, boot, n = records.event.astype(float), records.bootstrap, records.n_samples
    e = [(y[i] - records.probabilities[i]) ** 2 for i in range(n)]
    draws = [
        (c, [(y[i] - p[i]) ** 2 for i in range(n)])
        for c, p in zip(boot.counts, boot.probabilities, strict=True)
    ]
    inside = np.array([sum(c[i] * loss[i] for i in range(n)) / n for c, loss in draws])
    on_all = np.array([sum(loss) / n for _, loss in draws])
    outside = [np.mean([loss[i] for i in range(n) if c[i] == 0]) for c, loss in draws]
    low, high = math.ceil(0.025 * len(draws)) - 1, math.ceil(0.975 * len(draws)) - 1
    ordered = np.sort(outside)
    found = limits_of_brier("out-of-bag-percentile", records)
    assert found == pytest.approx((np.mean(outside), ordered[low], ordered[high]))

    corrected = np.mean(e) - np.mean(inside - on_all)
    ordered = np.sort(inside) + corrected - np.mean(e)
    found = limits_of_brier("location-shifted", records)
    assert found == pytest.approx((corrected, ordered[low], ordered[high]))

    w = inside - 1.25 * on_all
    above, below = (
        norm.ppf(0.975) * math.sqrt(((side - w.mean()) ** 2).sum() / (len(side) - 1))
        for side in (w[w >= w.mean()], w[w <= w.mean()])
    )
    assert limits_of_brier("abcloc", records) == pytest.approx(
        (corrected, corrected - above, corrected + below)
    )

    cross = np.array([(y[i] - records.folds.probabilities[i]) ** 2 for i in range(n)])
    half = norm.ppf(0.975) * cross.std() / math.sqrt(n)
    assert limits_of_brier("bayle-cv", records) == pytest.approx(
        (cross.mean(), cross.mean() - half, cross.mean() + half)
    )

    known = compute_interval(METHODS["two-center"], squared_errors(records), 0.95).details
    plus = known["at_632_plus"]
    rows = [[loss[i] for c, loss in draws if c[i] == 0] for i in range(n)]
    left_out = np.mean([np.mean(row) for row in rows])
    spread = np.mean([np.mean(np.square(row)) for row in rows]) - left_out**2
    half = t.ppf(0.975, n - 1) * math.sqrt(max(spread, np.var(e, ddof=1)) / n)
    assert limits_of_brier("632-plus-t", records) == pytest.approx((plus, plus - half, plus + half))

    new = (records.test_set.event - records.test_set.probabilities) ** 2
    half = t.ppf(0.975, 10) * new.std(ddof=1) / math.sqrt(11)
    assert limits_of_brier("test-set-t", records) == pytest.approx(
        (new.mean(), new.mean() - half, new.mean() + half)
    )


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_exchanged_classes_with_the_probability_of_the_other_change_nothing(name):
    records = random_probabilities(1)

    def swap(record):
        changes = {"probabilities": 1.0 - record.probabilities}
        if getattr(record, "event", None) is not None:
            changes["event"] = ~record.event
        return replace(record, **changes)

    swapped = replace(
        swap(records),
        bootstrap=swap(records.bootstrap),
        folds=swap(records.folds),
        test_set=swap(records.test_set),
        stratified_folds=RepeatedFoldLosses([*map(swap, records.stratified_folds.partitions)]),
    )
    assert limits_of_brier(name, swapped) == pytest.approx(limits_of_brier(name, records))


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_equal_squared_errors_are_flagged_or_have_width(name):
    row = compute_interval(METHODS[name], squared_errors(random_probabilities(0, constant=0.5)), 0.95)
    assert row.estimate == pytest.approx(0.25)
    assert (row.degenerate is None) == (name in ("two-center", "pooled"))
    if row.degenerate is not None:
        assert row.raw_interval.width == pytest.approx(0.0, abs=1e-12)
