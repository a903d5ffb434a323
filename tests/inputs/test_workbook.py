"""Sheets of Excel workbooks are read as the CSV files that Excel saves of them."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pytest

from cudbound.inputs.data_file import CsvError, DataFile
from cudbound.inputs.parsed_file import read_data_file

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
    other.append(["age", "died"])
    other.append([7, 1])
    book.save(tmp_path / "patients.xlsx")
    return tmp_path / "patients.xlsx"


def test_the_first_sheet_is_read_unless_one_is_named(path):
    table = read_data_file(DataFile(path, "", ""))
    assert table.source == "patients.xlsx"
    assert tuple(table.cells) == ("age", "bmi", "seen", "smokes")
    assert table.cells.index.tolist() == [2, 4, 5]
    assert table.cells.to_numpy().tolist() == [
        ["30", "21.5", "2020-01-31", "TRUE"],
        ["41", "22", "2020-02-01 10:30:00", "FALSE"],
        ["52", "", "2020-03-01", "no"],
    ]
    assert read_data_file(DataFile(path, "", "", skip_rows=3)).cells.index.tolist() == [5]
    ward = read_data_file(DataFile(path, "", "", sheet="Ward 3"))
    assert ward.cells.to_numpy().tolist() == [["7", "1"]]


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


def saved(tmp_path: Path, **sheets: list[list[object]]) -> tuple[Path, openpyxl.Workbook]:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx", book


TABLE = [["age", "died"], [30, "no"], [41, "yes"], [52, "no"]]


def test_hidden_rows_and_columns_are_named(tmp_path):
    path, book = saved(tmp_path, One=TABLE)
    book["One"].row_dimensions[3].hidden = book["One"].column_dimensions["B"].hidden = True
    book["One"].row_dimensions[4].hidden = True
    book.save(path)
    table = read_data_file(DataFile(path, "", ""))
    assert len(table.cells) == 3
    assert table.warnings == (
        "sheet 'One' has hidden rows or columns, which are read like the others; delete what should not be used",
    )


@pytest.mark.parametrize("value", [1, None], ids=["filled", "only formatted"])
def test_a_sheet_of_too_many_cells_stops_early(tmp_path, monkeypatch, value):
    path, book = saved(tmp_path, One=TABLE)
    cell = book["One"].cell(1, 16_384, value)
    cell.font = openpyxl.styles.Font(bold=True)
    book.save(path)
    monkeypatch.setattr("cudbound.inputs.parsed_file.MOST_CELLS", 16_389)
    with pytest.raises(
        CsvError, match=r"'book.xlsx' is too large: at most 50 MB, unpacked, and 16,389 cells"
    ):
        read_data_file(DataFile(path, "", ""))


@pytest.mark.parametrize("size", [100, 2_000], ids=["the file", "its parts"])
def test_the_parts_of_a_workbook_are_summed_before_they_are_unpacked(tmp_path, monkeypatch, size):
    path, _ = saved(tmp_path, One=TABLE * 100)
    monkeypatch.setattr("cudbound.inputs.parsed_file.MOST_BYTES", path.stat().st_size + size - 100)
    with pytest.raises(CsvError, match=r"'book.xlsx' is too large: at most 0 MB, unpacked, and"):
        read_data_file(DataFile(path, "", ""))
