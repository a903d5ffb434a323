"""Refits one by one: the cheaper default, and the time that is told before it is spent."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from data import sample
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import Resampling, compare_intervals, performance_interval
from cudbound.basis import calls as forecasts
from cudbound.basis.calls import Forecast
from cudbound.basis.exceptions import SlowRefitsWarning, WarnedRefitsWarning

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
    forecast = Forecast(51_000, ("n_jobs=-1", "a smaller n_resamples"), clock)
    clock.now = 10.0
    forecast(50)  # the clock starts when the first have been made
    clock.now = 10.4
    forecast(100)
    clock.now = 14.0
    words = "51,000 refits will take about 17 minutes; n_jobs=-1 or a smaller n_resamples is faster."
    with pytest.warns(SlowRefitsWarning, match=f"^{words}$"):
        forecast(100)
    clock.now = 30.0
    forecast(1)  # a second one would be an error
    slow = Forecast(10_000, clock=clock)
    slow(1)
    clock.now = 32.0
    with pytest.warns(SlowRefitsWarning, match=r"about 5\.6 hours"):
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
