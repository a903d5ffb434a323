"""The tables of a study against plain loops, its measures, and metrics of studies."""

from __future__ import annotations

import math
import statistics
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr
from scipy.stats import binomtest
from shared_files import shared_vectors
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from study_frames import METHODS, frames_of, made_up_rows, summary_of

from cudbound import LeastSquaresClassifier, Metrics
from cudbound.basis.results import ConfidenceInterval, Estimand, IntervalEstimate, Outcome
from cudbound.study.population import N_TRUTH_CASES, Truth, fixed_cases
from cudbound.study.replicate import ReplicateRow, joint_rows, true_metrics
from cudbound.study.summary import Summary, interval_score
from cudbound.study.worlds import Gaussians

# ---- the measures of one cell, replicate by replicate ----


#: A mean or a share over replicates, its Monte Carlo standard error, nan for a single one, and the exact 95% interval.
Mean, Share = namedtuple("Mean", "value mcse"), namedtuple("Share", "value mcse interval")


def mean_measure(values: ArrayLike) -> Mean:
    """Return the mean over replicates (Morris, White and Crowther, 2019, table 6)."""
    array = np.asarray(values, dtype=float)
    assert array.ndim == 1
    assert array.size
    assert np.isfinite(array).all()
    mcse = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else math.nan
    return Mean(float(array.mean()), mcse)


def share_measure(happened: ArrayLike) -> Share:
    """Return the share of replicates in which something happened (the same table)."""
    values = np.asarray(happened, dtype=bool)
    share = float(values.mean())
    exact = binomtest(int(values.sum()), values.size).proportion_ci(0.95, method="exact")
    interval = ConfidenceInterval(float(exact.low), float(exact.high))
    return Share(share, math.sqrt(share * (1.0 - share) / values.size), interval)


def paired_difference(first: ArrayLike, second: ArrayLike) -> Mean:
    """Return the mean difference of two methods on the same replicates (the same, section 5)."""
    return mean_measure(np.asarray(first, dtype=float) - np.asarray(second, dtype=float))


# ---- the tables ----

NONE_EXPECTED = frames_of([])[2]
CELLS = [(scenario, n) for scenario in ("donut", "null") for n in (30, 50)]


@pytest.fixture(scope="module")
def rows() -> list[ReplicateRow]:
    return made_up_rows(n_replicates=40)


@pytest.fixture(scope="module")
def summary(rows) -> Summary:
    return summary_of(frames_of(rows))


def of_cell(rows: list[ReplicateRow], scenario: str, n: int) -> list[ReplicateRow]:
    return [row for row in rows if (row.key.scenario, row.key.n) == (scenario, n)]


def interval_of(row: ReplicateRow, method: str):
    """The interval that a method gave, or None."""
    found = [one for one in row.intervals if one.method == method and one.low is not None]
    return found[0] if found else None


def holds(row: ReplicateRow, method: str, value: float | None = None) -> bool:
    interval = interval_of(row, method)
    return interval is not None and interval.low <= (row.truth if value is None else value) <= interval.high


def test_every_number_of_a_cell(rows, summary):
    for found in summary.cells.to_dict("records"):
        cell, method = of_cell(rows, found["scenario"], found["n"]), found["method"]
        pairs = [(row, interval_of(row, method)) for row in cell]
        given_rows = [(row, one) for row, one in pairs if one is not None]
        covered = [holds(row, method) for row in cell]
        coverage = share_measure(covered)
        expected = {
            "n_replicates": len(cell),
            "n_failed": len(cell) - len(given_rows),
            "coverage": coverage.value,
            "coverage_mcse": coverage.mcse,
            "coverage_low": coverage.interval.low,
            "coverage_high": coverage.interval.high,
            "coverage_of_successes": sum(covered) / len(given_rows),
            "coverage_of_successes_mcse": share_measure([holds(row, method) for row, _ in given_rows]).mcse,
            "n_degenerate": sum(one.degenerate is not None for _, one in given_rows),
            "n_fits": found["n"],
        }
        for name, missed in {
            "truth_above": [one is not None and row.truth > one.high for row, one in pairs],
            "truth_below": [one is not None and row.truth < one.low for row, one in pairs],
        }.items():
            share = share_measure(missed)
            expected |= {name: share.value, f"{name}_mcse": share.mcse}
        for name, values in {
            "width": [one.high - one.low for _, one in given_rows],
            "raw_width": [one.raw_high - one.raw_low for _, one in given_rows],
            "interval_score": [
                float(interval_score(one.low, one.high, row.truth, 0.95)) for row, one in given_rows
            ],
            "bias": [one.estimate - row.truth for row, one in given_rows],
            "mse": [(one.estimate - row.truth) ** 2 for row, one in given_rows],
        }.items():
            mean = mean_measure(values)
            expected |= {name: mean.value, f"{name}_mcse": mean.mcse}
            if name.endswith("width"):
                expected |= {
                    f"{name}_median": statistics.median(values),
                    f"{name}_p90": statistics.quantiles(values, n=10, method="inclusive")[-1],
                }
        n_given = len(given_rows)
        spread = statistics.stdev(one.estimate for _, one in given_rows)
        expected |= {"empirical_se": spread, "empirical_se_mcse": spread / math.sqrt(2 * (n_given - 1))}
        if method == "corrected-resampled-t":
            errors = [one.truth for row in cell for one in row.expected]
            aim = mean_measure(errors)
            share = share_measure([holds(row, method, aim.value) for row in cell])
            variances = [one.standard_error**2 for _, one in given_rows]
            model = math.sqrt(statistics.fmean(variances))
            of_model = statistics.variance(variances) / (4 * n_given * model**4)
            expected |= {
                "expected": aim.value,
                "expected_mcse": aim.mcse,
                "coverage_of_expected": share.value,
                "coverage_of_expected_mcse": share.mcse,
                "coverage_of_expected_low": share.interval.low,
                "coverage_of_expected_high": share.interval.high,
                "keeps_level_of_expected": share.value + 1.645 * share.mcse >= 0.95,
                "model_se": model,
                "model_se_mcse": model * math.sqrt(of_model),
                "se_ratio": model / spread,
                "se_ratio_mcse": model / spread * math.sqrt(of_model + 1 / (2 * (n_given - 1))),
            }
            missed = share_measure(
                [interval_of(row, method) is not None and not holds(row, method, aim.value) for row in cell]
            )
            center = mean_measure([one.estimate for _, one in given_rows])
            expected |= {
                "missed_expected": missed.value,
                "missed_expected_mcse": missed.mcse,
                "bias_of_expected": center.value - aim.value,
                "bias_of_expected_mcse": math.hypot(center.mcse, aim.mcse),
                "expected_se": 0.0,
                "n_expected": len(errors),
            }
            assert found["estimand"] == f"expected(n1={9 * found['n'] // 10})"
        else:
            for name in (
                "expected",
                "coverage_of_expected",
                "keeps_level_of_expected",
                "model_se",
                "se_ratio",
            ):
                assert math.isnan(found[name])
            assert found["estimand"] == "conditional"
        assert math.isnan(found["rejection"])  # nothing is compared
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
        exact = coverage.value in (0.0, 1.0)
        bound = coverage.interval.high if exact else coverage.value + 1.645 * coverage.mcse
        assert found["keeps_level"] == (bound >= 0.95)
        shares = found["coverage"] + found["truth_above"] + found["truth_below"]
        assert shares + found["n_failed"] / found["n_replicates"] == pytest.approx(1.0)


def test_every_number_of_the_samples(rows, summary):
    for found in summary.samples.to_dict("records"):
        cell = of_cell(rows, found["scenario"], found["n"])
        done = [row for row in cell if row.failure is None]
        truths, errors = [row.truth for row in done], [row.training_error for row in done]
        expected = {
            "n_replicates": len(cell),
            "n_failed": len(cell) - len(done),
            "n_redrawn": sum(row.n_redrawn for row in cell),
            "mean_truth": statistics.fmean(truths),
            "sd_truth": statistics.stdev(truths),
            "mean_truth_se": 0.01,
            "mean_training_error": statistics.fmean(errors),
            "training_error_kurtosis": stats.kurtosis(errors),
            "mean_seconds": statistics.fmean(row.seconds for row in cell),
        }
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_every_paired_difference(rows, summary):
    assert len(summary.differences) == len(CELLS) * (len(METHODS) - 1)
    for found in summary.differences.to_dict("records"):
        cell, method = of_cell(rows, found["scenario"], found["n"]), found["method"]
        held = [(holds(row, method), holds(row, "cud")) for row in cell]
        both = [
            (one.high - one.low, other.high - other.low)
            for row in cell
            if (one := interval_of(row, method)) and (other := interval_of(row, "cud"))
        ]
        coverage = paired_difference(*zip(*held, strict=True))
        width = paired_difference(*zip(*both, strict=True))
        expected = {
            "coverage_difference": coverage.value,
            "coverage_difference_mcse": coverage.mcse,
            "n_only_method": held.count((True, False)),
            "n_only_reference": held.count((False, True)),
            "width_difference": width.value,
            "width_difference_mcse": width.mcse,
            "n_both": len(both),
        }
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def written_out(
    coverages: dict[str, float], widths: dict[str, float], n_replicates: int = 200
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Frames of one cell in which each method covers as often and is as wide as asked."""
    number = np.arange(n_replicates)
    replicates = pd.DataFrame(
        {
            "scenario": "null",
            "n": 30,
            "replicate": number,
            "truth": 0.5,
            "truth_se": 0.0,
            "training_error": 0.4,
            "n_redrawn": 0,
            "failure": None,
        }
    )
    parts = []
    for method, coverage in coverages.items():
        held = number < round(coverage * n_replicates)
        low = np.where(held, 0.5 - widths[method] / 2, 0.6)
        parts.append(
            replicates[["scenario", "n", "replicate"]].assign(
                method=method,
                estimand="conditional",
                estimate=0.5,
                low=low,
                high=low + widths[method],
                raw_low=low,
                raw_high=low + widths[method],
                n_fits=1,
                degenerate=None,
                standard_error=None,
                pvalue=None,
            )
        )
    return replicates, pd.concat(parts, ignore_index=True), NONE_EXPECTED


def shortest_of(summary: Summary) -> list[str]:
    """The shortest method that keeps its level, of each cell that has one."""
    cells = summary.judged_cells
    return cells.loc[cells["is_shortest"], "method"].tolist()


def test_the_shortest_that_keeps_its_level():
    """0.925 + 1.645 x 0.0186 is 0.9556 and passes; 0.91 + 1.645 x 0.0202 is 0.9433 and does not."""
    frames = written_out(
        {"cud": 0.99, "narrow": 0.91, "middle": 0.925, "wide": 1.0},
        {"cud": 0.3, "narrow": 0.1, "middle": 0.2, "wide": 0.35},
    )
    summary = summary_of(frames)
    assert summary.cells.set_index("method")["keeps_level"].to_dict() == {
        "cud": True,
        "middle": True,
        "narrow": False,
        "wide": True,
    }
    assert shortest_of(summary) == ["middle"]
    aggregates = summary.aggregates.set_index("method")
    assert aggregates["n_shortest"].to_dict() == {"cud": 0, "middle": 1, "narrow": 0, "wide": 0}
    assert aggregates["relative_width"].to_dict() == pytest.approx(
        {"cud": 1.0, "middle": 2 / 3, "narrow": 1 / 3, "wide": 7 / 6}
    )


def test_aggregates_are_those_of_the_cells(summary):
    for found in summary.aggregates.to_dict("records"):
        cells = summary.cells[summary.cells["method"] == found["method"]]
        reference = summary.cells[summary.cells["method"] == "cud"]
        worst = min(cells.to_dict("records"), key=lambda cell: cell["coverage"])
        ratios = [a / b for a, b in zip(cells["width"], reference["width"], strict=True)]
        assert found["n_cells"] == 4
        assert found["n_keeping"] == sum(cells["keeps_level"])
        assert found["share_keeping"] == found["n_keeping"] / 4
        assert (found["worst_coverage"], found["worst_scenario"], found["worst_n"]) == (
            worst["coverage"],
            worst["scenario"],
            worst["n"],
        )
        assert found["relative_width"] == pytest.approx(statistics.fmean(ratios))
        assert found["n_failed"] == sum(cells["n_failed"])
        assert found["n_degenerate"] == sum(cells["n_degenerate"])


TABLES = ("samples", "cells", "differences", "aggregates")


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), n_replicates=st.integers(1, 6))
def test_the_order_of_the_rows_does_not_matter(seed, n_replicates):
    replicates, intervals, expected = frames_of(made_up_rows(n_replicates=n_replicates, seed=seed))
    ordered = summary_of((replicates, intervals, expected), methods=METHODS)
    mixed = summary_of(
        tuple(frame.sample(frac=1, random_state=seed) for frame in (replicates, intervals, expected)),
        methods=METHODS,
    )
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(ordered, name), getattr(mixed, name), check_exact=True)


def as_expected(frames, methods, aim: float = 0.5):
    """The same frames with methods that aim at an expected error."""
    replicates, intervals, _ = frames
    aimed = intervals["method"].isin(methods)
    intervals.loc[aimed, "estimand"] = "expected(n1=27)"
    expected = replicates[["scenario", "n", "replicate"]].assign(n_train=27, truth=aim, truth_se=0.001)
    return replicates, intervals, expected


def test_methods_that_all_aim_at_the_expected_error_are_judged_by_it():
    """The truth .5 is in every interval of a, and the expected error .7 in those of b alone."""
    frames = written_out({"a": 1.0, "b": 1.0}, {"a": 0.2, "b": 0.5})
    one = summary_of(as_expected(frames, ["a", "b"], aim=0.7), methods=["a", "b"])
    assert one.judged_by == "coverage_of_expected"
    assert one.cells["coverage"].tolist() == [1.0, 1.0]
    assert one.judged_cells["coverage"].tolist() == [0.0, 1.0]
    assert shortest_of(one) == ["b"]
    assert one.aggregates["n_keeping"].tolist() == [0, 1]
    assert one.differences["coverage_difference"].tolist() == [1.0]
    # one method that claims the error of the fitted classifier, and all are judged by that
    frames = written_out({"a": 1.0, "b": 1.0}, {"a": 0.2, "b": 0.5})
    other = summary_of(as_expected(frames, ["a"], aim=0.7), methods=["a", "b"])
    assert other.judged_by == "coverage"
    assert shortest_of(other) == ["a"]


def test_a_test_rejects_although_its_confidence_set_is_empty():
    replicates, intervals, none = written_out({"5x2cv-f": 1.0}, {"5x2cv-f": 0.2}, n_replicates=4)
    intervals["pvalue"] = [0.001, 0.5, 0.001, np.nan]
    intervals.loc[[0, 3], ["low", "high", "raw_low", "raw_high"]] = np.nan
    (found,) = summary_of((replicates, intervals, none)).cells.to_dict("records")
    assert found["rejection"] == 0.5
    assert found["n_failed"] == 2


# ---- measures of a study against worked numbers ----


VECTORS = shared_vectors()


def test_worked_interval_score():
    inputs, value = VECTORS["winkler"]["inputs"], VECTORS["winkler"]["value"]
    score = interval_score(inputs["l"], inputs["u"], inputs["truth"], 1 - inputs["delta"])
    assert score == pytest.approx(value["score"], abs=1e-12)


def test_the_interval_score_is_least_in_expectation_at_the_true_quantiles():
    """A proper score: of all intervals for a normal value the one of its quantiles has the least mean."""
    truth = np.random.default_rng(0).normal(size=200_000)
    tail = stats.norm.ppf([0.05, 0.95])
    best = interval_score(*tail, truth, 0.9).mean()
    for low, high in (
        (tail[0] - 0.2, tail[1]),
        (tail[0] + 0.2, tail[1]),
        (tail[0], tail[1] + 0.3),
        (-1.0, 1.0),
    ):
        assert interval_score(low, high, truth, 0.9).mean() > best


# ---- studies of other metrics than the error ----


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
