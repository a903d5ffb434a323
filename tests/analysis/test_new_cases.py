"""Training rows and new cases in one interval, from Python: its rows, words and refusals, for all metrics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression

from cudbound import Metrics, clinical_report, compare_intervals, performance_interval
from cudbound.basis.exceptions import RepeatedRowsWarning

RNG = np.random.default_rng(4)
N, M = 60, 25
ROWS = RNG.normal(size=(N + M, 3))
LABELS = np.where(ROWS[:, 0] + RNG.normal(size=N + M) > 0, "ill", "well")
X, Y, NEW = ROWS[:N], LABELS[:N], (ROWS[N:], LABELS[N:])
CLF = LogisticRegression().fit(X, Y)
FEW = {"event": "ill", "n_resamples": 40, "rng": 0}
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::cudbound.basis.exceptions.{name}")
    for name in ("SmallSampleWarning", "RepeatedRowsWarning")
]


def clopper_pearson(errors, n, tail):
    return beta.ppf(tail, errors, n - errors + 1), beta.ppf(1 - tail, errors + 1, n - errors)


def test_by_default_new_cases_are_added():
    result = performance_interval(CLF, X, Y, new_cases=NEW, **FEW)
    alone = performance_interval(CLF, X, Y, **FEW)
    k = int((CLF.predict(NEW[0]) != NEW[1]).sum())
    low, _ = clopper_pearson(N * alone.details["lower_center"] + k, N + M, 0.025)
    _, high = clopper_pearson(N * alone.details["upper_center"] + k, N + M, 0.025)
    assert (result.low, result.high) == pytest.approx((low, high))
    assert result.estimate == pytest.approx((N * alone.estimate + k) / (N + M))
    assert result.row.n_test == M
    at_80 = result.at(0.8)
    assert at_80.low > result.low
    assert at_80.high < result.high


@pytest.mark.parametrize(("alternative", "limit", "side"), [("less", "high", 1), ("greater", "low", 0)])
def test_one_sided_limits_have_the_whole_error_probability(alternative, limit, side):
    result = performance_interval(CLF, X, Y, new_cases=NEW, alternative=alternative, **FEW)
    k, center = M * result.details["new_cases"], result.details[("lower_center", "upper_center")[side]]
    assert getattr(result, limit) == pytest.approx(clopper_pearson(N * center + k, N + M, 0.05)[side])


def test_the_table_has_training_rows_new_cases_and_both():
    metrics = ["error", "sensitivity", "specificity", "balanced-error", "auc", "brier"]
    table = compare_intervals(CLF, X, Y, new_cases=NEW, metric=metrics, **FEW)
    assert [row.method for row in table][:3] == ["two-center", "test-set-clopper-pearson", "pooled"]
    for metric in metrics:
        rows = [row for row in table if row.metric == metric]
        assert rows[2].method == "pooled"
        assert rows[2].width < min(rows[0].width, rows[1].width)
        assert rows[2].low <= rows[2].estimate <= rows[2].high
    words = " ".join(" ".join(table.report().notes).split())
    assert (
        "pooled: from the training data and new cases, which are assumed to be of the same population"
        in words
    )
    assert "pooled interval from 60 training rows and 25 test cases" in table.headline


def test_groups_weights_and_costs_count_as_in_training():
    groups = np.arange(N) // 2
    grouped = performance_interval(CLF, X, Y, new_cases=NEW, groups=groups, **FEW)
    assert grouped.details["upper_size"] <= N
    assert grouped.details["new_size"] == pytest.approx(M)
    weights = np.where(Y == "ill", 3.0, 1.0)
    weighted = performance_interval(LogisticRegression(), X, Y, new_cases=NEW, sample_weight=weights, **FEW)
    assert weighted.details["upper_size"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    cost = Metrics("cost", event="ill", costs={"ill": 4.0, "well": 1.0})
    costly = performance_interval(CLF, X, Y, new_cases=NEW, metric=cost, n_resamples=40, rng=0)
    numbers = costly.details
    assert numbers["new_size"] / M == pytest.approx(numbers["upper_size"] / N)
    assert 0.0 < costly.low < costly.estimate < costly.high < 4.0


def test_metrics_made_from_others_follow():
    metrics = Metrics(["ppv", "npv", "lr+"], event="ill", prevalence="sample")
    few = {"metric": metrics, "n_resamples": 40, "rng": 0}
    both = compare_intervals(CLF, X, Y, new_cases=NEW, methods=["two-center", "pooled"], **few)
    for metric in ("ppv", "npv", "lr+"):
        assert both["pooled", metric].width < both["two-center", metric].width


def test_more_classes_than_two():
    labels = np.digitize(ROWS[:, 0], [-0.5, 0.5])
    clf = LogisticRegression().fit(X, labels[:N])
    result = performance_interval(clf, X, labels[:N], new_cases=(ROWS[N:], labels[N:]), n_resamples=40, rng=0)
    assert result.row.method == "pooled"
    assert result.low < result.estimate < result.high


def test_the_words_say_whether_the_new_cases_are_worse():
    result = performance_interval(CLF, X, Y, new_cases=NEW, **FEW)
    assert result.sentence.endswith(
        f"The new cases are not clearly worse than the training data promised (p-value "
        f"{result.details['new_worse_pvalue']:.3f})."
    )
    assert result.sentence in result.describe().results
    assert "was tested on 25 test cases" in result.describe().methods
    wrong = (NEW[0], np.where(NEW[1] == "ill", "well", "ill"))
    shifted = performance_interval(CLF, X, Y, new_cases=wrong, **FEW)
    assert shifted.details["new_worse_pvalue"] < 0.01
    assert shifted.sentence.endswith("should not be pooled. Report the interval from the new cases alone.")
    table = compare_intervals(CLF, X, Y, new_cases=wrong, metric=["error", "auc"], **FEW)
    assert "By the AUC (c-statistic), the new cases are clearly worse" in table.describe().results


def test_a_metric_of_events_is_undefined_without_a_new_one():
    well = NEW[1] == "well"
    new = (NEW[0][well], NEW[1][well])
    table = compare_intervals(CLF, X, Y, new_cases=new, metric=["sensitivity", "auc"], **FEW)
    assert "0 events" in table["pooled", "sensitivity"].degenerate
    assert "one class" in table["pooled", "auc"].degenerate
    assert table["two-center", "sensitivity"].width > 0
    assert "two-center interval" in table.headline


@pytest.mark.parametrize("metric", ["error", "sensitivity", "auc", "brier"])
def test_the_planned_number_of_new_cases_gives_the_half_width(metric):
    alone = performance_interval(CLF, X, Y, metric=metric, **FEW)
    target = 0.6 * (alone.high - alone.low) / 2
    m = alone.new_cases_for(target)
    assert alone.new_cases_for(target * 1.01) <= m <= alone.new_cases_for(target * 0.99)
    assert alone.new_cases_for(0.499) == 0
    # as many copies of the training rows whose results are those of the estimate
    sizes = np.array([alone.details["lower_size"], alone.details["upper_size"]]) * (1 + m / N)
    centers = [alone.details["lower_center"], alone.details["upper_center"]]
    expected = (alone.details["cross_validated"] + alone.details["at_632_plus"]) / 2
    means = [(center * N + expected * m) / (N + m) for center in centers]
    low = clopper_pearson(sizes[0] * means[0], sizes[0], 0.025)[0]
    high = clopper_pearson(sizes[1] * means[1], sizes[1], 0.025)[1]
    assert (high - low) / 2 == pytest.approx(target, rel=0.03)
    assert (high - low) / 2 <= target


def test_the_number_of_new_cases_needs_two_limits():
    alone = performance_interval(CLF, X, Y, alternative="less", **FEW)
    with pytest.raises(ValueError, match="two-sided intervals by two-center and pooled"):
        alone.new_cases_for(0.05)
    with pytest.raises(ValueError, match="half_width"):
        performance_interval(CLF, X, Y, **FEW).new_cases_for(0.7)


def test_pooled_without_new_cases_is_refused():
    for methods in ("pooled", "new-cases"):
        with pytest.raises(
            ValueError, match=r"pass new_cases=\(X_new, y_new\).*'two-center' is the interval"
        ):
            compare_intervals(CLF, X, Y, methods=methods, **FEW)


def test_training_rows_among_the_new_cases_are_counted():
    new = (np.vstack([NEW[0], X[:5]]), np.append(NEW[1], Y[:5]))
    with pytest.warns(RepeatedRowsWarning, match="5 of 30 test cases equal training rows"):
        result = performance_interval(CLF, X, Y, new_cases=new, **FEW)
    assert "5 of 30 test cases equal training rows" in result.row.remarks


def test_the_clinical_report_has_a_sentence_per_metric():
    report = clinical_report(CLF, X, Y, new_cases=NEW, **FEW)
    sentences = report.to_dict()["new_cases"]
    assert sentences[0] == performance_interval(CLF, X, Y, new_cases=NEW, **FEW).sentence
    assert any("AUC" in sentence for sentence in sentences)
    page = report.to_html()
    assert "Internal validation, and new cases." in page
    assert "no external data" not in page
    assert "Internal validation, except for the sentences on new cases." in page
    assert "pooled interval from 60 training rows and 25 test cases" in page
    assert "new_cases=new_cases" in report.to_dict()["reproduction"]["command"]
    alone = clinical_report(CLF, X, Y, **FEW)
    assert alone.to_dict()["new_cases"] == []
    assert "no external data" in alone.to_html()
    assert alone.to_dict()["performance"] == report.to_dict()["performance"]
