"""Simulated populations: true errors against sampling, quadrature, enumeration and closed forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tiers import quick_first

from cudbound import LeastSquaresClassifier
from cudbound.study.populations.population import ContinuousWorld, linear_rule, sampled_truth, share_truth
from cudbound.study.populations.worlds import (
    WORLDS,
    Binary,
    Discrete,
    Donut,
    FiniteWorld,
    Gaussians,
    Quadratic,
    ThreePoint,
)

FINITE = tuple(name for name, world in WORLDS.items() if isinstance(world(), FiniteWorld))
#: With a formula for linear rules; what is neither is judged on a sample.
CONTINUOUS = tuple(name for name, world in WORLDS.items() if isinstance(world(), ContinuousWorld))
# 1 in 150000 for a correct program, and every seed is fixed
LARGEST_Z = 4.5


def rule(width, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(width) + 0.5, 0.3


def fitted(world, classifier=None, n=60, seed=1):
    drawn = world.draw(n, np.random.default_rng(seed))
    return (classifier or LeastSquaresClassifier()).fit(drawn.X, drawn.y)


def share_wrong(world, predict, n_chunks=10, chunk=200_000):
    """Return the share of wrong predictions on two million cases."""
    rng = np.random.default_rng(77)
    wrong = 0
    for _ in range(n_chunks):
        X, y = world.sample(chunk, rng)
        wrong += int(np.sum(predict(X) != y))
    return wrong / (n_chunks * chunk)


def z_value(share, exact, n):
    return (share - exact) / math.sqrt(exact * (1.0 - exact) / n)


# --- the true error ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", quick_first(CONTINUOUS))
def test_formula_agrees_with_two_million_cases(name):
    world = WORLDS[name]()
    coef, intercept = rule(world.n_features)
    share = share_wrong(world, lambda X: (X @ coef + intercept > 0.0).astype(int))
    assert abs(z_value(share, world.linear_error(coef, intercept), 2_000_000)) < LARGEST_Z


@pytest.mark.parametrize("name", quick_first(FINITE))
def test_sum_over_all_cases_agrees_with_two_million_cases(name):
    world = WORLDS[name]()
    classifier = fitted(world)
    truth = world.true_error(classifier)
    assert truth.standard_error == 0.0
    share = share_wrong(world, classifier.predict)
    assert abs(z_value(share, truth.value, 2_000_000)) < LARGEST_Z


@pytest.mark.parametrize(
    ("distance", "share", "sd"), [(1.6, 0.5, 1.0), (2.5, 0.2, 1.0), (0.0, 0.3, 1.0), (1.4, 0.5, 0.4)]
)
def test_gaussian_error_is_that_of_two_normal_tails(distance, share, sd):
    world = Gaussians(distance=distance, n_features=2, n_signal=1, positive_share=share, positive_sd=sd)
    coef, intercept = np.array([0.8, -0.6]), 0.25  # of length 1
    miss = norm.cdf(-(0.8 * distance / 2 + 0.25) / sd)
    alarm = norm.sf(0.8 * distance / 2 - 0.25)
    expected = share * miss + (1 - share) * alarm
    assert world.linear_error(coef, intercept) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("world", [Donut(), Donut(radius=19.0, sd=0.2, n_features=3)])
def test_donut_error_agrees_with_adaptive_quadrature_over_the_angle(world):
    for seed in range(5):
        coef, intercept = rule(world.n_features, seed)
        spread = math.sqrt(world.sd**2 * (coef[0] ** 2 + coef[1] ** 2) + np.sum(coef[2:] ** 2))

        def alarm(angle, coef=coef, intercept=intercept, spread=spread):
            score = world.radius * (coef[0] * math.cos(angle) + coef[1] * math.sin(angle)) + intercept
            return norm.cdf(score / spread) / (2.0 * math.pi)

        ring = quad(alarm, 0.0, 2.0 * math.pi, limit=500, epsabs=1e-11)[0]
        expected = 0.5 * ring + 0.5 * norm.cdf(-intercept / spread)
        assert world.linear_error(coef, intercept) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rest", [1.0, 0.05, 1e-3, 0.0])
@pytest.mark.parametrize("world", [Quadratic(), Quadratic(curvature=3.9, noise=0.25, n_features=2)])
def test_quadratic_error_agrees_with_adaptive_quadrature_over_the_first_feature(world, rest):
    coef, intercept = np.zeros(world.n_features), 0.4
    coef[0], coef[1] = 1.0, rest

    def wrong(first):
        label = norm.cdf((first + world.curvature * (first**2 - 1.0)) / world.noise)
        positive = norm.cdf((intercept + first) / rest) if rest else float(first > -intercept)
        return norm.pdf(first) * (label * (1.0 - positive) + (1.0 - label) * positive)

    ends = np.unique(
        np.concatenate([np.linspace(-9.0, 9.0, 37), -intercept + 6.0 * rest * np.linspace(-1, 1, 9)])
    )
    pieces = itertools.pairwise(ends.tolist())
    expected = sum(quad(wrong, low, high, epsabs=1e-13)[0] for low, high in pieces)
    assert world.linear_error(coef, intercept) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("world", [Discrete(), Binary(), Discrete(n_levels=5, n_features=2, n_signal=1)])
def test_error_of_a_discrete_world_agrees_with_plain_enumeration(world):
    classifier = fitted(world, DecisionTreeClassifier(max_depth=3, random_state=0))
    expected = 0.0
    for case in itertools.product(range(world.n_levels), repeat=world.n_features):
        score = sum(case[j] - (world.n_levels - 1) / 2 for j in range(world.n_signal))
        positive = norm.cdf(world.signal * score)
        predicted = classifier.predict([list(case)])[0]
        expected += (positive if predicted == 0 else 1.0 - positive) / world.n_levels**world.n_features
    assert world.true_error(classifier).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("mass", "label", "slope"), [(0.4, 0.6, 0.5), (0.2, -1.0, 0.75), (0.5, 0.0, 1.0 - 1e-9)]
)
def test_middle_point_lies_on_the_boundary_that_least_squares_tends_to(mass, label, slope):
    world = ThreePoint(boundary_mass=mass, boundary_label=label, slope=slope)
    X, shares, positive = world.support
    assert shares.sum() == pytest.approx(1.0)
    roots = np.sqrt(shares)
    design = np.column_stack([np.ones(3), X])
    limit = np.linalg.lstsq(roots[:, None] * design, roots * (2.0 * positive - 1.0), rcond=None)[0]
    assert limit == pytest.approx([0.0, slope], abs=1e-12)
    assert shares[1] == mass


# --- which classifiers are linear ----------------------------------------------------------------------------------

LINEAR = (
    LeastSquaresClassifier(),
    LeastSquaresClassifier(fit_intercept=False),
    LogisticRegression(),
    RidgeClassifier(),
    LinearSVC(),
    LinearDiscriminantAnalysis(),
    SVC(kernel="linear"),
    make_pipeline(StandardScaler(), LeastSquaresClassifier()),
    make_pipeline(StandardScaler(), PCA(2), LogisticRegression()),
    make_pipeline(PolynomialFeatures(1), LeastSquaresClassifier(fit_intercept=False)),
)


@pytest.mark.parametrize("classifier", LINEAR, ids=str)
def test_linear_rule_predicts_as_the_classifier(classifier):
    world = Gaussians(n_features=4)
    classifier = fitted(world, classifier)
    coef, intercept = linear_rule(classifier, 4)
    X = world.sample(20_000, np.random.default_rng(5))[0]
    assert np.array_equal((X @ coef + intercept > 0.0).astype(int), classifier.predict(X))
    truth = world.true_error(classifier)
    assert truth.standard_error == 0.0
    sampled = sampled_truth(world, classifier)
    assert 0.0 < sampled.standard_error < 0.0025
    assert abs(sampled.value - truth.value) < LARGEST_Z * sampled.standard_error


@pytest.mark.parametrize(
    "classifier",
    [
        SVC(),
        DecisionTreeClassifier(),
        make_pipeline(PolynomialFeatures(2), LeastSquaresClassifier()),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
    ],
    ids=str,
)
def test_other_classifiers_have_no_linear_rule_and_are_judged_on_a_sample(classifier):
    world = Gaussians(n_features=2)
    classifier = fitted(world, classifier)
    assert linear_rule(classifier, 2) is None
    truth = world.true_error(classifier)
    assert 0.0 < truth.standard_error <= 0.5 / math.sqrt(50_000)
    share = share_wrong(world, classifier.predict, n_chunks=1, chunk=20_000)
    assert abs(share - truth.value) < LARGEST_Z * math.hypot(truth.standard_error, 0.5 / math.sqrt(20_000))
    assert world.true_error(classifier) == truth


def test_share_of_wrong_predictions_has_a_binomial_standard_error():
    truth = share_truth(np.arange(100) < 20)
    assert truth.value == pytest.approx(0.2)
    assert truth.standard_error == pytest.approx(0.04)
