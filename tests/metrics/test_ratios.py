"""Likelihood ratios from joint limits, and the net benefit at a threshold, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from data import fitted_sample, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import class_likelihood_ratios, confusion_matrix
from sklearn.model_selection import FixedThresholdClassifier

from cudbound import Metrics, compare_intervals, performance_interval
from cudbound.basis.outcomes import ConfidenceInterval, Estimand
from cudbound.basis.results import IntervalEstimate
from cudbound.metrics.metrics import net_benefit
from cudbound.metrics.predictive import ratio_interval

FAST = {"n_resamples": 40, "rng": 0}
METHODS = ["two-center", "cud", "langford-binomial"]
share = st.floats(0.0, 1.0)


def row(low, high, estimate=None, **further):
    return IntervalEstimate(
        method="two-center",
        estimate=(low + high) / 2.0 if estimate is None else estimate,
        raw_interval=ConfidenceInterval(low, high),
        estimand=Estimand("conditional"),
        confidence_level=0.95,
        n_fits=1,
        **further,
    )


def test_estimates_of_cud_are_those_of_scikit_learn():
    clf, X, y = fitted_sample(60, seed=4)
    found = compare_intervals(clf, X, y, methods="cud", metric=["LR+", "lr-"], **FAST)
    expected = class_likelihood_ratios(y, clf.predict(X), labels=clf.classes_)
    assert [one.metric for one in found] == ["lr+", "lr-"]
    assert [one.estimate for one in found] == pytest.approx(list(expected))


@settings(max_examples=100, deadline=None)
@given(se=st.tuples(share, share), sp=st.tuples(share, share), name=st.sampled_from(["lr+", "lr-"]))
def test_the_limits_hold_every_ratio_of_the_rectangle(se, sp, name):
    se, sp = sorted(se), sorted(sp)
    found = ratio_interval(name, row(*se), row(*sp), "two-sided")
    assert 0.0 <= found.low <= found.high
    for one in np.linspace(*se, 7):
        for other in np.linspace(*sp, 7):
            below = 1.0 - other if name == "lr+" else other
            if below > 1e-9:
                ratio = (one if name == "lr+" else 1.0 - one) / below
                assert found.low <= ratio * (1.0 + 1e-7) + 1e-12
                assert ratio * (1.0 - 1e-7) - 1e-12 <= found.high


@pytest.mark.parametrize("seed", range(3))
def test_the_limits_are_those_of_joint_limits_alone_or_among_others(seed):
    clf, X, y = fitted_sample(50, seed=seed)
    found = compare_intervals(clf, X, y, methods=METHODS, metric=["lr+", "lr-", "sensitivity"], **FAST)
    joint = Metrics(["sensitivity", "specificity"], joint=True)
    both = compare_intervals(clf, X, y, methods=METHODS, metric=joint, **FAST)
    together = Metrics(["sensitivity", "specificity", "lr-"], joint=True)
    again = compare_intervals(clf, X, y, methods=METHODS, metric=together, **FAST)
    alone = compare_intervals(clf, X, y, methods=METHODS, metric="sensitivity", **FAST)
    for name in METHODS:
        se, sp = both[name, "sensitivity"], both[name, "specificity"]
        assert found[name, "sensitivity"] == alone[name, "sensitivity"]
        assert found[name, "lr+"].low == pytest.approx(se.low / (1.0 - sp.low))
        assert found[name, "lr-"].high == pytest.approx((1.0 - se.low) / sp.low)
        assert again[name, "lr-"].confidence_interval == found[name, "lr-"].confidence_interval


def thresholded(cut=0.3, n=50, seed=2):
    X, y = sample(n, seed=seed)
    return FixedThresholdClassifier(LogisticRegression(), threshold=cut).fit(X, y), X, y


@pytest.mark.parametrize("cut", [0.1, 0.3, 0.5])
def test_the_net_benefit_is_that_of_vickers_and_elkin(cut):
    clf, X, y = thresholded(cut)
    (_, fp), (_, tp) = confusion_matrix(y, clf.predict(X))
    expected = tp / y.size - fp / y.size * cut / (1.0 - cut)
    of_sample = Metrics("net-benefit", threshold=cut, prevalence="sample")
    stated = Metrics("net_benefit", threshold=cut, prevalence=float(y.mean()))
    for metric in (of_sample, stated):
        found = performance_interval(clf, X, y, method="cud", metric=metric, **FAST)
        assert found.estimate == pytest.approx(expected)
        assert found.row.low <= expected <= found.row.high


@settings(max_examples=50, deadline=None)
@given(cut=st.floats(0.01, 0.99), prevalence=st.floats(0.01, 0.99), se=share, sp=share)
def test_the_net_benefit_at_a_prevalence_follows_from_both_classes(cut, prevalence, se, sp):
    metric = net_benefit(cut, prevalence)
    of_others, of_events = metric.shares
    expected = prevalence * se - (1.0 - prevalence) * (1.0 - sp) * cut / (1.0 - cut)
    found = metric.from_loss(of_others * (1.0 - sp) + of_events * (1.0 - se))
    assert found == pytest.approx(expected, abs=1e-9 / (1.0 - cut))
    assert metric.range.high == pytest.approx(prevalence)
