"""Reading CSV files as text: what is a clean table, and the line that is named when a file is not one."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from cudbound.inputs.csv_file import CsvError, quoted, read_csv_file


def write(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_cells_and_lines(tmp_path):
    table = read_csv_file(write(tmp_path, "age, sex\n 30,m\n41, f \n"))
    assert table.names == ("age", "sex")
    assert table.records == (("30", "m"), ("41", "f"))
    assert table.lines == (2, 3)
    assert table.source == "data.csv"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path, end, last):
    text = end.join(["a,b", "1,2", "3,4"]) + (end if last else "")
    table = read_csv_file(write(tmp_path, text))
    assert table.records == (("1", "2"), ("3", "4"))
    assert table.lines == (2, 3)


def test_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    assert read_csv_file(write(tmp_path, b"\xef\xbb\xbfage,b\n1,2\n")).names == ("age", "b")


def test_quoted_cells_hold_delimiters_quotes_and_line_ends(tmp_path):
    table = read_csv_file(write(tmp_path, 'a,"b, c"\n"x\ny\nz","say ""hi"""\n5,6\n'))
    assert table.names == ("a", "b, c")
    assert table.records == (("x\ny\nz", 'say "hi"'), ("5", "6"))
    assert table.lines == (2, 5)  # the first record fills lines 2 to 4


def test_records_without_content_are_left_out_but_counted(tmp_path):
    table = read_csv_file(write(tmp_path, "a,b\n\n1,2\n,\n3,4\n\n"))
    assert table.records == (("1", "2"), ("3", "4"))
    assert table.lines == (3, 5)


def test_columns_without_a_name_are_called_after_their_place(tmp_path):
    table = read_csv_file(write(tmp_path, '"",a,\n1,2,3\n'))
    assert table.names == ("column 1", "a", "column 3")
    assert table.unnamed == {"column 1", "column 3"}


def test_columns_without_any_content_are_left_out(tmp_path):
    table = read_csv_file(write(tmp_path, "a,,b,,\n1,,2,,\n3,,4,5,\n"))
    assert table.names == ("a", "b", "column 4")
    assert table.records == (("1", "2", ""), ("3", "4", "5"))
    assert table.unnamed == {"column 4"}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters(tmp_path, delimiter):
    path = write(tmp_path, f"a{delimiter}b\n1,5{delimiter}2\n")
    assert read_csv_file(path, delimiter=delimiter).records == (("1,5", "2"),)


@pytest.mark.parametrize(("delimiter", "option"), [(";", "';'"), ("\t", "'tab'"), ("|", "'|'")])
def test_another_delimiter_is_detected_and_named(tmp_path, delimiter, option):
    path = write(tmp_path, f"a{delimiter}b\n1,5{delimiter}2\n")
    with pytest.raises(CsvError, match=re.escape(f"add --delimiter {option}")):
        read_csv_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"'data\.csv' is empty"),
        (b"\n\n", r"'data\.csv' is empty"),
        (b"\xef\xbb\xbf", r"'data\.csv' is empty"),
        (b"a,b\n", "a header line but no data"),
        (b"a,b\n,\n", "a header line but no data"),
        (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, the header has 2; put text that contains"),
        (b"a,b\n1\n", "line 2 has one cell, the header has 2; if it is a footer or a note, delete it"),
        (b"a,b,a,b,c\n1,2,3,4,5\n", r"more than one column is called 'a', 'b' \(line 1\)"),
        (b"a,a \n1,2\n", "more than one column is called 'a'"),
        (b"column 2,\n1,2\n", "more than one column is called 'column 2'"),
        (b"a,b\n1,gr\xf6\xdfe\n", r"not UTF-8 text \(line 2\); save it as 'CSV UTF-8'"),
        ("a,b\n1,2\n".encode("utf-16"), "not UTF-8 text"),
        (b"PK\x03\x04\x00\x00", "not a CSV file: it contains null characters"),
        (b'a,b\n1,2\n"3,4\n', "the record that begins on line 3: unexpected end of data"),
        (b'a,b\n1,"2"3\n', "the record that begins on line 2: ',' expected after '\"'"),
        (b"a,b\n1," + b"9" * 200_000 + b"\n", "line 2: field larger than field limit"),
    ],
)
def test_files_that_are_no_clean_table(tmp_path, content, message):
    with pytest.raises(CsvError, match=message):
        read_csv_file(write(tmp_path, content))


def test_no_such_file(tmp_path):
    with pytest.raises(CsvError, match=r"no such file: '.*nowhere\.csv'"):
        read_csv_file(tmp_path / "nowhere.csv")


def test_folder(tmp_path):
    with pytest.raises(CsvError, match=r"cannot read .*: Is a directory"):
        read_csv_file(tmp_path)


def test_a_path_that_no_file_can_have():
    with pytest.raises(CsvError, match=r"cannot read 'a\\x00b': embedded null byte"):
        read_csv_file("a\0b")


def test_system_error_is_passed_on_in_one_line(tmp_path, monkeypatch):
    path = write(tmp_path, "a,b\n1,2\n")

    def refuse(path: Path, mode: str) -> bytes:
        raise PermissionError(13, os.strerror(13), str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CsvError, match=r"cannot read '.*data\.csv': Permission denied"):
        read_csv_file(path)


def test_foreign_names_are_escaped_and_cut_in_messages(tmp_path):
    name = "\x1b]0;owned\x07\u202e"
    with pytest.raises(CsvError) as caught:
        read_csv_file(write(tmp_path, f"{name},{name}\n1,2\n"))
    assert str(caught.value).isprintable()
    assert r"\x1b]0;owned\x07\u202e" in str(caught.value)
    assert len(quoted("x" * 1000)) < 70


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\x00\xff\x00", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_a_workbook_is_told_from_a_damaged_file(tmp_path, content):
    path = tmp_path / "patients.xlsx"
    path.write_bytes(content)
    with pytest.raises(CsvError, match=r"'patients\.xlsx' is an Excel workbook: save it as CSV"):
        read_csv_file(path)


@pytest.mark.parametrize(
    ("content", "message", "n"),
    [
        ("Ward 3\na,b\n1,2\n3,4\n", "line 1 has one cell, line 2 has 2", 1),
        ("Ward 3,,\n\nof 2024,,\na,b,c\n1,2,3\n3,4,\n", "line 1 has one cell, line 4 has 3", 3),
        ('"Ward\r\n3"\r\na,b\r\n1,2\r\n3,4\r\n', "line 1 has one cell, line 3 has 2", 2),
    ],
)
def test_a_title_is_told_and_skipped(tmp_path, content, message, n):
    path = write(tmp_path, content)
    with pytest.raises(CsvError, match=rf"{message}: is the text above .* --skip-rows {n}$") as caught:
        read_csv_file(path)
    assert caught.value.instead == {"skip_rows": n}
    table = read_csv_file(path, skip_rows=n)
    assert table.names[:2] == ("a", "b")
    assert table.lines == (n + 2, n + 3)
    with pytest.raises(CsvError, match="is empty"):
        read_csv_file(path, skip_rows=9)


def test_the_delimiter_below_a_title(tmp_path):
    path = write(tmp_path, "Ward 3\nid;age;bmi\n1;30;21,5\n2;40;22,5\n")
    with pytest.raises(CsvError, match="it seems to be separated by ';'"):
        read_csv_file(path)
    with pytest.raises(CsvError, match="--skip-rows 1"):
        read_csv_file(path, delimiter=";")
    quoted_cells = write(tmp_path, 'a,b\n"x;y;z",1\n"x;y;z",2\n')
    assert len(read_csv_file(quoted_cells).records) == 2


def test_a_total_is_no_case(tmp_path):
    with pytest.raises(
        CsvError, match=r"line 4, the last one, begins with 'Total:'; delete it if it contains totals"
    ):
        read_csv_file(write(tmp_path, "a,b\n1,2\n3,4\nTotal:,6\n"))
    assert len(read_csv_file(write(tmp_path, "a,b\nsum,2\nmean,4\nsum,6\n")).records) == 3


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_not_read_beyond_the_limit(tmp_path, monkeypatch, packed):
    content = b"a,b\n" + b"1,2\n" * 1000
    path = tmp_path / ("data.csv.gz" if packed else "data.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert len(read_csv_file(path).records) == 1000
    monkeypatch.setattr("cudbound.inputs.csv_file.MOST_BYTES", 2**11)
    size = r"more than 0 MB unpacked" if packed else r"0 MB"
    with pytest.raises(
        CsvError, match=rf"has {size}; at most 0 MB are read, which is enough for 200 patients"
    ):
        read_csv_file(path)


def test_a_compressed_file_that_was_cut_is_named(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n")[:-9])
    with pytest.raises(CsvError, match=r"cannot read '.*data.csv.gz': Compressed file ended"):
        read_csv_file(path)
