"""What the studies of AUC and Brier score say beside their cells.

``python tests/helpers/score_studies.py FOLDER`` renews ``fresh.csv`` in the folders of evidence of both studies, the
mean width of an interval from n new cases in each cell. FOLDER is that of the real data sets.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

from cudbound.basis.proportions import inverted_binomial_tails
from cudbound.intervals.auc_at_estimate import newcombe_interval
from cudbound.study.design.design_file import read_design, template_text
from cudbound.study.populations.population import Population
from cudbound.study.populations.truth import N_TRUTH_CASES, fixed_cases

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"
TAIL = 0.025
CELL = ["scenario", "n"]


def rows_of(study: str) -> pd.DataFrame:
    return pd.read_csv(EVIDENCE / study / "rows.csv.gz")


def without_the_last_step(rows: pd.DataFrame) -> pd.Series:
    """Return the lower limits of the AUC as they are before the smallest value at 1 is taken into account."""
    size, center = (rows[f"detail_{name}"].to_numpy() for name in ("lower_size", "lower_center"))
    return pd.Series(inverted_binomial_tails(size * center, size, TAIL, TAIL)[0], index=rows.index)


def both_lower_limits() -> pd.DataFrame:
    """Return sets in which the two lower limits differ, coverage and mean width by both, for each cell with any."""
    rows = rows_of("two-center-auc").dropna(subset=["low"])
    other = without_the_last_step(rows)
    below, above = rows["truth"] <= rows["high"], rows["truth"].to_numpy()
    found = rows[CELL].assign(
        differ=other > rows["low"] + 1e-6,
        coverage=below & (rows["low"] <= above),
        coverage_without=below & (other <= above),
        width=rows["high"] - rows["low"],
        width_without=rows["high"] - other,
    )
    return found.groupby(CELL, sort=False).mean().reset_index()


def share_of_events(population: Population) -> float:
    all_cases = getattr(population, "all_cases", None)
    return float(np.mean((fixed_cases(population, N_TRUTH_CASES) if all_cases is None else all_cases)[1]))


@cache
def newcombe_width(auc: float, n_events: int, n: int) -> float:
    low, high = newcombe_interval(auc, n_events, n - n_events, 0.95)
    return high - low


def fresh_widths(study: str, populations: dict[str, Population]) -> pd.DataFrame:
    """Return for each cell the mean width of an interval from n new cases, at the true values of the sets."""
    rows = rows_of(study)
    if study == "two-center-auc":
        shares = {name: share_of_events(populations[name]) for name in rows["scenario"].unique()}
        rows["fresh"] = [
            newcombe_width(round(float(truth), 3), min(max(round(shares[scenario] * n), 2), n - 2), n)
            for scenario, n, truth in zip(rows["scenario"], rows["n"], rows["truth"], strict=True)
        ]
    else:
        rows["fresh"] = 2.0 * t.ppf(1.0 - TAIL, rows["n"] - 1) * np.sqrt(rows["detail_variance"] / rows["n"])
    return rows.groupby(CELL, sort=False)["fresh"].mean().reset_index()


def main(data_folder: str) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        path = Path(folder) / "auc.toml"
        path.write_text(template_text("two-center-auc"))
        design = read_design(path, data_folder=data_folder)
    populations = {one.name: one.population for one in design.scenarios}
    for study in ("two-center-auc", "two-center-brier"):
        fresh_widths(study, populations).to_csv(
            EVIDENCE / study / "fresh.csv", index=False, float_format="%.6g"
        )


if __name__ == "__main__":
    main(sys.argv[1])
