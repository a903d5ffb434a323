"""The cases of a report by outcome, and the classifier as others need it: its output and its coefficients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cudbound.adapters.parts import unwrap

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.clinical.report_results import ReportResults

    Scores = Callable[[pd.DataFrame], NDArray[np.float64]]


#: Features that are listed.
MOST_FEATURES = 200
#: Digits of a median or quartile.
DIGITS = 4
UNKNOWN = "Cases, values and columns that were left out or filled in before are unknown to this report."
#: Share of the range of the scores by which a sum of terms may differ from them, for rounding.
ROUNDING = 1e-6
SUM = "Score = intercept + coefficient times value for each number + coefficient of the level for each category."
OF_MISSING = "Where a value is missing, the term of its column for missing values is added instead."
LOGISTIC = "Risk of the event = 1 / (1 + exp(-score))."
AS_FITTED = "The coefficients are those of the fit to these cases. They are not corrected for optimism."
NOT_UNIQUE = (
    "Some of these columns or levels are determined by the others in these cases, so that other coefficients give the "
    "same scores: do not read them one by one."
)
NO_COEFFICIENTS = (
    "This classifier has no coefficients that could be listed. Others can only use it if they get the fitted object "
    "itself, such as a file of skops.io.dump."
)
#: The level of a missing value.
MISSING = "missing"
#: Columns above which the scores are not taken apart: each needs scores of its own.
MOST_COLUMNS = 2_000


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


def participants(
    columns: pd.DataFrame,
    event: NDArray[np.bool_],
    summary_box: Mapping[str, Any],
    n_left_out: int,
) -> dict[str, Any]:
    """Return each feature by outcome, and how missing values were handled.

    Parameters
    ----------
    columns : DataFrame
        The features as they were given, categories as text.
    event : ndarray of bool
        Which rows are events.
    summary_box : mapping
        The main facts of the report.
    n_left_out : int
        Rows of the file that were left out because a value was missing.
    """
    classes = {"all": np.full(event.size, True), "events": event, "non_events": ~event}
    return {
        "n": {name: int(rows.sum()) for name, rows in classes.items()},
        "n_features": columns.shape[1],
        "features": [_by_outcome(column, classes) for _, column in columns.iloc[:, :MOST_FEATURES].items()],
        "missing": _missing(int(columns.isna().to_numpy().sum()), columns.size, n_left_out, summary_box),
    }


def _by_outcome(column: pd.Series[Any], classes: Mapping[str, NDArray[np.bool_]]) -> dict[str, Any]:
    missing = {name: int(column[rows].isna().sum()) for name, rows in classes.items()}
    in_quartiles = is_numeric(column) and column.nunique() != 2
    quartiles = {name: _quartiles(column[rows]) for name, rows in classes.items()} if in_quartiles else None
    levels = None if in_quartiles else _levels(column, classes)
    return {"name": str(column.name), "missing": missing, "quartiles": quartiles, "levels": levels}


def _quartiles(values: pd.Series[Any]) -> list[float] | None:
    """Return the lower quartile, the median and the upper quartile; None without values."""
    numbers = values.dropna().to_numpy(dtype=np.float64)
    if not numbers.size:
        return None
    return [float(f"{value:.{DIGITS}g}") for value in np.quantile(numbers, [0.25, 0.5, 0.75])]


def _levels(column: pd.Series[Any], classes: Mapping[str, NDArray[np.bool_]]) -> list[dict[str, Any]]:
    """Return the counts of each level; 1.0 is the number 1."""
    return [
        {
            "level": f"{level:g}" if isinstance(level, float) else str(level),
            **{name: int((column[rows] == level).sum()) for name, rows in classes.items()},
        }
        for level in levels_of(column)
    ]


def _missing(n_missing: int, n_values: int, n_left_out: int, summary_box: Mapping[str, Any]) -> list[str]:
    """Report how many values are missing and what was done about them."""
    n, sentences = summary_box["n"], []
    if n_left_out:
        whole = n + n_left_out
        sentences.append(
            f"{n_left_out} of {whole} rows of the file were left out because a value was missing."
        )
    if not n_missing:
        return [*sentences, f"No feature has a missing value in the {n} cases.", UNKNOWN]
    sentences.append(f"{n_missing} of {n_values} values of the features are missing.")
    kept = (
        f"; refits kept {' and '.join(summary_box['frozen'])} as fitted before"
        if summary_box["frozen"]
        else ""
    )
    steps = "; ".join(summary_box["procedure"])
    return [*sentences, f"They are handled inside the classifier, in every refit: {steps}{kept}.", UNKNOWN]


def model(results: ReportResults, estimator: Any, event: str, procedure: Sequence[str]) -> dict[str, Any]:
    """Return what a reader needs to predict new cases: the output, and intercept and terms if there are any.

    Parameters
    ----------
    results : ReportResults
    estimator : object
        The fitted classifier.
    event : str
        The event in words.
    procedure : sequence of str
        The steps of every fit in words.
    """
    columns, scores = results.columns, results.scores
    values = None if scores is None else scores(columns)
    fit = None if scores is None else coefficients_of(scores, columns)
    sentences = [_output(results, values, event)]
    scale, steps = "columns", "; ".join(procedure)
    if scores is not None and fit is None and columns.isna().to_numpy().any():
        fit = coefficients_of(scores, columns.dropna())
        sentences += [f"A missing value is first filled by the steps of the fit: {steps}."] if fit else []
    if fit is None and scores is not None:
        fit = last_coefficients(estimator, results.analysis.metrics.event_class)
        scale = "steps"
    log_odds = values is not None and results.risks is not None and np.allclose(expit(values), results.risks)
    if fit is None:
        return {"scale": None, "intercept": None, "terms": [], "sentences": [*sentences, NO_COEFFICIENTS]}
    of_steps = f"The score is not a sum over the columns as given. Columns of this table come from the steps: {steps}."
    sentences += [of_steps] if scale == "steps" else []
    sentences += [SUM]
    sentences += [OF_MISSING] if any(term["level"] == MISSING for term in fit["terms"]) else []
    sentences += [LOGISTIC] if log_odds else []
    sentences += [NOT_UNIQUE] if scale == "columns" and _are_determined(columns) else []
    return {"scale": scale, **fit, "sentences": [*sentences, AS_FITTED]}


def _are_determined(columns: pd.DataFrame) -> bool:
    """Return whether a number, or a level after the first, is a linear function of the others in these rows."""
    import pandas as pd

    parts = [
        column.astype(float).fillna(column.mean())
        if is_numeric(column)
        else pd.get_dummies(column, drop_first=True)
        for _, column in columns.items()
    ]
    design = pd.concat(parts, axis=1).to_numpy(dtype=np.float64)
    design -= design.mean(axis=0)
    spread = design.std(axis=0)
    varying = design[:, spread > 0.0] / spread[spread > 0.0]
    return bool(varying.size) and int(np.linalg.matrix_rank(varying)) < varying.shape[1]


def _output(results: ReportResults, values: NDArray[np.float64] | None, event: str) -> str:
    """Return what the classifier returns, and from where a case is called an event."""
    if results.risks is not None:
        end = (
            "."
            if results.threshold is None
            else f"; from {results.threshold:.3g} on, a case is called an event."
        )
        return f"The output is the risk of the event ({event}){end}"
    if values is None:
        return f"The output is a class, the event ({event}) or not, without a score."
    split = (results.called == (values > 0.0)).all()
    return f"The output is a score, not a risk{'; above 0, a case is called an event' if split else ''} ({event})."


def coefficients_of(scores: Scores, columns: pd.DataFrame) -> dict[str, Any] | None:
    """Return intercept and terms of scores that are a sum over columns, linear in numbers; None if they are not.

    A number has one coefficient. A category has one per level, which is added for it; that of the first level is 0. A
    column with missing values has one that is added where it is missing. The sum is compared with the scores of all
    rows.

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
    >>> [(one["column"], one["level"], round(one["coefficient"], 9)) for one in model["terms"]]
    [('age', None, 0.1), ('sex', 'f', 0.0), ('sex', 'm', 1.0)]
    """
    if columns.shape[1] > MOST_COLUMNS or columns.isna().all().any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _taken_apart(scores, columns)
        except Exception:  # any code of a user may run here, and what fails has no such terms
            return None


def _taken_apart(scores: Scores, columns: pd.DataFrame) -> dict[str, Any] | None:
    by_place = [column for _, column in columns.items()]
    values_of = [_values(column) for column in by_place]
    gaps_of = [column[column.isna()] for column in by_place]
    probes = _probes(columns, [[*values, *gaps[:1]] for values, gaps in zip(values_of, gaps_of, strict=True)])
    of_probes = np.asarray(scores(probes), dtype=np.float64)
    changes = iter(of_probes[1:] - of_probes[0])
    intercept, terms = of_probes[0], list[dict[str, Any]]()
    fitted = np.zeros(len(columns))
    for column, values, gaps in zip(by_place, values_of, gaps_of, strict=True):
        steps = [0.0, *(next(changes) for _ in values[1:])]
        in_gap = next(changes) if len(gaps) else 0.0
        if is_numeric(column):
            slope = steps[-1] / (float(values[-1]) - float(values[0])) if len(values) > 1 else 0.0
            terms.append(_term(column.name, None, slope))
            fitted += slope * column.fillna(0).to_numpy(dtype=np.float64)
            intercept -= slope * float(values[0])
            in_gap += slope * float(values[0])
        else:
            for level, step in zip(values, steps, strict=True):
                terms.append(_term(column.name, str(level), step))
                fitted += step * (column == level).fillna(False).to_numpy(dtype=np.float64)
        if len(gaps):
            terms.append(_term(column.name, MISSING, in_gap))
            fitted += in_gap * column.isna().to_numpy()
    actual = np.asarray(scores(columns), dtype=np.float64)
    largest = max(np.ptp(actual), abs(of_probes[0]))
    if not np.abs(intercept + fitted - actual).max() <= ROUNDING * largest:
        return None
    return {"intercept": float(intercept), "terms": terms}


def _term(column: Any, level: str | None, coefficient: float) -> dict[str, Any]:
    return {"column": str(column), "level": level, "coefficient": float(coefficient)}


def _values(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column to try: the ends of its range, or its levels."""
    values = column.dropna()
    if is_numeric(column):
        return [values.min(), values.max()] if values.nunique() > 1 else [values.iloc[0]]
    return levels_of(column)


def _probes(columns: pd.DataFrame, tried: list[list[Any]]) -> pd.DataFrame:
    """Return a row with the first value of each column, and that row with each of the other values of one column."""
    import pandas as pd

    changed = np.repeat(np.arange(len(tried)), [len(values) - 1 for values in tried])
    parts = []
    for place, values in enumerate(tried):
        column = pd.Series([values[0]] * (len(changed) + 1), dtype=columns.dtypes.iloc[place])
        column.iloc[1 + np.flatnonzero(changed == place)] = values[1:]
        parts.append(column)
    probes: pd.DataFrame = pd.concat(parts, axis=1)
    probes.columns = columns.columns
    return probes


def last_coefficients(estimator: Any, event_class: int) -> dict[str, Any] | None:
    """Return the coefficients of the classifier after its steps, if it is linear and their outputs have names."""
    sign = 1.0 if event_class else -1.0
    inside = unwrap(estimator)
    coef = np.atleast_2d(getattr(inside.classifier, "coef_", np.zeros((0, 0))))
    if len(coef) != 1 or not inside.steps:
        return None
    names: Any = None
    try:
        for step in inside.steps:
            names = step.get_feature_names_out(names)
    except Exception:  # a step of a user, or one that was fitted without names
        return None
    if len(names) != coef.size:
        return None
    terms = [_term(name, None, sign * value) for name, value in zip(names, coef[0], strict=True)]
    intercept = float(np.ravel(getattr(inside.classifier, "intercept_", 0.0))[0])
    return {"intercept": sign * intercept, "terms": terms}
