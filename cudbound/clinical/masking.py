"""Mask small counts in a clinical report, for users who may not publish them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Counts below this one, but for 0, are not shown.
SMALLEST = 5
MASKED = f"counts below {SMALLEST} are masked, and so are numbers that would reveal them"


def masked(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report without counts of cases from 1 to 4.

    One small cell masks the whole cross-tabulation and all apparent values, because its row totals are known. One small
    bar masks the histogram of risks. The number of cases that change class is always omitted.
    """
    performance, probabilities = dict(report["performance"]), dict(report["probabilities"])
    if _any_small(performance["cells"].values()):
        performance["cells"] = dict.fromkeys(performance["cells"])
        performance["measures"] = [_without_apparent(one) for one in performance["measures"]]
        if probabilities["net_benefit"] is not None:
            probabilities["net_benefit"] = probabilities["net_benefit"] | {"apparent": None}
    bars = probabilities["risks_by_outcome"]
    if bars is not None and _any_small([*bars["events"], *bars["non_events"]]):
        probabilities["risks_by_outcome"] = None
    found = report["instability"]
    if found is not None:
        shown = {name: value for name, value in found.items() if not name.startswith("above_")}
        found = shown | {
            "sentences": [MASKED],
            "groups": [one | {"largest_share": one["mean_share"]} for one in found["groups"]],
        }
    return {
        **report,
        "masked": True,
        "performance": performance,
        "probabilities": probabilities,
        "instability": found,
    }


def _any_small(counts: Any) -> bool:
    return any(0 < count < SMALLEST for count in counts)


def _without_apparent(measure: Mapping[str, Any]) -> dict[str, Any]:
    words = measure["based_on"]
    if measure["metric"] in ("ppv", "npv"):
        words = words.partition(" ")[2]
    return {**measure, "apparent": None, "based_on": words}
