"""A pilot data set as a population, and the sensitivity, specificity and prevalence to expect in a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from cudbound.adapters.kept_scores import Scoring
from cudbound.adapters.seeded import seeded_clone
from cudbound.basis.feature_table import as_table
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.sample import check_index
from cudbound.basis.validation import MIN_ROWS_PER_CLASS, check_lengths, count_rows
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.study.populations.population import Cases, Population, Truth
from cudbound.study.populations.real_data import RealData

#: Folds of a pilot, unless a class has fewer rows.
N_FOLDS = 10
#: Classifiers fitted to samples of a world, and new cases for testing each.
N_FITS = 20
N_NEW_CASES = 2000
#: A classifier and its test cases.
_Judged = tuple[Any, Any, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Rows of a pilot; unlike `cudbound.study.populations.real_data.RealData`, of any type that a fit accepts.

    Attributes
    ----------
    X : array, sparse matrix or data frame, shape (N, n_features)
    y : ndarray of int, shape (N,)
        1 for the event, 0 otherwise.
    """

    name: ClassVar[str] = "pilot"

    X: Any = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)

    @property
    def title(self) -> str:
        """One line on how cases arise."""
        events = int(self.y.sum())
        return f"{self.y.size} rows of a pilot with {events} events, drawn with replacement"

    @property
    def all_cases(self) -> tuple[Any, NDArray[np.int64]]:
        """The whole population, as features and labels."""
        return self.X, self.y

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw n rows with replacement; they may have only one class."""
        rows = rng.integers(0, self.y.size, n)
        return Cases(_safe_indexing(self.X, rows), self.y[rows], self.true_error)

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier on all rows."""
        return Truth(float(np.mean(np.asarray(classifier.predict(self.X)) != self.y)))


def two_classes(y: Any) -> list[Any]:
    """Return the two labels in ascending order.

    Raises
    ------
    ParameterError
        If there are not two, or one of them has fewer than two rows.
    """
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    if classes.size != 2 or counts.min() < MIN_ROWS_PER_CLASS:
        sizes = dict(zip(classes.tolist()[:5], counts.tolist()[:5], strict=True))
        raise ParameterError("y", f"of two classes with at least {MIN_ROWS_PER_CLASS} rows each", sizes)
    return list(classes.tolist())


def make_pilot(X: Any, y: Any, event: Any) -> Pilot:
    """Return the rows of a pilot as a population; `event` is the label of class 1.

    Raises
    ------
    ValueError
        If the numbers of labels and rows differ.
    """
    rows = as_table(X)
    labels = np.asarray(y)
    check_lengths(count_rows(rows), labels.size)
    check_index(X, y)
    return Pilot(rows, (labels == event).astype(np.int64))


def expected_performance(
    population: Population, learner: Any, n_train: int, seed: int, *, auc: bool = False
) -> dict[str, float]:
    """Return the sensitivity and specificity to expect of a learner, and the prevalence.

    They come from cross-validation of a pilot, or from new cases of a world.

    Parameters
    ----------
    population : Population
        A pilot, or another data set, is cross-validated once, in 10 stratified folds. With a world, 20 classifiers are
        fitted to samples of `n_train` cases and tested on 2000 new cases each.
    learner : object
        Classifier, not fitted.
    n_train : int
    seed : int
    auc : bool, default=False
        Whether to include the AUC, the mean over classifiers.

    Raises
    ------
    ValueError
        If no sample had both classes.
    """
    with naming_the_step(learner, "the classifier"):
        judged = list(
            _in_folds(population, learner, seed)
            if isinstance(population, Pilot | RealData)
            else _on_new_cases(population, learner, n_train, seed)
        )
    if not judged:
        raise ValueError(
            f"no sample of {n_train} cases of {population.name} had both classes; use larger samples"
        )
    event = np.concatenate([y == 1 for _, _, y in judged])
    with naming_the_step(learner, "the classifier"):
        called = np.concatenate([np.asarray(fitted.predict(X)) == 1 for fitted, X, _ in judged])
    shares = {"sensitivity": called[event], "specificity": ~called[~event], "prevalence": event}
    expected = {name: float(share.mean()) for name, share in shares.items()}
    if auc:
        scores = Scoring(("scores",))
        expected["auc"] = fmean(
            roc_auc_score(y, scores.of(fitted, X)["scores"]) for fitted, X, y in judged if np.ptp(y)
        )
    return expected


def _in_folds(pilot: Pilot | RealData, learner: Any, seed: int) -> Iterator[_Judged]:
    n_folds = min(N_FOLDS, *np.bincount(pilot.y).tolist())
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(pilot.X, pilot.y):
        fitted = seeded_clone(learner, seed).fit(_safe_indexing(pilot.X, train), pilot.y[train])
        yield fitted, _safe_indexing(pilot.X, test), pilot.y[test]


def _on_new_cases(population: Population, learner: Any, n_train: int, seed: int) -> Iterator[_Judged]:
    rng = np.random.default_rng(seed)
    for _ in range(N_FITS):
        drawn, new = population.draw(n_train, rng), population.draw(N_NEW_CASES, rng)
        if len(np.unique(drawn.y)) == 2:
            yield seeded_clone(learner, seed).fit(drawn.X, drawn.y), new.X, new.y
