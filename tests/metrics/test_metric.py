"""Metrics as weights of rows: suprema by enumeration, views and weights of rows."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import random_problems
from grouped_rows import in_two_groups
from metrics_by_definition import COST, METRICS, centers_by_hand, enumerated, mean_loss
from tiers import each_tier

from cudbound.adapters import to_additive_model
from cudbound.bound.cud_bound import solve_bounds
from cudbound.estimators.two_class import LeastSquaresClassifier
from cudbound.intervals import METHODS
from cudbound.metrics.metric import BALANCED_ERROR, ERROR, SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metric import METRICS as REGISTERED
from cudbound.metrics.views import records_for
from cudbound.point_estimates.bootstrap_632 import estimate_632, estimate_632_plus, optimism_corrected
from cudbound.problem.draws import draw_counts, draw_stratified_counts
from cudbound.problem.problem import Problem
from cudbound.records import (
    BootstrapLosses,
    FoldLosses,
    Groups,
    Records,
    RepeatedFoldLosses,
    no_information_error,
)
from cudbound.solve.search import Search, solve_draws

# ---- metrics as weights of rows: the supremum, its quantile and the views against enumeration by definition ----


KINDS = (
    "general",
    "binary_features",
    "integer_features",
    "duplicates_equal_labels",
    "duplicates_opposite_labels",
    "no_intercept",
)


def small_problem(seed, *, weighted=False):
    """A small problem with ties and duplicates, its events, and draws that may lack a class."""
    base = random_problems.make(KINDS[seed % len(KINDS)], seed)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.5, 1.0, 2.0], size=base.labels.size) if weighted else np.ones(base.labels.size)
    return base, base.labels > 0.0, weight, draw_counts(base.labels.size, 4, rng)


def check_against_enumeration(seed, metric):
    base, event, weight, counts = small_problem(seed, weighted=seed % 3 == 0)
    seen = MetricRows(metric, event, weight if seed % 3 == 0 else None)
    lacking = seen.lacking(counts)
    for draw, row in enumerate(counts):
        undefined = mean_loss(metric, ~event, event, weight, row) is None
        assert lacking[draw] == undefined, (seed, metric.name, draw)
    counts = counts[~lacking]
    problem = Problem.of(
        base.design,
        base.labels,
        base.coef,
        counts,
        localization=base.localization,
        weights=seen.score_weights(counts),
        penalty=base.penalty,
    )
    draws = solve_draws(problem)
    for draw in range(len(counts)):
        expected = enumerated(problem, metric, event, draw, weight)
        assert draws.upper[draw] == pytest.approx(expected, abs=1e-7), (seed, metric.name, draw)


def test_every_metric_with_a_name_has_a_definition():
    of_classes = {one for one in REGISTERED.values() if one.reads == "classes"}
    assert of_classes <= {*METRICS}


@each_tier(range(12), range(12, 312))
def test_the_supremum_of_a_metric_is_that_of_its_definition(seeds):
    for seed in seeds:
        check_against_enumeration(seed, METRICS[seed % len(METRICS)])


def fitted(seed, n=24, share=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.arange(n) < round(share * n)
    X[y] += 1.0
    classifier = LeastSquaresClassifier().fit(X, y)
    return to_additive_model(classifier, X, y), y, rng


@pytest.mark.parametrize("seed", range(3))
def test_the_joint_half_width_is_the_quantile_of_the_largest_q(seed):
    """All draws solved completely by metric, and the largest taken; the joint search solves a few of them."""
    model, event, rng = fitted(seed)
    counts = draw_stratified_counts(event, 80, rng)
    seen = [MetricRows(metric, event) for metric in (SENSITIVITY, SPECIFICITY, COST)]
    how = {"confidence_level": 0.9, "localization": 24.0}
    joint = solve_bounds(model, counts, seen, **how)
    alone = [solve_bounds(model, counts, [one], search=Search(all_draws=True), **how)[0] for one in seen]
    largest = np.max([one.draws.upper / one.metric.scale for one in alone], axis=0)
    for found, one in zip(joint, alone, strict=True):
        assert found.certified
        assert found.q == pytest.approx(one.metric.scale * np.sort(largest)[71], abs=1e-9)
        assert found.estimate == one.estimate
        assert found.confidence_interval.high <= one.metric.scale
        assert found.at(confidence_level=0.5).q == pytest.approx(
            one.metric.scale * np.sort(largest)[39], abs=1e-9
        )
    assert "together with specificity and cost" in joint[0].remarks


def test_the_effective_number_of_rows_is_that_of_kish():
    event = np.arange(30) < 3
    assert MetricRows(BALANCED_ERROR, event).n_effective == pytest.approx(4 * 3 * 27 / 30)
    weights = np.where(np.arange(30) < 10, 4.0, 1.0)
    assert MetricRows(ERROR, event, weights).n_effective == pytest.approx(60.0**2 / (10 * 16 + 20))
    assert MetricRows(SENSITIVITY, event).n_effective == 3.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"costs": (0.0, 0.0)}, "The 'costs' parameter must be two numbers"),
        ({"costs": (1.0, -1.0)}, "The 'costs' parameter must be a number in the range"),
        ({"shares": (0.3, 0.3)}, "The 'shares' parameter must be two numbers with the sum 1"),
    ],
)
def test_metrics_that_are_none_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Metric("m", **arguments)


def test_draws_within_the_classes_hold_as_many_rows_of_each():
    event = np.arange(11) % 3 == 0
    counts = draw_stratified_counts(event, 50, np.random.default_rng(0))
    assert (counts[:, event].sum(axis=1) == 4).all()
    assert (counts[:, ~event].sum(axis=1) == 7).all()
    first = draw_counts(4, 50, np.random.default_rng(0))
    assert json.dumps(counts[:, event].tolist()) == json.dumps(first.tolist())


# ---- records as a metric sees them: every number a method reads, against plain Python on the rows by name ----


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


def test_equal_costs_leave_the_losses_alone():
    records, event, _ = small_records(1)
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
    assert not {"aci", "nested-cv", "corrected-resampled-t", "bccvp", "bbc-cv", "bbc-f"} & seen
