"""What comes back: it unpacks, iterates, prints its interval, shows itself in a notebook, and has a public class."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import cudbound
from cudbound import (
    ConfidenceInterval,
    LeastSquaresClassifier,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    from_records,
    performance_interval,
)
from cudbound.problem.draws import SolveStatus
from cudbound.records import SplitLosses

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


def test_repr_shows_the_interval(results):
    bound, row = results["bound"], results["intervals"]["martin-beta"]
    for shown, (low, high) in (
        (repr(bound), bound.confidence_interval),
        (repr(results["interval"]), results["interval"].confidence_interval),
        (repr(row), row.confidence_interval),
    ):
        assert f"{low:.3f}" in shown
        assert f"{high:.3f}" in shown
    assert repr(results["points"]["resubstitution"]).startswith(
        f"resubstitution estimates {results['points']['resubstitution'].estimate:.3f}\nestimand conditional; 1 fit"
    )


def test_one_row_in_words():
    row = from_records(SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10), "corrected-resampled-t")
    # by hand: mean .25, variance .00625, half-width t(4) sqrt((1/5 + 10/90) .00625) = .1224
    assert str(row) == (
        "corrected-resampled-t: the error is estimated at 0.250 (95% confidence interval 0.128 to 0.372)\n"
        "estimand expected(n1=90); 6 fits"
    )
    for alternative, words in (("less", "limit: at most"), ("greater", "limit: at least")):
        assert f"95% confidence {words} 0." in str(dataclasses.replace(row, alternative=alternative))


def test_the_status_of_a_draw_is_a_member(results):
    draws = results["bound"].draws
    assert all(type(status) is SolveStatus for status in draws.status)
    assert draws.status_codes.dtype == np.int32
    assert (draws.status_codes == [int(status) for status in draws.status]).all()
    again = dataclasses.replace(draws, status=draws.status_codes)
    assert (again.status == draws.status).all()
    assert (draws.certified == [status is SolveStatus.OPTIMAL for status in draws.status]).all()
    assert set(draws.to_frame()["status"]) <= {status.name.lower() for status in SolveStatus}


def test_every_class_that_users_receive_is_public(results):
    received = [
        *results.values(),
        *(next(iter(results[name])) for name in ("intervals", "points", "comparisons")),
    ]
    bound = results["bound"]
    received += [bound.draws, bound.problem, bound.estimand, bound.confidence_interval]
    for one in received:
        assert getattr(cudbound, type(one).__name__) is type(one)


def test_notebooks_show_every_result(results):
    hostile = dataclasses.replace(results["intervals"].rows[0], remarks=("<script>alert(1)</script>\x1b[2J",))
    for one in (*results.values(), hostile, results["comparisons"].rows[0], results["points"].rows[0]):
        shown = one._repr_html_()
        assert shown.startswith("<")
        assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J" in hostile._repr_html_()


def test_results_know_what_they_were_computed_from(results):
    n_ill = int((Y == "ill").sum())
    for result in results.values():
        run = result.run
        assert (run.n_samples, run.n_events, run.n_non_events) == (30, 30 - n_ill, n_ill)
        assert (run.event, run.features, run.seed) == ("class well", ("x0", "x1"), 0)
        assert run.base_rate == min(n_ill, 30 - n_ill) / 30
    text = results["intervals"].to_markdown()
    assert f"- Data: n = 30: {30 - n_ill} events (class well) and {n_ill} non-events; 2 features." in text
    assert "- Classifier: least-squares classification." in text
    assert "- Run: 40 resamples, localization = n, seed 0." in text
    assert "- DummyClassifier: the majority class for every case." in results["comparisons"].to_markdown()
    assert "- Run: 40 resamples, seed 0." in results["points"].to_markdown()


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
    notes = found.report().notes
    assert "Run: 20 resamples, no seed." in notes
    assert "Choices: martin-beta.prior=jeffreys" in notes


def test_draws_are_summed_up(results):
    draws = results["bound"].draws
    counted = {status: int((draws.status == status).sum()) for status in SolveStatus}
    ended = ", ".join(f"{n} {status.name.lower()}" for status, n in counted.items() if n)
    between = f"Q between {draws.lower.min():.3g} and {draws.upper.max():.3g}"
    assert repr(draws).splitlines() == ["40 draws", ended, between, f"{draws.nodes.sum()} nodes"]
    assert draws._repr_html_().startswith("<p><b>40 draws</b></p>")
    fields = ("lower", "upper", "status", "nodes")
    none = dataclasses.replace(draws, **{name: getattr(draws, name)[:0] for name in fields})
    assert repr(none) == "0 draws\n0 nodes"


@pytest.mark.parametrize(
    ("classifier", "methods", "run"),
    [
        (CLF, "k-fold-t", "Run: seed 0."),
        (CLF, ["k-fold-t", "two-center"], "Run: 20 resamples, seed 0."),
        (CLF, ["k-fold-t", "cud"], "Run: 20 resamples, localization = n, seed 0."),
        (KNeighborsClassifier(), "two-center", "Run: 20 resamples, seed 0."),
    ],
)
def test_the_run_names_only_settings_that_a_method_uses(classifier, methods, run):
    table = compare_intervals(classifier.fit(X, Y), X, Y, methods=methods, n_resamples=20, rng=0)
    assert run in table.report().notes
    assert ("Bootstrap methods used" in table.describe().methods) == ("resamples" in run)
    assert ("resamples" in estimate_error(CLF, X, Y, methods="resubstitution").describe().methods) is False
