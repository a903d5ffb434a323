"""The keyword ``event`` of every call that takes a metric: the same result as in Metrics, and errors that name it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cudbound as cb

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
