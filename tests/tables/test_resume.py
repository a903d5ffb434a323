"""Progress and Ctrl-C: every fit is counted, and none is made twice."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from contract_cases import COMPARISONS, INTERVALS, CountedLeastSquares, exactly, sample
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

import cudbound.resampling.refits
import cudbound.solve.search
import cudbound.tables.compare_intervals
from cudbound import (
    LeastSquaresClassifier,
    ResamplingSizes,
    SolveStatus,
    compare_intervals,
    compare_learners,
    estimate_error,
    tabulate_comparisons,
)
from cudbound.exceptions import RunInterrupted, SolveInterrupted
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.solve.solve_draws import solve_problem
from cudbound.tables.known_classifier import MODEL_RECORDS

X, Y = sample(24)
SIZES = ResamplingSizes(
    n_folds=5, n_repeats=2, n_splits=4, n_halvings=2, n_replicates=3, n_nested_repeats=2, test_fraction=0.2
)
ARGUMENTS = {"n_resamples": 12, "sizes": SIZES}
#: Methods that take refits of the classifier, and nothing of it but its predictions.
REFITTING = tuple(
    name for name in INTERVALS if not METHODS[name].needs & (MODEL_RECORDS | {"signed_suprema"})
)


class Bar:
    """Stands for tqdm; `stop_after` raises KeyboardInterrupt once so many fits were announced."""

    stop_after: float = float("inf")
    made: list[Bar]

    def __init__(self, *, total, desc, unit, leave, smoothing, disable, delay):
        assert (desc, unit, leave, smoothing, disable, delay) == ("refits", "fit", False, 0, False, 0.0)
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
    monkeypatch.setattr("tqdm.tqdm", Bar)
    monkeypatch.setattr(Bar, "made", [], raising=False)
    monkeypatch.setattr(Bar, "stop_after", float("inf"))
    monkeypatch.setattr(CountedLeastSquares, "n_fits", 0)
    monkeypatch.setattr(CountedLeastSquares, "stop_at", None)


def counted():
    """Return a fitted classifier whose clones count their fits from 0."""
    CountedLeastSquares.stop_at = None
    clf = CountedLeastSquares().fit(X, Y)
    CountedLeastSquares.n_fits = 0
    return clf


def intervals(clf, *, methods=REFITTING, rng=0, progress=False, previous=None, **keywords):
    return compare_intervals(
        clf,
        X,
        Y,
        methods=methods,
        inner=3,
        rng=rng,
        progress=progress,
        previous=previous,
        **ARGUMENTS,
        **keywords,
    )


def estimates(clf, *, methods="all", rng=0, progress=False, previous=None, **keywords):
    return estimate_error(
        clf, X, Y, methods=methods, rng=rng, progress=progress, previous=previous, **ARGUMENTS, **keywords
    )


def comparisons(clf, *, methods="all", rng=0, progress=False, previous=None, **keywords):
    other = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    return tabulate_comparisons(
        clf,
        other,
        X,
        Y,
        methods=methods,
        sizes=SIZES,
        rng=rng,
        progress=progress,
        previous=previous,
        **keywords,
    )


ENTRY_POINTS = {"intervals": intervals, "estimates": estimates}


@cache
def undisturbed(run):
    """Return the table of a run that nobody stops, and the number of its fits."""
    return run(counted()), CountedLeastSquares.n_fits


# ---- the bar ----


@pytest.mark.parametrize("name", REFITTING)
def test_the_bar_counts_every_fit_of_an_interval(name):
    row = intervals(counted(), methods=[name], progress=True).rows[0]
    bar = Bar.made[0]
    assert len(Bar.made) == 1
    assert bar.first_total == bar.n == bar.total == CountedLeastSquares.n_fits == row.n_fits - 1
    assert bar.closed


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_bar_counts_every_fit_of_an_estimate(name):
    row = estimates(counted(), methods=[name], progress=True).rows[0]
    assert CountedLeastSquares.n_fits == row.n_fits - 1
    assert [(bar.first_total, bar.n) for bar in Bar.made] == (
        [(row.n_fits - 1,) * 2] if row.n_fits > 1 else []
    )


@pytest.mark.parametrize("name", COMPARISONS)
def test_the_bar_counts_the_fits_of_both_learners(name):
    clf = counted()
    row = tabulate_comparisons(clf, clf, X, Y, methods=[name], sizes=SIZES, rng=0, progress=True).rows[0]
    (bar,) = Bar.made
    assert bar.first_total == bar.n == bar.total == CountedLeastSquares.n_fits == row.n_fits


def test_methods_share_their_fits():
    table = intervals(counted(), progress=True)
    (bar,) = Bar.made
    assert bar.first_total == bar.n == CountedLeastSquares.n_fits
    assert CountedLeastSquares.n_fits < 0.6 * sum(row.n_fits - 1 for row in table.rows)


@pytest.mark.parametrize("run", [intervals, estimates])
def test_the_bar_counts_batches_of_linear_algebra_as_fits(run):
    run(counted(), progress=True)
    run(LeastSquaresClassifier().fit(X, Y), progress=True)
    clones, batched = Bar.made
    assert clones.total == batched.total == batched.n


def test_the_bar_ends_at_its_total_where_draws_are_dropped():
    y = np.repeat([0, 1], [21, 3])
    clf = DecisionTreeClassifier(max_depth=1).fit(X, y)
    table = compare_intervals(
        clf, X, y, methods="martin-beta", on_single_class="drop", rng=0, progress=True, n_resamples=60
    )
    (bar,) = Bar.made
    assert bar.first_total == 60
    assert bar.total == bar.n == table.rows[0].n_fits - 1 < 60


def test_splits_of_the_callers_are_counted_once():
    clf = counted()
    compare_learners(clf, clf, X, Y, cv=6, rng=0, progress=True)
    (bar,) = Bar.made
    assert bar.first_total == bar.n == CountedLeastSquares.n_fits == 12


def test_no_bar_without_fits():
    compare_intervals(
        LeastSquaresClassifier().fit(X, Y),
        X,
        Y,
        methods="test-set-wilson",
        test_set=(X + 9.0, Y),
        progress=True,
    )
    assert Bar.made == []


# ---- going on after Ctrl-C ----


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 0.97])
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_a_stopped_run_goes_on(entry, share):
    run = ENTRY_POINTS[entry]
    whole, total = undisturbed(run)
    clf = counted()
    CountedLeastSquares.stop_at = int(share * total)
    with pytest.raises(
        RunInterrupted, match=r"stopped after \d+ refits; pass previous=error\.unfinished"
    ) as caught:
        run(clf)
    made = CountedLeastSquares.n_fits
    kept = caught.value.unfinished.n_fits
    assert made == int(share * total)
    assert made - cudbound.resampling.refits.FITS_PER_JOB <= kept <= made
    assert f"stopped after {kept} refits" in str(caught.value)
    clf = counted()
    assert exactly(run(clf, previous=caught.value.unfinished)) == exactly(whole)
    assert CountedLeastSquares.n_fits == total - kept


@pytest.mark.parametrize("methods", [["mcnemar"], ["nested-cv", "5x2cv-t"], ["independent-test-sets"], "all"])
def test_a_stopped_comparison_goes_on(methods):
    def run(clf, previous=None):
        return tabulate_comparisons(clf, clf, X, Y, methods=methods, sizes=SIZES, rng=0, previous=previous)

    whole = run(counted())
    total = CountedLeastSquares.n_fits
    clf = counted()
    CountedLeastSquares.stop_at = total - 1
    with pytest.raises(RunInterrupted) as caught:
        run(clf)
    unfinished = caught.value.unfinished
    clf = counted()
    assert exactly(run(clf, unfinished)) == exactly(whole)
    # of two test sets each fit is kept by itself, else those of both learners on one training set together
    alone = 1 if methods == "all" or methods == ["independent-test-sets"] else 0
    assert CountedLeastSquares.n_fits == total - 2 * (unfinished.n_fits - alone) - alone


def test_a_run_may_be_stopped_again():
    whole, total = undisturbed(intervals)
    previous, kept = None, 0
    for stop in (30, 200, 1, total // 2):
        clf = counted()
        CountedLeastSquares.stop_at = stop
        with pytest.raises(RunInterrupted) as caught:
            intervals(clf, previous=previous)
        previous = caught.value.unfinished
        assert previous.n_fits >= kept
        kept = previous.n_fits
    clf = counted()
    assert exactly(intervals(clf, previous=previous)) == exactly(whole)
    assert CountedLeastSquares.n_fits == total - kept


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("entry", [intervals, estimates, comparisons])
def test_the_bar_may_be_stopped_in_batches_and_workers(entry, n_jobs, monkeypatch):
    monkeypatch.setattr(cudbound.resampling.refits, "FITS_PER_BATCH", 20)
    for clf in (LeastSquaresClassifier(), DecisionTreeClassifier(max_depth=2)):
        methods = ["nested-cv", "austern-zhou"] if entry is not estimates else ["repeated-k-fold", "lv1o"]
        whole = entry(clf.fit(X, Y), methods=methods)
        Bar.stop_after = 25
        with pytest.raises(RunInterrupted) as caught:
            entry(clf, methods=methods, progress=True, n_jobs=n_jobs)
        assert 0 < caught.value.unfinished.n_fits <= 100
        Bar.stop_after = float("inf")
        rest = entry(clf, methods=methods, progress=True, n_jobs=n_jobs, previous=caught.value.unfinished)
        assert exactly(rest) == exactly(whole)
        assert Bar.made[-1].n == Bar.made[-1].first_total  # the fits that were kept are on the bar


def stop_at(n_fits, run, **keywords):
    clf = counted()
    CountedLeastSquares.stop_at = n_fits
    with pytest.raises(RunInterrupted) as caught:
        run(clf, **keywords)
    return caught.value.unfinished


@cache
def stopped_at_150():
    """Return what a run of intervals kept that was stopped there; nothing uses it up."""
    return stop_at(150, intervals)


@pytest.mark.parametrize("rng", [None, 11, np.random.default_rng(11)], ids=["None", "int", "Generator"])
def test_a_stopped_run_keeps_its_random_numbers(rng):
    unfinished = stop_at(150, intervals, rng=deepcopy(rng))
    start = deepcopy(unfinished.rng)
    resumed = intervals(counted(), rng=deepcopy(rng), previous=unfinished)
    assert exactly(intervals(counted(), rng=start)) == exactly(resumed)
    if rng is not None:
        assert exactly(intervals(counted(), rng=11)) == exactly(resumed)
    # what was kept is not used up
    assert exactly(intervals(counted(), previous=unfinished)) == exactly(resumed)


def test_splitters_without_a_seed_are_split_alike_again():
    arguments = {"methods": ["corrected-resampled-t", "nested-cv"], "cv": ShuffleSplit(40), "rng": None}
    unfinished = stop_at(60, intervals, **arguments)
    resumed = intervals(counted(), previous=unfinished, **arguments)
    arguments["rng"] = deepcopy(unfinished.rng)
    assert exactly(intervals(counted(), **arguments)) == exactly(resumed)


def test_what_does_not_touch_the_fits_may_change():
    unfinished = stopped_at_150()
    at_80 = intervals(counted(), previous=unfinished, confidence_level=0.8, fallback=True, progress=True)
    assert exactly(at_80) == exactly(intervals(counted(), confidence_level=0.8, fallback=True))


@pytest.mark.parametrize(
    "changed",
    [
        {"methods": "algorithm"},
        {"methods": list(REFITTING[1:3])},
        {"on_single_class": "drop"},
        {"cv": 4},
        {"test_set": (X, Y)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_previous_of_other_arguments_is_refused(changed):
    unfinished = stopped_at_150()
    with pytest.raises(ValueError, match="'previous' parameter belongs to other data or other arguments"):
        intervals(counted(), previous=unfinished, **changed)


def test_previous_of_other_data_is_refused():
    text = "'previous' parameter belongs to other data or other arguments. Pass those of the run that was stopped"
    unfinished = stopped_at_150()
    clf = counted()
    common = {"methods": REFITTING, "inner": 3, "rng": 0, "previous": unfinished, **ARGUMENTS}
    for X_other, y_other in ((X + 1e-9, Y), (X, 1 - Y), (X[::-1].copy(), Y)):
        with pytest.raises(ValueError, match=text):
            compare_intervals(clf, X_other, y_other, **common)
    for other in ({"inner": 4}, {"n_resamples": 13}, {"sizes": replace(SIZES, n_splits=5)}):
        with pytest.raises(ValueError, match=text):
            compare_intervals(clf, X, Y, **(common | other))
    with pytest.raises(ValueError, match=text):
        compare_intervals(LogisticRegression().fit(X, Y), X, Y, **common)
    with pytest.raises(ValueError, match=text):
        estimates(clf, previous=unfinished)
    with pytest.raises(ValueError, match=text):
        comparisons(clf, previous=unfinished)


@pytest.mark.parametrize("previous", [0, "yes", RunInterrupted, {"losses": None}], ids=str)
@pytest.mark.parametrize("entry", [intervals, estimates, comparisons])
def test_previous_of_another_kind(entry, previous):
    with pytest.raises(ValueError, match="must be what RunInterrupted carries as 'unfinished', or None"):
        entry(counted(), previous=previous)


# ---- Ctrl-C in the solver ----


def stop_halfway(calls):
    """Solve as usual, but show the first half only, as the solver does when Ctrl-C stops it."""

    def solve(problem, **keywords):
        calls.append(keywords["previous"])
        draws = solve_problem(problem, **keywords)
        rest = np.arange(len(draws)) >= len(draws) // 2
        raise SolveInterrupted(
            replace(
                draws,
                lower=np.where(rest, 0.0, draws.lower),
                upper=np.where(rest, 1.0, draws.upper),
                status=np.where(rest, SolveStatus.INTERRUPTED, draws.status).astype(np.int32),
                nodes=np.where(rest, 0, draws.nodes),
            )
        )

    return solve


@pytest.mark.parametrize(
    ("method", "record", "n_fits"), [("cud", "bound", 0), ("two-center", "signed_suprema", 12)]
)
def test_a_run_stopped_in_the_bound_goes_on_there(monkeypatch, method, record, n_fits):
    clf = LeastSquaresClassifier().fit(X, Y)
    arguments = {"methods": [method, "martin-beta"], "rng": None}
    calls = []
    monkeypatch.setattr(cudbound.solve.search, "solve_problem", stop_halfway(calls))
    with pytest.raises(RunInterrupted, match=f"stopped after {n_fits} refits") as caught:
        intervals(clf, **arguments)
    unfinished = caught.value.unfinished
    assert unfinished.draws[record].decided.tolist() == [True] * 6 + [False] * 6
    given = []

    def solve(problem, **keywords):
        given.append(keywords["previous"])
        return solve_problem(problem, **keywords)

    monkeypatch.setattr(cudbound.solve.search, "solve_problem", solve)
    resumed = intervals(clf, previous=unfinished, **arguments)
    assert given == [unfinished.draws[record]]
    arguments["rng"] = deepcopy(unfinished.rng)
    assert exactly(intervals(clf, **arguments)) == exactly(resumed)
    assert not any("upper value used" in remark for remark in resumed[method].remarks)


def test_a_run_stopped_after_the_bound_keeps_its_draws(monkeypatch):
    clf = LeastSquaresClassifier().fit(X, Y)
    arguments = {"methods": ["cud", "aci", "nested-cv"]}
    whole = intervals(clf, **arguments)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cudbound.tables.compare_intervals, "boundary_deviations", stop)
        with pytest.raises(RunInterrupted) as caught:
            intervals(clf, **arguments)
    assert caught.value.unfinished.draws["bound"].decided.all()
    assert caught.value.unfinished.n_fits == 0
    assert exactly(intervals(clf, previous=caught.value.unfinished, **arguments)) == exactly(whole)
