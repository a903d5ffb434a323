"""Likelihood ratios from joint limits, and the net benefit at a threshold, against their definitions."""

from __future__ import annotations

import math
import re
from dataclasses import replace

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
from cudbound.metrics.predictive import Proportion, likelihood_ratio, net_benefit_interval, ratio_interval

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


def test_ratios_without_a_denominator():
    assert likelihood_ratio("lr+", 0.5, 1.0) == math.inf
    assert math.isnan(likelihood_ratio("lr+", 0.0, 1.0))
    assert math.isnan(likelihood_ratio("lr-", 1.0, 0.0))
    unbounded = ratio_interval("lr+", row(0.2, 0.9), row(0.5, 1.0), "two-sided")
    assert unbounded.confidence_interval == (pytest.approx(0.4), math.inf)
    assert "no upper limit: a specificity of 1 is within its limits" in unbounded.remarks
    nothing = ratio_interval("lr+", row(0.0, 0.1, 0.0), row(1.0, 1.0), "two-sided")
    assert nothing.confidence_interval == (0.0, math.inf)
    assert "estimate 0/0: no case is predicted as an event" in nothing.remarks
    assert "infinity" in unbounded.in_words()
    lost = ratio_interval("lr-", replace(row(0.1, 0.2), estimate=math.nan), row(0.5, 0.6), "two-sided")
    assert math.isnan(lost.low)


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


@pytest.mark.parametrize("name", ["lr+", "lr-"])
def test_one_limit_has_the_whole_error_probability(name):
    clf, X, y = fitted_sample(50, seed=5)
    asked = {"methods": ["two-center", "langford-binomial"], "metric": name, **FAST}
    both = compare_intervals(clf, X, y, confidence_level=0.9, **asked)
    low = compare_intervals(clf, X, y, alternative="greater", **asked)
    high = compare_intervals(clf, X, y, alternative="less", **asked)
    for two, one, other in zip(both, low, high, strict=True):
        assert (one.alternative, other.alternative) == ("greater", "less")
        assert (one.low, one.high, other.low) == (pytest.approx(two.low), math.inf, 0.0)
        assert other.high == pytest.approx(two.high)


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


def test_limits_at_the_prevalence_of_the_sample_are_squared_and_added():
    cost = row(-0.4, -0.1, -0.2, metric="net-benefit", lowest=-1.0, highest=0.0)
    found = net_benefit_interval(cost, Proportion(0.3, 0.15, 0.42, 50))
    assert found.estimate == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1 - math.hypot(0.2, 0.15))
    assert found.high == pytest.approx(0.1 + math.hypot(0.1, 0.12))
    lower = net_benefit_interval(
        replace(cost, alternative="greater", raw_interval=ConfidenceInterval(-0.4, math.inf)),
        Proportion(0.3, 0.15, 0.42, 50),
    )
    assert (lower.low, lower.high) == (pytest.approx(found.low), 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"asked": "net-benefit", "prevalence": 0.2}, "only with the metric 'net-benefit'"),
        ({"asked": "net-benefit", "threshold": 0.2}, "'ppv', 'npv' and 'net-benefit'"),
        ({"asked": "net-benefit", "threshold": 0.0, "prevalence": 0.2}, "a number in (0, 1), only with the"),
        ({"asked": "lr+", "prevalence": 0.2}, "'ppv', 'npv' and 'net-benefit'"),
        (
            {"asked": ["error", "net-benefit"], "threshold": 0.2, "prevalence": "sample", "joint": True},
            "a number in (0, 1) for a net benefit jointly with other metrics",
        ),
    ],
)
def test_what_does_not_fit_is_told(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Metrics(**arguments)
