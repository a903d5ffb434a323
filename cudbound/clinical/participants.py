"""The cases of a report by outcome, the table 1 of a paper: counts, medians and quartiles, but no row of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

#: Values below which the median and quartiles are those of single cases, and levels of a few cases are not named.
FEW_CASES = 5
#: Levels of a category above which rare ones are counted together.
MANY_LEVELS = 8
#: Features that are listed.
MOST_FEATURES = 200
#: Digits of a median or quartile.
DIGITS = 4
UNKNOWN = "Cases, values and columns that were left out or filled in before are unknown to this report."


def frame_of(X: Any, names: Sequence[str]) -> pd.DataFrame:
    """Return the features as a data frame; a matrix gets these names, and a sparse one is written out."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X.reset_index(drop=True)
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return pd.DataFrame(rows.reshape(len(rows), -1), columns=list(names)).infer_objects()


def is_numeric(column: pd.Series[Any]) -> bool:
    """Whether the values of a column are numbers that have a median; True and False are categories."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def levels_of(column: pd.Series[Any]) -> list[Any]:
    """Return the levels of a category that occur, in the order of its type, or else of their texts."""
    values = column.dropna().unique()
    if hasattr(column, "cat"):
        return [one for one in column.cat.categories if one in values]
    return sorted(values, key=lambda one: (isinstance(one, str), str(one) if isinstance(one, str) else one))


def rare_levels(column: pd.Series[Any]) -> list[Any]:
    """Return the levels, of many, that so few cases have that they might name a case."""
    levels, sizes = levels_of(column), column.value_counts()
    return [one for one in levels if sizes[one] < FEW_CASES] if len(levels) > MANY_LEVELS else []


def participants(
    columns: pd.DataFrame,
    event: NDArray[np.bool_],
    box: Mapping[str, Any],
    n_left_out: int,
) -> dict[str, Any]:
    """Return each feature by outcome, and how missing values were handled.

    Parameters
    ----------
    columns : DataFrame
        The features as they were given, categories as text.
    event : ndarray of bool
        Which rows are events.
    box : mapping
        The main facts of the report.
    n_left_out : int
        Rows of the file that were left out because a value was missing.
    """
    classes = {"all": np.full(event.size, True), "events": event, "non_events": ~event}
    n_listed = min(columns.shape[1], MOST_FEATURES)
    return {
        "n": {name: int(rows.sum()) for name, rows in classes.items()},
        "n_features": columns.shape[1],
        "features": [_by_outcome(columns.iloc[:, place], classes) for place in range(n_listed)],
        "missing": _missing(int(columns.isna().to_numpy().sum()), columns.size, n_left_out, box),
    }


def _by_outcome(column: pd.Series[Any], classes: Mapping[str, NDArray[np.bool_]]) -> dict[str, Any]:
    missing = {name: int(column[rows].isna().sum()) for name, rows in classes.items()}
    found: dict[str, Any] = {"name": str(column.name), "missing": missing, "quartiles": None, "levels": None}
    if is_numeric(column) and column.nunique() != 2:
        return found | {"quartiles": {name: _quartiles(column[rows]) for name, rows in classes.items()}}
    return found | {"levels": _levels(column, classes)}


def _quartiles(values: pd.Series[Any]) -> list[float] | None:
    """Return the lower quartile, the median and the upper quartile; None for fewer than `FEW_CASES` values."""
    known = values.dropna().to_numpy(dtype=np.float64)
    if known.size < FEW_CASES:
        return None
    return [float(f"{value:.{DIGITS}g}") for value in np.quantile(known, [0.25, 0.5, 0.75])]


def _levels(column: pd.Series[Any], classes: Mapping[str, NDArray[np.bool_]]) -> list[dict[str, Any]]:
    """Return the counts of each level; of many levels, the rare ones, which might name a case, are one."""
    rare = rare_levels(column)
    groups = {_text(one): [one] for one in levels_of(column) if one not in rare}
    if rare:
        groups[f"{len(rare)} levels of fewer than {FEW_CASES} cases"] = rare
    return [
        {"level": text, **{name: int(column[rows].isin(ones).sum()) for name, rows in classes.items()}}
        for text, ones in groups.items()
    ]


def _text(level: Any) -> str:
    """Return a level in words: 1.0 is the number 1."""
    return f"{level:g}" if isinstance(level, float) else str(level)


def _missing(n_missing: int, n_values: int, n_left_out: int, box: Mapping[str, Any]) -> list[str]:
    """Report how many values are missing and what was done about them."""
    n, sentences = box["n"], []
    if n_left_out:
        whole = n + n_left_out
        sentences.append(
            f"{n_left_out} of {whole} rows of the file were left out because a value was missing."
        )
    if not n_missing:
        return [*sentences, f"No feature has a missing value in the {n} cases.", UNKNOWN]
    sentences.append(f"{n_missing} of {n_values} values of the features are missing.")
    kept = f"; refits kept {' and '.join(box['frozen'])} as fitted before" if box["frozen"] else ""
    steps = "; ".join(box["procedure"])
    return [*sentences, f"They are handled inside the classifier, in every refit: {steps}{kept}.", UNKNOWN]
