"""What fails on the way costs its own row only; what can be refused is refused before; long refits are told."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from data import fitted_sample, sample
from sklearn.base import clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_versions import KNOWS_RANK, sparse_logistic

from cudbound import (
    Metrics,
    Resampling,
    compare_intervals,
    compare_learners,
    estimate_error,
    performance_interval,
)
from cudbound.basis import calls as forecasts
from cudbound.basis.calls import Forecast
from cudbound.basis.exceptions import SlowRefitsWarning, WarnedRefitsWarning
from cudbound.problem.draws import draw_counts

# ---- what fails on the way costs its own row only ----


_data = partial(sample, labels=("healthy", "ill"))
_fitted = partial(fitted_sample, labels=("healthy", "ill"))


def _neighbors():
    """A classifier that cannot be used after a fit to fewer than five rows, which some methods take."""
    X, y = _data(10, seed=2)
    return KNeighborsClassifier(5).fit(X, y), X, y


def test_a_method_whose_refits_fail_keeps_its_row_and_the_others_theirs():
    clf, X, y = _neighbors()
    fine = compare_intervals(clf, X, y, methods="corrected-resampled-t", rng=0).rows[0]
    table = compare_intervals(clf, X, y, methods=["conservative-z", "corrected-resampled-t"], rng=0)
    assert table["corrected-resampled-t"] == fine
    failed = table["conservative-z"]
    assert failed.degenerate is not None
    assert failed.degenerate.startswith(
        "could not be computed: 300 of 300 refits failed, the first on split 1 in KNeighborsClassifier with "
        "ValueError: Expected n_neighbors <="
    )
    assert np.isnan([failed.estimate, failed.raw_interval.low, failed.raw_interval.high]).all()
    with pytest.raises(ValueError, match="Expected n_neighbors <="):
        compare_intervals(clf, X, y, methods="conservative-z", rng=0)


def _few_of_a_class(n_few):
    """A discriminant analysis that fails on draws of fewer than six distinct rows of the smaller class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.where(np.arange(60) < n_few, "ill", "healthy")
    return QuadraticDiscriminantAnalysis().fit(X, y), X, y


def _can_be_fitted(clf, X, y, counts):
    """Return which draws can be fitted, one by one."""
    can = np.ones(len(counts), dtype=bool)
    for number, draw in enumerate(counts):
        try:
            clone(clf).fit(np.repeat(X, draw, axis=0), np.repeat(y, draw))
        except np.linalg.LinAlgError:
            can[number] = False
    return can


@KNOWS_RANK
def test_refits_that_fail_are_left_out_of_an_interval_and_counted():
    clf, X, y = _few_of_a_class(13)
    result = performance_interval(clf, X, y, n_resamples=200, rng=0)
    counts = draw_counts(60, 200, np.random.default_rng(0))
    kept = counts[_can_be_fitted(clf, X, y, counts)]
    assert 180 <= len(kept) < 200
    remark = f"{200 - len(kept)} of 200 refits failed and were left out"
    assert remark in result.row.remarks
    assert f"{200 - len(kept)} of 200 refits failed" in str(result)
    assert result.row.n_fits == 1 + len(kept) + 50
    found = [clone(clf).fit(np.repeat(X, draw, 0), np.repeat(y, draw)).predict(X) for draw in kept]
    assert result.instability.n_refits == len(kept)
    shares = (np.array(found) != clf.predict(X)).mean(axis=0)
    np.testing.assert_allclose(result.instability.shares, shares, atol=1e-12)
    table = compare_intervals(
        clf,
        X,
        y,
        methods=["two-center", "test-set-wilson"],
        metric=Metrics(["error", "specificity"], event="ill"),
        n_resamples=200,
        rng=0,
        resampling=Resampling(inner="oob"),
    )
    rows = [row for row in table.rows if row.method == "two-center"]
    assert [row.degenerate for row in rows] == [None, None]
    assert all(any("refits failed and were left out" in one for one in row.remarks) for row in rows)


def test_what_the_caller_made_an_error_stops_the_run():
    X, y = _data()
    rough = make_pipeline(StandardScaler(), sparse_logistic(0.5, max_iter=1, solver="saga"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough.fit(X, y)
    with pytest.raises(ConvergenceWarning, match="did not converge"):
        compare_intervals(rough, X, y, methods=["test-set-wilson", "k-fold-t"], rng=0)


def test_a_classifier_that_cannot_be_refitted_is_refused_before_the_bound_is_solved(monkeypatch):
    """The bound takes the weights by themselves; refits would have to pass them to a fit that takes none."""
    X, y = _data()
    weights = np.linspace(0.5, 2.0, len(y))
    clf = FixedThresholdClassifier(LogisticRegression(), threshold=0.4).fit(X, y)
    clf.estimator_.fit(X, y, sample_weight=weights)
    arguments = {"sample_weight": weights, "n_resamples": 5, "rng": 0}
    assert compare_intervals(clf, X, y, methods="cud", **arguments)["cud"].degenerate is None
    new = {"methods": ["cud", "test-set-wilson"], "new_cases": (X + 0.001, y)}
    assert compare_intervals(clf, X, y, **new, **arguments)["cud"].n_fits == 1

    searched = []
    # an error of the search would cost the row of "cud" alone
    monkeypatch.setattr("cudbound.intervals.laber_murphy.solve_bounds", lambda *_, **__: searched.append(1))
    with pytest.raises(ValueError, match=r"FixedThresholdClassifier\.fit does not"):
        compare_intervals(clf, X, y, methods=["cud", "langford-binomial"], **arguments)
    assert not searched


@pytest.mark.parametrize("entry", [compare_intervals, estimate_error])
def test_data_that_cannot_be_predicted_are_refused_before_the_refits(entry, monkeypatch):
    clf, X, y = _fitted()
    method = {compare_intervals: "test-set-wilson", estimate_error: "holdout"}[entry]

    def refit(*_, **__):
        raise AssertionError("refits or searches were begun")

    for module in ("cudbound.resampling.make_records", "cudbound.analysis.compare_learners"):
        monkeypatch.setattr(f"{module}.make_records", refit)
    monkeypatch.setattr("cudbound.intervals.laber_murphy.solve_bounds", refit)
    with pytest.raises(ValueError, match=r"X has 1 features, but .* expecting 2"):
        entry(clf, X, y, methods=[method], new_cases=(X[:, :1], y))
    with pytest.raises(ValueError, match=r"X has 1 features, but .* expecting 2"):
        compare_intervals(clf, X, y, methods=["cud", "test-set-wilson"], new_cases=(X[:, :1], y))
    with pytest.raises(ValueError, match=r"X has 1 features, but .* expecting 2"):
        compare_learners([clf, clf], X, y, methods="mcnemar", new_cases=(X[:, :1], y))
    logistic = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 1 features, but .* expecting 2"):
        entry(logistic, X[:, :1], y, methods=[method])


# ---- refits one by one ----


BOOTSTRAP = ["bootstrap-percentile", "kohavi-normal"]


@pytest.mark.parametrize(
    ("estimator", "inner"),
    [(make_pipeline(StandardScaler(), LogisticRegression()), 50), (KNeighborsClassifier(3), "oob")],
    ids=["batches", "clones"],
)
def test_inner_draws_are_made_where_refits_are_cheap(estimator: Any, inner: int | str) -> None:
    X, y = sample(20)
    estimator.fit(X, y)
    table = compare_intervals(estimator, X, y, methods=BOOTSTRAP, n_resamples=10, rng=0)
    expected = compare_intervals(
        estimator, X, y, methods=BOOTSTRAP, n_resamples=10, rng=0, resampling=Resampling(inner=inner)
    )
    assert table.rows == expected.rows
    alone = compare_intervals(estimator, X, y, methods=BOOTSTRAP[1], n_resamples=10, rng=0)
    assert alone.rows[0] == table.rows[1]


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_long_refits_are_announced_once_after_the_first_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "LONG_SECONDS", 10.0)
    clock = Clock()
    forecast = Forecast(51_000, clock)
    clock.now = 10.0
    forecast(50)  # the clock starts when the first have been made
    clock.now = 10.4
    forecast(100)
    clock.now = 14.0
    words = (
        "51,000 refits will take about 17 minutes. What makes refits faster or fewer: n_jobs=-1, a smaller"
    )
    with pytest.warns(SlowRefitsWarning, match=f"^{words}"):
        forecast(100)
    clock.now = 30.0
    forecast(1)  # a second one would be an error
    for total, words in ((10_000, r"about 5\.6 hours"), (20, "about 40 seconds")):
        slow = Forecast(total, clock=clock)
        slow(1)
        clock.now += 2.0
        with pytest.warns(SlowRefitsWarning, match=words):
            slow(1)


def test_short_refits_are_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "LONG_SECONDS", 10.0)
    clock = Clock()
    forecast = Forecast(500, clock=clock)
    for clock.now in (0.0, 1.0, 2.0, 3.0):
        forecast(100)
    forecast = Forecast(10_000, clock=clock)
    clock.now = 200.0
    forecast(0)
    forecast(100)


@pytest.mark.slow
def test_worker_processes_of_refits_write_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    search = GridSearchCV(SGDClassifier(max_iter=1, random_state=0), {"alpha": [1.0, 10.0]}, cv=2, n_jobs=2)
    X, y = sample(20)
    with warnings.catch_warnings(action="ignore"):
        search.fit(X, y)
    with pytest.warns(WarnedRefitsWarning, match=r"^\d+ of 51 refits warned"):
        performance_interval(search, X, y, n_resamples=6, rng=0)
    assert capfd.readouterr().err == ""
