"""The table of studied cells that ships with the package: ``python tests/helpers/studied_cells.py`` writes it anew.

It is made from the committed tables of the studies, ``docs/evidence/*/cells.csv``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from cudbound.report.csv_text import csv_text

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "cudbound" / "clinical" / "studied_cells.csv"
CELL = ["scenario", "family", "n", "p"]


def table() -> str:
    """The cells of studies of the error; of those that were run again, the run with the most training sets."""
    studies = {path.parent.name: pd.read_csv(path) for path in sorted(ROOT.glob("docs/evidence/*/cells.csv"))}
    lines = pd.concat([one.assign(study=name) for name, one in studies.items() if "metric" in one])
    lines = lines[lines["metric"] == "error"]
    tuned = lines["steps"].fillna("{}").map(lambda steps: "tune" in json.loads(steps))
    lines["family"] = [
        " ".join([*["grouped"] * is_grouped, *["tuned"] * is_tuned, name])
        for name, is_grouped, is_tuned in zip(lines["classifier"], lines["grouped"], tuned, strict=True)
    ]
    own = lines[lines["method"] == "two-center"].set_index(["study", *CELL])["estimate"]
    lines = lines.drop(columns="estimate").join(own, on=["study", *CELL])
    lines = lines[lines["sets"] == lines.groupby([*CELL, "method"])["sets"].transform("max")]
    lines["p"] = lines["p"].astype(int)
    kept = ["study", *CELL, "estimate", "sets", "method", "coverage", "mcse", "width"]
    return csv_text(lines.sort_values(["study", *CELL], kind="stable")[kept].round(4))


if __name__ == "__main__":
    PLACE.write_text(table())
