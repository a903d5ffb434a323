"""Data, recorded losses and samples at the edge, on which every registered method is tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from record_kinds import KINDS
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from cudbound import LeastSquaresClassifier, cud_interval
from cudbound.adapters import to_additive_model
from cudbound.adapters.model import facts_of
from cudbound.basis.method_card import RecordKind
from cudbound.basis.sample import Sample
from cudbound.intervals import GROUPS, METHODS
from cudbound.intervals.bootstrap_cv import RemovedCaseErrors, TunedFolds, TunedLosses
from cudbound.intervals.cross_validation import NestedLosses, ReplacementErrors
from cudbound.intervals.laber_murphy import BOUND, BOUNDARY, BoundaryDeviations, boundary_deviations
from cudbound.intervals.random_splits import HalfSplitLosses, ReplicateLosses
from cudbound.point_estimates import ESTIMATORS
from cudbound.point_estimates.bolstered import BOLSTERED_LOSSES, BolsteredLosses
from cudbound.problem.draws import draw_counts
from cudbound.records import (
    BootstrapLosses,
    Design,
    FoldLosses,
    HalvingLosses,
    InnerErrors,
    Records,
    RepeatedFoldLosses,
    SplitLosses,
    TestSetLosses,
)
from cudbound.resampling import Resampling
from cudbound.resampling.make_records import RecordingInputs, given_records, make_records
from cudbound.resampling.settings import Streams

Array = NDArray[Any]

#: Small numbers of everything, so that hundreds of runs take seconds.
SIZES = Resampling(
    n_folds=4, n_repeats=2, n_splits=4, n_halvings=2, n_replicates=5, n_nested_repeats=2, test_fraction=0.2
)
N_RESAMPLES, N_INNER = 40, 3

#: Those that any classifier has, for its error.
INTERVALS = tuple(name for name in GROUPS["all"] if METHODS[name].reads == "classes")
COMPARISONS = tuple(name for name, method in METHODS.items() if method.compares and method.reading("classes"))

#: Records that refits of the classifier fill, and what is made of the classifier itself by random numbers.
REFITTED = frozenset(kind for kind in KINDS.values() if kind.n_fits and not kind.of_search) | {
    BOLSTERED_LOSSES
}


def sample(n: int = 30, seed: int = 0, signal: float = 1.0) -> tuple[Array, Array]:
    """Return two normal features and labels 0 and 1, of which there are about as many."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 2))
    score = signal * X[:, 0] + rng.normal(size=n)
    return X, (score > np.median(score)).astype(int)


class Contrary(ClassifierMixin, BaseEstimator):
    """Predicts the class that it should not: the one whose mean is farther away. It is wrong on separated classes."""

    def fit(self, X: Array, y: Array) -> Contrary:
        self.classes_ = np.unique(y)
        self.means_ = np.stack([np.asarray(X)[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X: Array) -> Array:
        distances = np.linalg.norm(np.asarray(X)[:, None] - self.means_, axis=2)
        return self.classes_[distances.argmax(axis=1)]


def rule_of(X: Any, y: Array) -> LeastSquaresClassifier:
    """Return the least-squares rule of a training set; tests of runs that go on fit the same sets over and over."""
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or y.dtype.hasobject:
        return LeastSquaresClassifier().fit(X, y)
    key = X.shape, X.tobytes(), y.dtype.str, y.tobytes()
    if key not in RULES:
        RULES[key] = LeastSquaresClassifier().fit(X, y)
    return RULES[key]


RULES: dict[tuple[Any, ...], LeastSquaresClassifier] = {}


class CountedLeastSquares(ClassifierMixin, BaseEstimator):
    """One clone per fit, each counted; `stop_at` raises KeyboardInterrupt in place of that fit."""

    n_fits = 0
    stop_at: int | None = None

    def fit(self, X: Any, y: Array) -> CountedLeastSquares:
        kind = type(self)
        if kind.stop_at is not None and kind.n_fits == kind.stop_at:
            raise KeyboardInterrupt
        kind.n_fits += 1
        self.rule_ = rule_of(X, y)
        self.classes_ = self.rule_.classes_
        return self

    def predict(self, X: Any) -> Array:
        return np.asarray(self.rule_.predict(X))


def separated(n: int) -> tuple[Array, Array]:
    """Return one feature that separates two classes of n / 2 rows widely."""
    X = np.concatenate([np.linspace(-4, -3, n // 2), np.linspace(3, 4, n // 2)])[:, None]
    return X, (X[:, 0] > 0).astype(int)


def edge_cases() -> dict[str, tuple[Any, Array, Array]]:
    """Return a fitted classifier with its sample by the name of what is special about it."""
    rng = np.random.default_rng(7)
    least_squares = LeastSquaresClassifier()
    X, y = sample(20)
    eight, few = np.tile([0, 1], 4), np.repeat([0, 1], [18, 2])
    cases = {
        "error 0": (least_squares, *separated(24)),
        "error 1": (Contrary(), *separated(12)),
        "8 rows": (least_squares, rng.normal(size=(8, 2)), eight),
        "8 separated rows": (least_squares, *separated(8)),
        "9 rows": (least_squares, rng.normal(size=(9, 1)), np.append(eight, 0)),
        "ties": (least_squares, rng.integers(0, 2, size=(20, 2)).astype(float), y),
        "opposite labels": (least_squares, np.repeat(rng.normal(size=(8, 2)), 2, axis=0), np.tile([0, 1], 8)),
        "constant column": (least_squares, np.column_stack([X, np.ones(20)]), y),
        "no information": (least_squares, np.zeros((20, 1)), y),
        "p > n": (least_squares, rng.normal(size=(8, 12)), eight),
        "a class of two rows": (least_squares, X, few),
        "a class of two rows, refitted by clones": (Contrary(), X, few),
    }
    return {name: (clone(estimator).fit(X, y), X, y) for name, (estimator, X, y) in cases.items()}


def refitted_records(estimator: Any, X: Array, y: Array, seed: int) -> Records:
    """Return all records of a classifier, by the functions behind the entry points and the same random numbers."""
    rng = np.random.default_rng(seed)
    counts = draw_counts(len(y), N_RESAMPLES, rng)
    needs = frozenset().union(
        *(m.needs for m in (*METHODS.values(), *ESTIMATORS.values()) if m.reads == "classes")
    )
    recording = RecordingInputs(
        sample=Sample.of(estimator, X, y),
        counts=counts,
        streams=Streams(rng),
        resampling=replace(SIZES, inner=N_INNER),
    )
    records = Records.of(**make_records(needs & REFITTED, recording, given_records(recording)))
    bound = cud_interval(estimator, X, y, n_resamples=N_RESAMPLES, rng=seed)
    deviations = boundary_deviations(to_additive_model(estimator, X, y), counts)
    records = replace(records, design=facts_of(estimator, Sample.of(estimator, X, y)).design)
    return records.with_record(BOUND, bound).with_record(BOUNDARY, deviations)


def exactly(table: Any) -> str:
    """Return all fields of all rows, unrounded, as text in which nan is like nan."""
    return repr([vars(row) for row in table.rows])


def parts_of(records: Records, needs: frozenset[RecordKind[Any]]) -> Records:
    """Return the recorded losses that a method needs, as a user would pass them."""
    parts = {kind.name: records.get(kind) for kind in needs}
    return Records.of(**parts, no_information=records.no_information)


def random_records(seed: int, wrong: float, *, differences: bool = False, n: int = 24) -> Records:
    """Return losses of all kinds that no classifier made.

    Parameters
    ----------
    seed : int
    wrong : float
        Probability of a loss of 1; 0 and 1 make all losses equal.
    differences : bool, default=False
        Whether the losses are differences: -1 with probability ``wrong / 2``.
    n : int, default=24
        Rows of the training set, a multiple of 4.
    """
    rng = np.random.default_rng([seed, n])
    quarter, half = n // 4, n // 2

    def draw(*shape: int) -> Array:
        losses = (rng.random(shape) < wrong).astype(np.int8)
        return losses - (rng.random(shape) < wrong / 2).astype(np.int8) if differences else losses

    def deviations() -> Array:
        return (draw(N_RESAMPLES, n).mean(axis=1) - wrong) * np.sqrt(n)

    def folds(n_folds: int) -> FoldLosses:
        return FoldLosses(draw(n), np.arange(n) % n_folds)

    one, other = deviations(), deviations()
    return Records.of(
        losses=draw(n),
        no_information=wrong,
        bootstrap=BootstrapLosses(
            draw_counts(n, N_RESAMPLES, rng), draw(N_RESAMPLES, n), (), np.full(N_RESAMPLES, 0.5)
        ),
        inner=InnerErrors(
            draw(N_RESAMPLES, n).mean(axis=1), N_RESAMPLES * N_INNER, (), np.zeros(N_RESAMPLES)
        ),
        folds=folds(4),
        repeated_folds=(repeated := RepeatedFoldLosses((folds(4), folds(4)))),
        stratified_folds=repeated,
        leave_one_out=folds(n),
        test_set=TestSetLosses(draw(half), half, "conditional"),
        second_test_set=TestSetLosses(draw(half), half),
        splits=SplitLosses(draw(5, quarter).mean(axis=1), n - quarter, quarter),
        half_splits=HalfSplitLosses(draw(3, 2, 5 * quarter).mean(axis=2), half - quarter, quarter, 5),
        replicates=ReplicateLosses(draw(4, 5 * quarter).mean(axis=1), n - quarter, quarter, 5),
        halvings=HalvingLosses(draw(5, 2, half).mean(axis=2), half),
        nested=NestedLosses(draw(2, 4, 3 * quarter), draw(2, 4, quarter), n),
        removed_cases=RemovedCaseErrors(draw(N_RESAMPLES, n).mean(axis=1), float(draw(n).mean()), n),
        replacements=ReplacementErrors(
            float(draw(n).mean()), float(draw(half).mean()), draw(half, half).mean(axis=1), n, 4
        ),
        boundary=BoundaryDeviations(np.maximum(one, other), np.minimum(one, other), n, N_RESAMPLES),
        tuned=TunedLosses(draw(n, 3), draw_counts(n, N_RESAMPLES, rng)),
        design=Design(n, 3),
        bolstered=BolsteredLosses(draw(n).astype(float), draw(n) > 0),
        tuned_folds=TunedFolds(draw(n, 4, 3).mean(axis=0), draw_counts(4, N_RESAMPLES, rng)),
    )
