"""Predictive values, ratios, costs and their numbers of rows, by hand and by plain loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from data import fitted_sample, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import class_likelihood_ratios, confusion_matrix
from sklearn.model_selection import FixedThresholdClassifier

from cudbound import Metrics, compare_intervals, performance_interval
from cudbound.basis.groups import Groups
from cudbound.basis.results import ConfidenceInterval, Estimand, IntervalEstimate
from cudbound.intervals.two_center import cost_factor
from cudbound.metrics.metric import Metric, MetricRows
from cudbound.metrics.metrics import net_benefit
from cudbound.metrics.predictive import Proportion, predictive_limits, ratio_interval
from cudbound.metrics.views import records_for
from cudbound.point_estimates.bootstrap_632 import share_limits
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, Records

# ---- predictive values from separate limits ----


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # se 16/20 (.6, .9), sp 72/80 (.8, .95), prevalence .2 stated. PPV: odds .8/.1 * .25 = 2, in log .6931;
        # below sqrt(log(.8/.6)^2 + log(.2/.1)^2) = .7505, above sqrt(log(.9/.8)^2 + log(.1/.05)^2) = .7031
        ("ppv", (0.4857, 0.8016)),
        # NPV: odds .9/.2 * 4 = 18, in log 2.8904; below sqrt(log(.9/.8)^2 + log(.4/.2)^2) = .7031,
        # above sqrt(log(.95/.9)^2 + log(.2/.1)^2) = .6952
        ("npv", (0.8991, 0.9730)),
    ],
)
def test_a_worked_example(name, expected):
    se, sp = Proportion(0.8, 0.6, 0.9, 20), Proportion(0.9, 0.8, 0.95, 80)
    found = predictive_limits(name, se, sp, Proportion(0.2, 0.2, 0.2, math.inf))
    assert tuple(found) == pytest.approx(expected, abs=5e-5)


def test_the_share_of_events_by_plain_loops():
    rng = np.random.default_rng(1)
    event, weight = rng.random(40) < 0.3, rng.choice([1.0, 2.0, 5.0], size=40)
    share, low, high, n = share_limits(event, weight, None, 0.9)
    assert share == pytest.approx(sum(w for w, one in zip(weight, event, strict=True) if one) / sum(weight))
    assert n == pytest.approx(sum(weight) ** 2 / sum(w * w for w in weight))
    assert (low, high) == pytest.approx(
        (beta.ppf(0.05, share * n, n - share * n + 1), beta.ppf(0.95, share * n + 1, n - share * n))
    )
    codes = np.arange(40) // 4
    sums = [sum(weight[i] * (event[i] - share) for i in range(40) if codes[i] == g) for g in range(10)]
    squares = sum((weight[i] * (event[i] - share)) ** 2 for i in range(40))
    effect = sum(one * one for one in sums) / squares
    assert share_limits(event, weight, Groups.of(codes), 0.9)[3] == pytest.approx(
        min(n, max(n / effect, 10.0))
    )
    # patients who are all ill or all well count once, however many rows they have
    assert share_limits(np.repeat(event[:10], 4), None, Groups.of(codes), 0.9)[3] == pytest.approx(10.0)


# ---- likelihood ratios from joint limits ----


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
    assert metric.limits().high == pytest.approx(prevalence)


# ---- how many rows count where wrong rows cost different amounts ----


COST = Metric("cost", costs=(1.0, 4.0))
shares = st.lists(
    st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.floats(0.01, 0.99)), min_size=1, max_size=4
)


def moments(rows):
    """Mean and variance of the loss of a random row, by enumeration of (frequency, severity, share of wrong rows)."""
    total = sum(frequency for frequency, _, _ in rows)
    outcomes = [
        (frequency / total * (wrong if is_wrong else 1.0 - wrong), severity * is_wrong)
        for (frequency, severity, wrong), is_wrong in itertools.product(rows, (0, 1))
    ]
    mean = sum(weight * loss for weight, loss in outcomes)
    return mean, sum(weight * (loss - mean) ** 2 for weight, loss in outcomes)


@given(shares)
@settings(deadline=None)
def test_the_factor_is_the_ratio_of_two_variances(rows):
    mean, variance = moments(rows)
    squares = sum(frequency * severity**2 * wrong for frequency, severity, wrong in rows)
    ratio = squares / sum(frequency * severity * wrong for frequency, severity, wrong in rows)
    assert ratio <= 1.0 + 1e-12
    found = cost_factor(min(ratio, 1.0), mean)
    assert found == pytest.approx(variance / (mean * (1.0 - mean)), rel=1e-6, abs=1e-9) or ratio <= mean
    assert 0.0 < found <= 1.0
    # the lower of two centers gives the larger factor, and so the smaller number of rows
    assert cost_factor(min(ratio, 1.0), 0.7 * mean) >= found - 1e-12 or found == 1.0


@pytest.mark.parametrize("weighted", [False, True])
def test_the_ratio_of_out_of_bag_losses_by_plain_loops(weighted):
    rng = np.random.default_rng(2)
    event, weight = rng.random(12) < 0.4, rng.choice([0.5, 1.0, 3.0], size=12)
    counts = draw_counts(12, 25, rng)
    wrong = rng.random((25, 12)) < 0.3
    records = Records(losses=wrong[0], bootstrap=BootstrapLosses(counts, wrong))
    found = records_for(MetricRows(COST, event, weight if weighted else None), records).square_ratio
    rows = weight if weighted else np.ones(12)
    rows = rows / sum(rows)
    first = second = sum(one * one for one in rows)  # one more row, wrong at full cost
    for i in range(12):
        left_out = [b for b in range(25) if counts[b, i] == 0]
        share = sum(wrong[b, i] for b in left_out) / len(left_out) if left_out else 0.0
        severity = 1.0 if event[i] else 0.25
        first += rows[i] * severity * share
        second += rows[i] * severity**2 * share
    assert found == pytest.approx(second / first)
