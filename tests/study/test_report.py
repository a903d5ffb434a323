"""Reports of studies: every format, in order, with the numbers of the summary, and safe with foreign names."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from html_pages import Page
from study_frames import METHODS, store_of

from cudbound.basis.words import format_proportion, printable
from cudbound.study.study_report import write_report
from cudbound.study.summary import summarize

HOSTILE = "<script>alert('x')</script> & $a_b$ \\input{x} | \x1b[2J"


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return store_of(tmp_path_factory.mktemp("study") / "study.sqlite", scenarios=("null", HOSTILE))


@pytest.fixture(scope="module")
def page(store, tmp_path_factory) -> str:
    output = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(store, output) == output
    return output.read_text("utf-8")


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


def test_the_overview_marks_what_misses_its_level_and_the_shortest_that_keeps_it(store):
    summary = summarize(store)
    table = summary.report()
    assert [column.key for column in table.columns] == ["scenario", "n", *METHODS]
    assert len(table.rows) == len(summary.samples)
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


def test_the_store_is_not_overwritten(tmp_path):
    store = store_of(tmp_path / "study.sqlite", n_replicates=2)
    before = store.read_bytes()
    with pytest.raises(
        ValueError, match=r"'output' parameter must be another file than the store.*study\.sqlite"
    ):
        write_report(store, store)
    assert store.read_bytes() == before


def test_a_store_without_replicates_is_refused(tmp_path):
    store = store_of(tmp_path / "study.sqlite", n_replicates=2)
    connection = sqlite3.connect(store)
    with connection:
        connection.execute("DELETE FROM replicates")
    connection.close()
    with pytest.raises(ValueError, match=r"study\.sqlite': it has no replicates yet; run the study first"):
        write_report(store, tmp_path / "report.html")
