"""What can be asked for in metric=, the event of a call, and rows of several metrics."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from data import fitted_sample, sample
from record_kinds import kinds
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cudbound as cb
from cudbound import (
    LeastSquaresClassifier,
    Metrics,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.basis.exceptions import RepeatedRowsWarning, SmallSampleWarning
from cudbound.metrics.metric import MetricRows
from cudbound.metrics.metrics import targets_of

# ---- what can be asked for in ``metric=`` ----


def data(seed=0, n=40, shift=0.5):
    return sample(n, seed=seed, labels=("well", "ill"), above=shift)


def fitted(seed=0, n=40):
    return fitted_sample(n, seed=seed, labels=("well", "ill"), above=0.5)


FAST = {"n_resamples": 60, "rng": 0}


def test_a_metric_by_itself_and_among_others_has_the_same_row():
    clf, X, y = fitted()
    methods = ["two-center", "cud", "langford-binomial", "out-of-bag-wilson", "out-of-bag-clopper-pearson"]
    several = Metrics(["sensitivity", "specificity"], event="ill")
    both = compare_intervals(clf, X, y, methods=methods, metric=several, **FAST)
    assert [(row.method, row.metric) for row in both] == [
        (method, metric) for metric in ("sensitivity", "specificity") for method in methods
    ]
    alone = compare_intervals(clf, X, y, methods=methods, metric=Metrics("specificity", event="ill"), **FAST)
    assert alone.rows == both.rows[5:]
    assert (
        both["cud", "specificity"]
        == cud_interval(clf, X, y, metric=Metrics("specificity", event="ill"), **FAST).row
    )
    one = performance_interval(clf, X, y, metric=Metrics("specificity", event="ill"), **FAST)
    assert one.row == both["two-center", "specificity"]
    assert one.sentence.startswith("The specificity of this classifier on new cases is estimated at")
    with pytest.raises(KeyError, match="has 2 rows"):
        both["cud"]


def test_equal_costs_are_the_error_in_their_units():
    clf, X, y = fitted()
    error = compare_intervals(clf, X, y, methods=["two-center", "cud"], **FAST)
    cost = compare_intervals(
        clf, X, y, methods=["two-center", "cud"], metric=Metrics("cost", costs={"ill": 3, "well": 3}), **FAST
    )
    for one, other in zip(error, cost, strict=True):
        assert other.low == pytest.approx(3 * one.low)
        assert other.high == pytest.approx(3 * one.high)
        assert other.highest == 3.0


def test_weights_of_1_change_nothing_and_weights_are_copies_of_rows():
    X, y = data(n=30)
    clf = LogisticRegression().fit(X, y)
    plain = compare_intervals(clf, X, y, methods=["two-center", "cud"], n_resamples=10, rng=0)
    ones = compare_intervals(
        clf, X, y, methods=["two-center", "cud"], n_resamples=10, rng=0, sample_weight=np.ones(30)
    )
    for one, other in zip(plain, ones, strict=True):
        assert (other.low, other.high) == pytest.approx((one.low, one.high))
    weights = np.where(y == "ill", 2.0, 1.0)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    pipe.fit(X, y, logisticregression__sample_weight=weights)
    with pytest.warns(RepeatedRowsWarning, match="repeat the rows, one row per patient"):
        row = compare_intervals(
            pipe, X, y, methods="two-center", n_resamples=5, rng=0, sample_weight=weights
        ).rows[0]
    wrong = pipe.predict(X) != y
    with pytest.warns(RepeatedRowsWarning, match="repeat the rows"):
        found = cud_interval(pipe, X, y, n_resamples=5, rng=0, sample_weight=weights)
    assert found.estimate == pytest.approx(weights @ wrong / weights.sum())
    assert row.n_fits == 1 + 5 + 50


def test_joint_predictive_values_are_those_at_the_joint_limits():
    """Bayes' theorem once more, from a table of 1000 people, at the limits of both intervals at 97.5%."""
    clf, X, y = fitted()
    asked = Metrics(["ppv", "npv"], event="ill", prevalence=0.2, joint=True)
    values = compare_intervals(clf, X, y, methods=["two-center", "cud"], metric=asked, **FAST)
    joint = Metrics(["sensitivity", "specificity"], event="ill", joint=True)
    both = compare_intervals(clf, X, y, methods=["two-center", "cud"], metric=joint, **FAST)
    for method in ("two-center", "cud"):
        for end in ("low", "high"):
            se, sp = (getattr(both[method, metric], end) for metric in ("sensitivity", "specificity"))
            sick, fit = 200 * se, 800 * sp
            called, cleared = sick + (800 - fit), fit + (200 - sick)
            assert getattr(values[method, "ppv"], end) == pytest.approx(sick / called if called else 0.0)
            assert getattr(values[method, "npv"], end) == pytest.approx(fit / cleared)
    assert "at the prevalence 0.2" in values["cud", "ppv"].remarks
    everything = Metrics(["sensitivity", "specificity", "ppv"], event="ill", prevalence=0.2, joint=True)
    together = compare_intervals(clf, X, y, methods="two-center", metric=everything, **FAST)
    assert together["two-center", "ppv"].low == values["two-center", "ppv"].low
    assert together["two-center", "sensitivity"] == both["two-center", "sensitivity"]


def test_few_events_are_warned_of():
    X, y = data(2, 20, shift=1.0)
    n_events = int((y == "ill").sum())
    assert 2 <= n_events < 10
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(SmallSampleWarning, match=f"The sensitivity is based on {n_events} events") as caught:
        table = compare_intervals(
            clf, X, y, methods="two-center", metric=Metrics("sensitivity", event="ill"), **FAST
        )
    assert caught[0].message.n_rows == n_events
    assert table.rows[0].remarks[0] == f"based on {n_events} events"
    words = r"The error is based on .* has little information on that class\. Report their number"
    with pytest.warns(SmallSampleWarning, match=words) as caught:
        compare_intervals(clf, X, y, methods="two-center", metric="error", **FAST)
    assert caught[0].message.n_rows == n_events
    words = r"The error and Brier score are based on .*, they have little information on that class"
    alike = Metrics(["error", "brier"])
    with pytest.warns(SmallSampleWarning, match=words) as caught:
        compare_intervals(LogisticRegression().fit(X, y), X, y, methods="two-center", metric=alike, **FAST)
    assert len([warning for warning in caught if warning.category is SmallSampleWarning]) == 1
    X, y = data(2, 60, shift=0.0)
    assert min((y == "ill").sum(), (y != "ill").sum()) >= 10
    with warnings.catch_warnings():
        warnings.simplefilter("error", SmallSampleWarning)
        compare_intervals(
            LeastSquaresClassifier().fit(X, y), X, y, methods="two-center", metric="error", **FAST
        )


# ---- metrics that are one minus another ----


PAIRS = {
    "accuracy": "error",
    "balanced-accuracy": "balanced-error",
    "fpr": "specificity",
    "fnr": "sensitivity",
}
FORTY = {"n_resamples": 40, "rng": 0}


@pytest.mark.parametrize(("name", "other"), PAIRS.items())
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_limits_are_one_minus_those_of_the_other(name, other, alternative):
    clf, X, y = fitted_sample(40, seed=1)
    methods = ["two-center", "cud", "langford-binomial", "bootstrap-632-normal"]
    turned = {"two-sided": "two-sided", "less": "greater", "greater": "less"}[alternative]
    rows = compare_intervals(clf, X, y, methods=methods, metric=name, alternative=alternative, **FORTY)
    others = compare_intervals(clf, X, y, methods=methods, metric=other, alternative=turned, **FORTY)
    for row, opposite in zip(rows, others, strict=True):
        assert (row.metric, row.alternative) == (name, alternative)
        assert row.estimate == pytest.approx(1.0 - opposite.estimate, abs=1e-12)
        assert row.confidence_interval == pytest.approx(
            (1.0 - opposite.high, 1.0 - opposite.low), abs=1e-12
        ), row.method


# ---- the levels of the intervals of each metric ----


EVENT = np.arange(10) < 4
#: Records of a method that bounds a family as a whole, and of one that does not.
BOUND, OTHER = kinds({"losses", "bound"}), kinds({"losses", "bootstrap"})


def targets(asked: Metrics, alternative: str = "two-sided", level: float = 0.9) -> tuple[MetricRows, ...]:
    return targets_of(asked.resolve(), EVENT, None, level, alternative)


def test_metrics_by_themselves_have_the_level_each():
    found = targets(Metrics(["sensitivity", "specificity", "error"]))
    assert [one.metric.name for one in found] == ["sensitivity", "specificity", "error"]
    for one in found:
        assert one.family == (one.metric,)
        assert one.family_level == one.level_per_interval == 0.9
        assert one.level_and_remarks(BOUND) == one.level_and_remarks(OTHER) == (0.9, ())
        assert one.alternative == "two-sided"
        assert one.level_and_remarks(frozenset()) == (0.9, ())


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_a_family_divides_the_error_probability_where_it_is_not_bounded_as_a_whole(alternative):
    found = targets(
        Metrics(["sensitivity", "specificity", "error", "balanced-error"], joint=True), alternative
    )
    assert len(found) == 4
    for one in found:
        assert one.family == tuple(other.metric for other in found)
        assert one.family_level == 0.9
        assert one.level_per_interval == one.level_and_remarks(OTHER)[0] == pytest.approx(0.975)
        assert one.alternative == alternative
        assert one.level_and_remarks(BOUND) == (0.9, ())
    assert found[1].level_and_remarks(OTHER)[1] == (
        "together with sensitivity and error and balanced-error: each at 97.5%",
    )


def test_the_bound_of_all_class_metrics_leaves_its_share_to_the_others():
    error, sensitivity, auc = targets(Metrics(["error", "sensitivity", "auc"], joint=True), level=0.94)
    assert error.level_and_remarks(BOUND)[0] == sensitivity.level_and_remarks(BOUND)[0] == pytest.approx(0.96)
    assert auc.level_and_remarks(OTHER)[0] == error.level_and_remarks(OTHER)[0] == pytest.approx(0.98)
    assert error.level_and_remarks(BOUND)[1] == ("together with auc: each at 96%",)
    assert auc.level_and_remarks(OTHER)[1] == ("together with error and sensitivity: each at 98%",)


def test_a_divided_level_has_few_digits_and_is_not_above_the_level():
    error = targets(Metrics(["error", "sensitivity", "specificity"], joint=True), level=0.95)[0]
    assert error.level_and_remarks(OTHER)[0] > 0.9833
    assert error.level_and_remarks(OTHER)[1] == ("together with sensitivity and specificity: each at 98.33%",)


# ---- the keyword ``event`` of every call that takes a metric ----


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0.3, "ill", "well")
CLF = LogisticRegression().fit(X, Y)
FEW = {"n_resamples": 20, "rng": 0}
PLAN = {"n_samples": (40,), "n_replicates": 10, "method": "out-of-bag-wilson", **FEW}
CALLS = {
    "performance_interval": lambda **arguments: cb.performance_interval(CLF, X, Y, **arguments, **FEW).row,
    "compare_intervals": lambda **arguments: cb.compare_intervals(CLF, X, Y, **arguments, **FEW).rows,
    "cud_interval": lambda **arguments: cb.cud_interval(CLF, X, Y, **arguments, **FEW).row,
    "plan_sample_size": lambda **arguments: str(cb.plan_sample_size(CLF, X, Y, **arguments, **PLAN)),
}


def test_every_public_call_with_a_metric_has_an_event():
    of_metrics = {
        name
        for name in cb.__all__
        if inspect.isfunction(call := getattr(cb, name)) and "metric" in inspect.signature(call).parameters
    }
    assert of_metrics == {*CALLS, "compare_learners", "from_records"}
    # a comparison is the same whichever class is the event, and recorded scores are those of the event
    assert all("event" in inspect.signature(getattr(cb, name)).parameters for name in CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_the_event_of_a_call_is_that_of_its_metrics(name):
    call = CALLS[name]
    by_keyword = call(metric="sensitivity", event="well")
    assert by_keyword == call(metric=cb.Metrics("sensitivity", event="well"))
    assert by_keyword == call(metric=cb.Metrics("sensitivity", event="well"), event="well")
    if name != "plan_sample_size":
        assert by_keyword != call(metric="sensitivity", event="ill")
