"""The output of a classifier, and its coefficients on the scale of the columns as given, checked by its scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cudbound.adapters.parts import unwrap
from cudbound.clinical.participants import FEW_CASES, is_numeric, levels_of, rare_levels

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.clinical.answers import Answers

    Scores = Callable[[pd.DataFrame], NDArray[np.float64]]

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


def model(answers: Answers, estimator: Any, event: str, procedure: Sequence[str]) -> dict[str, Any]:
    """Return what a reader needs to predict new cases: the output, and intercept and terms if there are any.

    Parameters
    ----------
    answers : Answers
    estimator : object
        The fitted classifier.
    event : str
        The event in words.
    procedure : sequence of str
        The steps of every fit in words.
    """
    columns, scores = answers.columns, answers.scores
    values = None if scores is None else scores(columns)
    found = None if scores is None else coefficients_of(scores, columns)
    sentences = [_output(answers, values, event)]
    scale, steps = "columns", "; ".join(procedure)
    if scores is not None and found is None and columns.isna().to_numpy().any():
        found = coefficients_of(scores, columns.dropna())
        sentences += [f"A missing value is first filled by the steps of the fit: {steps}."] if found else []
    if found is None and scores is not None:
        found = last_coefficients(estimator, answers.analysis.metrics.event_class)
        scale = "steps"
    log_odds = values is not None and answers.risks is not None and np.allclose(expit(values), answers.risks)
    if found is None:
        return {"scale": None, "intercept": None, "terms": [], "sentences": [*sentences, NO_COEFFICIENTS]}
    of_steps = f"The score is not a sum over the columns as given. Columns of this table come from the steps: {steps}."
    sentences += [of_steps] if scale == "steps" else []
    listed = _without_rare_levels(found["terms"], columns)
    n_rare = len(found["terms"]) - len(listed)
    found["terms"] = listed
    of_rare = f"Coefficients of {n_rare} levels of fewer than {FEW_CASES} cases are not listed."
    sentences += [SUM, *([of_rare] if n_rare else [])]
    sentences += [OF_MISSING] if any(one["level"] == MISSING for one in found["terms"]) else []
    sentences += [LOGISTIC] if log_odds else []
    sentences += [NOT_UNIQUE] if scale == "columns" and _are_determined(columns) else []
    return {"scale": scale, **found, "sentences": [*sentences, AS_FITTED]}


def _are_determined(columns: pd.DataFrame) -> bool:
    """Return whether a number, or a level after the first, is a linear function of the others in these rows."""
    import pandas as pd

    parts = [
        column.astype(float).fillna(column.mean())
        if is_numeric(column)
        else pd.get_dummies(column, drop_first=True)
        for column in (columns.iloc[:, place] for place in range(columns.shape[1]))
    ]
    design = pd.concat(parts, axis=1).to_numpy(dtype=np.float64)
    design -= design.mean(axis=0)
    spread = design.std(axis=0)
    varying = design[:, spread > 0.0] / spread[spread > 0.0]
    return bool(varying.size) and int(np.linalg.matrix_rank(varying)) < varying.shape[1]


def _without_rare_levels(terms: list[dict[str, Any]], columns: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the terms that do not name a level that might name a case, as a level or in the output of a step."""
    categories = (columns.iloc[:, place] for place in range(columns.shape[1]))
    rare = {
        (str(one.name), str(level)) for one in categories if not is_numeric(one) for level in rare_levels(one)
    }
    outputs = tuple(f"{column}_{level}" for column, level in rare)
    return [
        one
        for one in terms
        if (one["column"], one["level"]) not in rare and not any(name in one["column"] for name in outputs)
    ]


def _output(answers: Answers, values: NDArray[np.float64] | None, event: str) -> str:
    """Return what the classifier returns, and from where a case is called an event."""
    if answers.risks is not None:
        end = (
            "."
            if answers.threshold is None
            else f"; from {answers.threshold:.3g} on, a case is called an event."
        )
        return f"The output is the risk of the event ({event}){end}"
    if values is None:
        return f"The output is a class, the event ({event}) or not, without a score."
    split = (answers.called == (values > 0.0)).all()
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
    >>> found = coefficients_of(lambda frame: frame["age"] / 10 + (frame["sex"] == "m") - 7, rows)
    >>> [(one["column"], one["level"], round(one["coefficient"], 9)) for one in found["terms"]]
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
    known = [_values(columns.iloc[:, place]) for place in range(columns.shape[1])]
    absent = [columns.iloc[:, place][columns.iloc[:, place].isna()] for place in range(columns.shape[1])]
    tried = [[*values, *gaps[:1]] for values, gaps in zip(known, absent, strict=True)]
    of_probes = np.asarray(scores(_probes(columns, tried)), dtype=np.float64)
    changes = iter(of_probes[1:] - of_probes[0])
    intercept, terms = of_probes[0], list[dict[str, Any]]()
    fitted = np.zeros(len(columns))
    for place, (values, gaps) in enumerate(zip(known, absent, strict=True)):
        column, steps = columns.iloc[:, place], [0.0, *(next(changes) for _ in values[1:])]
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
