"""The sensitivity, specificity and prevalence to expect in a plan, as input of the closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from cudbound.adapters.kept_scores import Scoring
from cudbound.adapters.seeded import seeded_clone
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.study.planning.pilot import Pilot
from cudbound.study.populations.population import Population
from cudbound.study.populations.real_data import RealData

#: Folds of a pilot, unless a class has fewer rows.
N_FOLDS = 10
#: Classifiers fitted to samples of a world, and new cases for testing each.
N_FITS = 20
N_NEW_CASES = 2000

#: A classifier and its test cases.
_Judged = tuple[Any, Any, NDArray[np.int64]]


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
    found = {name: float(share.mean()) for name, share in shares.items()}
    if auc:
        scores = Scoring(("scores",))
        found["auc"] = fmean(
            roc_auc_score(y, scores.of(fitted, X)["scores"]) for fitted, X, y in judged if np.ptp(y)
        )
    return found


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
