"""Worlds with a binary finding and with missing values, very unequal patients, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

from cudbound import LeastSquaresClassifier, Metrics
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.study.populations.worlds import BinaryFinding, Gaussians, MissingValues, Patients
from cudbound.study.run.replicate import true_metrics


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
