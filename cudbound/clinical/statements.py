"""The text of a clinical report: its limitations, and where it answers the items of reporting guidelines."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

#: Events for each coefficient below which, and above which, PROBAST (2019) sees high and low concern.
FEW_EVENTS, MANY_EVENTS = 10, 20
#: Events, and non-events, that it asks of an evaluation.
ENOUGH = 100
NOT_ASSESSED = "not assessed"

SCOPE = (
    "Internal validation; no external data.",
    "The interval is for the error of this fitted classifier on new cases from the same population. Its level is "
    "nominal: there is no finite-sample guarantee.",
    "An interval quantifies uncertainty. It does not make up for a small or biased sample, or for choices made before "
    "this file.",
    "This report does not show that using the classifier helps patients.",
)


def limits(box: Mapping[str, Any], probabilities: Mapping[str, Any], checks: Sequence[str]) -> dict[str, Any]:
    """Return the limitations of the report, the signalling questions of PROBAST's analysis domain, and the checks."""
    return {
        "scope": list(SCOPE),
        "questions": [
            {"question": question, "answer": answer, "why": why}
            for question, answer, why in _questions(box, probabilities)
        ],
        "checks": [*_missing(box), *checks],
    }


def _missing(box: Mapping[str, Any]) -> list[str]:
    """Report how many cells are missing, and how they are handled."""
    if not box["n_missing"]:
        return []
    cells = f"{box['n_missing']} of {box['n'] * box['n_features']} cells of the features are missing"
    return [f"{cells}; steps of the classifier handle them, in every refit."]


def _questions(box: Mapping[str, Any], probabilities: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    tuned, missing = box["chosen_inside"], box["n_missing"]
    selected = box["reads_labels"]
    preparation = " ".join(box["preparation"])
    resampled = "every refit repeated it" if not box["frozen"] else "refits keep what was frozen"
    measures = {one["metric"] for one in probabilities["measures"]}
    calibrated = probabilities["calibration"] is not None
    return [
        ("4.1 Were there a reasonable number of participants with the outcome?", *_number(box)),
        ("4.2 Were continuous and categorical predictors handled appropriately?", NOT_ASSESSED, ""),
        ("4.3 Were all enrolled participants included in the analysis?", NOT_ASSESSED, preparation),
        (
            "4.4 Were participants with missing data handled appropriately?",
            "no missing cells" if not missing and not preparation else NOT_ASSESSED,
            f"{missing} missing cells were passed to the steps of the classifier. {preparation}"
            if missing
            else preparation,
        ),
        (
            "4.5 Was selection of predictors based on univariable analysis avoided?",
            NOT_ASSESSED if not selected else "no" if "Select" in selected else NOT_ASSESSED,
            f"{selected} uses the labels; {resampled}."
            if selected
            else "No step of this classifier uses the labels; selection before this file is unknown.",
        ),
        ("4.6 Were complexities in the data accounted for appropriately?", NOT_ASSESSED, ""),
        (
            "4.7 Were relevant model performance measures evaluated appropriately?",
            "yes" if calibrated else "partly",
            "Discrimination, calibration, overall accuracy, classification at the threshold."
            if calibrated
            else f"Classification{' and discrimination' if measures else ' alone'}; {probabilities['why_none']}",
        ),
        (
            "4.8 Were model overfitting, underfitting, and optimism in model performance accounted for?",
            "partly" if box["frozen"] else "yes",
            f"Optimism was estimated by {box['n_resamples']} bootstrap draws. {box['inside']}"
            + (f" Chosen on these data: {', '.join(tuned)}; {resampled}." if tuned else ""),
        ),
        (
            "4.9 Do predictors and their assigned weights correspond to the results from the reported analysis?",
            NOT_ASSESSED,
            "",
        ),
    ]


def _number(box: Mapping[str, Any]) -> tuple[str, str]:
    """Assess the number of cases of the rarer class per candidate parameter, before any selection."""
    fewer = min(box["n_events"], box["n_non_events"])
    ratio = fewer / max(box["n_features"], (box["n_coefficients"] or 1) - 1, 1)
    judged = (
        "no"
        if ratio < FEW_EVENTS or fewer < ENOUGH
        else "probably no"
        if ratio < MANY_EVENTS
        else "probably yes"
    )
    return (
        judged,
        f"{fewer} cases of the rarer class, {ratio:.1f} per candidate parameter; PROBAST asks for {MANY_EVENTS} "
        f"in a development study, and for {ENOUGH} events and {ENOUGH} non-events in an evaluation.",
    )


def crosswalk() -> list[dict[str, str]]:
    """Return the items of TRIPOD+AI and STARD, each with the section that answers it (empty for none), and how."""
    text = resources.files("cudbound.clinical").joinpath("checklists.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
