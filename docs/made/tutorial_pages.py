"""The parts of docs/start/csv_to_paper.md that are made from the report of its patients."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

from page_session import run_shell
from tabulate import tabulate

OPTIONS = "--target died --positive yes --exclude id --categorical auto --seed 1"


@cache
def report() -> dict[str, Any]:
    """Return the numbers of the report that the tutorial writes."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        run_shell(
            f"cudbound example > patients.csv\ncudbound report patients.csv {OPTIONS} --output report.html"
        )
        return json.loads(Path("report.json").read_text())


def measures() -> dict[str, dict[str, Any]]:
    return {
        one["metric"]: one for part in ("performance", "probabilities") for one in report()[part]["measures"]
    }


def probabilities() -> str:
    calibration = report()["probabilities"]["calibration"]
    rows = [
        (one["title"], one["apparent"], one["estimate"], f"{one['low']:.2f} to {one['high']:.2f}")
        for one in report()["probabilities"]["measures"]
    ]
    rows += [
        (f"calibration {name}", calibration[f"apparent_{name}"], calibration[name], "")
        for name in ("intercept", "slope")
    ]
    headings = ["measure", "apparent", "corrected", "95% interval"]
    cells = [
        (name, f"{apparent:z.2f}", f"{corrected:z.2f}", limits) for name, apparent, corrected, limits in rows
    ]
    return tabulate(cells, headings, tablefmt="pipe", disable_numparse=True)


#: The results as a paper could have them.
RESULTS = """\
> A logistic regression with {n_features} predictors and a ridge penalty (C = 1) was developed in {n} patients,
> {n_events} of whom died. On new patients of the same population its AUC is estimated at {auc}, and its Brier
> score at {brier}. Corrected for optimism, the calibration slope is {slope:.2f} and the calibration intercept
> {intercept:z.2f}. At the threshold {threshold} the sensitivity is estimated at {sensitivity}, the specificity at
> {specificity}, and the error at {error}. Predicting that nobody dies would be wrong for {rarer:.0%} of these
> patients: there is no evidence that the model classifies better. The intervals (95%) are internal ({method},
> {n_resamples:,} bootstrap resamples, seed {seed}; cudbound {version}). The model was not validated in patients of
> another place or time.
"""


def paragraph() -> str:
    box, reproduction = report()["box"], report()["reproduction"]
    rarer = min(box["n_events"], box["n_non_events"]) / box["n"]
    assert box["low"] < rarer < box["high"], "the paragraph reports no evidence"
    assert box["classifier"].startswith("LogisticRegression with a ridge penalty (C = 1)")
    estimates = {
        metric: f"{one['estimate']:.2f} ({one['low']:.2f} to {one['high']:.2f})"
        for metric, one in measures().items()
    }
    return RESULTS.format(
        **{key: box[key] for key in ("n", "n_features", "n_events", "n_resamples")},
        **{key: report()["probabilities"]["calibration"][key] for key in ("slope", "intercept")},
        **{key: reproduction[key] for key in ("method", "seed")},
        **estimates,
        version=reproduction["versions"]["cudbound"],
        threshold=report()["model"]["threshold"],
        rarer=rarer,
    )


PARTS: dict[str, Callable[[], str]] = {
    "tutorial-probabilities": probabilities,
    "tutorial-paragraph": paragraph,
}
