"""Sheets of Excel workbooks are read as the CSV files that Excel saves of them."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pytest

from cudbound.inputs.csv_file import CsvError, DataFile
from cudbound.inputs.workbook import read_data_file

openpyxl = pytest.importorskip("openpyxl")
ROWS = [
    ["age", "bmi", "seen", "smokes", None, None],
    [30, 21.5, datetime.datetime(2020, 1, 31), True, None, None],
    [None, None, None, None, None, None],
    [41.0, " 22 ", datetime.datetime(2020, 2, 1, 10, 30), False, "", None],
    [52, None, datetime.date(2020, 3, 1), "no"],
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    other = book.create_sheet("Ward 3")
    other.append(["age"])
    other.append([7])
    book.save(tmp_path / "patients.xlsx")
    return tmp_path / "patients.xlsx"


def test_the_first_sheet_is_read_unless_one_is_named(path):
    table = read_data_file(DataFile(path, "", ""))
    assert table.source == "patients.xlsx"
    assert table.names == ("age", "bmi", "seen", "smokes")
    assert table.lines == (2, 4, 5)
    assert table.records == (
        ("30", "21.5", "2020-01-31", "TRUE"),
        ("41", "22", "2020-02-01 10:30:00", "FALSE"),
        ("52", "", "2020-03-01", "no"),
    )
    assert read_data_file(DataFile(path, "", "", skip_rows=1)).names == ("30", "21.5", "2020-01-31", "TRUE")
    assert read_data_file(DataFile(path, "", "", sheet="Ward 3")).records == (("7",),)


def test_what_cannot_be_read_is_said(path, tmp_path, monkeypatch):
    with pytest.raises(
        CsvError, match=r"--sheet: no sheet 'x' in 'patients.xlsx'; the sheets are 'Sheet', 'Ward 3'"
    ):
        read_data_file(DataFile(path, "", "", sheet="x"))
    text = tmp_path / "data.csv"
    text.write_text("age\n1\n")
    with pytest.raises(CsvError, match=r"--sheet: 'data.csv' is not an .xlsx workbook"):
        read_data_file(DataFile(text, "", "", sheet="x"))
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(
        CsvError, match=r"'patients.xlsx' cannot be read as an Excel workbook, BadZipFile; save it as CSV"
    ):
        read_data_file(DataFile(path, "", ""))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(CsvError, match=r"is an Excel workbook: save it as CSV .* pip install 'openpyxl>="):
        read_data_file(DataFile(path, "", ""))
