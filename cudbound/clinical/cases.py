"""The cases of a report by outcome, and the classifier as others need it: its output and its coefficients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.clinical.report_results import ReportResults

    Scores = Callable[[pd.DataFrame], NDArray[np.float64]]


#: Features that are listed.
MOST_FEATURES = 200
#: Digits of a median or quartile.
DIGITS = 4
#: Share of the range of the scores by which a sum of terms may differ from them, for rounding.
ROUNDING = 1e-6
#: Terms above which the scores are not taken apart, which takes a linear system of that size.
MOST_TERMS = 1_000
#: The level of a missing value.
MISSING = "missing"


def is_numeric(column: pd.Series[Any]) -> bool:
    """Whether the values of a column are numbers that have a median; True and False are categories."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def levels_of(column: pd.Series[Any]) -> list[Any]:
    """Return the levels of a category that occur, in the order of its type, or else of their texts."""
    values = column.dropna().unique()
    if hasattr(column, "cat"):
        return [level for level in column.cat.categories if level in values]
    return sorted(values, key=lambda level: (isinstance(level, str), level))


def participants(columns: pd.DataFrame, event: NDArray[np.bool_], n_left_out: int) -> dict[str, Any]:
    """Return each feature by outcome, and the numbers of missing values.

    Parameters
    ----------
    columns : DataFrame
        The features as they were given, categories as text.
    event : ndarray of bool
        Which rows are events.
    n_left_out : int
        Rows of the file that were left out because a value was missing.
    """
    classes = {"all": np.full(event.size, True), "events": event, "non_events": ~event}
    return {
        "n": {name: int(rows.sum()) for name, rows in classes.items()},
        "n_features": columns.shape[1],
        "features": [_by_outcome(column, classes) for _, column in columns.iloc[:, :MOST_FEATURES].items()],
        "n_missing": int(columns.isna().to_numpy().sum()),
        "n_values": columns.size,
        "n_left_out": n_left_out,
    }


def _by_outcome(column: pd.Series[Any], classes: Mapping[str, NDArray[np.bool_]]) -> dict[str, Any]:
    in_quartiles = is_numeric(column) and column.nunique() != 2
    levels = [
        {
            "level": f"{level:g}" if isinstance(level, float) else str(level),  # 1.0 is the number 1
            **{name: int((column[rows] == level).sum()) for name, rows in classes.items()},
        }
        for level in ([] if in_quartiles else levels_of(column))
    ]
    return {
        "name": str(column.name),
        "missing": {name: int(column[rows].isna().sum()) for name, rows in classes.items()},
        "quartiles": {name: _quartiles(column[rows].dropna()) for name, rows in classes.items()}
        if in_quartiles
        else None,
        "levels": None if in_quartiles else levels,
    }


def _quartiles(values: pd.Series[Any]) -> list[float] | None:
    """Return the lower quartile, the median and the upper quartile; None without values."""
    if values.empty:
        return None
    quartiles = np.quantile(values.to_numpy(dtype=np.float64), [0.25, 0.5, 0.75])
    return [float(f"{value:.{DIGITS}g}") for value in quartiles]


def model(results: ReportResults) -> dict[str, Any]:
    """Return what a reader needs to predict new cases: the output, and intercept and terms if there are any.

    `report.schema.json` describes the fields.
    """
    columns, scores, risks = results.columns, results.scores, results.risks
    values = None if scores is None else scores(columns)
    fit = None if scores is None else coefficients_of(scores, columns)
    threshold = results.threshold if risks is not None else None
    if risks is None and values is not None and (results.called == (values > 0.0)).all():
        threshold = 0.0
    return {
        "output": "risk" if risks is not None else "class" if values is None else "score",
        "threshold": threshold,
        "is_log_odds": values is not None and risks is not None and np.allclose(expit(values), risks),
        "is_unique": fit is None or not _are_determined(columns),
        **(fit or {"intercept": None, "terms": []}),
    }


def coefficients_of(scores: Scores, columns: pd.DataFrame) -> dict[str, Any] | None:
    """Return intercept and terms of scores that are a sum over columns, linear in numbers; None if they are not.

    A number has one coefficient. A category has one per level, which is added for it; that of the first level is 0. A
    column with missing values has one that is added where it is missing. They are fitted by least squares to the scores
    of the rows and of rows made from them, whose values come from different rows in every column: there, no column can
    stand for others. Scores that are not such a sum leave residuals.

    Parameters
    ----------
    scores : callable
        Scores of rows like `columns`, larger for the event.
    columns : DataFrame
        The training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"age": [50.0, 60.0, 70.0], "sex": ["f", "m", "m"]})
    >>> model = coefficients_of(lambda frame: frame["age"] / 10 + (frame["sex"] == "m") - 7, rows)
    >>> [(term["column"], term["level"], round(term["coefficient"], 9)) for term in model["terms"]]
    [('age', None, 0.1), ('sex', 'f', 0.0), ('sex', 'm', 1.0)]
    """
    names = [name for name, _ in _terms(columns)]
    if len(names) > MOST_TERMS or columns.empty:
        return None
    rows = _mixed_rows(columns, 2 * len(names) + 20)
    with warnings.catch_warnings(action="ignore"):
        try:
            values = np.asarray(scores(rows), dtype=np.float64)
        except Exception:  # any code of a user may run here, and what fails has no such terms
            return None
    design = np.column_stack([term for _, term in _terms(rows, columns)])
    center, spread = design.mean(axis=0), design.std(axis=0)
    spread[spread == 0.0] = np.inf  # what does not vary is part of the intercept
    slopes, *_ = np.linalg.lstsq((design - center) / spread, values - values.mean(), rcond=None)
    slopes /= spread
    intercept = values.mean() - center @ slopes
    largest = max(np.ptp(values), abs(values[0]))
    if not np.abs(design @ slopes + intercept - values).max() <= ROUNDING * largest:  # refuses nan as well
        return None
    terms = [
        {"column": str(column), "level": level, "coefficient": float(slope)}
        for (column, level), slope in zip(names, slopes, strict=True)
    ]
    return {"intercept": float(intercept), "terms": terms}


def _mixed_rows(columns: pd.DataFrame, n_more: int) -> pd.DataFrame:
    """Return the rows, and at least `n_more` others that take the value of each column from a random row."""
    import pandas as pd

    n, rng = len(columns), np.random.default_rng(0)
    more = np.tile(np.arange(n), math.ceil(n_more / n))
    parts = [
        column.iloc[np.concatenate([np.arange(n), rng.permutation(more)])].reset_index(drop=True)
        for _, column in columns.items()
    ]
    return pd.concat(parts, axis=1)


def _terms(
    rows: pd.DataFrame, columns: pd.DataFrame | None = None
) -> Iterator[tuple[tuple[Any, str | None], NDArray[np.float64]]]:
    """Yield name and level of each term, and what its coefficient is multiplied by; levels are those in `columns`."""
    columns = rows if columns is None else columns
    for place, (name, column) in enumerate(columns.items()):
        values = rows.iloc[:, place]
        if is_numeric(column):
            yield (name, None), values.fillna(0).to_numpy(dtype=np.float64)
        else:
            for number, level in enumerate(levels_of(column)):
                has_level = number > 0 and (values == level).fillna(False)
                yield (name, str(level)), np.full(len(rows), has_level, dtype=np.float64)
        if column.isna().any():
            yield (name, MISSING), values.isna().to_numpy().astype(np.float64)


def _are_determined(columns: pd.DataFrame) -> bool:
    """Return whether a term that varies in these rows is a linear function of the others."""
    design = np.column_stack([term for _, term in _terms(columns)])
    design -= design.mean(axis=0)
    spread = design.std(axis=0)
    varying = design[:, spread > 0.0] / spread[spread > 0.0]
    return bool(varying.size) and int(np.linalg.matrix_rank(varying)) < varying.shape[1]
