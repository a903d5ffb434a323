"""Refits one by one: the cheaper default, and the time that is told before it is spent."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from data import sample
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import Resampling, compare_intervals
from cudbound.basis.exceptions import SlowRefitsWarning
from cudbound.cli.advice import in_words_of_the_command
from cudbound.resampling import progress as recording
from cudbound.resampling.progress import Forecast

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


def test_long_refits_are_announced_once_after_the_first_few() -> None:
    clock = Clock()
    forecast = Forecast(51_000, clock)
    clock.now = 10.0
    forecast(50)  # the clock starts when the first have been made
    clock.now = 11.0
    forecast(100)
    clock.now = 14.0
    with pytest.warns(SlowRefitsWarning, match=r"^51,000 refits will take about 17 minutes") as said:
        forecast(100)
    assert said[0].message.n_fits == 51_000
    assert said[0].message.seconds == pytest.approx(4.0 / 200 * 51_000)
    clock.now = 30.0
    forecast(1)  # a second one would be an error
    slow = Forecast(10_000, clock)
    slow(1)
    clock.now = 32.0
    with pytest.warns(SlowRefitsWarning, match=r"about 5\.6 hours"):
        slow(1)


def test_short_refits_are_not_announced() -> None:
    clock = Clock()
    forecast = Forecast(500, clock)
    for clock.now in (0.0, 1.0, 3.0, 9.0):
        forecast(50)
    forecast = Forecast(10_000, clock)
    clock.now = 200.0
    forecast(0)
    forecast(100)


def test_refits_of_a_table_are_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "SECONDS_BEFORE_FORECAST", 0.0)
    monkeypatch.setattr(recording, "LONG_SECONDS", 0.0)
    X, y = sample(20)
    clones = KNeighborsClassifier(3).fit(X, y)
    with pytest.warns(SlowRefitsWarning, match="120 refits will take"):
        compare_intervals(clones, X, y, methods=BOOTSTRAP, n_resamples=120, rng=0)


def test_the_command_says_it_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with in_words_of_the_command("some of the refits") as heard:
        warnings.warn(SlowRefitsWarning("long", n_fits=51_000, seconds=720.0), stacklevel=1)
        assert "cudbound: 51,000 refits will take about 12 minutes" in capsys.readouterr().err
    assert heard.messages == []
