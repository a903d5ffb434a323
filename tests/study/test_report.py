"""Reports of studies: every format, in order, with the numbers of the summary, and safe with foreign names."""

from __future__ import annotations

import re
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from html_pages import Page
from sklearn.dummy import DummyClassifier
from study_frames import METHODS, Coin, store_of

from cudbound import LeastSquaresClassifier
from cudbound.basis.rounding import format_proportion, printable
from cudbound.resampling import ResamplingSizes
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.measure.summary import summarize
from cudbound.study.run.replicate_rows import Key, ReplicateRow
from cudbound.study.run.store import Store
from cudbound.study.study_report import tables_of, write_report

HOSTILE = "<script>alert('x')</script> & $a_b$ \\input{x} | \x1b[2J"
SECTIONS = [
    "Which methods kept their level, where and at what width",
    "What was run",
    "Every method in every cell",
    "Compared with cud",
    "Plots",
    "Rules and conventions",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return store_of(tmp_path_factory.mktemp("study") / "study.sqlite", scenarios=("null", HOSTILE))


@pytest.fixture(scope="module")
def page(store, tmp_path_factory) -> str:
    output = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(store, output) == output
    return output.read_text("utf-8")


def test_the_page_is_whole_and_in_order(page):
    found = Page(page)
    assert found.headings == SECTIONS
    assert found.tags.count("svg") == 3
    assert page.startswith("<!DOCTYPE html>")


def test_the_page_needs_no_other_file(page):
    found = Page(page)
    assert not {"img", "iframe", "object", "image"} & set(found.tags)
    assert found.tags.count("script") == found.tags.count("link") == 1  # the own script, and an empty icon
    loading = [value for name, value in found.attributes if name in {"src", "href", "xlink:href", "data"}]
    assert loading
    assert all(value.startswith("#") or value == "data:," for value in loading)
    names = {value for name, value in found.attributes if name.startswith("xmlns")}
    assert set(re.findall(r"https?://[^\s\"<]+", page)) == names  # names of XML vocabularies, not links
    assert "@import" not in page
    assert set(re.findall(r"url\((.)", page)) == {"#"}


def test_no_name_of_a_part_comes_twice(page):
    names = [value for name, value in Page(page).attributes if name == "id"]
    referred = set(re.findall(r"url\(#([^)]*)\)", page)) | set(re.findall(r'href="#([^"]*)"', page))
    assert len(names) == len(set(names))
    assert referred
    assert referred <= set(names)


def test_hostile_names_are_text(page):
    found = Page(page)
    shown = HOSTILE.replace("\x1b", "\\x1b")
    assert shown in found.cells
    assert page.count("<script") == 1
    assert "\x1b" not in page


def test_the_page_has_the_numbers_of_the_summary(store, page):
    cells = Page(page).cells
    summary = summarize(store)
    for row in summary.cells.to_dict("records"):
        start = [row["scenario"].replace("\x1b", "\\x1b"), str(row["n"]), row["method"]]
        numbers = [
            format_proportion(row[name])
            for name in ("coverage", "coverage_mcse", "coverage_low", "coverage_high")
        ]
        line = [*start, *numbers, "yes" if row["keeps_level"] else "no"]
        assert any(cells[place : place + len(line)] == line for place in range(len(cells)))


def test_what_was_run_is_said(store, page):
    with Store.open(store) as opened:
        status = opened.status()
    assert status.n_failed > 0
    assert f"{status.n_done} of {status.n_total} replicates done, {status.n_failed} of them failed." in page
    assert "Settings: 500 resamples, inner 50, localization = n, seed 0." in page
    assert f"Methods: {', '.join(METHODS)}; nominal level 95%." in page
    assert re.search(r"Versions: python [\d.]+, cudbound [\d.]+", page)
    assert "not finished" not in page


def test_an_unfinished_study_says_so(tmp_path):
    store = store_of(tmp_path / "study.sqlite", n_replicates=4)
    with Store.open(store) as opened:
        assert opened.status().n_done == 16
    connection = sqlite3.connect(store)
    with connection:
        for table in ("replicates", "intervals", "timings"):
            connection.execute(f"DELETE FROM {table} WHERE replicate = 3")
    connection.close()
    write_report(store, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "12 of 16 replicates" in text
    assert "The study is not finished" in text


def test_the_same_store_gives_the_same_page(store, page, tmp_path):
    write_report(store, tmp_path / "again.html", "html")
    assert (tmp_path / "again.html").read_text("utf-8") == page


def test_the_overview_marks_what_misses_its_level_and_the_shortest_that_keeps_it(store):
    summary = summarize(store)
    table = summary.report()
    assert [column.key for column in table.columns] == ["scenario", "n", *METHODS]
    assert len(table.rows) == len(summary.scores.cells)
    for cell in summary.judged_cells.to_dict("records"):
        (row,) = [one for one in table.rows if (one["scenario"], one["n"]) == (cell["scenario"], cell["n"])]
        coverage, width, *mark = row[cell["method"]].split()
        assert (coverage, width) == (format_proportion(cell["coverage"]), format_proportion(cell["width"]))
        assert mark == (["+"] if cell["is_shortest"] else [] if cell["keeps_level"] else ["*"])


def test_csv_is_the_table_of_cells_unrounded(store, tmp_path):
    frame = summarize(store).cells
    read = pd.read_csv(write_report(store, tmp_path / "report.csv", "csv"), dtype=str, keep_default_na=False)
    assert list(read.columns) == list(frame.columns)
    for column in frame:
        if pd.api.types.is_float_dtype(frame[column]):
            numbers = [float(text or "nan") for text in read[column]]
            np.testing.assert_array_equal(numbers, frame[column])
        else:
            shown = frame[column].fillna("").astype(str).map(printable)
            assert read[column].tolist() == shown.tolist()


def test_every_column_of_a_table_has_values_and_every_note_ends(store, page):
    for table in tables_of(summarize(store)).values():
        assert all(list(row) == [column.key for column in table["columns"]] for row in table["rows"])
    notes = re.findall("<li>([A-Z].*)</li>", page)
    assert len(notes) > 30
    assert all(note.endswith(".") for note in notes)


def test_methods_of_another_estimand_have_a_table_of_their_own(store, page, tmp_path):
    title = "Coverage of the expected error at n1 training cases, for methods that aim at it"
    assert title in page
    alone = store_of(tmp_path / "study.sqlite", methods=("cud", "langford-binomial"))
    write_report(alone, tmp_path / "report.html")
    assert title not in (tmp_path / "report.html").read_text("utf-8")
    tables = ["aggregates", "samples", "cells", "expected", "widths", "centers", "differences"]
    assert list(tables_of(summarize(store))) == tables
    assert list(tables_of(summarize(alone))) == [name for name in tables if name != "expected"]


def test_a_study_without_the_reference_has_a_report(tmp_path):
    store = store_of(tmp_path / "study.sqlite", methods=("langford-binomial",))
    write_report(store, tmp_path / "report.html")
    assert Page((tmp_path / "report.html").read_text()).headings == [
        name for name in SECTIONS if name != "Compared with cud"
    ]


def test_the_rules_name_the_guarantee_of_exact_limits(page, tmp_path):
    assert "no finite-sample guarantee" in page
    store = store_of(tmp_path / "study.sqlite", methods=("langford-binomial", "test-set-clopper-pearson"))
    write_report(store, tmp_path / "report.html")
    assert "a finite-sample guarantee only for exact limits" in (tmp_path / "report.html").read_text()


def test_an_unknown_format_is_refused(store, tmp_path):
    with pytest.raises(ValueError, match=r"'format' parameter must be one of .* Got 'pdf' instead"):
        write_report(store, tmp_path / "report.pdf", "pdf")
    assert list(tmp_path.iterdir()) == []


def test_the_store_is_not_overwritten(tmp_path):
    store = store_of(tmp_path / "study.sqlite", n_replicates=2)
    before = store.read_bytes()
    with pytest.raises(
        ValueError, match=r"'output' parameter must not be the store itself\. .*study\.sqlite"
    ):
        write_report(store, store)
    assert store.read_bytes() == before


def test_a_store_without_replicates_is_refused(tmp_path):
    store = store_of(tmp_path / "study.sqlite", n_replicates=2)
    connection = sqlite3.connect(store)
    with connection:
        for table in ("intervals", "timings", "replicates"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()
    with pytest.raises(ValueError, match=r"study\.sqlite': it has no replicates yet; run the study first"):
        write_report(store, tmp_path / "report.html")


def test_a_missing_store_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.sqlite"):
        write_report(tmp_path / "nothing.sqlite", tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_missing_package_is_named(store, tmp_path, monkeypatch, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ImportError, match=rf"{package}.*, which is not installed; get it with: pip install .*{package}"
    ):
        write_report(store, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_csv_needs_neither(store, tmp_path, monkeypatch):
    for package in ("jinja2", "matplotlib"):
        monkeypatch.setitem(sys.modules, package, None)
    assert write_report(store, tmp_path / "report.csv", "csv")


def test_sizes_and_options_that_were_chosen_are_said(tmp_path):
    study = Study(
        "chosen",
        (Scenario("null", Coin(), LeastSquaresClassifier, rival=DummyClassifier),),
        (30, 50),
        5,
        ("5x2cv-t",),
        options={"5x2cv-t": {"repair": "none"}},
        sizes=ResamplingSizes(n_splits=7, test_fraction=0.25),
    )
    with Store.resume(tmp_path / "study.sqlite", study) as store:
        store.add([ReplicateRow(Key("null", 30, 0), 0.1, 0.0, 0.1, 0, None, (), 0.1)])
    write_report(tmp_path / "study.sqlite", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Scenarios: 1, at n = 30, 50; 5 replicates of each planned." in page
    assert "n_splits = 7, test_fraction = 0.25, n_halvings = 10" in page
    assert "Settings: seed 0." in page  # nothing of the bootstrap, which no comparison reads
    assert "Options: 5x2cv-t: repair = none." in page
    assert "; classifier LeastSquaresClassifier(); against DummyClassifier()." in page
