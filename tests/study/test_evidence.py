"""What a store keeps of methods' own numbers, the files that are made of it, and the cards that quote them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import tomllib

import benchmark_pages
import export_study
import numpy as np
import pandas as pd
import pytest
import recommended_pages
from docs_pages import ROOT
from export_study import evidence
from scipy.stats import binom
from sizes_of_tests import CHOSEN, decimal, of_equal_errors, stored_cells

from cudbound.intervals import DEFAULT_COMPARISONS, GROUPS, METHODS
from cudbound.intervals.binomial import wald
from cudbound.intervals.two_center import TWO_CENTER
from cudbound.study.design_file import read_design, template_text
from cudbound.study.runner import run_study

# ---- what a store keeps of methods' own numbers ----


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
    # the studies of these two are the registered ones, see below
    if method.name not in ("two-center", "pooled")
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


#: The stored coverages of the error whose range a card quotes.
RANGES = {
    **dict.fromkeys(GROUPS["paper"], "paper2008/coverage.csv"),
    **dict.fromkeys(("aci", "bccvp-br"), "laber-murphy-2011/cells.csv"),
    **dict.fromkeys(("abcloc", "location-shifted"), "other-intervals/cells.csv"),
    "bootstrap-632-plus-normal": "schulz-kuempel/cells.csv",
    "training-normal": "intervals-of-others/cells.csv",
    "out-of-bag-clopper-pearson": "several-classes/cells.csv",
    "bbc-cv": "earlier/tuned-ridge.csv",
    "bbc-f": "tuned-classifiers-of-others*/cells.csv",
}


@pytest.mark.parametrize("name", RANGES)
def test_a_card_quotes_the_range_of_the_stored_coverages(name):
    """Of this method in one study, rounded outward so that the range holds them all."""
    cells = pd.concat(map(pd.read_csv, (ROOT / "docs" / "evidence").glob(RANGES[name])))
    coverage = cells.query("method == @name")["coverage"]
    hundredths = math.floor(round(100 * coverage.min(), 6)), math.ceil(round(100 * coverage.max(), 6))
    low, high = (f"{value / 100:.2f}".removeprefix("0") for value in hundredths)
    assert f"coverage in {len(coverage)} settings was {low} to {high}" in METHODS[name].tendency


def test_the_card_of_the_normal_interval_has_its_coverage_with_few_errors():
    limits = [wald(k, 25, 0.95) for k in range(26)]
    covered = sum(binom.pmf(k, 25, 0.05) for k in range(26) if limits[k].low <= 0.05 <= limits[k].high)
    sentence = f"coverage is {covered:.2f} with 25 cases and an error of .05".replace("is 0.", "is .")
    assert sentence in METHODS["test-set-wald"].tendency


@pytest.mark.parametrize(
    ("reads", "metrics"),
    [
        ("classes", [["error"], ["sensitivity", "specificity"]]),
        ("scores", [["auc"]]),
        ("probabilities", [["brier"]]),
    ],
)
def test_the_card_of_pooled_quotes_the_cells_without_a_shift(reads, metrics):
    tendency, folder = METHODS["pooled"].reading(reads).tendency, ROOT / "docs" / "evidence" / "new-cases"
    cells, again = (pd.read_csv(folder / f"{name}.csv") for name in ("cells", "misses"))
    cells = cells[~cells["setting"].str.startswith("shifted")]
    parts = [cells[cells["metric"].isin(some)] for some in metrics]
    quoted = [[int(number) for number in pair] for pair in re.findall(r"(\d+) of (\d+)", tendency)]
    assert quoted == [[part["keeps_level"].sum(), len(part)] for part in parts]

    quotable = pd.concat(parts)
    key = ["setting", "m", "metric"]
    missed = quotable.loc[~quotable["keeps_level"], key].merge(again, on=key)
    lowest = (missed if len(missed) else quotable)["coverage"].min()
    assert len(missed) == (~quotable["keeps_level"]).sum()
    assert f"the lowest coverage {'in the others ' * bool(len(missed))}was {decimal(lowest)}" in tendency


@pytest.mark.parametrize(
    "folder",
    [
        "other-intervals",
        "ratios-and-net-benefit",
        "several-classes",
        "two-center-auc",
        "grandvalet-bengio-large",
    ],
)
def test_the_template_of_a_study_is_the_one_that_ran(folder):
    """What ``study new`` writes has the scenarios and the seed of the stored cells."""
    design = tomllib.loads(template_text(folder))
    cells = pd.read_csv(ROOT / "docs" / "evidence" / folder / "cells.csv")
    assert {one["name"] for one in design["scenario"]} == set(cells["scenario"])
    assert {design["seed"]} == set(cells["seed"])


def test_the_benchmarks_of_others_are_cells_of_their_templates():
    """Those with enough sets, and no more sets than were registered."""
    for folder in benchmark_pages.DESIGNS:
        if not (place := ROOT / "docs" / "evidence" / folder / "cells.csv").exists():
            continue
        design, cells = tomllib.loads(template_text(folder)), pd.read_csv(place)
        registered = {
            one["name"]: one.get("n_replicates", design["n_replicates"]) for one in design["scenario"]
        }
        assert set(cells["seed"]) == {design["seed"]}
        assert set(cells["method"]) == set(design["methods"])
        assert cells["sets"].min() >= 100
        assert (cells["sets"] <= cells["scenario"].map(registered)).all()
        # the truth is that of the fitted classifier: the own target of a method stands beside it
        aims = [METHODS[name].estimand.kind == "expected" for name in cells["method"]]
        assert cells["coverage_of_expected"].notna().tolist() == aims


# ---- what the cards say of the registered studies is what their stored cells say ----


TESTS = [
    name
    for name, method in METHODS.items()
    if method.compares and method.reads == "classes" and name != CHOSEN
]
#: Methods that the study has under several names: that with the default options.
BY_DEFAULT = {"5x2cv-t": "5x2cv-t, none", "grandvalet-bengio-t": "grandvalet-bengio-t, rho = 0.7"}
#: Of other hypotheses, or of learners with half of the rows: not to be chosen by the registered rule.
OF_OTHERS = ("mcnemar", "single-split-t", "independent-test-sets", "5x2cv-t", "5x2cv-f")


@pytest.mark.parametrize("name", [CHOSEN, *TESTS])
def test_a_card_has_the_size_of_its_test(name):
    line = of_equal_errors(stored_cells()).loc[BY_DEFAULT.get(name, name)]
    few = "" if line["sets"] == 1000 else f", with {line['sets']:.0f} sets each"
    sentence = f"false rejections up to {decimal(line['largest'])} in 17 settings{few}"
    assert f"{sentence};" in f"{METHODS[name].tendency};"


def test_the_card_of_5x2cv_t_has_the_size_of_its_repairs():
    largest = of_equal_errors(stored_cells())["largest"]
    repaired = largest[["5x2cv-t, drop-first-split", "5x2cv-t, average-numerator"]].max()
    assert METHODS["5x2cv-t"].tendency.endswith(f"with repair, up to {decimal(repaired)}")


def test_the_default_is_the_shortest_of_those_that_kept_their_level():
    """The registered rule: all cells, all sets, nearly all rows for training."""
    tests = of_equal_errors(stored_cells())
    candidates = tests[(tests["kept"] == 17) & (tests["sets"] == 1000)]
    candidates = candidates[[name.partition(", ")[0] not in OF_OTHERS for name in candidates.index]]
    assert candidates["width"].idxmin() == CHOSEN == DEFAULT_COMPARISONS["error"]
    assert candidates["width"].nsmallest(2).diff().iloc[-1] > 0.02  # or the one of fewer fits would be it


@pytest.mark.parametrize(
    ("metric", "card"),
    [
        ("error", TWO_CENTER),
        ("auc", TWO_CENTER.variants["scores"]),
        ("brier", TWO_CENTER.variants["probabilities"]),
    ],
)
def test_the_cards_of_the_recommended_interval_have_the_numbers_of_its_study(metric, card):
    cells = recommended_pages.read()
    used = recommended_pages.as_used(cells).query("method == 'two-center' and metric == @metric")
    used = used[used["kind"] != recommended_pages.CLASSES]
    again = recommended_pages.repeated(cells).query("metric == @metric")
    assert again["coverage_again"].notna().all()
    assert len(again) == len(used) - used["keeps_level"].sum()
    others = "the coverage in the other" if len(again) == 1 else "the lowest coverage in the others"
    sentence = (
        "in the registered study, which was stopped early, "
        f"it reached its level in {used['keeps_level'].sum()} of {len(used)} settings; run again, {others} was "
        f"{decimal(again['coverage_again'].min())}"
    )
    assert sentence in card.tendency


def test_the_errors_of_table_2_are_those_of_its_cells():
    """At the sizes whose cells are stored, one minus their coverage."""
    key = ["n", "method"]
    cells = pd.read_csv(ROOT / "docs" / "evidence" / "grandvalet-bengio-large" / "cells.csv").set_index(key)
    measured = pd.read_csv(ROOT / "docs" / "evidence" / "tests-of-learners" / "measured.csv")
    errors = measured[measured["measure"] == "type I error"].set_index(key).loc[cells.index]
    assert errors["value"].to_numpy() == pytest.approx(1.0 - cells["coverage"].to_numpy(), abs=1e-4)
    assert (errors["sets"] == cells["sets"]).all()
