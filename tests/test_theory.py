"""The statements of what_is_proved.md and counter_example.md: limits by simulation, and what holds for every n."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betainc, betaincinv
from scipy.stats import binom, norm
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from uniformity import FEATURE, estimated, limit_law, shares_of, simulated

from cudbound import from_records
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, FoldLosses, Records, RepeatedFoldLosses
from cudbound.records.losses import leave_one_out_bootstrap_error
from cudbound.study.populations.worlds import ThreePoint

#: Coverage at n rows where 40 % of the cases are on the boundary, as docs/explanation/counter_example.md has it.
BOUNDARY = [(100, 0.948), (200, 0.915), (400, 0.876), (1600, 0.844)]
CENTERS = ("training", "cross_validated", "out_of_bag", "error_632_plus")


# ---- where a signal is of the order of chance: propositions 1 and 2 ----


@pytest.mark.parametrize("slope", [0.5, 2.5])
def test_the_mean_of_the_training_error_is_that_of_the_formula(slope):
    """E[N sign(a + N)] is twice the normal density at a: the optimism, against draws from the limit."""
    leverage = 1.0 + FEATURE**2 / 0.9
    place = slope * FEATURE / np.sqrt(leverage)
    optimism = (shares_of(0.1) * np.sqrt(leverage) * norm.pdf(place)).sum()
    law = limit_law(0.1, slope, 100_000, np.random.default_rng(0))
    assert law.training.mean() == pytest.approx(-optimism, abs=0.005)
    assert shares_of(0.1).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("mass", "slope", "cv", "plus", "both"),
    [(0.0, 1.97, 0.911, 0.844, 0.931), (0.1, 2.4, 0.920, 0.866, 0.940), (0.0, 0.0, 0.889, 0.932, 0.960)],
)
def test_the_coverage_of_the_page_in_the_limit(mass, slope, cv, plus, both):
    """No case in the middle is one binary predictor: .931 is the lowest coverage of the picture and beside it."""
    coverage = limit_law(mass, slope, 100_000, np.random.default_rng(0)).coverage()
    assert list(coverage.values()) == pytest.approx([cv, plus, both], abs=0.003)


def test_below_a_slope_of_1_96_the_lower_limit_of_632_plus_is_right():
    """Where Err(1) is cut, .632+ is 1/2, which is slope / (2 sqrt n) above the error of the right direction."""
    half = 0.5 * norm.ppf(0.975)
    for slope, missed in ((1.95, 0.0), (1.97, 0.034)):
        low, _ = limit_law(0.0, slope, 100_000, np.random.default_rng(0)).intervals()["two-center"]
        assert np.mean(low > half) == pytest.approx(missed, abs=0.003)


def coverage_on_the_boundary(n: int, n_sets: int, n_resamples: int) -> float:
    """Return the coverage of two-center where 40 % of the cases are on the boundary of the limiting classifier."""
    error, centers = estimated(ThreePoint(), n, n_sets, n_resamples, np.random.default_rng(0))
    low, high = (n * center for center in centers.intervals()["two-center"])
    lower = np.where(low > 0, betaincinv(np.maximum(low, 1e-9), n - low + 1, 0.025), 0.0)
    return float(np.mean((lower <= error) & (error <= betaincinv(high + 1, n - high, 0.975))))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "coverage"), BOUNDARY)
def test_the_coverage_of_the_page_on_the_boundary(n, coverage):
    assert coverage_on_the_boundary(n, 4000, 100) == pytest.approx(coverage, abs=0.0006)


def agree(mass: float, slope: float, n: int, n_sets: int, n_resamples: int) -> None:
    """Compare means, quantiles and coverage of simulated sets with the limit, within 4 errors."""
    law = limit_law(mass, slope, 100_000, np.random.default_rng(0))
    sets = simulated(mass, slope, n, n_sets, n_resamples, np.random.default_rng(1))
    rounding = 1.0 / math.sqrt(n)  # the training error is a multiple of 1/n
    for name in CENTERS:
        limit, found = getattr(law, name), getattr(sets, name)
        error = float(limit.std()) / math.sqrt(n_sets)
        assert found.mean() == pytest.approx(limit.mean(), abs=4 * error + rounding / 2), name
        for level in (0.05, 0.25, 0.5, 0.75, 0.95):
            place = float(np.quantile(limit, level))
            share = math.sqrt(level * (1 - level) / n_sets)
            assert np.mean(found <= place - rounding) <= level + 4 * share, (name, level)
            assert np.mean(found <= place + rounding) >= level - 4 * share, (name, level)
    assert sets.coverage() == pytest.approx(law.coverage(), abs=4 * math.sqrt(0.07 / n_sets) + 0.003)


def test_simulated_sets_follow_the_limit():
    agree(0.1, 2.5, 2000, 1500, 100)


# ---- the regular case: lemmas 1 to 3 ----

#: Two normal classes a distance 2 apart, a fifth of the cases in the upper one, which varies half as much.
PREVALENCE, SPREAD = 0.2, 0.5


def error_at(threshold):
    """Return the error of calling positive what is above the threshold."""
    return PREVALENCE * norm.cdf((threshold - 1) / SPREAD) + (1 - PREVALENCE) * norm.cdf(-(threshold + 1))


def labels_and_features(n_sets: int, n: int, rng: np.random.Generator):
    y = np.where(rng.random((n_sets, n)) < PREVALENCE, 1.0, -1.0)
    return y, y + rng.normal(size=y.shape) * np.where(y > 0, SPREAD, 1.0)


def threshold_of(x, y, counts):
    """Return where least squares changes the class, of weighted rows; its slope is positive here."""
    n = counts.sum(axis=-1)
    mean_x, mean_y = (counts * x).sum(axis=-1) / n, (counts * y).sum(axis=-1) / n
    slope = ((counts * x * y).sum(axis=-1) / n - mean_x * mean_y) / (
        (counts * x**2).sum(axis=-1) / n - mean_x**2
    )
    assert np.all(slope > 0)
    return mean_x - mean_y / slope


def limit_of_the_threshold() -> float:
    mean, between = 2 * PREVALENCE - 1, 4 * PREVALENCE * (1 - PREVALENCE)
    within = PREVALENCE * SPREAD**2 + 1 - PREVALENCE
    return mean - mean * (within + between) / between


def test_the_training_error_is_binomial_around_the_error_of_this_classifier():
    """Lemma 1, where the error of the limit has a slope, so that the error of the classifier varies as much."""
    n, n_sets, limit = 4000, 1500, limit_of_the_threshold()
    slope = (error_at(limit + 1e-4) - error_at(limit - 1e-4)) / 2e-4
    assert abs(slope) == pytest.approx(0.083, abs=0.001)
    y, x = labels_and_features(n_sets, n, np.random.default_rng(0))
    threshold = threshold_of(x, y, np.ones_like(x))
    training = np.mean((x > threshold[:, None]) != (y > 0), axis=1)
    deviation = math.sqrt(n) * (training - error_at(threshold))
    expected = math.sqrt(error_at(limit) * (1 - error_at(limit)))
    assert deviation.std() == pytest.approx(expected, rel=4 / math.sqrt(2 * n_sets))
    assert deviation.mean() == pytest.approx(0.0, abs=0.1 * expected)
    z = norm.ppf(0.975)
    assert np.mean(np.abs(deviation) <= z * expected) == pytest.approx(
        0.95, abs=4 * math.sqrt(0.0475 / n_sets)
    )
    # around the average error of such classifiers the same training error varies by another amount
    varies = math.sqrt(n) * error_at(threshold).std()
    assert varies == pytest.approx(abs(slope) * math.sqrt(n) * threshold.std(), rel=0.1)
    assert varies > 0.2 * expected


def centers_of_one_set(n: int, n_resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return sqrt(n) (cv - T) and sqrt(n) (Err(1) - T)."""
    y, x = (rows[0] for rows in labels_and_features(1, n, rng))
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    fitted = (x > threshold_of(x, y, np.ones(n))) != (y > 0)
    losses = (x > threshold_of(x, y, counts)[:, None]) != (y > 0)
    out_of_bag = float(leave_one_out_bootstrap_error(losses, counts))
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=int(rng.integers(2**31)))
    tested = np.zeros((50, n))
    for row, (_, test) in zip(tested, folds.split(x, y), strict=True):
        row[test] = 1.0
    out_of_fold = (x > threshold_of(x, y, 1.0 - tested)[:, None]) != (y > 0)
    cross_validated = float((tested * out_of_fold).sum() / (5 * n))
    return math.sqrt(n) * (cross_validated - fitted.mean()), math.sqrt(n) * (out_of_bag - fitted.mean())


@pytest.mark.slow
def test_the_centers_approach_the_training_error():
    """Lemmas 2 and 3: both distances, times sqrt(n), become small."""
    rng = np.random.default_rng(0)
    small, large = (
        np.abs([centers_of_one_set(n, 100, rng) for _ in range(60)]).mean(axis=0) for n in (100, 6400)
    )
    assert np.all(large < 0.5 * small)


# ---- any learner ----


def one_neighbor(n: int, n_folds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return cv of one nearest neighbor, the mean error of the classifiers of its folds, and that of the classifier."""

    def probability(x):
        return np.where(x > 0.5, 0.8, 0.2)

    grid = (np.arange(2000) + 0.5) / 2000
    x = rng.random(n)
    y = rng.random(n) < probability(x)

    def error(rows) -> float:
        called = nearest(x[rows], y[rows], grid)
        return float(np.mean(np.where(called, 1 - probability(grid), probability(grid))))

    folds = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31))).split(x, y)
    tested = [
        (np.sum(nearest(x[train], y[train], x[test]) != y[test]) / n, test.size / n * error(train))
        for train, test in folds
    ]
    return *np.sum(tested, axis=0), error(np.arange(n))


def nearest(x, y, at):
    """Return the label of the row that is nearest to each place."""
    order = np.argsort(x)
    middles = (x[order][1:] + x[order][:-1]) / 2
    return y[order][np.searchsorted(middles, at)]


def test_cross_validation_is_near_the_mean_error_of_its_classifiers():
    """Theorem 2 for a learner that fits every row: within sqrt(K / n) / 2, in the root of the mean square."""
    rng = np.random.default_rng(0)
    drift = []
    for n in (60, 1500):
        cv, of_folds, of_all = np.transpose([one_neighbor(n, 10, rng) for _ in range(80)])
        assert 0.2 / math.sqrt(n) < math.sqrt(np.mean((cv - of_folds) ** 2)) < math.sqrt(10 / n) / 2
        drift.append(np.mean(np.abs(of_folds - of_all)))
    assert drift[1] < 0.5 * drift[0]  # so cv is consistent for the error of this classifier


# ---- every n ----


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_holds_the_binomial_limits_of_both_centers(seed):
    """F1: and is never of zero width, nor below the limit at no errors."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    rate, training, held_out = rng.choice([0.0, 0.02, 0.3, 0.7], 3)
    records = Records(
        bootstrap=BootstrapLosses(draw_counts(n, 40, rng), rng.random((40, n)) < rate),
        stratified_folds=RepeatedFoldLosses(
            [FoldLosses(rng.random(n) < held_out, np.arange(n) % 5) for _ in range(2)]
        ),
        losses=rng.random(n) < training,
        no_information=0.4 * 0.7 + 0.6 * 0.3,
    )
    row = from_records(records, "two-center")
    for center in (row.details["cross_validated"] * n, row.details["at_632_plus"] * n):
        lower = betaincinv(center, n - center + 1, 0.025) if center > 0 else 0.0
        upper = betaincinv(center + 1, n - center, 0.975) if center < n else 1.0
        assert row.low <= lower + 1e-12
        assert row.high >= upper - 1e-12
    assert row.low <= row.estimate <= row.high
    assert row.high > row.low
    assert row.high >= 1 - 0.025 ** (1 / n) - 1e-12
    assert from_records(records, "two-center", alternative="less").high >= 1 - 0.05 ** (1 / n) - 1e-12


def test_domination_at_whole_numbers_is_not_enough():
    """F2: a center below 1 of 10 as often as a binomial count is at most 1, and no more, is missed too often."""
    n, t = 10, 0.3813

    def continued(k: float) -> float:  # the probability that up(k) is not below t
        return float(betainc(n - k, k + 1, 1 - t))

    at = [0.0, 0.499, *range(2, n + 1)]  # the center times n, with the probabilities of 0, 1, 2, ...
    probability = binom.pmf(np.arange(n + 1), n, t)
    for k in range(n + 1):
        assert probability[np.array(at) <= k].sum() <= binom.cdf(k, n, t) + 1e-12
    missed = [place for place in at if continued(place) < 0.025]
    assert missed == [0.0, 0.499]
    assert all(betaincinv(place + 1, n - place, 0.975) < t for place in missed)
    assert binom.cdf(1, n, t) == pytest.approx(0.0589, abs=1e-4)
    # at real numbers the domination fails, as it must
    assert probability[:2].sum() > binom.cdf(0.499, n, t)
