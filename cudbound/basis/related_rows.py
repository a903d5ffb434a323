"""Signs in a training set that its rows are not one independent patient each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from cudbound.basis.exceptions import (
    CudboundWarning,
    DuplicateRowsWarning,
    FewGroupsWarning,
    FrequencyWeightsWarning,
    SimilarRowsWarning,
)
from cudbound.basis.groups import Groups

Array = NDArray[np.float64]

#: Kish's number of groups, by itself and as a share of their number, below which there is a caution.
FEWEST_GROUPS, LEAST_SHARE = 10.0, 0.6
#: Features that vary, with fewer of which rows are close to each other by chance.
FEWEST_FEATURES = 3
#: Rows are similar where the nearest is, in the median, closer than this share of the distance of the fourth nearest:
#: of groups of up to four rows, that one is of another group.
NEAR, NEIGHBORS = 0.4, 4
#: Share of distinct rows below which distances of 0 are those of a lattice.
MOSTLY_DISTINCT = 0.9
#: Expected pairs of equal rows, were the features independent of each other, above which chance explains some.
BY_CHANCE = 0.05
#: Rows whose neighbors are looked for, evenly spaced, and distances that are held at once.
MOST_ROWS, MOST_DISTANCES = 1000, 2_000_000

REMEDY = "If rows belong together, such as several rows of one patient, pass groups=."


def related_rows(
    X: Any, labels: NDArray[Any], groups: Groups | None, sample_weight: Array | None
) -> tuple[CudboundWarning, ...]:
    """Return warnings about rows that may not be independent patients.

    - Groups that are few, or of very unequal size, by Kish's number (sum m)^2 / sum m^2, with m their sizes.
    - Weights that are whole numbers with a sum above the number of rows, as those of aggregated data are.
    - Without groups: rows that have near neighbors, by the ratio of the distances of the nearest and the fourth nearest
      row, in standard deviations of the features, where nine in ten rows are distinct.
    - Without groups: rows that equal others in features and label, unless so many are to be expected by chance. Their
      expected number is that of independent features: the pairs of distinct rows, times the share of such pairs that
      agree, for each feature and the label.

    Distances and equal rows are those of a matrix of finite numbers in which at least three features vary; of any other
    features nothing is said.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
    labels : ndarray, shape (n_samples,)
        Booleans or numbers that are equal for rows of one class.
    groups : Groups or None
    sample_weight : ndarray of float, shape (n_samples,), or None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(20, 3)), 3, axis=0) + 0.01 * rng.normal(size=(60, 3))
    >>> [type(one).__name__ for one in related_rows(X, X[:, 0] > 0, None, None)]
    ['SimilarRowsWarning']
    >>> related_rows(X, X[:, 0] > 0, Groups.of(np.arange(60) // 3), None)
    ()
    """
    found: list[CudboundWarning] = []
    if sample_weight is not None:
        found += _frequencies(sample_weight)
    if groups is not None:
        return (*found, *_few_groups(groups))
    features = _varying(X)
    if features is not None:
        found += [*_similar(features), *_equal(features, labels)]
    return tuple(found)


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


def _varying(X: Any) -> Array | None:
    """Return the non-constant features, standardized; None if there are too few, or if some are not numbers."""
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "biuf" or not np.isfinite(table).all():
        return None
    values = table.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        values = values[:, np.ptp(values, axis=0) > 0.0]
        values = (values - values.mean(axis=0)) / values.std(axis=0)
    return values if values.shape[1] >= FEWEST_FEATURES and np.isfinite(values).all() else None


def _similar(features: Array) -> list[CudboundWarning]:
    distinct = np.unique(features, axis=0)
    if len(distinct) < max(MOSTLY_DISTINCT * len(features), NEIGHBORS + 1):
        return []
    ratio = _near_ratio(distinct)
    if not ratio < NEAR:
        return []
    message = (
        f"Rows form small clusters: for half of them, the nearest row is within {ratio:.2f} times the distance to the "
        f"fourth nearest. {REMEDY} Intervals that treat them as independent are much too short."
    )
    return [SimilarRowsWarning(message, ratio=ratio)]


def _near_ratio(distinct: Array) -> float:
    """Return the median ratio of the distances to the nearest and the fourth nearest row."""
    asked = distinct[np.unique(np.linspace(0, len(distinct) - 1, MOST_ROWS).astype(int))]
    step = max(1, MOST_DISTANCES // len(distinct))
    ratios = []
    for start in range(0, len(asked), step):
        distances = cdist(asked[start : start + step], distinct)
        nearest = np.partition(distances, (1, NEIGHBORS), axis=1)  # the first is the row itself
        ratios.append(nearest[:, 1] / nearest[:, NEIGHBORS])
    return float(np.median(np.concatenate(ratios)))


def _equal(features: Array, labels: NDArray[Any]) -> list[CudboundWarning]:
    rows = np.column_stack([features, labels])
    distinct = np.unique(rows, axis=0)
    n_equal = len(rows) - len(distinct)
    if not n_equal or _equal_by_chance(distinct) > BY_CHANCE:
        return []
    verb = "equals" if n_equal == 1 else "equal"
    message = (
        f"{n_equal} of {len(rows)} rows {verb} an earlier row in every feature and in the label. A refit that leaves "
        f"out one of two equal rows was fitted to the other. {REMEDY} Leave out rows entered twice."
    )
    return [DuplicateRowsWarning(message, n_equal=n_equal)]


def _equal_by_chance(distinct: Array) -> float:
    """Return the expected number of equal pairs of rows if the columns were independent."""
    n = len(distinct)
    pairs = n * (n - 1) / 2
    expected = pairs
    for column in distinct.T:
        counts = np.unique(column, return_counts=True)[1]
        expected *= float((counts * (counts - 1) / 2).sum()) / pairs if pairs else 0.0
    return expected
