"""The table of studied cells that ships with the package: ``python tests/helpers/studied_cells.py`` writes it anew.

It is made from the committed tables of the studies: ``docs/evidence/*/cells.csv``, and of the seven intervals of Laber
and Murphy (2008) the report ``docs/paper2008_report.md``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd

from cudbound.report.csv_text import csv_text

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "cudbound" / "clinical" / "studied_cells.csv"
CELL = ["scenario", "family", "n", "p"]


def exported() -> pd.DataFrame:
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
    return lines[lines["sets"] == lines.groupby([*CELL, "method"])["sets"].transform("max")]


def rows_of(text: str, heading: str) -> list[dict[str, str]]:
    """The rows of the table of a page that follows a heading."""
    lines = text.partition(f"{heading}\n")[2].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    cells = [[cell.strip().replace("\\", "") for cell in line.split("|")[1:-1]] for line in lines[start:]]
    whole = cells[: next((number for number, row in enumerate(cells) if not row), len(cells))]
    return [dict(zip(whole[0], row, strict=True)) for row in whole[2:]]


def of_the_paper() -> pd.DataFrame:
    """The cells of ``docs/paper2008_report.md``; those whose number of features it does not say are left out."""
    text = (ROOT / "docs" / "paper2008_report.md").read_text()
    drawn = {(one["scenario"], one["n"]): one for one in rows_of(text, "What was drawn")}
    words = dict(re.findall(r"^- Scenario ([^:]+): (.*)$", text.replace("\\", ""), re.MULTILINE))
    features = {name: re.search(r"(?:of )?(\d+) features", said) for name, said in words.items()}
    lines = []
    for row in rows_of(text, "## At a glance"):
        scenario, n, sample = row["scenario"], row["n"], drawn[row["scenario"], row["n"]]
        if (found := features[scenario]) is None:
            continue
        for method in list(row)[2:]:
            coverage, width = map(float, row[method].split()[:2])
            sets = int(sample["replicates"])
            mcse = (coverage * (1 - coverage) / sets) ** 0.5
            numbers = {
                "coverage": coverage,
                "mcse": mcse,
                "width": width,
                "estimate": sample["mean true error"],
            }
            cell = {"study": "paper2008_report", "scenario": scenario, "n": int(n), "p": int(found[1])}
            lines.append({**cell, "family": "least-squares", "sets": sets, "method": method, **numbers})
    return pd.DataFrame(lines).astype({"estimate": float})


def table() -> str:
    lines = pd.concat([exported(), of_the_paper()]).astype({"p": int})
    kept = ["study", *CELL, "estimate", "sets", "method", "coverage", "mcse", "width"]
    return csv_text(lines.sort_values(["study", *CELL], kind="stable")[kept].round(4))


if __name__ == "__main__":
    PLACE.write_text(table())
