"""The clinical report: its numbers against those of others, its schema, its pictures, and hard cases."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from data import sample
from html_pages import Page
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    brier_score_loss,
    class_likelihood_ratios,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import FixedThresholdClassifier
from tiers import quick_first

import cudbound
from cudbound import LeastSquaresClassifier, clinical_report, compare_intervals, performance_interval
from cudbound.clinical.clinical_report import pictures_of

# ---- the clinical report ----


SCHEMA = json.loads((Path(cudbound.__file__).parent / "clinical" / "report.schema.json").read_text())
HOSTILE = ["<script>alert(1)</script>", '=HYPERLINK("http://x")', "n" * 300, "$x_1$ & <b>"]
EVENT = '<img src=x onerror="alert(1)">'
X, Y = sample(40, 4, labels=("well", "ill"))
FEW = {"n_resamples": 60, "rng": 0}


def checked(estimator, X, y, event="ill", **named):
    """The dictionary of a report, which has the documented schema, and its page, which is whole."""
    report = clinical_report(estimator.fit(X, y), X, y, event=event, **{**FEW, **named})
    found = report.to_dict()
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert json.loads(report.to_json()) == found
    page = report.to_html()
    names = [value for name, value in Page(page).attributes if name == "id"]
    assert len(names) == len(set(names))
    assert page.count("<script") == 1
    return found, page


def measures(found):
    return {
        one["metric"]: one for one in [*found["performance"]["measures"], *found["probabilities"]["measures"]]
    }


@pytest.fixture(scope="module")
def report():
    clf = LogisticRegression().fit(X, Y)
    return clinical_report(clf, X, Y, event="ill", n_resamples=200, rng=0)


@pytest.fixture(scope="module")
def found(report):
    return report.to_dict()


def test_apparent_values_are_those_of_scikit_learn(found):
    clf = LogisticRegression().fit(X, Y)
    called, risks = clf.predict(X), clf.predict_proba(X)[:, 0]
    (tp, fn), (fp, tn) = confusion_matrix(Y, called, labels=["ill", "well"]).tolist()
    assert found["performance"]["cells"] == {
        "true_positive": tp,
        "false_negative": fn,
        "false_positive": fp,
        "true_negative": tn,
    }
    ratios = class_likelihood_ratios(Y, called, labels=["well", "ill"])
    expected = {
        "error": (called != Y).mean(),
        "sensitivity": recall_score(Y, called, pos_label="ill"),
        "specificity": recall_score(Y, called, pos_label="well"),
        "ppv": precision_score(Y, called, pos_label="ill"),
        "npv": precision_score(Y, called, pos_label="well"),
        **dict(zip(("lr+", "lr-"), ratios, strict=True)),
        "auc": roc_auc_score(Y == "ill", risks),
        "brier": brier_score_loss(Y == "ill", risks),
    }
    apparent = {name: one["apparent"] for name, one in measures(found).items()}
    assert apparent == {name: pytest.approx(value, abs=1e-12) for name, value in expected.items()}
    benefit = found["probabilities"]["net_benefit"]
    assert benefit["threshold"] == 0.5
    assert benefit["apparent"] == pytest.approx(tp / 40 - fp / 40)
    assert benefit["treat_all"] == pytest.approx(((Y == "ill").sum() - (Y == "well").sum()) / 40)


def test_corrected_values_are_those_of_the_package(found):
    clf = LogisticRegression().fit(X, Y)
    names = [*measures(found), "net-benefit"]
    metric = cudbound.Metrics(names, event="ill", prevalence="sample", threshold=0.5)
    table = compare_intervals(clf, X, Y, methods="two-center", metric=metric, n_resamples=200, rng=0)
    for row in table:
        one = {**measures(found), "net-benefit": found["probabilities"]["net_benefit"]}[row.metric]
        assert (one["estimate"], one["low"], one["high"]) == (row.estimate, row.low, row.high)
    assert found["probabilities"]["calibration"]["slope"] == table.calibration.slope
    assert found["instability"]["mean"] == table.instability.mean
    cud = cudbound.cud_interval(clf, X, Y, n_resamples=200, rng=0)
    rows = {one["method"]: one for one in found["intervals"]["rows"]}
    assert (rows["cud"]["low"], rows["cud"]["high"]) == tuple(cud.confidence_interval)
    assert found["bound"]["cud"]["q"] == cud.q
    others = compare_intervals(
        clf,
        X,
        Y,
        methods=["langford-binomial", "kohavi-normal", "abcloc"],
        metric=metric,
        n_resamples=200,
        rng=0,
    )
    for name in ("langford-binomial", "kohavi-normal", "abcloc"):
        assert (rows[name]["low"], rows[name]["high"]) == tuple(others[name, "error"].confidence_interval)


def test_the_one_sided_limit_is_that_of_a_one_sided_call(found):
    one_sided = found["box"]["one_sided"]
    assert one_sided["confidence_level"] == 0.975
    again = performance_interval(
        LogisticRegression().fit(X, Y),
        X,
        Y,
        metric=cudbound.Metrics("error", event="ill", stratified=False),
        alternative="less",
        confidence_level=0.975,
        n_resamples=200,
        rng=0,
    )
    assert one_sided["high"] == pytest.approx(again.confidence_interval.high, abs=1e-12)


def test_bars_and_groups_have_all_cases(found):
    bars = found["probabilities"]["risks_by_outcome"]
    assert (sum(bars["events"]), sum(bars["non_events"])) == ((Y == "ill").sum(), (Y == "well").sum())
    groups = found["instability"]["groups"]
    assert sum(one["n"] for one in groups) == 40
    assert min(one["n"] for one in groups) >= 5
    mean = sum(one["n"] * one["mean_share"] for one in groups) / 40
    assert mean == pytest.approx(found["instability"]["mean"])
    assert sum(found["instability"]["refit_errors"]["counts"]) == 200


def test_no_row_of_the_data_is_in_it(report):
    numbers = {f"{value:.6g}" for value in np.abs(X).ravel()}
    text = report.to_json() + report.to_html()
    assert not [one for one in numbers if one in text]

    def lists(value):
        if isinstance(value, dict):
            for one in value.values():
                yield from lists(one)
        if isinstance(value, list):
            yield value
            for one in value:
                yield from lists(one)

    known = len(report.to_dict()["crosswalk"])
    assert not [one for one in lists(report.to_dict()) if len(one) == 40 and len(one) != known]


def test_the_same_seed_gives_the_same_bytes(report):
    again = clinical_report(LogisticRegression().fit(X, Y), X, Y, event="ill", n_resamples=200, rng=0)
    assert again.to_json() == report.to_json()
    assert again.to_html() == report.to_html()


def test_its_table_is_saved_and_verified(report, tmp_path):
    report.table.save(tmp_path / "result.json")
    again = cudbound.verify_result(tmp_path / "result.json", LogisticRegression().fit(X, Y), X, Y)
    assert again.passed
    assert again.complete


# --- hard cases


def test_names_of_a_hostile_file_are_inert():
    frame = pd.DataFrame(X, columns=HOSTILE)
    found, page = checked(LogisticRegression(), frame, np.where(Y == "ill", EVENT, "=1+1"), EVENT)
    assert found["box"]["event"] == f"class {EVENT}"
    assert found["box"]["features"] == HOSTILE
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize("event", quick_first(["ill", "well"]))
def test_the_threshold_is_that_of_the_classifier(event):
    """Called ill from a risk of .3 of being ill, and so well from a risk of .7 of being well."""
    clf = FixedThresholdClassifier(LogisticRegression(), threshold=0.7, response_method="predict_proba")
    found, _ = checked(clf, X, Y, event)
    threshold = 0.7 if event == "well" else 0.3  # the threshold is on the second class, "well"
    benefit = found["probabilities"]["net_benefit"]
    assert benefit["threshold"] == pytest.approx(threshold)
    called = clf.predict(X) == event
    weight = threshold / (1 - threshold)
    assert benefit["apparent"] == pytest.approx(
        (called & (event == Y)).mean() - weight * (called & (event != Y)).mean()
    )


def test_groups_are_kept_together():
    groups = np.repeat(np.arange(20), 2)
    found = clinical_report(
        LeastSquaresClassifier().fit(X, Y), X, Y, event="ill", groups=groups, **FEW
    ).to_dict()
    assert found["intervals"]["family"] == "grouped least-squares"
    assert any("kept together" in one for one in measures(found)["error"]["remarks"])


# ---- pictures of a clinical report ----


@pytest.fixture(scope="module")
def pictured():
    X, y = sample(40, 2)
    return clinical_report(LogisticRegression().fit(X, y), X, y, n_resamples=60, rng=0).to_dict()


def test_every_picture_says_its_numbers(pictured):
    found = pictures_of(pictured)
    assert list(found) == ["measures", "intervals", "risks", "instability", "risk_instability", "refits"]
    error = pictured["performance"]["measures"][0]
    assert (
        f"error {error['estimate']:.3f} ({error['low']:.3f} to {error['high']:.3f})"
        in found["measures"]["text"]
    )
    events = pictured["probabilities"]["risks_by_outcome"]["events"]
    assert f"events in tenths of the risk: {', '.join(map(str, events))}" in found["risks"]["text"]
    assert f"Mean {pictured['instability']['refit_errors']['mean']:.3f}" in found["refits"]["text"]
