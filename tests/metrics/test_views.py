"""Records as a metric sees them: every number a method reads, against plain Python on the rows by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
from grouped_rows import in_two_groups
from metrics_by_definition import COST, METRICS, centers_by_hand
from tiers import each_tier

from cudbound.intervals import METHODS, compute_interval
from cudbound.metrics.metric import BALANCED_ERROR, ERROR, SENSITIVITY, Metric, MetricRows
from cudbound.metrics.targets import in_metric_terms
from cudbound.metrics.views import records_for
from cudbound.point_estimates.bootstrap_632 import BOOTSTRAP_OPTIMISM, estimate_632, estimate_632_plus
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, FoldLosses, Groups, Records, RepeatedFoldLosses, TestSetLosses


def small_records(seed, *, grouped=False):
    """Recorded losses on a few rows, each class among them, of draws that hold both; weights in every third."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    event = rng.permutation(np.arange(n) < rng.integers(2, n - 2))
    groups = Groups.of([*rng.integers(0, 5, n - 2), 5, 6]) if grouped else None
    counts = draw_counts(n, 12, rng, groups)
    counts = counts[(counts[:, event].sum(axis=1) > 0) & (counts[:, ~event].sum(axis=1) > 0)]
    weight = rng.choice([0.5, 1.0, 2.0], size=n) if seed % 3 == 0 else None
    wrong = rng.random((len(counts) + 1, n)) < rng.uniform(0.1, 0.6)
    called = wrong[0] ^ event
    records = Records(
        losses=wrong[0],
        positive=float(event.mean()),
        predicted_positive=float(called.mean()),
        bootstrap=BootstrapLosses(counts, wrong[1:], uneven=grouped),
        folds=FoldLosses(wrong[-1], np.arange(n) % 3),
        groups=groups,
    )
    return records, event, weight


def check_centers(seed, *, grouped=False):
    records, event, weight = small_records(seed, grouped=grouped)
    if grouped and not in_two_groups(event, records.groups.codes):
        return False  # refused where a training set is taken
    metric = METRICS[seed % len(METRICS)]
    found = records_for(MetricRows(metric, event, weight), records)
    rows = np.ones(event.size) if weight is None else weight
    optimism, at_632, at_632_plus = centers_by_hand(metric, records, event, rows)
    assert estimate_632(found) == pytest.approx(at_632, abs=1e-12), (seed, metric.name)
    corrected = min(max(BOOTSTRAP_OPTIMISM.compute(found).estimate, 0.0), 1.0)
    assert corrected == pytest.approx(optimism, abs=1e-12), (seed, metric.name)
    assert estimate_632_plus(found).estimate == pytest.approx(at_632_plus, abs=1e-12), (seed, metric.name)
    return True


@each_tier(range(60), range(60, 360))
@pytest.mark.parametrize("grouped", [False, True])
def test_the_centers_of_a_metric_are_those_of_its_definition(seeds, grouped):
    assert sum(check_centers(seed, grouped=grouped) for seed in seeds) >= 0.8 * len(seeds)


def test_the_plain_error_leaves_the_records_alone():
    records, event, _ = small_records(1)
    assert records_for(MetricRows(ERROR, event), records) is records
    equal = records_for(MetricRows(Metric("cost", costs=(3.0, 3.0)), event), records)
    assert equal.losses.tolist() == records.losses.tolist()
    assert equal.n_effective == records.n_samples


def test_rows_of_one_class_keep_losses_of_0_and_1():
    records, event, _ = small_records(1)
    found = records_for(MetricRows(SENSITIVITY, event), records)
    assert found.losses.dtype == bool
    assert found.losses.tolist() == records.losses[event].tolist()
    assert found.bootstrap.counts.tolist() == records.bootstrap.counts[:, event].tolist()
    assert found.n_samples == found.n_effective == event.sum()


def test_folds_without_an_event_are_left_out():
    event = np.array([True, False, True, False, False, False])
    records = Records(folds=FoldLosses(np.array([1, 0, 0, 1, 0, 0]), np.array([0, 1, 2, 0, 1, 2])))
    found = records_for(MetricRows(SENSITIVITY, event), records).folds
    assert found.losses.tolist() == [True, False]
    assert found.fold.tolist() == [0, 1]
    assert found.remarks == ("1 folds without a row that counts omitted",)
    repeated = Records(repeated_folds=RepeatedFoldLosses((records.folds, records.folds)))
    assert records_for(MetricRows(SENSITIVITY, event), repeated).repeated_folds.partitions[1].n_samples == 2
    together = Records(folds=FoldLosses(np.zeros(6), np.array([0, 1, 0, 0, 1, 1])))
    assert records_for(MetricRows(SENSITIVITY, event), together).folds is None


def test_the_sensitivity_on_a_test_set_is_that_of_its_events():
    event = np.array([True, True, True, False, False])
    tested = TestSetLosses(np.array([1, 0, 0, 0, 1, 1, 0]), 5, "conditional", event=np.arange(7) < 4)
    found = records_for(MetricRows(SENSITIVITY, event), Records(test_set=tested)).test_set
    assert found.losses.tolist() == [True, False, False, False]
    by_hand = compute_interval(
        METHODS["test-set-wilson"], Records(test_set=TestSetLosses([1, 0, 0, 0], 5, "conditional")), 0.95
    )
    row = in_metric_terms(
        compute_interval(METHODS["test-set-wilson"], Records(test_set=found), 0.95), SENSITIVITY, "3 events"
    )
    assert row.estimate == 0.75
    assert row.low == pytest.approx(1.0 - by_hand.high)
    balanced = records_for(MetricRows(BALANCED_ERROR, event), Records(test_set=tested)).test_set
    assert balanced.losses.mean() == pytest.approx((1 / 4 + 2 / 3) / 2)
    assert balanced.n_effective == pytest.approx(4 * 4 * 3 / 7)
    none = Records(test_set=TestSetLosses(np.array([1]), 5, event=np.array([False])))
    assert records_for(MetricRows(SENSITIVITY, event), none).test_set is None


def test_an_interval_for_the_loss_is_told_as_one_for_the_metric():
    records = Records(test_set=TestSetLosses([1, 0, 0, 0, 0, 0, 0, 0], 5, "conditional"))
    upper = compute_interval(METHODS["test-set-wilson"], records, 0.95, alternative="less")
    told = in_metric_terms(upper, SENSITIVITY, "8 events", ("first",))
    assert told.alternative == "greater"
    assert told.low == pytest.approx(1.0 - upper.high)
    assert math.isinf(told.raw_high)
    assert told.high == 1.0
    assert told.remarks[:2] == ("based on 8 events", "first")
    cost = in_metric_terms(upper, COST, "8 events")
    assert (cost.alternative, cost.highest) == ("less", 4.0)
    assert cost.high == pytest.approx(4.0 * upper.high)


def test_methods_that_keep_every_row_can_be_had_for_every_metric():
    seen = {
        name
        for name, method in METHODS.items()
        if method.gives_interval and all(kind.of_every_metric for kind in method.needs)
    }
    assert {"two-center", "cud", "langford-binomial", "yang-cv-normal", "bayle-cv", "test-set-wilson"} <= seen
    assert not {"aci", "nested-cv", "corrected-resampled-t", "bccvp", "bbc-cv"} & seen
