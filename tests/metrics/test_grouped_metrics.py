"""Metrics of rows in groups and with weights: suprema, effective rows, whole intervals."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from grouped_rows import by_hand, grouped_data, in_two_groups
from metrics_by_definition import COST, METRICS, by_definition, centers_by_hand, enumerated
from scipy.special import betaincinv
from tiers import each_tier

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    Metric,
    Metrics,
    Resampling,
    compare_intervals,
    cud_interval,
)
from cudbound.cli.command import main
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, MetricRows
from cudbound.metrics.views import records_for
from cudbound.point_estimates.bootstrap_632 import effective_rows
from cudbound.records import BootstrapLosses, Groups, Records

# ---- metrics of rows in groups ----


# few rows and few events are the point here
pytestmark = pytest.mark.filterwarnings(
    "ignore::cudbound.basis.exceptions.SmallSampleWarning",
    "ignore::cudbound.basis.exceptions.RepeatedRowsWarning",
)


def case(seed):
    """A training set in groups, ties and groups of one among them, with weights in every third; None if refused."""
    X, y, codes = grouped_data(seed)
    if seed % 4 == 1:
        X[-1] = X[0]  # a row twice, often in two groups and with both labels
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], size=y.size)
    return (X, y, codes, weight if seed % 3 == 0 else None) if in_two_groups(y, codes) else None


def check_suprema(seed):
    """Every draw: the weights of wrong rows from the metric of each row alone, and the supremum over all open cells."""
    found = case(seed)
    if found is None:
        return False
    X, y, codes, weight = found
    metric = METRICS[seed % len(METRICS)]
    asked = Metric("cost", costs=COST.costs) if metric is COST else metric
    clf = LeastSquaresClassifier().fit(X, y, sample_weight=weight)
    result = cud_interval(
        clf,
        X,
        y,
        metric=asked,
        groups=codes,
        sample_weight=weight,
        n_resamples=3,
        rng=seed,
        all_draws=True,
        bound=Bound(polish=True),
    )
    event, rows = y == 1, np.ones(y.size) if weight is None else weight
    for draw, counts in enumerate(result.problem.counts):
        for group in set(codes.tolist()):
            assert (
                len(set(counts[codes == group].tolist())) == 1
            )  # whole groups, so many of them as there are
        assert sum(counts[codes == group][0] for group in set(codes.tolist())) == len(set(codes.tolist()))
        alone = [
            by_definition(metric, wrong, event, counts * rows) - by_definition(metric, wrong, event, rows)
            for wrong in np.eye(y.size, dtype=bool)
        ]
        none = np.zeros(y.size, dtype=bool)
        assert by_definition(metric, none, event, counts * rows) == by_definition(metric, none, event, rows)
        written = by_hand(result.problem, draw, alone)
        expected = enumerated(written, metric, event, 0, rows)
        assert result.draws.upper[draw] == pytest.approx(expected, abs=1e-7), (seed, metric.name, draw)
    return True


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning")  # for three groups
@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.RepeatedRowsWarning")
@each_tier(range(15), range(15, 90), range(90, 345))
def test_the_supremum_of_a_metric_of_groups_is_that_of_its_definition(seeds):
    assert sum(check_suprema(seed) for seed in seeds) >= 0.8 * len(seeds)


def rows_by_loops(wrong, counts, codes, counted):
    """The effective number of rows that count: their number by the design effect of the losses of left-out groups."""
    left_out = [
        (b, i) for b in range(len(counts)) for i in range(len(codes)) if counted[i] and counts[b][i] == 0
    ]
    mean = sum(wrong[b][i] for b, i in left_out) / len(left_out)
    of_group, of_rows = {}, 0.0
    for b, i in left_out:
        of_group[b, codes[i]] = of_group.get((b, codes[i]), 0.0) + wrong[b][i] - mean
        of_rows += (wrong[b][i] - mean) ** 2
    effect = sum(total**2 for total in of_group.values()) / of_rows
    sizes = Counter(codes[i] for i in range(len(codes)) if counted[i]).values()
    n_rows, as_even = sum(sizes), sum(sizes) ** 2 / sum(size**2 for size in sizes)
    return max(n_rows / max(effect, 1.0), as_even)


@pytest.mark.parametrize("metric", [SENSITIVITY, SPECIFICITY])
def test_effective_rows_are_those_of_the_class(metric):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(8), rng.integers(1, 5, size=8))
        event = rng.random(codes.size) < 0.5
        event[:2], event[-2:] = True, False
        counts = rng.multinomial(8, np.full(8, 1 / 8), size=20)[:, codes]
        wrong = rng.random(counts.shape) < rng.random(8)[codes]  # alike within a group
        records = Records(bootstrap=BootstrapLosses(counts, wrong, uneven=True), groups=Groups.of(codes))
        seen = MetricRows(metric, event)
        if not seen.lacking(counts).any():
            found = effective_rows(records_for(seen, records))
            assert found == pytest.approx(rows_by_loops(wrong, counts, codes, seen.rows), abs=1e-10)
            assert found <= seen.rows.sum()


def refit_by_hand(X, y, counts):
    """Which rows the least-squares classifier of each draw gets wrong, from the normal equations of the drawn rows."""
    design, labels = np.column_stack([np.ones(len(y)), X]), np.where(y == 1, 1.0, -1.0)
    wrong = []
    for row in counts:
        drawn = np.repeat(np.arange(len(y)), row)
        coef = np.linalg.lstsq(design[drawn], labels[drawn], rcond=None)[0]
        wrong.append((design @ coef >= 0.0) != (labels > 0.0))
    return np.array(wrong)


@pytest.mark.parametrize("metric", [SENSITIVITY, SPECIFICITY])
def test_the_interval_for_a_metric_of_groups_by_hand(metric):
    """two-center, from the draws on: refits, .632+, effective rows, Clopper and Pearson."""
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(12), rng.integers(1, 4, size=12))
    y = (rng.random(12) < 0.5)[codes].astype(int)
    X = rng.normal(size=(codes.size, 2)) + 0.8 * y[:, None] + rng.normal(size=(12, 1))[codes]
    clf = LeastSquaresClassifier().fit(X, y)
    asked = {"metric": metric, "groups": codes, "n_resamples": 30, "rng": 1}
    row = compare_intervals(clf, X, y, methods="two-center", **asked).rows[0]
    counts = cud_interval(clf, X, y, **asked).problem.counts
    event = y == 1
    assert not MetricRows(metric, event).lacking(counts).any()
    wrong = refit_by_hand(X, y, counts)
    records = Records(
        losses=refit_by_hand(X, y, np.ones((1, y.size), dtype=int))[0],
        bootstrap=BootstrapLosses(counts, wrong, uneven=True),
    )
    _, at_632, plus = centers_by_hand(metric, records, event, np.ones(y.size))
    wrong_on_all = np.asarray(records.losses, dtype=bool)
    training = 1.0 - MetricRows(metric, event).value(wrong_on_all)
    left_out = (at_632 - 0.368 * training) / 0.632
    n = rows_by_loops(wrong, counts, codes, event if metric is SENSITIVITY else ~event)
    # the details are of the mean loss
    held_out = row.details["cross_validated"]
    low, high = min(held_out, plus), max(held_out, plus, (held_out + left_out) / 2.0)
    assert row.details["at_632_plus"] == pytest.approx(plus, abs=1e-12)
    assert row.estimate == pytest.approx(1.0 - (held_out + plus) / 2.0, abs=1e-12)
    limits = (
        1.0 - betaincinv(n * high + 1.0, n - n * high, 0.975),
        1.0 - betaincinv(n * low, n - n * low + 1.0, 0.025),
    )
    assert (row.low, row.high) == pytest.approx(limits, abs=1e-10)
    assert row.details["lower_size"] == pytest.approx(n)
    assert "6 groups of 1 to 3 rows kept together" in " ".join(row.remarks)  # those of the class


# ---- weights of rows on the command line ----


RNG = np.random.default_rng(11)
X = RNG.normal(size=(36, 2)).round(2)
Y = (X[:, 0] + RNG.normal(size=36) > 0.2).astype(int)
W = RNG.choice([0.5, 1.0, 3.0], size=36)
FEW = {"n_resamples": 20, "rng": 0}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "d.csv"
    rows = zip(X.tolist(), W.tolist(), Y.tolist(), strict=True)
    path.write_text("\n".join(["a,b,w,state", *(f"{a},{b},{w},{y}" for (a, b), w, y in rows)]) + "\n")
    return path


def command(path, *more):
    fixed = "--target state --positive 1 --seed 0 --resamples 20 --weight w --classifier least-squares"
    return CliRunner().invoke(main, ["interval", str(path), *fixed.split(), *more])


def test_the_majority_class_errs_by_the_weights(file):
    """A weighted error is held against a weighted share of the rarer class."""
    clf = LeastSquaresClassifier().fit(X, Y, sample_weight=W)
    rate = min(W[Y == 1].sum(), W[Y == 0].sum()) / W.sum()
    said = f"Always predicting the majority class would be wrong for {rate:.1%} of the training rows, by their weights"
    table = compare_intervals(clf, X, Y, methods=["two-center", "cud"], sample_weight=W, **FEW)
    assert table.run.base_rate == pytest.approx(rate) != pytest.approx(min(Y.mean(), 1 - Y.mean()))
    bound = cud_interval(clf, X, Y, sample_weight=W, **FEW)
    for text in (table.headline, str(bound)):
        assert said in text
    display = table.display()
    assert display.reference == pytest.approx(rate)
    assert display.reference_label == "always the majority\nclass: {}\nby weight"
    found = command(file, "--methods", "two-center,cud", "--format", "json")
    assert json.loads(found.stdout)["run"]["base_rate"] == pytest.approx(rate)
    assert said in " ".join(json.loads(found.stdout)["headline"])


# ---- influence values ----


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("bootstrap-632-normal", {}),
        ("bootstrap-632-plus-normal", {}),
        ("bootstrap-bias-corrected", {"variant": "bca"}),
    ],
)
def test_influence_values_are_those_of_rows_that_count_alike(method, options):
    clf = LeastSquaresClassifier().fit(X, Y)
    asked = {"methods": [(method, options)], "n_resamples": 60, "rng": 0}
    why = "it needs equal weights, and equally many of the rows that the metric counts in each draw"
    refused = [
        compare_intervals(clf, X, Y, metric="balanced-error", **asked)[method],
        compare_intervals(clf, X, Y, metric=["error", "sensitivity"], **asked)[method, "sensitivity"],
    ]
    weighted = LeastSquaresClassifier().fit(X, Y, sample_weight=W)
    refused.append(compare_intervals(weighted, X, Y, sample_weight=W, **asked)[method])
    for row in refused:
        assert row.degenerate == why
        assert 0.0 < row.estimate < 1.0
    kept = [
        compare_intervals(clf, X, Y, metric="sensitivity", **asked)[method],
        compare_intervals(clf, X, Y, metric=Metrics("cost", costs={0: 1, 1: 4}), **asked)[method],
        compare_intervals(clf, X, Y, metric=["error", "sensitivity"], **asked)[method, "error"],
    ]
    assert [row.degenerate for row in kept] == [None] * 3
    assert kept[2] == compare_intervals(clf, X, Y, resampling=Resampling(inner="oob"), **asked)[method]
