"""From text columns to X and y: what becomes a number, what is refused, and which line is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudbound.inputs.csv_columns import TrainingData, read_training_data
from cudbound.inputs.data_file import CsvError, DataFile

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
    with pytest.raises(CsvError, match=r"2 missing value\(s\) in 'data\.csv': 'a' 1, 'b' 1;"):
        read(tmp_path, text)


def test_a_copy_that_chance_may_have_made_is_none(tmp_path):
    """Of 6 rows, 2 of the 20 ways to choose 3 events are such a column."""
    assert read(tmp_path, "a,code,died\n1,7,yes\n2,3,no\n3,3,no\n5,7,yes\n4,7,yes\n2,3,no\n").X.shape == (
        6,
        2,
    )
