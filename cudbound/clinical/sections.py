"""Convert the results to the dictionary of a clinical report: numbers and sentences, but no row of the data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import confusion_matrix

from cudbound.adapters.parts import unwrap
from cudbound.analysis.cud_interval import CudResult
from cudbound.analysis.instability_and_calibration import Instability
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.words import DETAILS, format_level, format_proportion, grouped, metric_words
from cudbound.clinical.report_results import RECOMMENDED, ReportResults
from cudbound.inputs.classifier_recipe import LEARNERS
from cudbound.metrics.metrics import NET_BENEFIT, RATIOS
from cudbound.metrics.predictive import likelihood_ratio
from cudbound.report.sentences import POOLED, interval_sentence, majority_sentence
from cudbound.report.tables import SINGLE

if TYPE_CHECKING:
    import pandas as pd

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
    fit = coefficients_of(scores, columns)
    threshold = results.threshold if risks is not None else None
    if risks is None and values is not None and (results.called == (values > 0.0)).all():
        threshold = 0.0
    return {
        "output": "risk" if risks is not None else "class" if values is None else "score",
        "threshold": threshold,
        "is_log_odds": values is not None and risks is not None and np.allclose(expit(values), risks),
        "is_unique": not fit["terms"] or not _are_determined(columns),
        **fit,
    }


def coefficients_of(scores: Scores | None, columns: pd.DataFrame) -> dict[str, Any]:
    """Return intercept and terms of scores that are a sum over columns, linear in numbers, or why there are none.

    A number has one coefficient. A category has one per level, which is added for it; that of the first level is 0. A
    column with missing values has one that is added where it is missing. They are fitted by least squares to the scores
    of the rows and of rows made from them, whose values come from different rows in every column: there, no column can
    stand for others. Scores that are not such a sum leave residuals.

    Parameters
    ----------
    scores : callable or None
        Scores of rows like `columns`, larger for the event; None for a classifier without scores.
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
    without = partial(dict[str, Any], intercept=None, terms=[])
    if scores is None:
        return without(why_none="it has no decision function, whose values could be a sum of terms")
    names = [name for name, _ in _terms(columns)]
    if not 0 < len(names) <= MOST_TERMS:
        return without(
            why_none=f"its columns have {len(names):,} numbers and levels, and 1 to {MOST_TERMS:,} can be listed"
        )
    rows = _mixed_rows(columns, 2 * len(names) + 20)
    with warnings.catch_warnings(action="ignore"):
        try:
            values = np.asarray(scores(rows), dtype=np.float64)
        except Exception as error:  # any code of a user may run here, and what fails has no such terms
            return without(why_none=f"it gives mixed rows of these cases no score ({type(error).__name__})")
    design = np.column_stack([term for _, term in _terms(rows, columns)])
    center, spread = design.mean(axis=0), design.std(axis=0)
    spread[spread == 0.0] = np.inf  # what does not vary is part of the intercept
    slopes, *_ = np.linalg.lstsq((design - center) / spread, values - values.mean(), rcond=None)
    slopes = slopes / spread + 0.0  # which makes a 0 of -0
    intercept = values.mean() - center @ slopes
    largest = max(np.ptp(values), abs(values[0]))
    if not np.abs(design @ slopes + intercept - values).max() <= ROUNDING * largest:  # refuses nan as well
        return without(why_none="its score is not a sum of one term per column that is linear in numbers")
    terms = [
        {"column": str(column), "level": level, "coefficient": float(slope)}
        for (column, level), slope in zip(names, slopes, strict=True)
    ]
    return {"intercept": float(intercept), "terms": terms, "why_none": ""}


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


#: What the limits of the recommended interval are around.
CENTERS = ("cross_validated", "at_632_plus")
#: Cells of studies that are shown for each interval.
N_NEAREST = 3
#: Bars of the histograms, and cases of a group in the picture of instability.
N_BARS, OF_GROUP, MOST_GROUPS = 10, 5, 12


def crosswalk(missing: bool, coefficients: bool) -> list[dict[Any, Any]]:
    """Return the items of TRIPOD+AI (Collins et al., 2024), each with the section that answers it, and how.

    Parameters
    ----------
    missing : bool
        Whether a value is missing, or rows were left out for one.
    coefficients : bool
        Whether the report has coefficients.
    """
    import pandas as pd

    with resources.files("cudbound.clinical").joinpath("tripod_ai.csv").open(encoding="utf-8") as file:
        items = pd.read_csv(file, dtype=str, keep_default_na=False)
    absent = [item for item, is_there in (("11", missing), ("22", coefficients)) if not is_there]
    items["how"] = items["how"].where(~items["item"].isin(absent), items["otherwise"])
    items["section"] = items["section"].where(items["how"] != "", "")
    return items.drop(columns="otherwise").to_dict("records")


def counts_of(results: ReportResults, weights: Any = None) -> dict[str, float]:
    """Return the cells of the cross-tabulation, weighted or unweighted."""
    cells = confusion_matrix(results.event, results.called, labels=[True, False], sample_weight=weights)
    names = ("true_positive", "false_negative", "false_positive", "true_negative")
    return dict(zip(names, cells.ravel().tolist(), strict=True))


def apparent_values(results: ReportResults) -> dict[str, float]:
    """Return the apparent value of each measure from the cross-tabulation of the training rows; nan for 0/0."""
    tp, fn, fp, tn = counts_of(results, results.weights).values()
    pairs = {
        "error": (fn + fp, tp + fn + fp + tn),
        "sensitivity": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
    }
    values = {name: share / of if of else math.nan for name, (share, of) in pairs.items()}
    ratios = {name: likelihood_ratio(name, values["sensitivity"], values["specificity"]) for name in RATIOS}
    return values | ratios


def net_benefit(sensitivity: float, specificity: float, prevalence: float, threshold: float) -> float:
    """Return the net benefit per case: true positives less false positives at the odds of the threshold.

    Examples
    --------
    >>> round(net_benefit(0.8, 0.9, 0.3, 0.2), 4), round(net_benefit(1.0, 0.0, 0.3, 0.2), 4)
    (0.2225, 0.125)
    """
    return sensitivity * prevalence - (1.0 - specificity) * (1.0 - prevalence) * threshold / (1.0 - threshold)


def performance(results: ReportResults) -> dict[str, Any]:
    """Return the cross-tabulation and each measure, apparent and corrected, with the number of cases behind it."""
    event, called = results.event, results.called
    n, n_events, n_called = event.size, int(event.sum()), int(called.sum())
    based_on = {
        "error": f"{n} cases",
        "sensitivity": f"{n_events} events",
        "specificity": f"{n - n_events} non-events",
        "ppv": f"{n_called} cases predicted as events",
        "npv": f"{n - n_called} cases predicted as non-events",
        **dict.fromkeys(RATIOS, f"{n_events} events and {n - n_events} non-events"),
    }
    apparent = apparent_values(results)
    measures = [
        _measure(results.table[RECOMMENDED, name], apparent[name], words) for name, words in based_on.items()
    ]
    weighted = bool((results.weights != 1.0).any())
    return {
        "cells": counts_of(results),
        "weighted": weighted,
        "measures": measures,
        "notes": _notes(measures),
    }


def new_cases(results: ReportResults) -> list[str]:
    """Return a sentence on each metric, from the training rows and new cases; none without new cases."""
    n = results.event.size
    return [interval_sentence(row, n) for row in results.table if row.method == POOLED]


def _notes(measures: list[dict[str, Any]]) -> list[str]:
    """Return the remarks on measures, each once, with their measures; the column `based_on` is not repeated."""
    metrics_of = grouped(
        (remark, row["metric"])
        for row in measures
        for remark in row["remarks"]
        if remark != f"based on {row['based_on']}"
    )
    return [f"{metric_words(metrics)}: {remark}" for remark, metrics in metrics_of.items()]


def _measure(row: IntervalEstimate, apparent: float, based_on: str) -> dict[str, Any]:
    names = {"metric": row.metric, "title": metric_words([row.metric])}
    return {**names, "apparent": apparent, "based_on": based_on, **_interval(row)}


def _interval(row: IntervalEstimate) -> dict[str, Any]:
    remarks = [*row.remarks, *([row.degenerate] if row.degenerate else [])]
    return {"estimate": row.estimate, "low": row.low, "high": row.high, "remarks": remarks}


def probabilities(results: ReportResults) -> dict[str, Any]:
    """Return the performance of scores and risks, and why any part is missing."""
    event = results.event
    n_events = int(event.sum())
    pairs = f"{n_events} events and {event.size - n_events} non-events"
    rows = [
        results.table[RECOMMENDED, name]
        for name in ("auc", "brier")
        if name in results.analysis.question.metrics.names
    ]
    measures = [_measure(row, row.details.get("training", math.nan), pairs) for row in rows]
    calibration = results.table.calibration
    numbers = ("apparent_intercept", "apparent_slope", "intercept", "slope", "n_draws", "remarks")
    return {
        "measures": measures,
        "notes": _notes(measures),
        "calibration": calibration and {name: getattr(calibration, name) for name in numbers},
        "risks_by_outcome": calibration and _risks(calibration.predictions, event),
        "net_benefit": calibration and _net_benefit(results),
    }


def _risks(predictions: Any, event: Any) -> dict[str, Any] | None:
    """Return the counts of the out-of-bag risks of events and of non-events, in tenths."""
    if predictions is None:
        return None
    risks, edges = predictions["probability_out_of_bag"].to_numpy(), np.linspace(0.0, 1.0, N_BARS + 1)
    counts = [np.histogram(risks[rows], edges)[0].tolist() for rows in (event, ~event)]
    return {"edges": edges.round(10).tolist(), "events": counts[0], "non_events": counts[1]}


def _net_benefit(results: ReportResults) -> dict[str, Any] | None:
    threshold = results.threshold
    if threshold is None or NET_BENEFIT not in results.analysis.question.metrics.names:
        return None
    prevalence = float(results.weights @ results.event / results.weights.sum())
    apparent = apparent_values(results)
    pairs = {
        "apparent": (apparent["sensitivity"], apparent["specificity"]),
        "treat_all": (1.0, 0.0),
        "treat_none": (0.0, 1.0),
    }
    values = {name: net_benefit(se, sp, prevalence, threshold) for name, (se, sp) in pairs.items()}
    return {"threshold": threshold, **values, **_interval(results.table[RECOMMENDED, NET_BENEFIT])}


#: The factor above which a cell says little of a training set.
FAR = 2.0
#: What the rows of all methods in a cell share.
CELL = ["study", "scenario", "family", "n", "p", "estimate", "sets"]


def family_of(estimator: Any, grouped: bool = False) -> str:
    """Return the name of a fitted classifier in the studies, or else the name of its class."""
    inside = unwrap(estimator)
    name = type(inside.classifier).__name__
    labels = {family.class_name: label for label, family in reversed(LEARNERS.items())}
    marks = ["grouped"] * grouped + ["tuned"] * bool(inside.chosen_by)
    return " ".join([*marks, labels.get(name, name)])


@cache
def studied_cells() -> pd.DataFrame:
    """Return the table that ships with the package, one row per cell and method.

    Columns: study, a folder of ``docs/evidence`` or a table in ``docs/evidence/earlier``; scenario, a name in its
    table; family, the name of the classifier as in `cudbound.inputs.classifier_recipe.LEARNERS`, with the prefix
    "tuned" after a search and "grouped" for grouped rows; n and p, rows and features; estimate, the mean true error;
    sets, the number of training sets; method, its coverage with a Monte Carlo standard error in mcse, and its mean
    width.
    """
    import pandas as pd

    with resources.files("cudbound.clinical").joinpath("studied_cells.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def cells_by_distance(family: str, method: str, n: int, p: int, estimate: float) -> pd.DataFrame:
    """Return the cells of a family in which a method was studied, nearest first.

    Further columns: distance, |log ratio of n| + |log ratio of p/n| + |estimate - mean true error| / .1; and far_in,
    those of n, p/n and the estimate that differ by a factor above 2 from the cell, with both values.

    Examples
    --------
    >>> cells_by_distance("linear-svm", "langford-binomial", 40, 4, 0.2)["n"].tolist()[:3]
    [50, 70, 50]
    """
    cells = studied_cells()
    cells = cells[(cells["family"] == family) & (cells["method"] == method)]
    shares = cells["p"] / cells["n"]
    shapes = np.abs(np.log(cells["n"] / n)) + np.abs(np.log(shares / (p / n)))
    pairs = {"n": (n, cells["n"]), "p/n": (p / n, shares), "estimate": (estimate, cells["estimate"])}
    far_in: list[Any] = [{} for _ in range(len(cells))]
    for name, (here, values) in pairs.items():
        for place, there in enumerate(values.tolist()):
            if max(here, there) > FAR * min(here, there):
                far_in[place][name] = here, there
    cells = cells.assign(distance=shapes + np.abs(cells["estimate"] - estimate) / 0.1, far_in=far_in)
    return cells.sort_values(["distance", *CELL])


def intervals(results: ReportResults) -> dict[str, Any]:
    """Return other intervals for the error, with the coverage of each in the nearest cells of the studies."""
    import pandas as pd

    run, row = results.analysis.run, results.table[RECOMMENDED, "error"]
    family = family_of(results.table.estimator, results.analysis.records.groups is not None)
    at = (run.n_samples, len(run.features), row.estimate)
    rows, all_cells = (row, *results.others), studied_cells()
    nearest = {row.method: cells_by_distance(family, row.method, *at).head(N_NEAREST) for row in rows}
    shown = pd.concat(nearest.values()).drop_duplicates(CELL).sort_values(["distance", *CELL])
    shown["cell"] = np.arange(1, len(shown) + 1)
    return {
        "rows": [
            {
                "method": row.method,
                "title": row.title,
                "recommended": row.method == RECOMMENDED,
                **_interval(row),
                "covered": nearest[row.method]
                .merge(shown[[*CELL, "cell"]], on=CELL)[["cell", "coverage", "mcse", "width"]]
                .to_dict("records"),
                "studied_with": sorted(all_cells["family"][all_cells["method"] == row.method].unique()),
            }
            for row in rows
        ],
        "family": family,
        "cells": shown.assign(far_in=shown["far_in"].map(list))[
            ["study", "scenario", "n", "p", "estimate", "sets", "distance", "far_in"]
        ].to_dict("records"),
        "majority_error": run.base_rate,
        "outside": outside_of(family, *at),
    }


def outside_of(family: str, n: int, p: int, estimate: float) -> dict[str, tuple[float, float]] | None:
    """Return what the nearest cell of the same family differs in; None if a cell is like these data.

    That is, within a factor of 2 in all that counts. Empty if the recommended interval was not studied with the family.
    """
    far_in = cells_by_distance(family, RECOMMENDED, n, p, estimate)["far_in"]
    nearest: dict[str, tuple[float, float]] = {} if far_in.empty else far_in.iloc[0]
    return nearest if far_in.map(bool).all() else None


def instability(refits: Instability | None, errors: Any) -> dict[str, Any] | None:
    """Return how often refits change the class of rows, by groups of neighbors, and the errors of the refits."""
    if refits is None:
        return None
    errors = errors[np.isfinite(errors)]
    counts, edges = np.histogram(errors, 2 * N_BARS, (0.0, max(0.1, float(errors.max()))))
    quantiles = np.quantile(errors, [0.05, 0.5, 0.95]).tolist()
    shares, risks = refits.shares, None if refits.refit_risks is None else refits.risks
    low, high = (None, None) if risks is None else refits.quantiles()
    return {
        **refits.summary,
        "groups": _groups(
            refits.distances,
            distance=(np.median, refits.distances),
            mean_share=(np.mean, shares),
            largest_share=(np.max, shares),
        ),
        "distances_of": refits.distances_of,
        "risk_groups": _groups(risks, risk=(np.mean, risks), low=(np.mean, low), high=(np.mean, high)),
        "sentences": refits.lines(),
        "refit_errors": {
            "edges": edges.tolist(),
            "counts": counts.tolist(),
            "mean": float(errors.mean()),
            "quantiles": dict(zip(("5%", "50%", "95%"), quantiles, strict=True)),
        },
    }


def _groups(
    by: NDArray[np.float64] | None, **summaries: tuple[Callable[[Any], Any], Any]
) -> list[dict[str, float]]:
    """Return summaries of groups of rows with neighboring values; no single row is shown, and none without values."""
    if by is None:
        return []
    order = np.argsort(by, kind="stable")
    parts = np.array_split(order, max(1, min(MOST_GROUPS, order.size // OF_GROUP)))
    return [
        {"n": int(part.size), **{name: float(of(values[part])) for name, (of, values) in summaries.items()}}
        for part in parts
    ]


def bound(cud: CudResult | None) -> dict[str, Any] | None:
    """Return the CUD bound, and what was proved of it."""
    if cud is None:
        return None
    return {
        "q": cud.q,
        "q_at_least": cud.q_lower,
        "certified": cud.certified,
        "decided_share": float(np.mean(cud.draws.decided)),
        "n_draws": len(cud.draws),
        "loss": cud.problem.loss.name,
    }


def summary_box(results: ReportResults) -> dict[str, Any]:
    """Return the main facts for the top of the report."""
    run, row, facts = results.table.run, results.table[RECOMMENDED, "error"], results.analysis.model.facts
    assert run is not None
    fits, level = results.analysis.run, row.confidence_level
    steps = fits.procedures.get(SINGLE, ())
    one_sided = 0.5 + level / 2.0
    return {
        "source": run.source,
        "n": run.n_samples,
        "n_events": run.n_events,
        "n_non_events": run.n_non_events,
        "event": run.event,
        "prevalence": run.n_events / run.n_samples,
        "features": list(run.features),
        "n_features": len(run.features),
        "n_coefficients": None if math.isnan(facts.design.rank) else int(facts.design.rank),
        "n_missing": int(results.columns.isna().to_numpy().sum()),
        "classifier": run.classifiers.get(SINGLE),
        "procedure": list(steps),
        "preparation": list(run.of_rows_and_columns),
        "reads_labels": facts.reads_labels,
        "chosen_inside": list(facts.chosen_by),
        "frozen": list(facts.frozen),
        "confidence_level": level,
        "n_resamples": fits.n_resamples,
        "estimate": row.estimate,
        "low": row.low,
        "high": row.high,
        "centers": {DETAILS[name]: row.details[name] for name in CENTERS if name in row.details},
        "sentence": _sentence(row, run.n_samples, one_sided),
        "one_sided": {"confidence_level": one_sided, "high": row.high},
        "majority": " ".join(majority_sentence(row, run)),
    }


def _sentence(row: IntervalEstimate, n: int, one_sided: float) -> str:
    """Return the interval in words, and its upper limit, which has half the error probability."""
    sentence = interval_sentence(row, n)
    if math.isnan(row.high):
        return sentence
    limit = f"with {format_level(one_sided)} confidence it is at most {format_proportion(row.high)}"
    return f"{sentence.removesuffix('.')}; {limit}."
