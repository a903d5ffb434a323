"""Convert the results to the dictionary of a clinical report: numbers and sentences, but no row of the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cudbound.adapters.model import facts_of
from cudbound.analysis.instability import Instability
from cudbound.basis.metric_words import DETAILS, metric_words
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import format_level, format_proportion
from cudbound.clinical.answers import FEW_DRAWS, RECOMMENDED, Answers
from cudbound.clinical.studied_cells import cells_of, families_of, family_of, nearest_cells
from cudbound.metrics.metrics import NET_BENEFIT, RATIOS
from cudbound.metrics.predictive import likelihood_ratio
from cudbound.report.headline import interval_sentence, majority_sentence
from cudbound.study.planning.closed_forms import closed_form_half_widths

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


def counts_of(answers: Answers, weighted: bool = True) -> dict[str, float]:
    """Return the cells of the cross-tabulation, weighted or unweighted."""
    event, called = answers.event, answers.called
    weights = answers.weights if weighted else np.ones(event.size)
    cells = {
        "true_positive": event & called,
        "false_negative": event & ~called,
        "false_positive": ~event & called,
        "true_negative": ~event & ~called,
    }
    return {name: float(weights[cell].sum()) for name, cell in cells.items()}


def apparent_values(cells: Mapping[str, float]) -> dict[str, float]:
    """Return the apparent value of each measure from the cross-tabulation of the training rows; nan for 0/0."""
    tp, fn, fp, tn = (cells[name] for name in cells)
    pairs = {
        "error": (fn + fp, tp + fn + fp + tn),
        "sensitivity": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
    }
    found = {name: share / of if of else math.nan for name, (share, of) in pairs.items()}
    ratios = {name: likelihood_ratio(name, found["sensitivity"], found["specificity"]) for name in RATIOS}
    return found | ratios


def net_benefit(sensitivity: float, specificity: float, prevalence: float, threshold: float) -> float:
    """Return the net benefit per case: true positives less false positives at the odds of the threshold.

    Examples
    --------
    >>> round(net_benefit(0.8, 0.9, 0.3, 0.2), 4), round(net_benefit(1.0, 0.0, 0.3, 0.2), 4)
    (0.2225, 0.125)
    """
    return sensitivity * prevalence - (1.0 - specificity) * (1.0 - prevalence) * threshold / (1.0 - threshold)


def performance(answers: Answers) -> dict[str, Any]:
    """Return the cross-tabulation and each measure, apparent and corrected, with the number of cases behind it."""
    event, called = answers.event, answers.called
    n, n_events, n_called = event.size, int(event.sum()), int(called.sum())
    based_on = {
        "error": f"{n} cases",
        "sensitivity": f"{n_events} events",
        "specificity": f"{n - n_events} non-events",
        "ppv": f"{n_called} cases predicted as events",
        "npv": f"{n - n_called} cases predicted as non-events",
        **dict.fromkeys(RATIOS, f"{n_events} events and {n - n_events} non-events"),
    }
    apparent = apparent_values(counts_of(answers))
    measures = [
        _measure(answers.table[RECOMMENDED, name], apparent[name], words) for name, words in based_on.items()
    ]
    cells = {name: int(count) for name, count in counts_of(answers, weighted=False).items()}
    weighted = bool((answers.weights != 1.0).any())
    return {"cells": cells, "weighted": weighted, "measures": measures, "notes": _notes(measures)}


def _notes(measures: list[dict[str, Any]]) -> list[str]:
    """Return the remarks on measures, each once, with their measures; the column `based_on` is not repeated."""
    about: dict[str, list[str]] = {}
    for one in measures:
        for remark in one["remarks"]:
            if remark != f"based on {one['based_on']}":
                about.setdefault(remark, []).append(one["metric"])
    return [f"{metric_words(names)}: {remark}" for remark, names in about.items()]


def _measure(row: IntervalEstimate, apparent: float, based_on: str) -> dict[str, Any]:
    known = {"metric": row.metric, "title": metric_words([row.metric]), "apparent": apparent}
    return {**known, "based_on": based_on, **_interval(row)}


def _interval(row: IntervalEstimate) -> dict[str, Any]:
    remarks = [*row.remarks, *([row.degenerate] if row.degenerate else [])]
    return {"estimate": row.estimate, "low": row.low, "high": row.high, "remarks": remarks}


def probabilities(answers: Answers) -> dict[str, Any]:
    """Return the performance of scores and risks, and why any part is missing."""
    known = answers.analysis
    event = answers.event
    pairs = f"{int(event.sum())} events and {int((~event).sum())} non-events"
    found: dict[str, Any] = {
        "measures": [],
        "notes": [],
        "why_none": "",
        "calibration": None,
        "curve": f"{CURVE[event.size >= FEW_CASES]} {NO_INTERVAL}",
        "risks_by_outcome": None,
        "net_benefit": None,
        "caution": IMPROPER,
    }
    for name in ("auc", "brier"):
        if name in known.metrics.names:
            row = answers.table[RECOMMENDED, name]
            apparent = row.details.get("training", math.nan)
            found["measures"].append(_measure(row, apparent, pairs))
    found["notes"] = _notes(found["measures"])
    if not found["measures"]:
        weighted = bool((answers.weights != 1.0).any())
        why = "rows have weights" if weighted else "the classifier returns only classes"
        return found | {"why_none": f"No AUC, Brier score or calibration: {why}."}
    risks = known.records.probabilities
    if risks is None:
        return found | {
            "why_none": "No Brier score, calibration or net benefit: the classifier returns scores, not risks."
        }
    calibration = answers.table.calibration
    assert calibration is not None
    numbers = ("apparent_intercept", "apparent_slope", "intercept", "slope", "n_draws", "remarks")
    found["calibration"] = {name: getattr(calibration, name) for name in numbers}
    frame = calibration.predictions
    if frame is not None:
        out_of_bag = frame["probability_out_of_bag"].to_numpy()
        edges = np.linspace(0.0, 1.0, N_BARS + 1)
        found["risks_by_outcome"] = {
            "edges": edges.round(10).tolist(),
            "events": np.histogram(out_of_bag[event], edges)[0].tolist(),
            "non_events": np.histogram(out_of_bag[~event], edges)[0].tolist(),
        }
    return found | {"net_benefit": _net_benefit(answers)}


def _net_benefit(answers: Answers) -> dict[str, Any] | None:
    threshold = answers.threshold
    if threshold is None or NET_BENEFIT not in answers.analysis.metrics.names:
        return None
    prevalence = float(answers.weights @ answers.event / answers.weights.sum())
    apparent = apparent_values(counts_of(answers))
    pairs = {
        "apparent": (apparent["sensitivity"], apparent["specificity"]),
        "treat_all": (1.0, 0.0),
        "treat_none": (0.0, 1.0),
    }
    found = {name: net_benefit(se, sp, prevalence, threshold) for name, (se, sp) in pairs.items()}
    return {"threshold": threshold, **found, **_interval(answers.table[RECOMMENDED, NET_BENEFIT])}


def intervals(answers: Answers, estimator: Any) -> dict[str, Any]:
    """Return other intervals for the error, with the coverage of each in the nearest cells of the studies."""
    known = answers.analysis
    run, row = known.run, answers.table[RECOMMENDED, "error"]
    family = family_of(estimator, known.records.groups is not None)
    at = (run.n_samples, len(run.features), row.estimate)
    nearest = {one.method: nearest_cells(family, one.method, *at) for one in (row, *answers.others)}
    cells = sorted(
        dict.fromkeys(cell for found in nearest.values() for cell in found), key=lambda cell: cell.rank(*at)
    )
    rows = [
        {
            "method": one.method,
            "title": one.title,
            "recommended": one.method == RECOMMENDED,
            **_interval(one),
            "covered": [
                {"cell": cells.index(cell) + 1, **vars(cell.intervals[one.method])}
                for cell in nearest[one.method]
            ],
            "studied_with": families_of(one.method),
        }
        for one in (row, *answers.others)
    ]
    return {
        "rows": rows,
        "family": family,
        "cells": [
            {name: getattr(cell, name) for name in ("study", "scenario", "n", "p", "estimate", "sets")}
            | {"distance": cell.distance(*at), "far_in": list(cell.far_in(*at))}
            for cell in cells
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
    words = " and ".join(
        f"{name} ({_short(here)} against {_short(there)})" for name, (here, there) in far.items()
    )
    return (
        f"Outside the studies: no cell of {RECOMMENDED} with this classifier is within a factor of 2 in n, p/n and the "
        f"estimate. The nearest one differs more in {words}."
    )


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def instability(found: Instability | None, errors: Any) -> dict[str, Any] | None:
    """Return how often refits change the class of rows, by groups of neighbors, and the errors of the refits."""
    if found is None:
        return None
    errors = errors[np.isfinite(errors)]
    edges = np.linspace(0.0, max(0.1, float(errors.max())), 2 * N_BARS + 1)
    quantiles = np.quantile(errors, [0.05, 0.5, 0.95]).tolist()
    return {
        **found.summary,
        "groups": [] if found.distances is None else _groups(found.distances, found.shares),
        "distances_of": found.distances_of,
        "sentences": found.lines(),
        "refit_errors": {
            "edges": edges.tolist(),
            "counts": np.histogram(errors, edges)[0].tolist(),
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


def diagnostics(answers: Answers) -> dict[str, Any]:
    """Return the CUD bound, and the range of the recommended interval over seeds."""
    cud, draws, seeds = answers.cud, answers.draws, answers.seeds
    ranges = {
        name: [float(seeds[name].min()), float(seeds[name].max())] for name in ("estimate", "low", "high")
    }
    found = {
        "seeds": {"seeds": [int(one) for one in seeds["seed"]], "n_resamples": FEW_DRAWS, **ranges},
    }
    if cud is None or draws is None:
        return found | {"cud": None, "why_none": answers.why_no_cud}
    shares = np.linspace(0.0, 1.0, 101)
    percentiles = {
        name: np.quantile(getattr(draws, name), shares, method="inverted_cdf").tolist()
        for name in ("lower", "upper")
    }
    return found | {
        "why_none": "",
        "cud": {
            "q": cud.q,
            "q_at_least": cud.q_lower,
            "certified": cud.certified,
            "decided_share": float(np.mean(cud.draws.decided)),
            "solved_share": float(np.mean(draws.certified)),
            "n_draws": len(cud.draws),
            "percentiles": percentiles,
            "loss": cud.problem.loss.name,
            "localization": answers.half_widths,
        },
    }


def planning(measures: list[dict[str, Any]], n: int, prevalence: float, level: float) -> list[dict[str, Any]]:
    """Return the expected half-widths from new cases, for each measure in the order of the report."""
    known = {one["metric"]: one["estimate"] for one in measures}
    expected = {
        name: None if math.isnan(known.get(name, math.nan)) else known[name]
        for name in ("sensitivity", "specificity", "auc")
    }
    rows = []
    for times in PLANNED:
        size = math.ceil(times * n)
        half = closed_form_half_widths(size, **expected, prevalence=prevalence, confidence_level=level)
        rows.append({"times": times, "n": size, **half, "error": half.get("accuracy", math.nan)})
        rows[-1].pop("accuracy", None)
    return rows


def box(answers: Answers, estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the main facts for the top of the report."""
    known = answers.analysis
    run, row, facts = answers.table.run, answers.table[RECOMMENDED, "error"], facts_of(estimator, X)
    assert run is not None
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
        "n_missing": int(answers.columns.isna().to_numpy().sum()),
        "classifier": getattr(run, "classifier", None),
        "procedure": list(known.run.procedure),
        "preparation": list(run.of_rows_and_columns),
        "inside": f"{kept}Every refit repeated: {'; '.join(known.run.procedure) or 'the fit of the classifier'}.",
        "reads_labels": facts.reads_labels,
        "chosen_inside": list(facts.chosen_by),
        "frozen": list(facts.frozen),
        "confidence_level": level,
        "n_resamples": known.run.n_resamples,
        "estimate": row.estimate,
        "low": row.low,
        "high": row.high,
        "centers": _centers(row.details),
        "sentence": _sentence(row, run.n_samples, one_sided),
        "one_sided": {"confidence_level": one_sided, "high": row.high},
        "majority": " ".join(majority_sentence(row, run)),
    }


def _centers(details: Mapping[str, float]) -> dict[str, float]:
    """Return the estimates that the limits are around, by their words."""
    return {DETAILS[name]: details[name] for name in CENTERS if name in details}


def _sentence(row: IntervalEstimate, n: int, one_sided: float) -> str:
    """Return the interval in words, and its upper limit, which has half the error probability."""
    sentence = interval_sentence(row, n)
    if math.isnan(row.high):
        return sentence
    limit = f"with {format_level(one_sided)} confidence it is at most {format_proportion(row.high)}"
    return f"{sentence.removesuffix('.')}; {limit}."
