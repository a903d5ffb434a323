"""Tables of the study, from the sets that run.py has run.

python summarize.py rows STORE          rows.csv.xz, one line per set, metric, method and number of new cases
python summarize.py cells               cells.csv, one line per cell and metric, from rows.csv.xz
python summarize.py misses STORE        misses.csv, the same for settings that were run again
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

FOLDER = Path(__file__).parent
ROWS = FOLDER / "rows.csv.xz"
LEVEL, KEEPS, CONTRADICTION = 0.95, 1.645, 0.01
#: Of the interval from both: the numbers from which its limits can be computed again.
DETAILS = (
    "cross_validated",
    "at_632_plus",
    "out_of_bag",
    "lower_size",
    "upper_size",
    "new_cases",
    "new_size",
)
PVALUE = "new_worse_pvalue"
CELL = ["setting", "m", "metric"]


def rows_of(store: Path) -> pd.DataFrame:
    """Return one row per set, metric, method and number of new cases; a failed set has one row without a method."""
    rows: list[dict[str, Any]] = []
    for path in sorted(store.glob("*.jsonl")):
        for line in filter(lambda text: text.endswith("}"), path.read_text().splitlines()):
            drawn = json.loads(line)
            shared = {"setting": path.stem, "set": drawn["set"]}
            if "failed" in drawn:
                rows.append(shared)
            for interval in drawn.get("intervals", ()):
                metric, details = interval["metric"], interval.pop("details", {})
                kept = {name: details.get(name) for name in (*DETAILS, PVALUE)}
                elsewhere = drawn.get("truth_elsewhere", {}).get(metric)
                truths = {"truth": drawn["truth"][metric], "truth_elsewhere": elsewhere}
                rows.append(shared | interval | truths | kept)
    return pd.DataFrame(rows)


def verdict(covered: pd.Series[bool]) -> dict[str, Any]:
    """Return coverage, its Monte Carlo standard error, and whether the level is kept."""
    sets, coverage = len(covered), float(covered.mean())
    mcse = float(np.sqrt(coverage * (1.0 - coverage) / sets))
    keeps = coverage + KEEPS * mcse >= LEVEL
    if coverage in (0.0, 1.0):
        keeps = stats.binomtest(int(covered.sum()), sets).proportion_ci(LEVEL).high >= LEVEL
    return {"sets": sets, "coverage": coverage, "mcse": mcse, "keeps_level": bool(keeps)}


def cell_of(rows: pd.DataFrame, alone: pd.DataFrame, n_failed: int) -> dict[str, Any]:
    """Return the numbers of a cell and metric; `alone` are the rows of the same sets from the training data."""
    both = rows[rows["method"] == "pooled"].set_index("set")
    defined = both["low"].notna()
    kept = both[defined]
    new = rows[rows["method"] != "pooled"].set_index("set").reindex(kept.index)
    trained = alone.set_index("set").reindex(kept.index)
    inside = (kept["low"] <= kept["truth"]) & (kept["truth"] <= kept["high"])
    failed = pd.Series(False, index=range(-n_failed, 0), dtype=bool)
    contradicted = kept[PVALUE] < CONTRADICTION
    numbers = {
        **verdict(pd.concat([inside, failed])),
        "without_interval": int((~defined).sum()),
        "truth_below": float((kept["truth"] < kept["low"]).mean()),
        "truth_above": float((kept["truth"] > kept["high"]).mean()),
        "truth": float(kept["truth"].mean()),
        "estimate": float(kept["estimate"].mean()),
    }
    for name, part in (("width", kept), ("width_training", trained), ("width_new", new)):
        numbers[name] = float((part["high"] - part["low"]).mean())
    for name, part in (("coverage_training", trained), ("coverage_new", new)):
        numbers[name] = float(((part["low"] <= kept["truth"]) & (kept["truth"] <= part["high"])).mean())
    numbers["contradicted"] = float(contradicted.mean())
    if kept["truth_elsewhere"].notna().any():
        there = (kept["low"] <= kept["truth_elsewhere"]) & (kept["truth_elsewhere"] <= kept["high"])
        numbers["coverage_elsewhere"] = float(there.mean())
        numbers["coverage_elsewhere_if_not_contradicted"] = float(there[~contradicted].mean())
        numbers["truth_elsewhere"] = float(kept["truth_elsewhere"].mean())
    return numbers


def cells_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per setting, number of new cases and metric, the lowest coverage first."""
    lines = []
    for setting, of_setting in rows.groupby("setting", sort=False):
        n_failed = int(of_setting["method"].isna().sum())
        for (m, metric), part in of_setting[of_setting["m"] > 0].groupby(["m", "metric"], sort=False):
            alone = of_setting[(of_setting["m"] == 0) & (of_setting["metric"] == metric)]
            names = {"setting": setting, "m": int(m), "metric": metric}
            lines.append(names | cell_of(part, alone, n_failed))
    return pd.DataFrame(lines).sort_values(["coverage", *CELL]).round(6)


def main() -> None:
    """Write a file."""
    command, *store = sys.argv[1:]
    if command == "rows":
        rows_of(Path(store[0])).to_csv(ROWS, index=False, float_format="%.4g")
        return
    rows = pd.read_csv(ROWS) if command == "cells" else rows_of(Path(store[0]))
    cells_of(rows).to_csv(FOLDER / f"{command}.csv", index=False)


if __name__ == "__main__":
    main()
