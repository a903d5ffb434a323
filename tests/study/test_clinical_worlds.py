"""Worlds with a binary finding and with missing values, very unequal patients, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

from cudbound import LeastSquaresClassifier, Metrics
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.study import run_study
from cudbound.study.design.design_file import read_design
from cudbound.study.populations.patients import Patients
from cudbound.study.populations.worlds import BinaryFinding, Gaussians, MissingValues
from cudbound.study.run.replicate import true_metrics

SETTINGS = (
    'n_samples = 30\nn_replicates = 2\nn_resamples = 10\nmethods = ["langford-binomial", "two-center"]\n'
)


def read(folder, text):
    path = folder / "d.toml"
    path.write_text(SETTINGS + text)
    return read_design(path)


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


@pytest.mark.slow
def test_missing_values_are_filled_inside_every_fit(tmp_path):
    study = read(
        tmp_path,
        '[[scenario]]\nworld = "missing-values"\nmissing = "median"\nlevels = [4]\nclassifier = "naive-bayes"\n',
    )
    recipe = study.scenarios[0].classifier
    assert recipe == ClassifierRecipe("naive-bayes", missing="median", levels=(4,))
    assert study.scenarios[0].description["missing"] == "median"
    assert run_study(study, tmp_path / "s").n_failed == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("levels = [4]", "levels must be column numbers, together with missing"),
        ('missing = "mean"', "missing must be"),
        ("select = 0", "select must be an integer of at least 1"),
        ("many_rows = 0.5", "rows_per_patient must be the smallest and the largest"),
    ],
)
def test_wrong_keys_are_refused(tmp_path, lines, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, f'[[scenario]]\nworld = "gaussians"\n{lines}\n')


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


@pytest.mark.parametrize("name", ["lda", "naive-bayes", "boosting"])
def test_further_classifiers_are_known_by_name(name):
    X, y = Gaussians(distance=4.0).sample(60, np.random.default_rng(0))
    assert ClassifierRecipe(name)().fit(X, y).score(X, y) > 0.9


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


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('metric = "npv"', "prevalence must be a number in"),
        ('metric = "cost"', "costs must be a cost for each class"),
        ('metric = "cost"\ncosts = [1.0]', "costs must be a list of 2 values"),
        ("prevalence = 0.2", "prevalence must be a number in"),
    ],
)
def test_metrics_need_their_settings(tmp_path, lines, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, f'[[scenario]]\nworld = "gaussians"\n{lines}\n')


def test_a_study_of_predictive_values_and_cost(tmp_path):
    study = read(
        tmp_path,
        '[[scenario]]\nname = "npv"\nworld = "gaussians"\nmetric = "npv"\nprevalence = "sample"\n'
        '[[scenario]]\nname = "cost"\nworld = "gaussians"\nmetric = "cost"\ncosts = [0.5, 1]\n',
    )
    status = run_study(study, tmp_path / "s")
    assert (status.n_done, status.n_failed) == (4, 0)
