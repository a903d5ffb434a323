"""What a store keeps of methods' own numbers, and the files that are made of it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib

import export_study
import numpy as np
import pandas as pd
import pytest
from docs_pages import ROOT
from export_study import evidence

from cudbound.intervals import METHODS
from cudbound.study.design.design_file import read_design, template_text
from cudbound.study.run.runner import run_study

DESIGN = """
name = "small"
n_samples = 16
n_replicates = 6
n_resamples = 20
resampling.inner = "oob"
methods = ["two-center", "langford-binomial"]
[[scenario]]
world = "gaussians"
[[scenario]]
name = "selected"
world = "noise"
n_features = 8
select = 2
standardize = true
n_samples = 20
n_replicates = 3
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("design") / "d.toml"
    path.write_text(DESIGN)
    return read_design(path)


@pytest.fixture(scope="module")
def store(study, tmp_path_factory):
    place = tmp_path_factory.mktemp("store") / "s.sqlite"
    run_study(study, place)
    return place


def lines(text):
    return list(
        csv.DictReader(io.StringIO(text if isinstance(text, str) else gzip.decompress(text).decode()))
    )


def test_cells_are_the_shares_and_means_of_the_rows(store):
    texts = evidence(store)
    rows = lines(texts["rows.csv.gz"])
    assert len(rows) == 2 * (6 + 3)
    for cell in lines(texts["cells.csv"]):
        own = [one for one in rows if (one["scenario"], one["method"]) == (cell["scenario"], cell["method"])]
        truth, low, high, estimate = (
            np.array([float(one[name]) for one in own]) for name in ("truth", "low", "high", "estimate")
        )
        covered = np.mean((low <= truth) & (truth <= high))
        assert float(cell["coverage"]) == pytest.approx(covered)
        assert float(cell["mcse"]) == pytest.approx(np.sqrt(covered * (1 - covered) / len(own)), abs=1e-6)
        assert float(cell["missed_low"]) + float(cell["missed_high"]) == pytest.approx(1 - covered)
        for name, values in (("width", high - low), ("estimate", estimate), ("truth", truth)):
            assert float(cell[name]) == pytest.approx(values.mean(), abs=1e-5)
        assert int(cell["sets"]) == len(own)


def test_the_script_writes_them_and_the_same_again(store, tmp_path, monkeypatch):
    for name in ("one", "two"):
        monkeypatch.setattr("sys.argv", ["export_study.py", str(store), str(tmp_path / name)])
        export_study.main()
    names = sorted(one.name for one in (tmp_path / "one").iterdir())
    assert names == ["cells.csv", "design.json", "rows.csv.gz"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert json.loads((tmp_path / "one" / "design.json").read_text())["name"] == "small"


#: The study whose stored cells a card quotes, by what the method reads.
QUOTED = {
    "classes": "two-center-confirmation",
    "scores": "two-center-auc",
    "probabilities": "two-center-brier",
}
REACHED = re.compile(r"reached its level in (\d+) of (\d+)")
COVERED = re.compile(r"coverage was (\S+) in the worst and (\S+) in the median of (\d+)")
CARDS = [
    card
    for method in METHODS.values()
    for card in (method, *method.variants.values())
    # the study of the recommended interval is the registered one, see tests/intervals/test_sizes_in_cards.py
    if method.name != "two-center"
    if REACHED.search(card.tendency) or COVERED.search(card.tendency)
]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: f"{card.name}, {card.reads}")
def test_a_card_quotes_the_stored_cells(card):
    """Coverages, and shares of settings that reached their level, are those of the study in the evidence."""
    cells = pd.read_csv(ROOT / "docs" / "evidence" / QUOTED[card.reads] / "cells.csv").query(
        "method == @card.name"
    )
    if reached := REACHED.search(card.tendency):
        assert [int(one) for one in reached.groups()] == [cells["keeps_level"].sum(), len(cells)]
    if covered := COVERED.search(card.tendency):
        worst, median = map(float, covered.groups()[:2])
        assert [worst, median] == pytest.approx(
            [cells["coverage"].min(), cells["coverage"].median()], abs=0.0051
        )
        assert int(covered[3]) == len(cells)


@pytest.mark.parametrize(
    "folder", ["other-intervals", "ratios-and-net-benefit", "several-classes", "two-center-auc"]
)
def test_the_template_of_a_study_is_the_one_that_ran(folder):
    """What ``study new`` writes has the scenarios and the seed of the stored cells."""
    design = tomllib.loads(template_text(folder))
    cells = pd.read_csv(ROOT / "docs" / "evidence" / folder / "cells.csv")
    assert {one["name"] for one in design["scenario"]} == set(cells["scenario"])
    assert {design["seed"]} == set(cells["seed"])
