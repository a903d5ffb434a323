"""CSV files as text, the line that is named when one is no table, and from its columns to X and y."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudbound.inputs.csv_columns import TrainingData, read_training_data
from cudbound.inputs.data_file import CsvError, DataFile, to_drop
from cudbound.inputs.parsed_file import Table, read_data_file

# ---- reading CSV files as text ----


def read_csv_file(path: Path | str, **reading: Any) -> Table:
    return read_data_file(DataFile(Path(path), "", "", **reading))


def records(table: Table) -> list[list[str]]:
    return table.cells.to_numpy().tolist()


def write(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_cells_and_lines(tmp_path):
    table = read_csv_file(write(tmp_path, "age, sex\n 30,m\n41, f \n"))
    assert tuple(table.cells) == ("age", "sex")
    assert records(table) == [["30", "m"], ["41", "f"]]
    assert table.cells.index.tolist() == [2, 3]
    assert table.source == "data.csv"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path, end, last):
    text = end.join(["a,b", "1,2", "3,4"]) + (end if last else "")
    table = read_csv_file(write(tmp_path, text))
    assert records(table) == [["1", "2"], ["3", "4"]]
    assert table.cells.index.tolist() == [2, 3]


def test_quoted_cells_hold_delimiters_quotes_and_line_ends(tmp_path):
    table = read_csv_file(write(tmp_path, 'a,"b, c"\n"x\ny\nz","say ""hi"""\n5,6\n'))
    assert tuple(table.cells) == ("a", "b, c")
    assert records(table) == [["x\ny\nz", 'say "hi"'], ["5", "6"]]
    assert table.cells.index.tolist() == [2, 5]  # the first record fills lines 2 to 4


def test_records_without_content_are_left_out_but_counted(tmp_path):
    table = read_csv_file(write(tmp_path, "a,b\n\n1,2\n,\n3,4\n\n"))
    assert records(table) == [["1", "2"], ["3", "4"]]
    assert table.cells.index.tolist() == [3, 5]


def test_columns_without_a_name_are_called_after_their_place(tmp_path):
    table = read_csv_file(write(tmp_path, '"",a,\n1,2,3\n'))
    assert tuple(table.cells) == ("column 1", "a", "column 3")
    assert table.unnamed == {"column 1", "column 3"}


def test_blank_cells_after_the_last_column_and_invisible_characters_are_left_out(tmp_path):
    table = read_csv_file(write(tmp_path, "a,b\n1\u200b,\ufeff2,\n3,\u200e-4\u00ad,,\n"))
    assert records(table) == [["1", "2"], ["3", "-4"]]
    last = read_csv_file(write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n7,,\n"))  # a case of which little is known
    assert records(last)[-1] == ["7", "", ""]


PEOPLE = "Größe,Alter\n-1,männlich\n"


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_delimiter_is_recognized(tmp_path, delimiter):
    path = write(tmp_path, f"a{delimiter}b\n1,5{delimiter}2\n")
    assert records(read_csv_file(path)) == records(read_csv_file(path, delimiter=delimiter)) == [["1,5", "2"]]


def test_a_delimiter_in_quotes_or_notes_is_none(tmp_path):
    notes = write(tmp_path, "a\tb\n1\tx, y, z\n2\tu, v, w, x\n")
    assert records(read_csv_file(notes)) == [["1", "x, y, z"], ["2", "u, v, w, x"]]
    quoted_cells = write(tmp_path, 'a,b\n"x;y;z",1\n"x;y;z",2\n')
    assert records(read_csv_file(quoted_cells)) == [["x;y;z", "1"], ["x;y;z", "2"]]
    below_a_title = write(tmp_path, "Ward 3\nid;age;bmi\n1;30;21,5\n2;40;22,5\n")
    assert read_csv_file(below_a_title, skip_rows=1).cells.columns.tolist() == ["id", "age", "bmi"]


@pytest.mark.parametrize(("encoding", "mark"), [("utf-16", ""), ("utf-16-be", "\ufeff")])
def test_unicode_is_recognized(tmp_path, encoding, mark):
    table = read_csv_file(write(tmp_path, (mark + PEOPLE).encode(encoding)))
    assert tuple(table.cells) == ("Größe", "Alter")
    assert table.warnings == ()


def test_another_encoding_is_told(tmp_path):
    path = write(tmp_path, PEOPLE.encode("cp1252"))
    assert read_csv_file(path).warnings == (
        "'data.csv' is not UTF-8 text and was read as cp1252: check words such as 'Größe'; if they are wrong, save the "
        "file as UTF-8",
    )


@pytest.mark.parametrize(
    ("content", "message", "n"),
    [
        ("Ward 3\na,b\n1,2\n3,4\n", "line 1 has 1 cell, line 2 has 2", 1),
        ("Ward 3,,\n\nof 2024,,\na,b,c\n1,2,3\n3,4,\n", "line 1 has 1 cell, line 4 has 3", 3),
        ("Ward 3\nMay, Dr. X\na,b,c,d\n1,2,3,4\n3,4,5,6\n", "line 1 has 1 cell, line 3 has 4", 2),
        ('"Ward\r\n3"\r\na,b\r\n1,2\r\n3,4\r\n', "line 1 has 1 cell, line 3 has 2", 2),
    ],
)
def test_a_title_is_told_and_skipped(tmp_path, content, message, n):
    path = write(tmp_path, content)
    with pytest.raises(CsvError, match=rf"{message}: is the text above .* --skip-rows {n}$"):
        read_csv_file(path)
    table = read_csv_file(path, skip_rows=n)
    assert table.cells.columns.tolist()[:2] == ["a", "b"]
    assert table.cells.index.tolist() == [n + 2, n + 3]
    with pytest.raises(CsvError, match="has no data"):
        read_csv_file(path, skip_rows=9)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_not_read_beyond_the_limit(tmp_path, monkeypatch, packed):
    content = b"a,b\n" + b"1,2\n" * 1000
    path = tmp_path / ("data.csv.gz" if packed else "data.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert len(read_csv_file(path).cells) == 1000
    monkeypatch.setattr("cudbound.inputs.parsed_file.MOST_BYTES", 2**11)
    with pytest.raises(CsvError, match=r"is too large: at most 0 MB, unpacked, and 4,000,000 cells"):
        read_csv_file(path)


def test_a_compressed_file_that_was_cut_is_named(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n")[:-9])
    with pytest.raises(CsvError, match=r"cannot read '.*data.csv.gz': Compressed file ended"):
        read_csv_file(path)


def test_a_row_of_totals_has_no_class(tmp_path):
    with pytest.raises(CsvError, match=r"must have two classes; found 'yes' .*, 'no' .*, '2' "):
        read(tmp_path, "a,died\n1,yes\n3,no\n5,yes\n6,no\n4,2\n")
    with pytest.raises(CsvError, match=r"1 missing value in 'data.csv': 'died' 1;"):
        read(tmp_path, "a,died\n1,yes\n3,no\n5,yes\n6,no\n4,\n")


# ---- from text columns to X and y ----


CLEAN = "age,sex,bmi,died\n30,m,21.5,yes\n41,f,1e1,no\n52,f,-.5,yes\n63,m,+7,no\n"


def read(
    tmp_path: Path,
    text: str,
    *,
    target: str = "died",
    positive: str = "yes",
    categorical: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
) -> TrainingData:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    return read_training_data(DataFile(path, target, positive, categorical, exclude))


def test_numbers_and_labels(tmp_path):
    data = read(tmp_path, CLEAN, exclude=("sex",))
    assert data.feature_names == ("age", "bmi")
    np.testing.assert_array_equal(data.X, [[30, 21.5], [41, 10], [52, -0.5], [63, 7]])
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.classes == ("no", "yes")
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous


def test_k_levels_become_k_minus_one_indicators(tmp_path):
    """Levels a, b, c in sorted order; a is the reference, whatever the order of the rows."""
    text = "g,died\nc,yes\na,no\nb,yes\na,no\nc,no\n"
    data = read(tmp_path, text, categorical=("g",))
    assert data.feature_names == ("g=b", "g=c")
    np.testing.assert_array_equal(data.X, [[0, 1], [0, 0], [1, 0], [0, 0], [0, 1]])


def test_floats_are_read_to_the_last_digit(tmp_path):
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    rows = "".join(f"{float(value)!r},{'yes' if i % 3 else 'no'}\n" for i, value in enumerate(values))
    np.testing.assert_array_equal(read(tmp_path, "x,died\n" + rows).X.ravel(), values)


@pytest.mark.parametrize("positive", ["1", "1.0", " 1 ", "1e0"])
@pytest.mark.parametrize("written", ["1", "1.0", "01"])
def test_labels_that_are_numbers_are_compared_as_numbers(tmp_path, positive, written):
    text = f"x,died\n1,{written}\n2,0\n3,0.0\n4,{written}\n"
    data = read(tmp_path, text, positive=positive)
    assert data.y.tolist() == [1, 0, 0, 1]
    assert data.classes == ("0", written)


def test_labels_that_differ_in_case_or_blanks_are_equal(tmp_path):
    text = CLEAN.replace("41,f,1e1,no", "41,f,1e1,No ").replace("30,m,21.5,yes", '30,m,21.5," YES"')
    data = read(tmp_path, text, positive="Yes", exclude=("sex",))
    assert data.classes == ("No", "YES")
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.warnings[0].startswith(
        "column 'died': 'No' (1), 'no' (1); 'YES' (1), 'yes' (1) differ only in case"
    )
    with pytest.raises(
        CsvError, match=r"--positive 'Y' is not a value of 'died'; found 'yes' \(2 rows\), 'no'"
    ):
        read(tmp_path, CLEAN, positive="Y", exclude=("sex",))


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "#N/A", "NaN", "<NA>", "null", ".", "?"])
def test_missing_values_are_counted_by_column(tmp_path, cell):
    text = f"a,b,died\n1,2,yes\n\n3,{cell},no\n{cell},5,yes\n6,7,no\n"
    with pytest.raises(CsvError, match=r"2 missing values in 'data\.csv': 'a' 1, 'b' 1;"):
        read(tmp_path, text)


def test_only_features_are_said_to_be_filled(tmp_path):
    """A missing label stops --missing median, so the message does not propose it."""
    with pytest.raises(CsvError, match=r"removes these rows; or drop a column") as stopped:
        read(tmp_path, "a,died\n1,yes\n,no\n3,\n4,no\n5,yes\n")
    assert "median" not in str(stopped.value)


def test_a_copy_of_the_target_is_refused_unless_chance_may_have_made_it(tmp_path):
    rows = "1,7,yes\n2,3,no\n3,3,no\n5,7,yes\n4,7,yes\n2,3,no\n"
    assert read(tmp_path, f"a,code,died\n{rows}").X.shape == (6, 2)
    more = rows + "".join(f"{row},{(3, 7)[row % 2]},{('no', 'yes')[row % 2]}\n" for row in range(6, 20))
    with pytest.raises(
        CsvError, match="'code' has a single value per class of the target, like a copy of it; drop"
    ):
        read(tmp_path, f"a,code,died\n{more}")


def test_whole_numbers_that_differ_beyond_15_digits_are_no_feature(tmp_path):
    rows = "".join(f"{row},{10**17 + row % 3},{('no', 'yes')[row % 2]}\n" for row in range(6))
    with pytest.raises(
        CsvError, match="'code' has whole numbers of more than 15 digits, as identifiers do; drop"
    ):
        read(tmp_path, f"a,code,died\n{rows}")


def test_columns_without_use_are_named_in_one_sentence():
    assert to_drop(["'a'"], "is empty") == "column 'a' is empty; drop it with --exclude COL"
    assert to_drop(["'a'", "'b'"], "is empty") == "columns 'a', 'b' are empty; drop them with --exclude COL"
