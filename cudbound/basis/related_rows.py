"""Signs in a training set that its rows are not one independent patient each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.equal_rows import count_improbable_copies
from cudbound.basis.exceptions import (
    CudboundWarning,
    DuplicateRowsWarning,
    FewGroupsWarning,
    FrequencyWeightsWarning,
)
from cudbound.basis.groups import Groups

Array = NDArray[np.float64]

#: Kish's number of groups, by itself and as a share of their number, below which there is a caution.
FEWEST_GROUPS, LEAST_SHARE = 10.0, 0.6
REMEDY = "If rows belong together, such as several rows of one patient, pass groups=, or --group COL to the command."


def related_rows(
    X: Any, labels: NDArray[Any], groups: Groups | None, sample_weight: Array | None
) -> tuple[CudboundWarning, ...]:
    """Return warnings about rows that may not be independent patients.

    - Groups that are few, or of very unequal size, by Kish's number (sum m)^2 / sum m^2, with m their sizes.
    - Weights that are whole numbers with a sum above the number of rows, as those of aggregated data are.
    - Without groups: rows that equal others in features and label, unless chance explains them, see
      `cudbound.basis.equal_rows.count_improbable_copies`.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
    labels : ndarray, shape (n_samples,)
        Booleans or numbers that are equal for rows of one class.
    groups : Groups or None
    sample_weight : ndarray of float, shape (n_samples,), or None

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 3)).repeat(2, axis=0)
    >>> [type(one).__name__ for one in related_rows(X, X[:, 0] > 0, None, None)]
    ['DuplicateRowsWarning']
    >>> related_rows(X, X[:, 0] > 0, Groups.of(np.arange(120) // 2), None)
    ()
    """
    found: list[CudboundWarning] = []
    if sample_weight is not None:
        found += _frequencies(sample_weight)
    if groups is not None:
        return (*found, *_few_groups(groups))
    return (*found, *_equal(X, labels))


def _few_groups(groups: Groups) -> list[CudboundWarning]:
    n, size = groups.n_groups, groups.n_effective
    if size >= FEWEST_GROUPS and size >= LEAST_SHARE * n:
        return []
    sizes = "" if size == n else f", as informative as {size:.1f} groups of equal size"
    message = (
        f"The rows come from {n} groups{sizes}: with so few, the variation between groups is poorly known, and "
        "intervals may be too short."
    )
    return [FewGroupsWarning(message, n_groups=n, n_effective=size)]


def _frequencies(weight: Array) -> list[CudboundWarning]:
    total = float(weight.sum())
    if (weight % 1.0).any() or not total > weight.size:
        return []
    message = (
        f"All weights are whole numbers and sum to {total:.0f} for {weight.size} rows. If they are numbers of "
        "patients with the same values, repeat the rows, one row per patient, and omit the weights; with weights, "
        "intervals are much too long."
    )
    return [FrequencyWeightsWarning(message, n_patients=int(total))]


def _equal(X: Any, labels: NDArray[Any]) -> list[CudboundWarning]:
    n_equal = count_improbable_copies(X, labels)
    if not n_equal:
        return []
    verb = "equals" if n_equal == 1 else "equal"
    message = (
        f"{n_equal} of {len(labels)} rows {verb} an earlier row in every feature and in the label, which chance does "
        f"not explain. A refit that leaves out one of two equal rows was fitted to the other. {REMEDY} Leave out rows "
        "entered twice."
    )
    return [DuplicateRowsWarning(message, n_equal=n_equal)]
