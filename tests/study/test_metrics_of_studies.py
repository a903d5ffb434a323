"""Studies of other metrics than the error: what is true, what is covered, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from cudbound import LeastSquaresClassifier, Metrics
from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.results import IntervalEstimate
from cudbound.study.populations.population import N_TRUTH_CASES, Truth, fixed_cases
from cudbound.study.populations.worlds import Gaussians
from cudbound.study.run.replicate import joint_rows, true_metrics


def test_the_true_metrics_are_those_of_the_normal_distribution():
    world = Gaussians(distance=2.0, n_features=2, positive_share=0.3)
    X, y = world.sample(40, np.random.default_rng(0))
    clf = LeastSquaresClassifier().fit(X, y)
    coef, intercept = clf.coef_.ravel(), float(clf.intercept_[0])
    length = np.linalg.norm(coef)
    event = ndtr((coef[0] + intercept) / length)
    other = ndtr((coef[0] - intercept) / length)
    found = true_metrics(world, clf, Metrics(["sensitivity", "specificity", "balanced-error"]))
    expected = (event, other, 1.0 - (event + other) / 2)
    for truth, value in zip(found, expected, strict=True):
        assert truth.value == pytest.approx(value, abs=4.5 * truth.standard_error)
        assert 0.0 < truth.standard_error < 0.003


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_a_classifier_that_calls_all_cases_one_class_has_metrics_of_0_and_1(share):
    metrics = Metrics(["sensitivity", "specificity", "balanced-error"])
    for label, expected in ((0, (0.0, 1.0)), (1, (1.0, 0.0))):
        clf = DummyClassifier().fit([[0.0], [0.0]], [label, label])
        found = true_metrics(Gaussians(n_features=1, positive_share=share), clf, metrics)
        assert [one.value for one in found] == pytest.approx([*expected, 0.5], abs=1e-12)
        assert all(0.0 <= one.value <= 1.0 for one in found)
        assert max(one.standard_error for one in found[:2]) < 1e-6


def row(metric, low, high):
    found = Outcome((low + high) / 2, ConfidenceInterval(low, high), estimand=Estimand("conditional"))
    return IntervalEstimate.of(found, method="m", metric=metric, confidence_level=0.95, n_fits=1)


@pytest.mark.parametrize(("second", "covered"), [(0.45, True), (0.4, True), (0.39, False), (0.81, False)])
def test_a_joint_row_covers_if_all_intervals_do(second, covered):
    (found,) = joint_rows(
        [row("sensitivity", 0.5, 0.9), row("specificity", 0.4, 0.8)], [Truth(0.6), Truth(second)]
    )
    assert (found.low <= 0.0 <= found.high) == covered
    assert found.high - found.low == pytest.approx(0.4)


def test_the_true_auc_and_brier_score_are_those_of_the_large_sample():
    world, metrics = Gaussians(), Metrics(["auc", "brier"])
    X, y = world.sample(60, np.random.default_rng(0))
    classifier = LogisticRegression().fit(X, y)
    auc, brier = true_metrics(world, classifier, metrics)
    cases, event = fixed_cases(world, N_TRUTH_CASES)
    assert auc.value == pytest.approx(roc_auc_score(event, classifier.decision_function(cases)), abs=1e-12)
    assert brier.value == pytest.approx(
        brier_score_loss(event, classifier.predict_proba(cases)[:, 1]), abs=1e-12
    )
    assert 0.0 < auc.standard_error < 0.004
    assert 0.0 < brier.standard_error < 0.002
