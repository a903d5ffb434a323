"""P-values of several comparisons, adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.results import ComparisonResult


def holm_adjusted(pvalues: Sequence[float]) -> NDArray[np.float64]:
    """Return adjusted p-values: all hypotheses with values at or below a level can be rejected together.

    For any dependence between the tests, the probability of one or more false rejections is at most the level. An
    undefined p-value stays undefined and counts as a test.

    Parameters
    ----------
    pvalues : sequence of float
        In [0, 1], or nan.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(pvalues, dtype=float)
    order = np.argsort(values, kind="stable")  # nan comes last
    steps = np.minimum(1.0, (values.size - np.arange(values.size)) * values[order])
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def adjusted(by_pair: Sequence[Sequence[ComparisonResult]]) -> tuple[ComparisonResult, ...]:
    """Return the rows of all pairs by method, with p-values adjusted for the number of pairs if there are several."""
    if len(by_pair) == 1:
        return tuple(by_pair[0])
    return tuple(
        replace(row, adjusted_pvalue=pvalue)
        for same in zip(*by_pair, strict=True)
        for row, pvalue in zip(same, holm_adjusted([row.pvalue for row in same]).tolist(), strict=True)
    )
