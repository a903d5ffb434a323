"""The plots of a clinical report, drawn from its dictionary, each with an equivalent text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cudbound.basis.rounding import format_level, format_proportion
from cudbound.metrics.metrics import RATIOS
from cudbound.plotting.display import Display
from cudbound.plotting.forest import ForestDisplay
from cudbound.plotting.grouped import CountsDisplay, GroupedInstabilityDisplay
from cudbound.plotting.suprema import SupremaDisplay

#: Measures of which less is better; of the others more is.
LOSSES = ("error", "brier")


def pictures_of(report: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return each plot as an SVG element, with its caption and its text, by name."""
    return {
        name: {"svg": display.svg(f"report-{name}"), "caption": caption, "text": text}
        for name, display, caption, text in _displays(report)
    }


def _displays(report: Mapping[str, Any]) -> Iterator[tuple[str, Display, str, str]]:
    level = report["box"]["confidence_level"]
    measures = [*report["performance"]["measures"], *report["probabilities"]["measures"]]
    measures = [one for one in measures if one["metric"] not in RATIOS]  # on another scale
    measures.sort(key=lambda one: one["metric"] not in LOSSES)
    yield (
        "measures",
        ForestDisplay(_frame(measures, level, title="based_on")),
        f"Corrected estimates with {format_level(level)} limits, in panels, each with its number of cases.",
        _spoken(measures),
    )
    rows, base = report["intervals"]["rows"], report["intervals"]["majority_error"]
    yield (
        "intervals",
        ForestDisplay(
            _frame(rows, level, title="title"), base, f"always the majority\nclass: {format_proportion(base)}"
        ),
        "Intervals for the error of this classifier; dashed, the error of always predicting the majority class.",
        _spoken(rows),
    )
    if (risks := report["probabilities"]["risks_by_outcome"]) is not None:
        counts = {"events": risks["events"], "non-events": risks["non_events"]}
        yield (
            "risks",
            CountsDisplay(risks["edges"], counts, "predicted risk of the event, out of bag", "cases"),
            "Predicted risks by outcome, from refits without the case in their draws: events above, non-events below.",
            "; ".join(
                f"{name} in tenths of the risk: {', '.join(map(str, one))}" for name, one in counts.items()
            ),
        )
    if report["instability"] is not None:
        yield from _of_refits(report["instability"])
    if (cud := report["diagnostics"]["cud"]) is not None:
        yield (
            "suprema",
            SupremaDisplay(cud["percentiles"]["lower"], cud["percentiles"]["upper"], cud["q"], level),
            "Distribution of Q over the bootstrap draws, in percentiles, with the quantile that gives the interval.",
            f"The {format_level(level)} quantile of Q is {format_proportion(cud['q'])} over {cud['n_draws']} draws.",
        )


def _of_refits(found: Mapping[str, Any]) -> Iterator[tuple[str, Display, str, str]]:
    if found["groups"]:
        yield (
            "instability",
            GroupedInstabilityDisplay(found["groups"], found["distances_of"]),
            "Share of refits that predict another class, against the distance from the threshold. Each line is a "
            "group of neighboring cases: the dot is their mean, the end their maximum. No single case is shown.",
            " ".join(found["sentences"]),
        )
    errors = found["refit_errors"]
    mean = format_proportion(errors["mean"])
    yield (
        "refits",
        CountsDisplay(
            errors["edges"],
            {"refits": errors["counts"]},
            "error of a refit on the cases not in its draw",
            "refits",
            (errors["mean"], f"mean {mean}"),
        ),
        "Errors of the refits on the cases that are not in their draws. They show how much refits differ, and "
        "are not an interval.",
        f"Mean {mean}; 5% below {format_proportion(errors['quantiles']['5%'])}, "
        f"5% above {format_proportion(errors['quantiles']['95%'])}.",
    )


def _frame(rows: list[dict[str, Any]], level: float, title: str) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "method": row.get("method", row.get("metric")),
                "title": row[title] if title == "title" else f"{row['title']}: {row[title]}",
                "metric": _panel(row),
                "confidence_level": level,
                "recommended": row.get("recommended", False),
                **{name: np.nan if row[name] is None else row[name] for name in ("estimate", "low", "high")},
            }
            for row in rows
        ]
    )


def _panel(row: Mapping[str, Any]) -> str:
    """Return the label of the axis; it applies to all methods for the error."""
    if "metric" not in row:
        return "error"
    return "lower is better" if row["metric"] in LOSSES else "higher is better"


def _spoken(rows: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{row['title']} not available"
        if None in (row["estimate"], row["low"], row["high"])
        else f"{row['title']} {format_proportion(row['estimate'])} "
        f"({format_proportion(row['low'])} to {format_proportion(row['high'])})"
        for row in rows
    )
