"""Refits without a plan: what the tests of single records call."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.sample import Sample
from cudbound.resampling import Resampling
from cudbound.resampling.refits import Refit, Refits, refits_of
from cudbound.resampling.settings import RefitContext


def prepare_refits(
    estimator: Any, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, *, n_jobs: int = 1
) -> Refits:
    """Return how to refit a fitted estimator on its rows."""
    return refits_of(Sample.of(estimator, X, y, groups, sample_weight), n_jobs)


def choose_refit(estimator: Any, X: Any, y: Any, rng: np.random.Generator) -> tuple[Refit, bool]:
    """Return how to refit a fitted estimator on its rows, recorded nowhere, and whether that is in batches.

    `rng` seeds the ``random_state`` parameters that are None.
    """
    refits = prepare_refits(estimator, X, y)
    return partial(refits.outputs, rng=rng), refits.batched


def refit_of(estimator: Any, X: Any, y: Any) -> Refit:
    """Return the refits of an estimator, fitted here first."""
    return choose_refit(estimator.fit(X, y), X, y, np.random.default_rng(0))[0]


def task(refit: Refit, labels: Any, sizes: Any = None, *, policy: str = "fit", seed: int = 0) -> RefitContext:
    """Return what is recorded: these refits, with folds and draws of a seed."""
    return RefitContext(refit, labels, sizes or Resampling(), policy, np.random.default_rng(seed))


def constant(losses: ArrayLike) -> Refit:
    """Return refits whose losses do not depend on the training set."""
    return lambda counts: np.tile(losses, (len(counts), 1))


class Seen:
    """Refits that keep the training sets of each call; without others they make no error."""

    def __init__(self, refit: Refit | None = None):
        self.calls: list[Any] = []
        self._refit = refit or (lambda counts: np.zeros(counts.shape, dtype=bool))

    def __call__(self, counts: Any) -> Any:
        self.calls.append(counts)
        return self._refit(counts)

    @property
    def sizes(self) -> list[int]:
        """Training sets in each call."""
        return [len(counts) for counts in self.calls]

    @property
    def training(self) -> Any:
        """All training sets, as counts of the rows."""
        return np.concatenate(self.calls)


class Scored:
    """An estimator whose scores are given: what mlxtend sees of a learner, with `next_score` for its scoring."""

    def __init__(self, errors: ArrayLike):
        self.scores = iter(1 - np.ravel(errors))

    def fit(self, X: Any, y: Any) -> Scored:
        return self


def next_score(estimator: Scored, X: Any, y: Any) -> float:
    """Return the next score of a learner."""
    return float(next(estimator.scores))
