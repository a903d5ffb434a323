"""Records as a metric sees them: every number a method reads, against plain Python on the rows by name."""

from __future__ import annotations

import numpy as np
import pytest
from grouped_rows import in_two_groups
from metrics_by_definition import METRICS, centers_by_hand
from tiers import each_tier

from cudbound.intervals import METHODS
from cudbound.metrics.metric import ERROR, SENSITIVITY, Metric, MetricRows
from cudbound.metrics.views import records_for
from cudbound.point_estimates.bootstrap_632 import estimate_632, estimate_632_plus, optimism_corrected
from cudbound.problem.draws import draw_counts
from cudbound.records import (
    BootstrapLosses,
    FoldLosses,
    Groups,
    Records,
    RepeatedFoldLosses,
    no_information_error,
)


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
        no_information=no_information_error(event.mean(), called.mean()),
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
    corrected = min(max(optimism_corrected(found).estimate, 0.0), 1.0)
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


def test_methods_that_keep_every_row_can_be_had_for_every_metric():
    seen = {
        name
        for name, method in METHODS.items()
        if method.gives_interval and all(kind.of_every_metric for kind in method.needs)
    }
    assert {"two-center", "cud", "langford-binomial", "yang-cv-normal", "bayle-cv", "test-set-wilson"} <= seen
    assert not {"aci", "nested-cv", "corrected-resampled-t", "bccvp", "bbc-cv"} & seen
