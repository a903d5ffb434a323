"""What public calls show of themselves, and what comes back: it unpacks, iterates, prints and plots."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import cudbound
from cudbound import (
    ConfidenceInterval,
    LeastSquaresClassifier,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
)
from cudbound.basis.exceptions import SmallSampleWarning
from cudbound.resampling.settings import Resampling

# ---- what comes back ----


RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.where(X[:, 0] + RNG.normal(size=30) > 0, "ill", "well")
CLF = LeastSquaresClassifier().fit(X, Y)
FEW = {"n_resamples": 40, "rng": 0}


@pytest.fixture(scope="module")
def results():
    """One result of every entry point that returns one."""
    return {
        "bound": cud_interval(CLF, X, Y, **FEW),
        "interval": performance_interval(CLF, X, Y, **FEW),
        "intervals": compare_intervals(CLF, X, Y, methods=["cud", "martin-beta"], **FEW),
        "points": estimate_error(CLF, X, Y, methods=["resubstitution", "bootstrap-632"], **FEW),
        "comparisons": compare_learners(
            [CLF, DummyClassifier()], X, Y, methods=["mcnemar", "5x2cv-t"], rng=0
        ),
    }


def test_limits_unpack(results):
    for name in ("bound", "interval"):
        low, high = results[name].confidence_interval
        assert (low, high) == (results[name].confidence_interval.low, results[name].confidence_interval.high)
        assert 0.0 <= low < high <= 1.0
    low, high = results["intervals"]["cud"].raw_interval
    assert high - low == pytest.approx(2.0 * results["bound"].q)
    np.testing.assert_array_equal(np.array(ConfidenceInterval(0.25, 0.5)), [0.25, 0.5])


@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("intervals", ["cud", "martin-beta"]),
        ("points", ["resubstitution", "bootstrap-632"]),
        ("comparisons", ["mcnemar", "5x2cv-t"]),
    ],
)
def test_tables_iterate_have_a_length_and_are_indexed_by_method(results, name, methods):
    table = results[name]
    assert [row.method for row in table] == methods
    assert len(table) == 2
    assert table[methods[1]] is table.rows[1]
    assert methods[0] in table
    assert "bayle-cv" not in table
    with pytest.raises(KeyError, match=f"no .* by 'bayle-cv' in this table, which has .*{methods[0]}"):
        table["bayle-cv"]


def test_every_class_that_users_receive_is_in_the_reference(results):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "index.md").read_text()
    listed = {name.rpartition(".")[2] for name in re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)}
    received = [
        *results.values(),
        *(next(iter(results[name])) for name in ("intervals", "points", "comparisons")),
    ]
    bound = results["bound"]
    received += [bound.draws, bound.problem, bound.estimand, bound.confidence_interval]
    for one in received:
        assert type(one).__name__ in listed


@pytest.mark.parametrize(
    "call",
    [
        lambda: performance_interval(CLF, X, Y, **FEW),
        lambda: cud_interval(CLF, X, Y, **FEW),
        lambda: compare_learners([CLF, "majority"], X, Y, rng=0),
    ],
)
def test_every_interval_has_limits_a_frame_and_a_plot(call, tmp_path):
    result = call()
    assert (result.low, result.high) == tuple(result.confidence_interval)
    assert result.to_frame()["low"].tolist() == [result.low]
    result.plot().save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000


def test_a_generator_is_no_seed_and_options_are_named():
    found = compare_intervals(
        CLF,
        X,
        Y,
        methods=[("martin-beta", {"prior": "jeffreys"})],
        n_resamples=20,
        rng=np.random.default_rng(0),
    )
    assert found.run.seed is None
    notes = found.notes
    assert notes == found.report().notes
    assert "Run: 20 resamples, no seed." in notes
    assert "Choices: martin-beta.prior=jeffreys" in notes


# ---- what all public calls do ----


EIGHT = np.arange(8.0)[:, None]
LABELS = np.array([0, 0, 1, 0, 1, 0, 1, 1])
FUNCTIONS = [name for name in cudbound.__all__ if inspect.isfunction(getattr(cudbound, name))]


def test_unknown_keywords_are_refused_by_name():
    clf = LeastSquaresClassifier().fit(EIGHT, LABELS)
    for function in (cud_interval, compare_intervals, performance_interval):
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'n_resample'"):
            function(clf, EIGHT, LABELS, n_resample=5)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'iner'"):
        Resampling(iner="oob")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_shows_its_own_signature(name):
    function = getattr(cudbound, name)
    shown = inspect.signature(function)
    assert shown == inspect.signature(inspect.unwrap(function))
    assert inspect.unwrap(function) is not function


@pytest.mark.parametrize("function", [cud_interval, compare_intervals, performance_interval])
def test_warnings_point_at_the_caller(function):
    clf = LeastSquaresClassifier().fit(EIGHT, LABELS)
    with pytest.warns(SmallSampleWarning) as caught:
        function(clf, EIGHT, LABELS, metric="sensitivity", n_resamples=20, rng=0)
    assert SmallSampleWarning in {one.category for one in caught}
    assert {one.filename for one in caught} == {__file__}
