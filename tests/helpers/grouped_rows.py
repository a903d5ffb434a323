"""Small training sets whose rows belong together, and the problem of one draw of whole groups written down again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.problem.problem import Problem


def grouped_data(seed: int, kind: str = "normal") -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """8 to 11 rows in groups of 1 to 4, with labels by group in half of the problems, integer features in others."""
    rng = np.random.default_rng([seed, *kind.encode()])
    sizes = rng.integers(1, 5, size=6)
    codes = np.repeat(np.arange(6), sizes)[:11]
    n = codes.size
    X = rng.normal(size=(n, 1 + seed % 2))
    if seed % 3 == 0:
        X = np.round(X)
    y = rng.integers(0, 2, size=6)[codes] if seed % 2 else (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    for label in (0, 1):  # both classes, in two groups each
        y[np.flatnonzero(codes == 2 * label)] = label
        y[np.flatnonzero(codes == 2 * label + 1)] = label
    if (X[0] == X).all(axis=0).any():
        X[0] += 1.0
    return X, y, codes[rng.permutation(n)] if seed % 5 == 0 else codes


def in_two_groups(y: NDArray[Any], codes: NDArray[Any]) -> bool:
    """Whether each class occurs in two groups, without which groups are refused."""
    return all(len(set(codes[y == label].tolist())) > 1 for label in (0, 1))


def by_hand(problem: Problem, draw: int, weights: Sequence[float] | None = None) -> Problem:
    """The problem of one draw written down again: the size of its mean loss stands in the rate.

    `weights` are those of wrong rows; None takes the shares in the draw minus those in the training set.
    """
    n, counts = problem.labels.size, problem.counts[draw]
    held = int(sum(int(count) for count in counts))
    if weights is None:
        weights = [int(counts[i]) / held - 1 / n for i in range(n)]
    penalty = None if problem.penalty is None else problem.penalty * held / n
    return Problem.of(
        problem.design,
        problem.labels,
        problem.coef,
        [counts],
        localization=problem.localization * n / held,
        weights=[weights],
        loss=problem.loss,
        penalty=penalty,
        sample_weight=problem.sample_weight,
    )
