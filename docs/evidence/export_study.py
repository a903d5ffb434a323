"""The files that a repository keeps of a study: its description, a line per cell and method, and every row, rounded.

``python docs/evidence/export_study.py STORE FOLDER [--rows-of NAME,NAME,...]``
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Container
from pathlib import Path
from typing import Any

import pandas as pd

from cudbound.report.files import write_texts
from cudbound.report.render import csv_text
from cudbound.study.store import Store
from cudbound.study.summary import CELL, KEY, summarize_store

#: Keys in the description of a scenario about the fit, except the name of the classifier.
STEPS = ("set", "missing", "levels", "standardize", "select", "components", "degree", "tune", "threshold")
#: Value of such a key without such a step.
DEFAULTS: dict[str, Any] = {"set": {}, "standardize": False, "components": None, "degree": 1}
#: Columns from the table of cells of the summary, by their names here.
MEASURES = {
    "coverage": "coverage",
    "coverage_mcse": "mcse",
    "keeps_level": "keeps_level",
    "truth_below": "missed_low",
    "truth_above": "missed_high",
    "width": "width",
    "n_degenerate": "degenerate",
    "n_failed": "failed",
}
SIGNIFICANT_DIGITS = 6


def evidence(store_path: str | Path, rows_of: Container[str] | None = None) -> dict[str, str | bytes]:
    """Return the evidence files of a store, for a repository.

    Parameters
    ----------
    store_path : str or path
    rows_of : container of str or None, default=None
        Methods whose rows are kept; None for all. The cells always include all methods.

    Returns
    -------
    dict of str to str or bytes
        ``design.json``, the study as described in the store; ``cells.csv``, one line per cell and method;
        ``rows.csv.gz``, one line per interval with the true error, and one column per number in its details, with 6
        significant digits. The same results give the same bytes.

    Notes
    -----
    In ``cells.csv``, p is the number of drawn features, rank the median rank reported by the methods, missed_low and
    missed_high the shares of true errors below and above the limits, estimate and truth means over replicates, sets the
    number of replicates, and failed the number without an interval, which count as misses. `seconds` is the mean time
    of a replicate for all methods.

    Raises
    ------
    StudyError
        If the file is missing or is not a store.
    """
    with Store.open(store_path) as store:
        description = store.description
        summary = summarize_store(store)
        versions = sorted(store.versions())
        rows = _rows(summary.replicates, summary.intervals)
    cells = summary.cells.merge(_means(rows), on=[*CELL, "method"], how="left").merge(
        summary.samples[[*CELL, "mean_truth", "mean_seconds"]], on=CELL
    )
    records: list[Any] = cells.to_dict("records")  # its stub does not know that names of columns are texts
    lines = [_cell(record, description, "; ".join(versions)) for record in records]
    kept = (
        rows
        if rows_of is None
        else rows[[name in rows_of for name in rows["method"]]].dropna(axis=1, how="all")
    )
    return {
        "design.json": json.dumps(description, indent=1) + "\n",
        "cells.csv": csv_text(pd.DataFrame(lines, dtype=object)),
        "rows.csv.gz": gzip.compress(
            kept.to_csv(index=False, float_format=f"%.{SIGNIFICANT_DIGITS}g").encode(), mtime=0
        ),
    }


def _rows(replicates: pd.DataFrame, intervals: pd.DataFrame) -> pd.DataFrame:
    """Return one row per interval; a failed replicate has one row without a method."""
    numbers = [{} if text is None else json.loads(text) for text in intervals["details"]]
    details = pd.DataFrame(numbers, index=intervals.index, dtype=float)
    names = ["method", "estimate", "low", "high"]
    shown = pd.concat([intervals[[*KEY, *names]], details.add_prefix("detail_")], axis=1)
    return replicates[[*KEY, "truth", "training_error"]].merge(shown, on=KEY, how="left")


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean estimate of each cell and method, and the median rank of the cell."""
    means = rows.groupby([*CELL, "method"], sort=False)["estimate"].mean().reset_index()
    rank = rows.assign(rank=rows.get("detail_rank", float("nan"))).groupby(CELL)["rank"].median()
    return means.join(rank, on=CELL)


def _cell(cell: dict[str, Any], description: dict[str, Any], versions: str) -> dict[str, Any]:
    """Return the line of one cell and method."""
    scenario = description["scenarios"][cell["scenario"]]
    words = scenario["description"]
    steps = {name: words[name] for name in STEPS if name in words and words[name] != DEFAULTS.get(name)}
    device = f" ({words['device']})" if "device" in words else ""
    line = {
        "scenario": cell["scenario"],
        "world": f"{words.get('world') or words.get('data') or scenario['population']}{device}",
        "metric": "+".join(words.get("metric", ["error"])),
        "classifier": words.get("classifier", scenario["classifier"]),
        "steps": json.dumps(steps) if steps else "",
        "grouped": "rows_per_patient" in words,
        "n": cell["n"],
        "p": scenario.get("n_features"),
        "rank": cell["rank"],
        "method": cell["method"],
        "sets": cell["n_replicates"],
        **{name: cell[key] for key, name in MEASURES.items()},
        "estimate": cell["estimate"],
        "truth": cell["mean_truth"],
        "n_resamples": scenario.get("n_resamples", description["n_resamples"]),
        "seconds": cell["mean_seconds"],
        "seed": description["seed"],
        "versions": versions,
    }
    return {name: float(f"{one:.6g}") if isinstance(one, float) else one for name, one in line.items()}


def main() -> None:
    """Write the files of a store to a folder."""
    parser = argparse.ArgumentParser(description="Write the files that a repository keeps of a study.")
    parser.add_argument("store", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows-of", type=lambda text: text.split(","), help="methods whose rows are kept")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    files = evidence(arguments.store, arguments.rows_of)
    write_texts({arguments.folder / name: text for name, text in files.items()})


if __name__ == "__main__":
    main()
