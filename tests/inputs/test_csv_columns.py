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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,died\n1,yes\n2,no\n3,maybe\n4,no\n",
            r"must have two classes; it has 3 values: 'yes' \(1 row\), 'no' \(2 rows\), 'maybe' \(1 row\)",
        ),
        ("a,died\n1,yes\n2,yes\n", r"must have two classes; it has one value: 'yes' \(2 rows\)"),
        (
            "a,died\n1,yes\n2,no\n3,no\n",
            r"each class of 'died' needs at least two rows; found 'yes' \(1 row\)",
        ),
        (
            "died\nyes\nno\n",
            "has one column, 'died', but a target and a feature are needed; name what separates",
        ),
        (
            "a,b,c,died\n1,5,2,yes\n1.0,6,2,no\n1,7,2,no\n1,8,2,yes\n",
            "column 'a', 'c' has the same value in every",
        ),
        (
            "a,code,died\n" + "1,7,yes\n2,3,no\n3,3,no\n5,7.0,yes\n" * 4,
            "column 'code' is a copy of the target 'died', with a single value per class",
        ),
        (
            "a,b,died\n1,inf,yes\n2,3,no\n3,1e999,no\n5,1,yes\n",
            r"infinite or beyond 1e\+100: column 'b' \('inf' on line 2\)",
        ),
        (
            "a,died\n1,yes\n2,no\n-1e101,no\n5,yes\n",
            r"infinite or beyond 1e\+100: column 'a' \('-1e101' on line 4",
        ),
        (
            "sex,grade,died\nm,1,yes\nf,b,no\nm,c,no\nf,d,yes\n",
            r"column 'sex' \('m' on line 2\), column 'grade' \('b' on line 3\); add --categorical COL",
        ),
        (
            "id,died\np1,yes\np2,no\np3,no\np4,yes\n",
            r"not numeric: column 'id' \('p1' on line 2\); drop such a column with --exclude COL",
        ),
        (
            "age,died\n31,yes\n42,no\n5o,no\n61,yes\n",
            r"not numeric: column 'age' \('5o' on line 4\); correct these cells",
        ),
        (
            'age,died\n"31,5",yes\n"42,1",no\n"50,0",no\n61,yes\n',
            "write these numbers with a decimal point and no other separators",
        ),
        ("a,died\n1_000,yes\n0x10,no\n3,no\n4,yes\n", r"not numeric: column 'a' \('1_000' on line 2\)"),
        (
            ",a,died\n1,5,yes\n2,6,no\n3,8,no\n4,7,yes\n",
            r'column 1 of \'data\.csv\' has no name in the header \(row numbers\?\).*--exclude "column 1"',
        ),
    ],
)
def test_data_that_cannot_be_used(tmp_path, text, message):
    with pytest.raises(CsvError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,age,died\n1,30,yes\n,31,no\n3,30,no\n4,32,yes\n",
            "the target 'age' must have two classes; it has 3 values: '30' (2 rows), '31' (1 row), '32' (1 row); "
            "keep all classes with --all-classes of cudbound interval, use one class against the rest as the target, "
            "for each class in turn, or choose another column with --target",
        ),
        (
            "x,age\n1,NA\n,\n",
            "the target 'age' must have two classes; it has no value; choose another column",
        ),
        (
            "x,age\n1,a\n,b\n3,a\n4,b\n",
            "--positive 'TRUE' is not a value of 'age'; found 'a' (2 rows), 'b' (2 rows); choose one of these",
        ),
    ],
)
def test_a_wrong_target_is_told_before_missing_values(tmp_path, text, message):
    with pytest.raises(CsvError) as caught:
        read(tmp_path, text, target="age", positive="TRUE")
    assert message in str(caught.value)


def test_a_copy_that_chance_may_have_made_is_none(tmp_path):
    """Of 6 rows, 2 of the 20 ways to choose 3 events are such a column."""
    assert read(tmp_path, "a,code,died\n1,7,yes\n2,3,no\n3,3,no\n5,7,yes\n4,7,yes\n2,3,no\n").X.shape == (
        6,
        2,
    )


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"target": "dead"}, "--target: no column 'dead' in 'data.csv'; did you mean 'died'?"),
        ({"target": "AGE"}, "did you mean 'age'?"),
        ({"target": "zzz"}, "the columns are 'age', 'sex', 'bmi', 'died'"),
        ({"categorical": ("sax",)}, "--categorical: no column 'sax' in 'data.csv'; did you mean 'sex'?"),
        ({"exclude": ("BMI",)}, "--exclude: no column 'BMI' in 'data.csv'; did you mean 'bmi'?"),
        ({"exclude": ("died",)}, "column 'died' is named in both --target and --exclude"),
        ({"categorical": ("died",)}, "column 'died' is named in both --target and --categorical"),
        (
            {"categorical": ("sex",), "exclude": ("sex",)},
            "'sex' is named in both --categorical and --exclude",
        ),
    ],
)
def test_choices_that_do_not_fit_the_columns(tmp_path, choice, message):
    with pytest.raises(CsvError) as caught:
        read(tmp_path, CLEAN, **choice)
    assert message in str(caught.value)
