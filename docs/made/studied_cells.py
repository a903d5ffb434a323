"""The table of studied cells that ships with the package: ``python docs/made/studied_cells.py`` writes it anew.

It is made from the committed tables of the studies: ``docs/evidence/*/cells.csv``, of the seven intervals of Laber and
Murphy (2008) those in ``docs/evidence/paper2008``, and of intervals that have not changed since, those in
``docs/evidence/earlier``. Features and true errors of these are in ``docs/evidence/earlier_samples.csv``: the mean true
error of the first 200 training sets of each cell (20 for forests), drawn and fitted again.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import benchmark_pages
import pandas as pd
from recommended_pages import BEFORE, as_used

from cudbound.report.render import csv_text

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "cudbound" / "clinical" / "studied_cells.csv"
CELL = ["scenario", "family", "n", "p"]
#: A cell of the confirmation with fewer sets says too little about a training set.
FEWEST_SETS = 100
#: Repeated experiments of others, that are not cells of a report: at another level, or still being added to.
REPEATED = ("laber-murphy-2011", *benchmark_pages.DESIGNS)


def exported() -> pd.DataFrame:
    """The cells of studies of the error: without two-center in the older ones, which have an earlier form."""
    studies = {path.parent.name: pd.read_csv(path) for path in sorted(ROOT.glob("docs/evidence/*/cells.csv"))}
    lines = pd.concat(
        [one.assign(study=name) for name, one in studies.items() if "steps" in one and name not in REPEATED]
    )
    tuned = lines["steps"].fillna("{}").map(lambda steps: "tune" in json.loads(steps))
    lines["family"] = [
        " ".join([*["grouped"] * is_grouped, *["tuned"] * is_tuned, name])
        for name, is_grouped, is_tuned in zip(lines["classifier"], lines["grouped"], tuned, strict=True)
    ]
    lines = lines[lines["method"] != "two-center"]
    if (confirmation := studies.get("recommended")) is not None:
        names = {"cell": "scenario", "classifier": "family"}
        newest = as_used(confirmation[confirmation["method"] != BEFORE]).rename(columns=names)
        newest = newest[newest["sets"] >= FEWEST_SETS]
        lines = pd.concat([lines, newest.assign(study="recommended")])
    lines = lines[lines["metric"] == "error"]
    lines["estimate"] = lines["truth"]
    return lines


def of_the_paper() -> pd.DataFrame:
    """The cells of ``docs/evidence/paper2008``; those whose number of features is not given are left out."""
    folder = ROOT / "docs" / "evidence" / "paper2008"
    cell = ["scenario", "n", "method"]
    read = {one: pd.read_csv(folder / f"{one}.csv") for one in ("coverage", "width", "samples")}
    lines = read["coverage"][[*cell, "coverage"]].merge(
        read["width"][[*cell, "mean width"]], on=cell, how="left"
    )
    lines = lines.merge(
        read["samples"][["scenario", "n", "replicates", "mean true error"]], on=cell[:2], how="left"
    )
    names = {"mean width": "width", "replicates": "sets", "mean true error": "estimate"}
    lines = lines.rename(columns=names).assign(study="paper2008", family="least-squares")
    words = html.unescape((folder / "report.html").read_text())
    features = dict(re.findall(r"<li>Scenario ([^:\n]+):.*?(?:of )?(\d+) features", words))
    lines["p"] = lines["scenario"].map(features)
    lines["mcse"] = (lines["coverage"] * (1 - lines["coverage"]) / lines["sets"]) ** 0.5
    return lines.dropna(subset="p")


def earlier(paper: pd.DataFrame) -> pd.DataFrame:
    """The cells of ``docs/evidence/earlier`` without those of `paper`, and of an earlier form of two-center."""
    samples = pd.read_csv(ROOT / "docs" / "evidence" / "earlier_samples.csv")
    read = [
        pd.read_csv(ROOT / "docs" / "evidence" / "earlier" / f"{name}.csv").assign(study=name)
        for name in samples["study"].unique()
    ]
    lines = pd.concat(read).query("method != 'two-center'").merge(samples, on=["study", "scenario", "n"])
    key = ["study", *CELL]
    same = paper.drop_duplicates(key).set_index(key)["estimate"].rename("known")
    lines = lines.join(same, on=key)
    lines["estimate"] = lines["known"].fillna(lines["estimate"])
    lines["mcse"] = (lines["coverage"] * (1 - lines["coverage"]) / lines["sets"]) ** 0.5
    there = paper.set_index([*key, "method"]).index
    return lines[~lines.set_index([*key, "method"]).index.isin(there)]


def table() -> str:
    paper = of_the_paper().astype({"p": int})
    lines = pd.concat([exported(), paper, earlier(paper)]).astype({"p": int})
    kept = ["study", *CELL, "estimate", "sets", "method", "coverage", "mcse", "width"]
    return csv_text(lines.sort_values(["study", *CELL], kind="stable")[kept].round(4))


if __name__ == "__main__":
    PLACE.write_text(table())
