"""The recommended interval: a second implementation in plain Python, properties, and worlds in which others fail."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, performance_interval
from cudbound.basis.groups import Groups
from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.intervals import METHODS, compute_interval
from cudbound.metrics.views import scored, squared_errors
from cudbound.problem.draws import draw_counts
from cudbound.records import (
    BootstrapLosses,
    Design,
    FoldLosses,
    Records,
    RepeatedFoldLosses,
    no_information_error,
)
from cudbound.study.worlds import Binary, Correlated, Gaussians, Noise

# ---- the interval around cross-validation and .632+: a second implementation in plain Python, and properties ----


METHOD = METHODS["two-center"]
PROPERTY = settings(max_examples=50, deadline=None, derandomize=True, database=None)
LEVELS = st.floats(0.05, 0.999)
SEEDS = {"seed": st.integers(0, 10**6), "n": st.sampled_from([6, 11, 30]), "grouped": st.booleans()}


def of(records, level=0.95, **keywords):
    return compute_interval(METHOD, records, level, **keywords)


def numbers(row):
    return row.estimate, row.raw_interval.low, row.raw_interval.high


# ---- losses and scores that no classifier made ----


def some_draws(rng, n, groups, n_draws=20):
    """Return draws, half of them without copies, as of learners that split their rows."""
    counts = draw_counts(n, n_draws, rng, groups)
    return np.where(np.arange(n_draws)[:, None] % 2, np.minimum(counts, 1), counts)


def some_groups(n, grouped):
    """Return groups of one to three rows."""
    return Groups.of(np.repeat(np.arange(n), np.arange(n) % 3 + 1)[:n]) if grouped else None


def some_losses(seed, n, wrong, grouped, *, rank=math.nan, memorized=False, **known):
    rng = np.random.default_rng([seed, n])
    groups = some_groups(n, grouped)
    counts = some_draws(rng, n, groups)
    partitions = [FoldLosses(rng.random(n) < wrong, rng.permutation(np.arange(n) % 3)) for _ in range(4)]
    return Records(
        losses=(rng.random(n) < wrong) & (not memorized),
        no_information=no_information_error(rng.random(), rng.random()),
        bootstrap=BootstrapLosses(counts, rng.random(counts.shape) < wrong, uneven=True),
        stratified_folds=RepeatedFoldLosses(partitions),
        design=Design(n, rank, n_groups=None if groups is None else groups.n_groups),
        groups=groups,
        **known,
    )


def some_scores(seed, n, grouped, *, signal=1.0, probabilities=False):
    """Return scores with ties, or probabilities; one fold of a partition was predicted by a fit to one class."""
    rng = np.random.default_rng([seed, n])
    event = np.arange(n) % 3 == 0
    groups = some_groups(n, grouped)
    counts = some_draws(rng, n, groups)

    def draw(*shape):
        values = rng.normal(size=shape) + signal * event
        return (1.0 / (1.0 + np.exp(-values)) if probabilities else values).round(1)

    fold = np.stack([rng.permutation(np.arange(n) % 3) for _ in range(3)])
    of_folds = draw(3, n)
    of_folds[0, fold[0] == 1] = np.nan
    name, zipped = "probabilities" if probabilities else "scores", zip(of_folds, fold, strict=True)
    of_rows, of_draws = draw(n), draw(*counts.shape)
    return Records(
        event=event,
        bootstrap=BootstrapLosses(counts, uneven=True, **{name: of_draws}),
        groups=groups,
        stratified_folds=RepeatedFoldLosses(
            [FoldLosses(None, each, **{name: values}) for values, each in zipped]
        ),
        **{name: of_rows},
    )


# ---- the same in plain Python ----


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def lower_limit(center, size, tail):
    return 0.0 if center <= 0.0 else float(beta.ppf(tail, size * center, size - size * center + 1))


def upper_limit(center, size, tail):
    return 1.0 if center >= 1.0 else float(beta.ppf(1 - tail, size * center + 1, size - size * center))


def plus_632(training, left_out, gamma):
    cut = min(left_out, gamma)
    rate = (cut - training) / (gamma - training) if cut > training else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    return (1 - weight) * training + weight * cut


def left_out_mean(losses, counts):
    """Err(1): the mean over rows of their mean loss over the draws without them."""
    of_rows = []
    for i in range(len(losses[0])):
        outside = [loss[i] for loss, count in zip(losses, counts, strict=True) if count[i] == 0]
        if outside:
            of_rows.append(mean(outside))
    return mean(of_rows)


def rows_that_count(losses, counts, codes, n_rows):
    """The number of rows over the design effect of the out-of-bag losses, at least Kish's number of groups."""
    n = len(codes)
    pairs = [(b, i) for b in range(len(counts)) for i in range(n) if counts[b][i] == 0]
    middle = mean(losses[b][i] for b, i in pairs)
    of_rows = sum((losses[b][i] - middle) ** 2 for b, i in pairs)
    of_groups = 0.0
    for b in range(len(counts)):
        sums = dict.fromkeys(codes, 0.0)
        for i in range(n):
            sums[codes[i]] += losses[b][i] - middle if counts[b][i] == 0 else 0.0
        of_groups += sum(one**2 for one in sums.values())
    effect = of_groups / of_rows if of_rows > 0 else math.inf
    kish = n**2 / sum(codes.count(code) ** 2 for code in set(codes))
    return max(n_rows / max(effect, 1.0), min(kish, n_rows))


def by_hand(training, cross_validated, left_out, plus, size, tail, *, perfect=False):
    """Return estimate and limits of a mean loss, `size` the number of cases at a center."""
    low, high = min(cross_validated, plus), max(cross_validated, plus, (cross_validated + left_out) / 2)
    lower = 0.0 if perfect else lower_limit(low, size(low), tail)
    return (cross_validated + plus) / 2, lower, upper_limit(high, size(high), tail)


def error_by_hand(records, tail):
    counts, losses = records.bootstrap.counts.tolist(), records.bootstrap.losses.astype(int).tolist()
    training, n = mean(records.losses.tolist()), records.n_samples
    codes = list(range(n)) if records.groups is None else records.groups.codes.tolist()
    left_out = left_out_mean(losses, counts)
    plus = plus_632(training, left_out, records.no_information)
    cross = mean(mean(part.losses.tolist()) for part in records.stratified_folds.partitions)
    perfect = training == 0 and records.design.rank <= len(set(codes)) / 3
    rows = n if math.isnan(records.effective_rows) else records.effective_rows
    if records.groups is not None:
        rows = rows_that_count(losses, counts, codes, rows)
    # misclassified rows of different costs vary less than zeros and ones
    center, ratio = 0.0 if perfect else min(cross, plus), records.square_ratio
    cases = rows * (1 - center) / (ratio - center) if center < ratio else rows
    return by_hand(training, cross, left_out, plus, lambda _: cases, tail, perfect=perfect)


def won(one, other):
    return 1.0 if one > other else 0.5 if one == other else 0.0


def auc(scores, event):
    rows = range(len(event))
    pairs = [(i, j) for i in rows if event[i] for j in rows if not event[j]]
    return mean(won(scores[i], scores[j]) for i, j in pairs)


def left_out_auc(scores, counts, event):
    rows, of_pairs = range(len(event)), []
    for i in rows:
        for j in rows:
            both = [s for s, c in zip(scores, counts, strict=True) if c[i] == c[j] == 0]
            if event[i] and not event[j] and both:
                of_pairs.append(mean(won(s[i], s[j]) for s in both))
    return mean(of_pairs)


def auc_in_folds(partitions, event):
    halves = []
    for folds in partitions:
        scores, fold = folds.scores.tolist(), folds.fold.tolist()
        for i in range(len(event)):
            for j in range(len(event)):
                if event[i] and not event[j] and fold[i] == fold[j]:
                    halves.append(0.5 if math.isnan(scores[i]) else won(scores[i], scores[j]))
    return mean(halves)


def delong_by_hand(scores, event, codes=None):
    """DeLong's variance, or that of Obuchowski (1997) for rows in clusters."""
    rows = range(len(event))
    events, others = [i for i in rows if event[i]], [i for i in rows if not event[i]]
    whole = auc(scores, event)
    v = {i: mean(won(scores[i], scores[j]) for j in others) - whole for i in events}
    w = {j: mean(won(scores[i], scores[j]) for i in events) - whole for j in others}
    if codes is None:
        return sum(sum(one**2 for one in part.values()) / (len(part) - 1) / len(part) for part in (v, w))
    clusters = sorted(set(codes))
    sums = [[sum(part.get(i, 0.0) for i in rows if codes[i] == k) for k in clusters] for part in (v, w)]
    found = 0.0
    for part, members in zip(sums, (events, others), strict=True):
        n_with = len({codes[i] for i in members})
        found += n_with / (n_with - 1) * sum(one**2 for one in part) / len(members) ** 2
    both = sum(a * b for a, b in zip(*sums, strict=True))
    return found + 2 * len(clusters) / (len(clusters) - 1) * both / (len(events) * len(others))


def auc_by_hand(records, tail):
    event, scores = records.event.tolist(), records.scores.tolist()
    counts, on_draws = records.bootstrap.counts.tolist(), records.bootstrap.scores.tolist()
    codes = None if records.groups is None else records.groups.codes.tolist()
    m, k = sum(event), len(event) - sum(event)
    variance = plain = delong_by_hand(scores, event)
    fewer, shrinkage = float(min(m, k)), 1.0
    if codes is not None:
        variance = delong_by_hand(scores, event, codes)
        fewer = float(
            min(len({c for c, e in zip(codes, event, strict=True) if e is y}) for y in (True, False))
        )
        shrinkage = min(1.0, plain / variance) if variance > 0 else 1.0

    def size(loss):
        """Newcombe's method 5: the variance of Hanley and McNeil, with N/2 - 1 for both sizes minus one."""
        a = 1.0 - loss
        ratio = (1 + ((m + k) / 2 - 1) * ((1 - a) / (2 - a) + a / (1 + a))) / (m * k)
        cases = max(shrinkage / ratio, fewer)
        cases = fewer + (cases - fewer) * min(1.0, fewer * loss)
        if variance > 0:
            cases = min(cases, a * (1 - a) / variance)
        return max(cases, fewer)

    training, left_out = 1 - auc(scores, event), 1 - left_out_auc(on_draws, counts, event)
    within = 1 - auc_in_folds(records.stratified_folds.partitions, event)
    plus = plus_632(training, left_out, 0.5)
    estimate, low, high = by_hand(training, within, left_out, plus, size, tail)
    return 1 - estimate, 1 - high, 1 - low


def brier_by_hand(records, tail):
    y, p = records.event.astype(float).tolist(), records.probabilities.tolist()
    counts, n = records.bootstrap.counts.tolist(), len(y)
    losses = [[(y[i] - s[i]) ** 2 for i in range(n)] for s in records.bootstrap.probabilities.tolist()]
    own = [(y[i] - p[i]) ** 2 for i in range(n)]
    cross = []
    for folds in records.stratified_folds.partitions:
        scores, fold = folds.probabilities.tolist(), folds.fold.tolist()
        for i in range(n):
            # a fit to one class gives it the probability 1; here both were there, and it gave their share
            share = mean(y[j] for j in range(n) if fold[j] != fold[i])
            cross.append((y[i] - (share if math.isnan(scores[i]) else scores[i])) ** 2)
    training, left_out = mean(own), left_out_mean(losses, counts)
    squares = left_out_mean([[one**2 for one in row] for row in losses], counts)
    variance = max(squares - left_out**2, sum((one - training) ** 2 for one in own) / (n - 1))
    gamma = mean((a - b) ** 2 for a in y for b in p)
    rows = n
    if records.groups is not None:
        rows = rows_that_count(losses, counts, records.groups.codes.tolist(), n)

    def size(center):
        if center in (0.0, 1.0):
            return rows
        most = center * (1 - center)
        return rows * most / min(variance + 0.25 * (1 - center) ** 2 / rows, most)

    plus = plus_632(training, left_out, gamma)
    return by_hand(training, mean(cross), left_out, plus, size, tail)


#: A classifier without training errors, and rows with weights or costs.
KNOWN = st.fixed_dictionaries(
    {}, optional={"memorized": st.just(True), "effective_rows": st.just(5.5), "square_ratio": st.just(0.6)}
)


@PROPERTY
@given(
    **SEEDS,
    wrong=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    level=LEVELS,
    rank=st.integers(1, 30),
    known=KNOWN,
)
@example(
    seed=0, n=30, grouped=False, wrong=0.3, level=0.95, rank=3, known={"memorized": True, "square_ratio": 0.6}
)
def test_the_error_agrees_with_plain_python(seed, n, grouped, wrong, level, rank, known):
    records = some_losses(seed, n, wrong, grouped, rank=rank, **known)
    assert numbers(of(records, level)) == pytest.approx(error_by_hand(records, (1 - level) / 2), abs=1e-9)


@PROPERTY
@given(**SEEDS, signal=st.sampled_from([-1.0, 0.0, 1.0, 5.0]), level=LEVELS)
def test_the_auc_agrees_with_plain_python(seed, n, grouped, signal, level):
    records = scored(some_scores(seed, n, grouped, signal=signal))
    assert numbers(of(records, level)) == pytest.approx(auc_by_hand(records, (1 - level) / 2), abs=1e-9)


@PROPERTY
@given(**SEEDS, signal=st.sampled_from([-1.0, 0.0, 1.0, 5.0]), level=LEVELS)
def test_the_brier_score_agrees_with_plain_python(seed, n, grouped, signal, level):
    records = scored(some_scores(seed, n, grouped, signal=signal, probabilities=True))
    row = of(squared_errors(records), level)
    assert numbers(row) == pytest.approx(brier_by_hand(records, (1 - level) / 2), abs=1e-9)


# ---- properties ----


@PROPERTY
@given(**SEEDS, wrong=st.floats(0.0, 1.0), level=LEVELS)
def test_the_interval_of_the_error_holds_those_of_clopper_and_pearson_at_both_estimates(
    seed, n, grouped, wrong, level
):
    row = of(some_losses(seed, n, wrong, grouped), level)
    tail, cases = (1 - level) / 2, row.details["lower_size"]
    assert cases <= n + 1e-9
    for center in (row.details["cross_validated"], row.details["at_632_plus"]):
        assert row.low <= lower_limit(center, cases, tail) + 1e-9
        assert row.high >= upper_limit(center, cases, tail) - 1e-9
    assert 0.0 <= row.low <= row.estimate <= row.high <= 1.0
    assert row.low < row.high


@pytest.mark.parametrize(
    ("training", "rank", "grouped", "perfect"),
    [
        (0, 10, False, True),
        (0, 11, False, False),
        (0, math.nan, False, False),  # no linear form, no rank
        (1, 3, False, False),
        (0, 5, True, True),  # a third of the 15 groups, of two rows each
        (0, 6, True, False),
    ],
)
def test_a_classifier_of_few_columns_without_a_training_error_may_have_none(training, rank, grouped, perfect):
    n, rng = 30, np.random.default_rng(0)
    groups = Groups.of(np.arange(n) // 2) if grouped else None
    counts = draw_counts(n, 20, rng, groups)
    records = Records(
        losses=np.arange(n) < training,
        no_information=0.5,
        bootstrap=BootstrapLosses(counts, rng.random(counts.shape) < 0.3),
        stratified_folds=RepeatedFoldLosses([FoldLosses(rng.random(n) < 0.3, np.arange(n) // 2 % 3)]),
        design=Design(n, rank, n_groups=None if groups is None else groups.n_groups),
        groups=groups,
    )
    row = of(records)
    assert (row.low == 0.0) == perfect
    assert ("no training error with few columns: lower limit 0" in row.remarks) == perfect
    assert row.details["lower_center"] > 0.1
    assert row.details.get("rank") == (None if math.isnan(rank) else rank)


# ---- worlds in which intervals from bootstrap refits alone are too short or too long, a few sets of each ----


SELECTION = make_pipeline(SelectKBest(f_classif, k=4), LeastSquaresClassifier())


def rows_of(classifier, world, n, n_sets, n_resamples):
    """Return the true error and the interval of each training set; none of it depends on the machine's speed."""
    found = []
    for seed in range(n_sets):
        rng = np.random.default_rng([seed, n])
        drawn = world.draw(n, rng)
        fitted = clone(classifier).fit(drawn.X, drawn.y)
        with warnings.catch_warnings(action="ignore"):
            row = performance_interval(fitted, drawn.X, drawn.y, n_resamples=n_resamples, rng=seed)
        found.append((drawn.true_error(fitted).value, row))
    return found


def coverage(rows):
    return float(np.mean([row.row.low <= truth <= row.row.high for truth, row in rows]))


def relative_width(rows, n):
    """Return the mean width over that of an interval from n new cases with the mean true error."""
    error = np.mean([truth for truth, _ in rows])
    new_cases = inverted_binomial_interval(error * n, n, 0.95).width
    return float(np.mean([row.row.width for _, row in rows])) / new_cases


@pytest.mark.parametrize(
    ("classifier", "world", "n", "n_sets"),
    [
        pytest.param(SELECTION, Noise(n_features=200), 40, 30, marks=pytest.mark.slow),
        (LogisticRegression(), Gaussians(n_features=60), 100, 20),
        pytest.param(DecisionTreeClassifier(random_state=0), Gaussians(), 100, 25, marks=pytest.mark.slow),
        pytest.param(KNeighborsClassifier(1), Gaussians(), 100, 25, marks=pytest.mark.slow),
        pytest.param(LeastSquaresClassifier(), Correlated(n_features=46), 50, 40, marks=pytest.mark.slow),
        pytest.param(LeastSquaresClassifier(), Correlated(n_features=92), 100, 30, marks=pytest.mark.slow),
    ],
    ids=["selection", "logistic", "tree", "neighbor", "46 of 50", "92 of 100"],
)
def test_classifiers_that_overfit_are_covered_by_intervals_that_say_something(classifier, world, n, n_sets):
    rows = rows_of(classifier, world, n, n_sets, 40)
    assert coverage(rows) >= 0.92
    assert relative_width(rows, n) <= 1.5


@pytest.mark.slow
def test_one_binary_predictor_is_covered():
    """An odds ratio of 5 at 30 rows."""
    rows = rows_of(LeastSquaresClassifier(), Binary(n_features=1, n_signal=1, signal=1.0), 30, 250, 50)
    assert coverage(rows) >= 0.93
    assert relative_width(rows, 30) <= 1.2
