"""The text of a clinical report: what it does not show, and where it answers the items of TRIPOD+AI."""

from __future__ import annotations

import csv
from importlib import resources

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
