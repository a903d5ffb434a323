"""The intervals of a study in order: one row per replicate, one column per method, each judged by the true error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.outcomes import Estimand
from cudbound.study.run.store_columns import EXPECTED, INTERVALS, REPLICATES
from cudbound.validation import check_confidence_level

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

KEY = ["scenario", "n", "replicate"]
REPLICATE_COLUMNS = tuple(name for name in REPLICATES.columns if name != "seed")
INTERVAL_COLUMNS = tuple(name for name in INTERVALS.columns if name != "remarks")
EXPECTED_COLUMNS = EXPECTED.columns


@dataclass(frozen=True, eq=False)
class Scores:
    """How every interval of a study did. R replicates of all cells in key order, M methods.

    Attributes
    ----------
    replicates : pandas.DataFrame, length R
        In key order, with the number of the cell in the column "cell".
    cells : pandas.DataFrame
        The columns "scenario" and "n" of each cell, ascending.
    methods : tuple of str, length M
    given : ndarray of bool, shape (R, M)
        Whether there are an interval and a true error to judge it by; all else is a failure.
    covered, truth_above, truth_below : ndarray of bool, shape (R, M)
        Whether low <= truth <= high, truth > high, truth < low; all False for a failure.
    expected : ndarray of float, shape (R, M)
        Mean, over the replicates of the cell, of the errors that the learning algorithm makes on further samples of the
        n1 cases that the estimand of the row names: what a method with the estimand "expected(n1=...)" aims at. nan for
        other estimands.
    expected_mcse, expected_se : ndarray of float, shape (R, M)
        Its Monte Carlo standard error, and the mean of the standard errors of the single errors.
    n_expected : ndarray of float, shape (R, M)
        Further samples that it is the mean of.
    covered_expected : ndarray of bool, shape (R, M)
        Whether the interval holds it.
    width, raw_width, score, bias, estimate, standard_error, n_fits : ndarray of float, shape (R, M)
        Width of the clipped limits and of the raw ones, interval score, estimate - truth, estimate, the method's own
        standard error of it, and fits; nan for a failure.
    pvalue : ndarray of float, shape (R, M)
        nan where no test is made or it failed; a test may reject although it has no interval.
    degenerate : ndarray of bool, shape (R, M)
        Whether an interval that was given says nothing.
    """

    replicates: pd.DataFrame
    cells: pd.DataFrame
    methods: tuple[str, ...]
    given: Flags
    covered: Flags
    truth_above: Flags
    truth_below: Flags
    expected: Array
    expected_mcse: Array
    expected_se: Array
    n_expected: Array
    covered_expected: Flags
    width: Array
    raw_width: Array
    score: Array
    bias: Array
    estimate: Array
    standard_error: Array
    n_fits: Array
    pvalue: Array
    degenerate: Flags


def score_intervals(
    replicates: pd.DataFrame,
    intervals: pd.DataFrame,
    expected: pd.DataFrame,
    *,
    scenarios: Sequence[str],
    methods: Sequence[str],
    confidence_level: float,
) -> Scores:
    """Judge every interval by the true error of its replicate.

    Parameters
    ----------
    replicates, intervals, expected : pandas.DataFrame
        With `REPLICATE_COLUMNS`, `INTERVAL_COLUMNS` and `EXPECTED_COLUMNS`, in any order of the rows.
    scenarios : sequence of str
        All scenarios of the study, in the order of the cells.
    methods : sequence of str
        All methods of the study. One without a row in a replicate failed there.
    confidence_level : float

    Raises
    ------
    ValueError
        If a column is missing, there is no replicate, a key stands twice, an interval has no replicate, or a scenario
        or a method is not among those named.
    """
    _check_columns("replicates", replicates, REPLICATE_COLUMNS)
    _check_columns("intervals", intervals, INTERVAL_COLUMNS)
    _check_columns("expected", expected, EXPECTED_COLUMNS)
    if replicates.empty:
        raise ValueError("The 'replicates' frame must have at least one row. Got none; run the study first.")
    number = _numbers("scenarios", scenarios, replicates["scenario"])
    ordered = replicates.assign(number=number).sort_values(["number", "n", "replicate"], ignore_index=True)
    grouped = ordered.groupby(["number", "n"], sort=True)
    ordered = ordered.assign(cell=grouped.ngroup()).drop(columns="number")
    place = _places(ordered, intervals, methods)
    shape = (len(ordered), len(methods))

    def arranged(column: pd.Series[float]) -> Array:
        values = np.full(shape, np.nan)
        values.flat[place] = column.to_numpy(dtype=float, na_value=np.nan)
        return values

    def flagged(name: str) -> Flags:
        values = np.zeros(shape, dtype=bool)
        values.flat[place] = intervals[name].notna().to_numpy()
        return values

    truth = _column(ordered["truth"])
    low, high = arranged(intervals["low"]), arranged(intervals["high"])
    estimate = arranged(intervals["estimate"])
    given = np.isfinite(low) & np.isfinite(high) & np.isfinite(truth)

    def where_given(values: Array) -> Array:
        return np.where(given, values, np.nan)

    means = _expected_errors(intervals, expected)
    aim = arranged(means["mean"])
    return Scores(
        replicates=ordered,
        cells=ordered[KEY[:2]].drop_duplicates(ignore_index=True),
        methods=tuple(methods),
        given=given,
        covered=given & (low <= truth) & (truth <= high),
        truth_above=given & (truth > high),
        truth_below=given & (truth < low),
        expected=aim,
        expected_mcse=arranged(means["mcse"]),
        expected_se=arranged(means["se"]),
        n_expected=arranged(means["count"]),
        covered_expected=given & (low <= aim) & (aim <= high),
        width=where_given(high - low),
        raw_width=where_given(arranged(intervals["raw_high"]) - arranged(intervals["raw_low"])),
        score=where_given(interval_score(low, high, truth, confidence_level)),
        bias=where_given(estimate - truth),
        estimate=where_given(estimate),
        standard_error=where_given(arranged(intervals["standard_error"])),
        n_fits=where_given(arranged(intervals["n_fits"])),
        pvalue=arranged(intervals["pvalue"]),
        degenerate=given & flagged("degenerate"),
    )


def _expected_errors(intervals: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """Return, for every interval, what its estimand is the mean of, with the Monte Carlo standard error of that mean.

    Frame with the columns "mean", "mcse", "se" and "count", and the index of `intervals`; nan for other estimands.
    """
    # in the order of the keys, so that sums round alike
    ordered = expected.sort_values([*KEY, "n_train"])
    errors = ordered.astype({"truth": float, "truth_se": float}).groupby([*KEY[:2], "n_train"])
    found = errors.agg(
        mean=("truth", "mean"), mcse=("truth", "sem"), se=("truth_se", "mean"), count=("truth", "size")
    ).reset_index()
    sizes = {one: Estimand.read(one).n_train_rows for one in set(intervals["estimand"])}
    aims = intervals[KEY[:2]].assign(n_train=intervals["estimand"].map(sizes).astype(float))
    found["n_train"] = found["n_train"].astype(float)
    return aims.merge(found, on=list(aims), how="left").set_axis(intervals.index)


def _column(values: pd.Series[float]) -> Array:
    return np.asarray(values.to_numpy(dtype=float, na_value=np.nan), dtype=np.float64)[:, np.newaxis]


def _numbers(name: str, known: Sequence[str], values: pd.Series[str]) -> NDArray[np.int64]:
    """Return the place of each value among those known."""
    import pandas as pd

    numbers = pd.Index(list(known), dtype=object).get_indexer(pd.Index(values, dtype=object))
    if (numbers < 0).any():
        alien = values.iloc[int(np.argmin(numbers))]
        raise ValueError(
            f"The '{name}' parameter must hold every one that has rows. Got {list(known)}, without {alien!r}."
        )
    return np.asarray(numbers, dtype=np.int64)


def _check_columns(name: str, frame: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"The '{name}' frame must have the columns {list(columns)}. Got none of the name "
            f"{', '.join(map(repr, missing))}."
        )


def _places(ordered: pd.DataFrame, intervals: pd.DataFrame, methods: Sequence[str]) -> NDArray[np.int64]:
    """Return where each interval stands in an array of shape (replicates, methods), read row by row."""
    import pandas as pd

    keys = pd.MultiIndex.from_frame(ordered[KEY])
    if not keys.is_unique:
        twice = keys[keys.duplicated()][0]
        raise ValueError(
            f"Each replicate must stand once in the 'replicates' frame. Got {_said(twice)} twice."
        )
    row = keys.get_indexer(pd.MultiIndex.from_frame(intervals[KEY]))
    if (row < 0).any():
        alone = intervals[KEY].iloc[int(np.argmin(row))]
        raise ValueError(
            "Each interval must belong to a row of the 'replicates' frame. "
            f"Got one of {_said(alone)}, which has none."
        )
    place = np.asarray(row, dtype=np.int64) * len(methods) + _numbers("methods", methods, intervals["method"])
    if np.unique(place).size != place.size:
        number, counts = np.unique(place, return_counts=True)
        where, method = divmod(int(number[np.argmax(counts)]), len(methods))
        raise ValueError(
            "Each method must stand once per replicate in the 'intervals' frame. "
            f"Got {methods[method]!r} twice in {_said(keys[where])}."
        )
    return place


def _said(key: Iterable[object]) -> str:
    scenario, n, replicate = key
    return f"scenario {scenario!r}, n {n}, replicate {replicate}"


def interval_score(low: ArrayLike, high: ArrayLike, truth: ArrayLike, confidence_level: float) -> Array:
    """Return the interval score of each replicate: the width plus a penalty for a miss; lower is better.

    Parameters
    ----------
    low, high, truth : array-like of float, shape (...)
        Limits and what they should cover.
    confidence_level : float
        Nominal level 1 - d.

    Returns
    -------
    ndarray of float, shape (...)
        (high - low) + (2/d) max(low - truth, 0) + (2/d) max(truth - high, 0).

    References
    ----------
    Winkler, R. L. (1972). A decision-theoretic approach to interval estimation. JASA 67, 187-191; Gneiting, T. and
    Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. JASA 102, 359-378, section 6.2.

    Examples
    --------
    >>> round(float(interval_score(0.1, 0.4, 0.45, 0.95)), 6)
    2.3
    """
    price = 2.0 / (1.0 - check_confidence_level(confidence_level))
    lower, upper, value = (np.asarray(one, dtype=float) for one in (low, high, truth))
    missed = np.maximum(lower - value, 0.0) + np.maximum(value - upper, 0.0)
    return np.asarray(upper - lower + price * missed)
