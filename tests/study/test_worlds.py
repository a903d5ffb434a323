"""Populations: true errors against sampling, quadrature, enumeration and closed forms; patients; missing values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from study_cases import stored
from tiers import quick_first

from cudbound import LeastSquaresClassifier, Metrics, compare_intervals
from cudbound.basis.exceptions import ParameterError
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.study import run_study
from cudbound.study.design_file import read_design
from cudbound.study.population import (
    Cases,
    ContinuousWorld,
    Truth,
    linear_rule,
    sampled_truth,
    share_truth,
)
from cudbound.study.replicate import Key, true_metrics
from cudbound.study.runner import replay
from cudbound.study.store import Store
from cudbound.study.worlds import (
    WORLDS,
    Binary,
    BinaryFinding,
    Discrete,
    Donut,
    FiniteWorld,
    FlippedLabels,
    Gaussians,
    HiddenSubgroup,
    LogisticLabels,
    MissingValues,
    Noise,
    Outliers,
    Patients,
    Quadratic,
    ThreePoint,
)

# ---- simulated populations ----


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


@pytest.mark.parametrize("name", WORLDS)
def test_error_of_a_tree_agrees_with_new_cases(name):
    """In every world, however it finds the true error; with missing values and several classes, too."""
    world = WORLDS[name]()
    assert world.name == name
    tree = fitted(world, DecisionTreeClassifier(max_depth=3, random_state=0))
    truth = world.true_error(tree)
    assert world.true_error(tree) == truth
    share = share_wrong(world, tree.predict, n_chunks=1, chunk=100_000)
    standard_error = math.hypot(truth.standard_error, math.sqrt(share * (1.0 - share) / 100_000))
    assert abs(share - truth.value) < LARGEST_Z * standard_error


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


@pytest.mark.parametrize(
    ("signal", "coef", "intercept"),
    [
        (1.0, [1.0, 0.5, 0.5], 0.3),
        (99.0, [1.0, 1.0, 1e-4], 0.5),
        (5.0, [0.0, 0.0, 1.0], 0.4),
        (0.0, [1.0, 0.0, 0.0], 0.0),
    ],
)
def test_error_with_logistic_labels_agrees_with_adaptive_quadrature_over_the_log_odds(
    signal, coef, intercept
):
    world = LogisticLabels(n_features=3, n_signal=2, signal=signal)
    scale, slope = signal * math.sqrt(2.0), (coef[0] + coef[1]) / math.sqrt(2.0)
    spread = math.sqrt(coef[2] ** 2 + (coef[0] - coef[1]) ** 2 / 2.0) or 1e-9

    def wrong(z):
        called = norm.cdf((intercept + slope * z) / spread)
        return norm.pdf(z) * (expit(scale * z) * (1.0 - called) + expit(-scale * z) * called)

    turns = [0.0, -intercept / slope if slope else 0.0]
    nearby = sorted({turn + step for turn in turns for step in (-1.0, -0.1, -1e-3, 0.0, 1e-3, 0.1, 1.0)})
    places = [-8.5, *nearby, 8.5]
    parts = (quad(wrong, a, b, limit=500, epsabs=1e-12)[0] for a, b in itertools.pairwise(places))
    assert world.linear_error(np.array(coef), intercept) == pytest.approx(sum(parts), abs=1e-8)


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


# ---- worlds with a binary finding and with missing values ----


@pytest.mark.parametrize("n_noise", [0, 3])
def test_the_error_beside_a_binary_finding_is_the_share_of_wrong_cases(n_noise):
    world = BinaryFinding(odds_ratio=4.0, n_noise=n_noise)
    X, y = world.sample(40, np.random.default_rng(0))
    classifier = LeastSquaresClassifier().fit(X, y)
    X, y = world.sample(200_000, np.random.default_rng(1))
    share = np.mean(classifier.predict(X) != y)
    assert world.true_error(classifier).value == pytest.approx(share, abs=4.5 * np.sqrt(0.25 / 200_000))
    assert len(np.unique(X, axis=0)) == (2 if n_noise == 0 else len(X))
    odds = [np.mean(y[X[:, 0] == one]) / np.mean(1 - y[X[:, 0] == one]) for one in (1, 0)]
    assert odds[0] / odds[1] == pytest.approx(4.0, rel=0.05)


def test_missing_values_have_their_share_and_model():
    X, y = MissingValues(n_features=4, missing_share=0.2, signal=1.5, effect=0.5).sample(
        100_000, np.random.default_rng(0)
    )
    assert np.isnan(X).mean(axis=0) == pytest.approx([0.2] * 4, abs=0.006)
    whole = ~np.isnan(X).any(axis=1)
    design = np.column_stack([X[whole, :3], X[whole, 3] == 0, X[whole, 3] == 3])
    coef = LogisticRegression(C=np.inf).fit(design, y[whole]).coef_.ravel()
    assert coef == pytest.approx([1.5, 1.5, 0.0, 0.5, -0.5], abs=0.08)


@pytest.mark.parametrize("standardize", [False, True])
def test_selection_keeps_the_features_of_largest_f_statistic(standardize):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 9)), rng.integers(0, 2, 40)
    X[:, 6] += y
    fitted = ClassifierRecipe("lda", select=3, standardize=standardize)().fit(X, y)
    (selection,) = [step for _, step in fitted.steps if isinstance(step, SelectKBest)]
    kept = np.flatnonzero(selection.get_support())
    assert set(kept) == set(np.argsort(f_classif(X, y)[0])[-3:])
    assert [name for name, _ in fitted.steps][-2:] == ["selectkbest", "lineardiscriminantanalysis"]


def test_a_share_of_the_patients_has_the_most_rows():
    drawn = Patients(Gaussians(), (2, 20), many_rows=0.15).draw(20_000, np.random.default_rng(0))
    sizes = np.bincount(drawn.groups)[:-1]
    assert set(sizes) == {2, 20}
    assert np.mean(sizes == 20) == pytest.approx(0.15, abs=0.02)
    assert (
        "20 rows for 15% of patients and 2 for the others" in Patients(Gaussians(), (2, 20), 0.5, 0.15).title
    )


def test_predictive_values_and_cost_are_shares_and_means_of_cases():
    world = Gaussians(distance=1.5, positive_share=0.3)
    X, y = world.sample(50, np.random.default_rng(0))
    classifier = LeastSquaresClassifier().fit(X, y)
    X, y = world.sample(400_000, np.random.default_rng(1))
    called = classifier.predict(X) == 1
    expected = (
        np.mean(y[called]),
        np.mean(1 - y[~called]),
        0.25 * np.mean(called & (y == 0)) + np.mean(~called & (y == 1)),
    )
    found = true_metrics(
        world, classifier, Metrics(["ppv", "npv", "cost"], prevalence="sample", costs={0: 0.25, 1: 1.0})
    )
    for truth, value in zip(found, expected, strict=True):
        assert truth.value == pytest.approx(value, abs=6 * truth.standard_error)
        assert 0.0 < truth.standard_error < 0.004


def test_predictive_values_at_another_prevalence_follow_bayes_rule():
    world = BinaryFinding(odds_ratio=9.0, n_noise=0)  # sensitivity and specificity 3/4
    classifier = LeastSquaresClassifier().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    ppv, npv = true_metrics(world, classifier, Metrics(["ppv", "npv"], prevalence=0.1))
    assert ppv.value == pytest.approx(0.075 / (0.075 + 0.225), abs=0.005)
    assert npv.value == pytest.approx(0.675 / (0.675 + 0.025), abs=0.005)
    nobody = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(
        ValueError, match="The ppv is not defined for a classifier that never makes this prediction"
    ):
        true_metrics(world, nobody, Metrics("ppv", prevalence=0.1))


# ---- studies in which patients have several rows ----


SETTINGS = (
    'n_samples = 30\nn_replicates = 2\nn_resamples = 20\nmethods = ["two-center", "langford-binomial"]\n'
)
WITH = '[[scenario]]\nname = "with"\nworld = "gaussians"\nrows_per_patient = [2, 6]\n'
WITHOUT = WITH.replace('"with"', '"without"') + 'groups = false\nsamples_of = "with"\n'


def read(folder, text):
    path = folder / "d.toml"
    path.write_text(text)
    return read_design(path)


@pytest.mark.parametrize(
    "world",
    [
        Gaussians(positive_share=0.3, positive_sd=2.0),
        FlippedLabels(distance=2.0, flip_rate=0.2),
        HiddenSubgroup(positive_share=0.3),
        Outliers(),
        Noise(positive_share=0.1),
    ],
)
def test_the_error_on_rows_of_new_patients_is_that_of_the_world(world):
    classifier = LeastSquaresClassifier().fit(*world.sample(40, np.random.default_rng(0)))
    patients = Patients(world, within_patient=0.7)
    drawn = patients.draw(400_000, np.random.default_rng(1))
    wrong = (classifier.predict(drawn.X) != drawn.y).astype(float)
    exact = patients.true_error(classifier)
    assert exact.standard_error == 0.0
    apart = np.bincount(drawn.groups, weights=wrong - exact.value)  # independent, with mean 0
    assert abs(apart.sum()) < LARGEST_Z * np.sqrt((apart**2).sum())


def test_several_rows_are_refused_in_a_world_without_components():
    """Also in one whose classes are normal but not `Mixture`."""
    with pytest.raises(ParameterError, match=r"'world'.*'gaussians', or another Mixture.*Got TwoCenters"):
        Patients(WORLDS["correlated"]())


@pytest.mark.parametrize("within", [0.0, 0.5, 0.9])
def test_rows_of_a_patient_share_their_class_and_as_much_of_the_variance_as_is_said(within):
    world = Gaussians(distance=2.0, n_features=2, positive_sd=2.0)
    drawn = Patients(world, (2, 6), within).draw(60_000, np.random.default_rng(0))
    assert len(drawn.y) == 60_000
    sizes = np.bincount(drawn.groups)
    assert set(sizes[:-1]) == {2, 3, 4, 5, 6}
    assert np.bincount(sizes[:-1])[2:] == pytest.approx(len(sizes) / 5, rel=0.05)
    first = np.flatnonzero(np.diff(drawn.groups, prepend=-1))[:-1]
    assert (drawn.y[first] == drawn.y[first + 1]).all()
    for label, sd in ((0, 1.0), (1, 2.0)):
        mine = first[drawn.y[first] == label]
        apart = (drawn.X - [(2 * label - 1) * 1.0, 0.0]) / sd
        assert (apart[mine] * apart[mine + 1]).mean(axis=0) == pytest.approx(within, abs=0.05)
        assert (apart[mine] ** 2).mean(axis=0) == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize(
    ("y", "groups", "expected"),
    [([0, 0, 0, 1, 1], None, 2), ([0, 0, 0, 1, 1], [0, 0, 1, 2, 2], 1), ([0, 0, 1, 1], [0, 1, 0, 1], 2)],
)
def test_the_rarer_class_is_counted_in_patients(y, groups, expected):
    assert Cases(np.zeros((len(y), 1)), np.array(y), lambda _: Truth(0.5), groups).n_rarer == expected


# --- in designs and studies


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning")  # few patients
@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning")  # seven groups are few
def test_the_same_samples_are_analyzed_with_and_without_groups(tmp_path):
    study = read(tmp_path, SETTINGS + WITH + WITHOUT)
    store = tmp_path / "s.sqlite"
    run_study(study, store)
    with Store.open(store) as opened:
        for number in range(2):
            told, untold = (stored(opened, Key(name, 30, number)) for name in ("with", "without"))
            assert told.failure is None
            assert (told.truth, told.training_error) == (untold.truth, untold.training_error)
            assert told.intervals != untold.intervals
            assert "independent" in told.intervals[1].remarks
            assert "independent" not in untold.intervals[1].remarks
            assert replay(study, store, "without", 30, number) == untold
    # the same numbers come out of a call with the patients of the sample
    scenario = study.scenarios[0]
    rng = study.rng("with", 30, 1)
    drawn = scenario.population.draw(30, rng)
    while drawn.n_rarer < 2:
        drawn = scenario.population.draw(30, rng)
    table = compare_intervals(
        LeastSquaresClassifier().fit(drawn.X, drawn.y),
        drawn.X,
        drawn.y,
        methods=["two-center"],
        n_resamples=20,
        groups=drawn.groups,
        rng=rng,
    )
    with Store.open(store) as opened:
        interval = stored(opened, Key("with", 30, 1)).intervals[0]
    assert (interval.low, interval.high) == (table.rows[0].low, table.rows[0].high)
