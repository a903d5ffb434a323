"""The statements of docs/explanation/what_is_proved.md: limits by simulation, and what holds for every n."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betainc, betaincinv
from scipy.stats import binom, norm
from uniformity import Centers, constants, limit_law, shares_of, simulated

from cudbound import interval_of
from cudbound.point_estimates.bootstrap_632 import leave_one_out_bootstrap_error, no_information_error
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, FoldLosses, RepeatedFoldLosses

CENTERS = ("training", "optimism_corrected", "out_of_bag", "error_632_plus")


# ---- where a signal is of the order of chance: propositions 1 and 2 ----


@pytest.mark.parametrize("slope", [0.5, 2.5])
def test_the_means_of_the_limits_are_those_of_the_formulas(slope):
    """Expectations of N sign(a + N) and of a normal density at a normal place, against draws from the limit."""
    width, covariance = constants(0.1)
    place = slope * np.array([-1.0, 0.0, 1.0]) / width
    optimism = 2 * covariance / width * norm.pdf(place)
    correction = math.sqrt(2) * covariance / width * norm.pdf(place / math.sqrt(2))
    law = limit_law(0.1, slope, 400_000, np.random.default_rng(0))
    assert law.training.mean() == pytest.approx(-optimism.sum(), abs=0.005)
    found = (law.optimism_corrected - law.training).mean()
    assert found == pytest.approx(correction.sum(), abs=0.005)
    assert correction / optimism == pytest.approx(np.exp(place**2 / 4) / math.sqrt(2), abs=1e-12)
    assert shares_of(0.1).sum() == pytest.approx(1.0)


def test_the_coverage_of_the_page_in_the_limit():
    def law(mass: float, slope: float) -> Centers:
        return limit_law(mass, slope, 200_000, np.random.default_rng(0))

    three = law(0.1, 2.75).coverage()
    assert three["E_o alone"] == pytest.approx(0.910, abs=0.003)
    assert three["E_o, and T below it"] == pytest.approx(0.961, abs=0.003)
    assert law(0.1, 3.5).coverage()["two-center, not capped"] == pytest.approx(0.945, abs=0.003)
    # no case in the middle: one binary predictor
    assert law(0.0, 2.75).coverage()["E_o alone"] == pytest.approx(0.906, abs=0.003)
    assert law(0.0, 3.5).coverage()["two-center, not capped"] == pytest.approx(0.937, abs=0.003)
    for slope in (0.5, 2.75, 6.5):
        assert law(0.0, slope).coverage()["E_o, and T below it"] > 0.948


def agree(mass: float, slope: float, n: int, n_sets: int, n_resamples: int) -> None:
    """Compare means, quantiles, the trigger and coverage of simulated sets with the limit, within 4 errors."""
    law = limit_law(mass, slope, 400_000, np.random.default_rng(0))
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
    noise = 4 * math.sqrt(0.25 / n_sets)
    assert sets.triggered.mean() == pytest.approx(law.triggered.mean(), abs=noise)
    assert sets.coverage() == pytest.approx(law.coverage(), abs=4 * math.sqrt(0.07 / n_sets) + 0.003)


def test_simulated_sets_follow_the_limit():
    agree(0.1, 2.5, 2000, 1500, 100)


@pytest.mark.long
@pytest.mark.parametrize("mass", [0.1, 0.4])
@pytest.mark.parametrize("slope", [0.5, 2.5, 5.0])
def test_many_simulated_sets_follow_the_limit(mass, slope):
    agree(mass, slope, 10_000, 10_000, 300)


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


def centers_of_one_set(n: int, n_resamples: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return sqrt(n) (E_o - T), sqrt(n) (Err(1) - T) and the ratio R of the trigger."""
    y, x = (one[0] for one in labels_and_features(1, n, rng))
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    fitted = (x > threshold_of(x, y, np.ones(n))) != (y > 0)
    losses = (x > threshold_of(x, y, counts)[:, None]) != (y > 0)
    training = float(fitted.mean())
    # the mean of (P_n - P*) e of the fitted classifier over all draws is 0: taking it away leaves less noise
    corrected = float(np.mean((1 - counts) * (losses ^ fitted) * np.where(fitted, -1, 1)))
    out_of_bag = float(leave_one_out_bootstrap_error(losses, counts))
    gamma = float(no_information_error(np.mean(y > 0), np.mean(fitted == (y < 0))))
    root = math.sqrt(n)
    return root * corrected, root * (out_of_bag - training), (out_of_bag - training) / (gamma - training)


@pytest.mark.slow
def test_the_centers_approach_the_training_error_and_the_trigger_ceases():
    """Lemmas 2 and 3: both distances, times sqrt(n), become small, and so does the ratio of the trigger."""
    rng = np.random.default_rng(0)
    small, large = (
        np.abs([centers_of_one_set(n, 100, rng) for _ in range(60)]).mean(axis=0) for n in (100, 6400)
    )
    assert np.all(large < 0.5 * small)
    assert large[2] < 0.05


# ---- every n ----


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_holds_the_binomial_limits_of_both_centers(seed):
    """F1: and is never of zero width, nor below the limit at no errors."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    rate, training, held_out = rng.choice([0.0, 0.02, 0.3, 0.7], 3)
    records = [
        BootstrapLosses(draw_counts(n, 40, rng), rng.random((40, n)) < rate),
        RepeatedFoldLosses([FoldLosses(rng.random(n) < held_out, np.arange(n) % 10) for _ in range(5)]),
    ]
    known = {"training_losses": rng.random(n) < training, "positive": 0.4, "predicted_positive": 0.3}
    row = interval_of(records, "two-center", **known)
    for center in (row.details["cross_validated"], row.details["at_632_plus"]):
        wrong = center * n
        lower = betaincinv(wrong, n - wrong + 1, 0.025) if wrong > 0 else 0.0
        upper = betaincinv(wrong + 1, n - wrong, 0.975) if wrong < n else 1.0
        assert row.low <= lower + 1e-12
        assert row.high >= upper - 1e-12
    assert row.high > row.low
    assert row.high >= 1 - 0.025 ** (1 / n) - 1e-12
    one_sided = interval_of(records, "two-center", alternative="less", **known)
    assert one_sided.high >= 1 - 0.05 ** (1 / n) - 1e-12


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


@pytest.mark.parametrize("t", [0.05, 0.3, 0.3813, 0.8])
def test_domination_at_real_numbers_is_enough(t):
    """F2: the count of new cases itself is dominated, and no interval for it fails more often than it may."""
    k = np.arange(11)
    missed = betainc(10 - k[:-1], k[:-1] + 1, 1 - t) < 0.025
    assert binom.pmf(k[:-1], 10, t)[missed].sum() <= 0.025


def test_no_valid_limit_is_shorter_where_nothing_is_wrong():
    """F3: labels are flipped with probability p in two clusters; then T = 0 and the error p come together."""
    n, delta = 30, 0.05
    limit = 1 - delta ** (1 / n)
    both_clusters = 1 - 2.0 ** (1 - n)
    too_short = limit - 1e-6
    assert (1 - (too_short + 5e-7)) ** n * both_clusters > delta
    assert (1 - limit) ** n * both_clusters <= delta
