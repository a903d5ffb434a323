"""Bootstrap draws for metrics of single classes: drawn within the classes, or with both classes in each draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.groups import Groups
from cudbound.metrics.metric import MetricRows
from cudbound.problem.draws import draw_counts, draw_stratified_counts

#: Draws that lack a class are drawn again at most this often.
MAX_ATTEMPTS = 1000


def draw_for_metrics(
    seen: Sequence[MetricRows],
    n_resamples: int,
    rng: np.random.Generator,
    *,
    stratified: bool,
    groups: Groups | None = None,
    labels: NDArray[Any] | None = None,
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Draw bootstrap samples on which every metric is defined.

    Parameters
    ----------
    seen : sequence of MetricRows
        At least one, all of one training set.
    n_resamples : int
    rng : numpy.random.Generator
    stratified : bool
        Whether to draw within the classes; otherwise draws without a class that a metric averages separately are
        redrawn.
    groups : Groups, default=None
        Rows that are drawn together. These draws are never within the classes, because a group can have both classes.
    labels : ndarray, shape (n_samples,), default=None
        The class of each row, for more than two classes.

    Returns
    -------
    counts : ndarray of int32, shape (n_resamples, n_samples)
    remarks : tuple of str
        How the draws differ from ordinary ones.
    """
    if stratified and groups is None:
        strata = seen[0].event if labels is None else labels
        return draw_stratified_counts(strata, n_resamples, rng), ("draws within the classes",)
    counts = draw_counts(seen[0].event.size, n_resamples, rng, groups)
    again = _lacking(seen, counts)
    if not again.size:
        return counts, ()
    note = f"{again.size} draws without a row of one class redrawn"
    for _ in range(MAX_ATTEMPTS):
        if not again.size:
            return counts, (note,)
        counts[again] = draw_counts(counts.shape[1], again.size, rng, groups)
        again = again[_lacking(seen, counts[again])]
    raise ValueError(
        f"A draw of {counts.shape[1]} rows missed a class that counts {MAX_ATTEMPTS} times in a row. Draw within "
        "the classes: stratified=True."
    )


def _lacking(seen: Sequence[MetricRows], counts: NDArray[np.int32]) -> NDArray[np.intp]:
    found = np.zeros(len(counts), dtype=bool)
    for one in seen:
        found |= one.lacking(counts)
    return np.flatnonzero(found)
