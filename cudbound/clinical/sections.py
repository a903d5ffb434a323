"""Convert the results to the dictionary of a clinical report: numbers and sentences, but no row of the data."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np

from cudbound.adapters.model import facts_of
from cudbound.analysis.instability import Instability
from cudbound.basis.metric_words import DETAILS, metric_words
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import format_level, format_proportion
from cudbound.clinical.report_results import (
    FEW_DRAWS,
    RECOMMENDED,
    ReportResults,
    cells_of,
    families_of,
    family_of,
    nearest_cells,
)
from cudbound.metrics.metrics import NET_BENEFIT, RATIOS
from cudbound.metrics.predictive import likelihood_ratio
from cudbound.report.sentences import interval_sentence, majority_sentence
from cudbound.study.planning.closed_forms import closed_form_half_widths

SCOPE = (
    "Internal validation; no external data.",
    "The interval is for the error of this fitted classifier on new cases from the same population. Its level is "
    "nominal: there is no finite-sample guarantee.",
    "An interval quantifies uncertainty. It does not make up for a small or biased sample, or for choices made before "
    "this file.",
    "This report does not show that using the classifier helps patients.",
)
#: How two items are answered, by whether a value is missing and whether there are coefficients.
MISSING = {
    False: "no value is missing in these cases; cases that were left out before are for the authors",
    True: "in part: how many values are missing, and how every fit handled them; reasons are for the authors",
}
COEFFICIENTS = {
    False: "",
    True: "in part: intercept and coefficients; restrictions of access and use are for the authors",
}


def crosswalk(missing: bool, coefficients: bool) -> list[dict[str, str]]:
    """Return the items of TRIPOD+AI (Collins et al., 2024), each with the section that answers it, and how.

    Parameters
    ----------
    missing : bool
        Whether a value is missing, or rows were left out for one.
    coefficients : bool
        Whether the report has coefficients.
    """
    text = resources.files("cudbound.clinical").joinpath("tripod_ai.csv").read_text("utf-8")
    items = list(csv.DictReader(text.splitlines()))
    of_this_report = {"11": MISSING[missing], "22": COEFFICIENTS[coefficients]}
    for item in items:
        item["how"] = of_this_report.get(item["item"], item["how"])
        item["section"] = item["section"] if item["how"] else ""
    return items


#: What the limits of the recommended interval are around.
CENTERS = ("cross_validated", "at_632_plus")
#: Sizes that are planned for, as multiples of the cases at hand.
PLANNED = (1.0, 1.5, 2.0, 4.0)
#: Cases below which no calibration curve is drawn.
FEW_CASES = 100
#: Bars of the histograms, and cases of a group in the picture of instability.
N_BARS, OF_GROUP, MOST_GROUPS = 10, 5, 12
CURVE = (
    f"No smooth calibration curve is drawn below about {FEW_CASES} cases: its shape would depend on the smoother.",
    "No calibration curve is drawn: with this many cases, a curve from the training set is still rough and optimistic.",
)
NO_INTERVAL = (
    "Intercept and slope have no interval: how often one covers with so few cases was not studied here."
)
IMPROPER = (
    "Error, sensitivity, specificity and predictive values are improper measures unless the threshold is 0.5 or the "
    "prevalence: a worse model can have better ones (Van Calster et al., 2025). Judge the model by discrimination, "
    "calibration and net benefit first."
)
NEW_CASES = (
    "Half-widths of z intervals from this many new cases, at the corrected values, by the closed forms of Whittle et "
    "al. (2025) and, for the AUC, Riley et al. (2021). They are for planning an external validation; an interval from "
    "training rows is longer."
)


def counts_of(results: ReportResults, weighted: bool = True) -> dict[str, float]:
    """Return the cells of the cross-tabulation, weighted or unweighted."""
    event, called = results.event, results.called
    weights = results.weights if weighted else np.ones(event.size)
    cells = {
        "true_positive": event & called,
        "false_negative": event & ~called,
        "false_positive": ~event & called,
        "true_negative": ~event & ~called,
    }
    return {name: float(weights[cell].sum()) for name, cell in cells.items()}


def apparent_values(cells: Mapping[str, float]) -> dict[str, float]:
    """Return the apparent value of each measure from the cross-tabulation of the training rows; nan for 0/0."""
    tp, fn, fp, tn = cells.values()
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
    apparent = apparent_values(counts_of(results))
    measures = [
        _measure(results.table[RECOMMENDED, name], apparent[name], words) for name, words in based_on.items()
    ]
    cells = {name: int(count) for name, count in counts_of(results, weighted=False).items()}
    weighted = bool((results.weights != 1.0).any())
    return {"cells": cells, "weighted": weighted, "measures": measures, "notes": _notes(measures)}


def _notes(measures: list[dict[str, Any]]) -> list[str]:
    """Return the remarks on measures, each once, with their measures; the column `based_on` is not repeated."""
    metrics_of: dict[str, list[str]] = {}
    for row in measures:
        for remark in row["remarks"]:
            if remark != f"based on {row['based_on']}":
                metrics_of.setdefault(remark, []).append(row["metric"])
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
        if name in results.analysis.metrics.names
    ]
    measures = [_measure(row, row.details.get("training", math.nan), pairs) for row in rows]
    calibration, why = results.table.calibration, ""
    if not measures:
        weighted = bool((results.weights != 1.0).any())
        why = "rows have weights" if weighted else "the classifier returns only classes"
        why = f"No AUC, Brier score or calibration: {why}."
    elif calibration is None:
        why = "No Brier score, calibration or net benefit: the classifier returns scores, not risks."
    numbers = ("apparent_intercept", "apparent_slope", "intercept", "slope", "n_draws", "remarks")
    return {
        "measures": measures,
        "notes": _notes(measures),
        "why_none": why,
        "calibration": None
        if calibration is None
        else {name: getattr(calibration, name) for name in numbers},
        "curve": f"{CURVE[event.size >= FEW_CASES]} {NO_INTERVAL}",
        "risks_by_outcome": None if calibration is None else _risks(calibration.predictions, event),
        "net_benefit": None if calibration is None else _net_benefit(results),
        "caution": IMPROPER,
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
    if threshold is None or NET_BENEFIT not in results.analysis.metrics.names:
        return None
    prevalence = float(results.weights @ results.event / results.weights.sum())
    apparent = apparent_values(counts_of(results))
    pairs = {
        "apparent": (apparent["sensitivity"], apparent["specificity"]),
        "treat_all": (1.0, 0.0),
        "treat_none": (0.0, 1.0),
    }
    values = {name: net_benefit(se, sp, prevalence, threshold) for name, (se, sp) in pairs.items()}
    return {"threshold": threshold, **values, **_interval(results.table[RECOMMENDED, NET_BENEFIT])}


def intervals(results: ReportResults, estimator: Any) -> dict[str, Any]:
    """Return other intervals for the error, with the coverage of each in the nearest cells of the studies."""
    run, row = results.analysis.run, results.table[RECOMMENDED, "error"]
    family = family_of(estimator, results.analysis.records.groups is not None)
    at = (run.n_samples, len(run.features), row.estimate)
    rows = (row, *results.others)
    nearest = {row.method: nearest_cells(family, row.method, *at) for row in rows}
    cells = {studied.cell: studied for of_method in nearest.values() for studied in of_method}
    in_order = sorted(cells.values(), key=lambda studied: (studied.distance(*at), studied.cell))
    number_of = {studied.cell: number for number, studied in enumerate(in_order, start=1)}
    return {
        "rows": [
            {
                "method": row.method,
                "title": row.title,
                "recommended": row.method == RECOMMENDED,
                **_interval(row),
                "covered": [
                    {"cell": number_of[studied.cell]}
                    | {name: getattr(studied, name) for name in ("coverage", "mcse", "width")}
                    for studied in nearest[row.method]
                ],
                "studied_with": families_of(row.method),
            }
            for row in rows
        ],
        "family": family,
        "cells": [
            {name: getattr(studied, name) for name in ("study", "scenario", "n", "p", "estimate", "sets")}
            | {"distance": studied.distance(*at), "far_in": list(studied.far_in(*at))}
            for studied in in_order
        ],
        "majority_error": run.base_rate,
        "outside": outside_of(family, *at),
    }


def outside_of(family: str, n: int, p: int, estimate: float) -> str:
    """Report that no cell is like these data: of the same family, and within a factor of 2 in all that counts."""
    cells = cells_of(family, RECOMMENDED)
    if not cells:
        return f"Not studied: no cell of {RECOMMENDED} has a classifier of this family ({family})."
    if not all(cell.far_in(n, p, estimate) for cell in cells):
        return ""
    far = nearest_cells(family, RECOMMENDED, n, p, estimate)[0].far_in(n, p, estimate)
    words = " and ".join(f"{name} ({here:.4g} against {there:.4g})" for name, (here, there) in far.items())
    return (
        f"Outside the studies: no cell of {RECOMMENDED} with this classifier is within a factor of 2 in n, p/n and the "
        f"estimate. The nearest one differs more in {words}."
    )


def instability(refits: Instability | None, errors: Any) -> dict[str, Any] | None:
    """Return how often refits change the class of rows, by groups of neighbors, and the errors of the refits."""
    if refits is None:
        return None
    errors = errors[np.isfinite(errors)]
    counts, edges = np.histogram(errors, 2 * N_BARS, (0.0, max(0.1, float(errors.max()))))
    quantiles = np.quantile(errors, [0.05, 0.5, 0.95]).tolist()
    return {
        **refits.summary,
        "groups": [] if refits.distances is None else _groups(refits.distances, refits.shares),
        "distances_of": refits.distances_of,
        "sentences": refits.lines(),
        "refit_errors": {
            "edges": edges.tolist(),
            "counts": counts.tolist(),
            "mean": float(errors.mean()),
            "quantiles": dict(zip(("5%", "50%", "95%"), quantiles, strict=True)),
        },
    }


def _groups(distances: Any, shares: Any) -> list[dict[str, float]]:
    """Return summaries of groups of rows with neighboring distances; no single row is shown."""
    order = np.argsort(distances, kind="stable")
    parts = np.array_split(order, max(1, min(MOST_GROUPS, order.size // OF_GROUP)))
    return [
        {
            "n": int(part.size),
            "distance": float(np.median(distances[part])),
            "mean_share": float(shares[part].mean()),
            "largest_share": float(shares[part].max()),
        }
        for part in parts
    ]


def diagnostics(results: ReportResults) -> dict[str, Any]:
    """Return the CUD bound, and the range of the recommended interval over seeds."""
    cud, seeds = results.cud, results.seeds
    ranges = {
        name: [float(seeds[name].min()), float(seeds[name].max())] for name in ("estimate", "low", "high")
    }
    bound = None
    if cud is not None:
        bound = {
            "q": cud.q,
            "q_at_least": cud.q_lower,
            "certified": cud.certified,
            "decided_share": float(np.mean(cud.draws.decided)),
            "n_draws": len(cud.draws),
            "loss": cud.problem.loss.name,
        }
    return {
        "seeds": {"seeds": [int(seed) for seed in seeds["seed"]], "n_resamples": FEW_DRAWS, **ranges},
        "cud": bound,
        "why_none": results.why_no_cud,
    }


def planning(measures: list[dict[str, Any]], n: int, prevalence: float, level: float) -> list[dict[str, Any]]:
    """Return the expected half-widths from new cases, for each measure in the order of the report."""
    estimates = {row["metric"]: row["estimate"] for row in measures if not math.isnan(row["estimate"])}
    expected = {name: estimates.get(name) for name in ("sensitivity", "specificity", "auc")}
    rows = []
    for times in PLANNED:
        size = math.ceil(times * n)
        half = closed_form_half_widths(size, **expected, prevalence=prevalence, confidence_level=level)
        rows.append({"times": times, "n": size, "error": half.pop("accuracy", math.nan), **half})
    return rows


def summary_box(results: ReportResults, estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the main facts for the top of the report."""
    run, row, facts = results.table.run, results.table[RECOMMENDED, "error"], facts_of(estimator, X)
    assert run is not None
    fits = results.analysis.run
    level = row.confidence_level
    one_sided = 0.5 + level / 2.0
    kept = f"Not refitted: {', '.join(facts.frozen)}. " if facts.frozen else ""
    return {
        "source": run.source,
        "n": run.n_samples,
        "n_events": run.n_events,
        "n_non_events": run.n_non_events,
        "event": run.event,
        "prevalence": run.n_events / run.n_samples,
        "features": list(run.features),
        "n_features": len(run.features),
        "n_coefficients": None if math.isnan(facts.rank) else int(facts.rank),
        "n_missing": int(results.columns.isna().to_numpy().sum()),
        "classifier": getattr(run, "classifier", None),
        "procedure": list(fits.procedure),
        "preparation": list(run.of_rows_and_columns),
        "inside": f"{kept}Every refit repeated: {'; '.join(fits.procedure) or 'the fit of the classifier'}.",
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
