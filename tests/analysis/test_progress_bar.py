"""Progress and Ctrl-C: every fit is counted, and none is made after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contract_cases import COMPARISONS, INTERVALS, CountedLeastSquares, sample
from sklearn.tree import DecisionTreeClassifier

from cudbound import Resampling, compare_intervals, compare_learners, estimate_error
from cudbound.basis.calls import Progress, shared
from cudbound.intervals import METHODS

X, Y = sample(24)
SIZES = Resampling(
    n_folds=5, n_repeats=2, n_splits=4, n_halvings=2, n_replicates=3, n_nested_repeats=2, test_fraction=0.2
)
ARGUMENTS = {"n_resamples": 12, "resampling": SIZES}
#: Methods that take refits of the classifier, and nothing of it but its predictions.
REFITTING = tuple(name for name in INTERVALS if not any(kind.of_model for kind in METHODS[name].needs))


class Bar:
    """Stands for tqdm; `stop_after` raises KeyboardInterrupt once so many fits were announced."""

    stop_after: float = float("inf")
    made: list[Bar]

    def __init__(self, *, total, desc, unit, leave, smoothing, delay):
        assert (desc, unit, leave, smoothing, delay) == ("refits", "fit", False, 0, 0.0)
        self.total, self.n, self.closed, self.first_total = total, 0, False, total
        Bar.made.append(self)

    def update(self, n):
        self.n += n
        if self.n > Bar.stop_after:
            raise KeyboardInterrupt

    def refresh(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    monkeypatch.setattr(Bar, "made", [], raising=False)
    monkeypatch.setattr(Bar, "stop_after", float("inf"))
    monkeypatch.setattr(CountedLeastSquares, "n_fits", 0)
    monkeypatch.setattr(CountedLeastSquares, "stop_at", None)
    with shared(Progress(shown=True, since=0.0)):
        yield


def counted():
    """Return a fitted classifier whose clones count their fits from 0."""
    CountedLeastSquares.stop_at = None
    clf = CountedLeastSquares().fit(X, Y)
    CountedLeastSquares.n_fits = 0
    return clf


def intervals(clf, *, methods=REFITTING, rng=0, **keywords):
    settings = {**ARGUMENTS, "resampling": replace(SIZES, inner=3)}
    return compare_intervals(clf, X, Y, methods=methods, rng=rng, **settings, **keywords)


def estimates(clf, *, methods="all", rng=0, **keywords):
    return estimate_error(clf, X, Y, methods=methods, rng=rng, **ARGUMENTS, **keywords)


# ---- the bar ----


@pytest.mark.parametrize("name", REFITTING)
def test_the_bar_counts_every_fit_of_an_interval(name):
    row = intervals(counted(), methods=[name]).rows[0]
    bar = Bar.made[0]
    assert len(Bar.made) == 1
    assert bar.first_total == bar.n == bar.total == CountedLeastSquares.n_fits == row.n_fits - 1
    assert bar.closed


@pytest.mark.parametrize("name", COMPARISONS)
def test_the_bar_counts_the_fits_of_both_learners(name):
    clf = counted()
    row = compare_learners([clf, clf], X, Y, methods=[name], rng=0, resampling=SIZES).rows[0]
    (bar,) = Bar.made
    assert bar.first_total == bar.n == bar.total == CountedLeastSquares.n_fits == row.n_fits


def test_the_bar_ends_at_its_total_where_draws_are_dropped():
    y = np.repeat([0, 1], [21, 3])
    clf = DecisionTreeClassifier(max_depth=1).fit(X, y)
    table = compare_intervals(
        clf, X, y, methods="martin-beta", rng=0, n_resamples=60, resampling=Resampling(on_single_class="drop")
    )
    (bar,) = Bar.made
    assert bar.first_total == 60
    assert bar.total == bar.n == table.rows[0].n_fits - 1 < 60


# ---- Ctrl-C ----


@pytest.mark.parametrize("share", [0.0, 0.4, 0.97])
@pytest.mark.parametrize("entry", [intervals, estimates])
def test_ctrl_c_in_a_fit_stops_at_once(entry, share):
    entry(counted())
    total = CountedLeastSquares.n_fits
    clf = counted()
    CountedLeastSquares.stop_at = int(share * total)
    with pytest.raises(KeyboardInterrupt):
        entry(clf)
    assert CountedLeastSquares.n_fits == int(share * total)
