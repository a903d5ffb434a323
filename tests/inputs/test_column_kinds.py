"""What a column of texts holds, and which of them `--categorical auto` does not take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cudbound.inputs.csv_columns import TrainingData, read_training_data
from cudbound.inputs.data_file import (
    CsvError,
    DataFile,
    is_id_name,
    key_of,
    kind_of,
    numbers_the_rows,
)
from cudbound.inputs.suspicions import is_far

N = 40


def read(tmp_path: Path, columns: dict[str, list[Any]], **roles: Any) -> TrainingData:
    path = tmp_path / "data.csv"
    n = len(next(iter(columns.values())))
    died = ["yes" if i * i % 7 in (1, 2) else "no" for i in range(n)]
    pd.DataFrame({**columns, "died": died}).to_csv(path, index=False)
    return read_training_data(DataFile(path, "died", "yes", **roles))


def cycled(*texts: str) -> list[str]:
    return [texts[i % len(texts)] for i in range(N)]


AGES = [str(30 + 7 * i % 41) for i in range(N)]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (cycled("1", "2.5", "-3e2"), "numbers"),
        (cycled("21,5", "22,75", "23"), "numbers with separators"),
        (cycled("20", "22,75", "23", "24"), "numbers with separators"),
        (cycled("2020-01-31", "2020-02-01"), "dates"),
        (cycled("31.1.2020", "1.2.20", "unknown"), "dates"),
        (cycled("2020-01-31 12:30", "2020-02-01T08:00:00Z"), "dates"),
        (cycled("3 Jan 2020", "March 4, 2021"), "dates"),
        (cycled("74 years", "81 years", "60 y", "70", "71 years", "55 years"), "text"),
        (cycled("5%", "7%", "8 %"), "text"),
        (cycled("1a", "1b", "2a", "2b", "3a"), "text"),
        (cycled("1st", "2nd", "3rd"), "text"),
        (cycled("5 mg", "10 mg"), "text"),
        (cycled("30", "31", "3O"), "numbers with slips"),
        (cycled("<5", *(str(i) for i in range(12)), *["<5"] * 13), "numbers with slips"),
        (cycled(*(f"({i}.5)" for i in range(12))), "IDs or free text"),
        (cycled(*(f"\u20132.{i}" for i in range(12))), "numbers"),
        (cycled("1+", "2+", "neg"), "text"),
        (cycled(*(f"P{i}" for i in range(9))), "IDs or free text"),
        (cycled(*(f"P{i}" for i in range(8))), "text"),
        (["a", "b", "c", "a", "b"], "text"),
        (["a", "b", "c"], "IDs or free text"),
        (cycled("Male", "male", "F"), "text"),
        ([], "nothing"),
        # at the edge of each rule: exactly half are dates or numbers; as many levels as a category has
        (cycled("2020-01-31", "2020-02-01", "x", "y"), "text"),
        (cycled("2020-01-31", "2020-02-01", "2020-02-03", "x"), "dates"),
        (cycled("5 mg", "6 mg", "7 mg", "a", "b", "c")[:36], "text"),
        (cycled("5 mg", "6 mg", "7 mg", "8 mg", "a", "b")[:36], "text"),
        (cycled("1", "x"), "text"),
        (cycled("1", "2", "x")[:39], "numbers with slips"),
        ([*"abcdeabcdeabcdeabcde"], "text"),
        ([*"abcdefabcdefabcdef"], "IDs or free text"),
    ],
)
def test_kinds(texts, kind):
    assert kind_of("x", pd.Series(texts, dtype=object)) == kind


@pytest.mark.parametrize(
    "name", ["id", "Patient ID", "patient_id", "PatientID", "MRN", "patient", "subject-no", "Name", "case id"]
)
def test_names_of_identifiers(name):
    assert is_id_name(name)
    assert kind_of(name, pd.Series(cycled("a", "b"), dtype=object)) == "IDs or free text"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            {"bmi": cycled("21,5", "22,75")},
            "not plain numbers, but numbers with separators: column 'bmi' ('21,5' on line 2); "
            "add --decimal ','",
        ),
        (
            {"seen": cycled("2020-01-31", "2020-02-01")},
            "not plain numbers, but dates: column 'seen' ('2020-01-31' on line 2); convert dates to numbers",
        ),
        (
            {"patient": cycled(*(f"P{i}" for i in range(20)))},
            "IDs or free text: column 'patient' ('P0' on line 2, 20 different texts on 40 rows); drop such a column "
            "with --exclude COL, use --group COL if it identifies the rows of one patient, or --categorical COL if its "
            "texts are levels",
        ),
    ],
)
def test_auto_refuses_what_is_no_category(tmp_path, column, message):
    with pytest.raises(CsvError) as caught:
        read(tmp_path, {"x": AGES, **column}, categorical=["auto"])
    assert message in str(caught.value)


def test_all_such_columns_are_told_at_once(tmp_path):
    columns = {
        "id": cycled("a", "b"),
        "bmi": cycled("1,5", "2,5"),
        "\x1b[1m": cycled("3,5", "2,5"),
        "x": AGES,
    }
    with pytest.raises(CsvError) as caught:
        read(tmp_path, columns, categorical=["auto"])
    said = str(caught.value)
    assert "column 'id' ('a' on line 2, 2 different texts on 40 rows)" in said
    assert (
        "; numbers with separators: column 'bmi' ('1,5' on line 2), column '\\x1b[1m' ('3,5' on line 2); "
        in said
    )
    assert said.isprintable()


@pytest.mark.parametrize("categorical", ["sex", "auto"])
def test_levels_that_differ_in_case_only_are_one(tmp_path, categorical):
    sexes = [*cycled("male", "female")[:-3], "Male", " FEMALE ", "male"]
    data = read(tmp_path, {"x": AGES, "sex": sexes}, categorical=[categorical])
    assert data.feature_names == ("x", "sex=male")
    assert data.X[:, 1].tolist() == [float(one.strip().lower() == "male") for one in sexes]
    assert data.warnings == (
        "column 'sex': 'male' (20), 'Male' (1); 'female' (18), 'FEMALE' (1) differ only in case or blanks and are "
        "treated as one level; if they are different, change their spelling in the file",
    )


# --- decimal commas


def test_decimal_commas_are_read_on_request(tmp_path):
    bmi = [f"{20 + i % 7},{i % 10}" for i in range(N)]
    weights = cycled("1,5", "2")
    data = read(
        tmp_path, {"x": AGES, "bmi": bmi, "w": weights}, decimal=",", weight="w", categorical=["auto"]
    )
    assert data.feature_names == ("x", "bmi")
    assert data.X[:, 1].tolist() == [float(one.replace(",", ".")) for one in bmi]
    assert data.weights.tolist() == [1.5, 2.0] * (N // 2)


@pytest.mark.parametrize("cell", ["21.5", "-.5", "1.500", "1.500,5", "1 500,5"])
def test_other_numbers_beside_decimal_commas_are_refused(tmp_path, cell):
    with pytest.raises(CsvError) as caught:
        read(tmp_path, {"x": AGES, "bmi": ["21,5", cell, *cycled("1", "2")[2:]]}, decimal=",")
    assert str(caught.value) == (
        f"--decimal ',': numbers of another form: column 'bmi' ('{cell}' on line 3); give the options by which all "
        "numbers of the file are read, or write them with the same separators"
    )


@pytest.mark.parametrize(
    ("cells", "options", "numbers"),
    [
        (["2,915", "1,250,000", "850"], {"thousands": ","}, [2915, 1250000, 850]),
        (["2,915.5", "-1,250", "8.5"], {"thousands": ","}, [2915.5, -1250, 8.5]),
        (["2.915", "1.250,5", "850"], {"decimal": ",", "thousands": "."}, [2915, 1250.5, 850]),
        (["2'915", "1\u2019250.5", "850"], {"thousands": "'"}, [2915, 1250.5, 850]),
        (
            ["2 915", "1\u00a0250", "1\u202f250,5"],
            {"decimal": ",", "thousands": "space"},
            [2915, 1250, 1250.5],
        ),
        (["\u22122", "2", "\u22120.5"], {}, [-2, 2, -0.5]),
        (["\u22122,5", "2", "1e\u22123"], {"decimal": ","}, [-2.5, 2, 0.001]),
    ],
)
def test_numbers_with_separators_are_read_by_their_options(tmp_path, cells, options, numbers):
    data = read(tmp_path, {"x": AGES, "plt": cycled(*cells)}, **options)
    assert data.X[:3, 1].tolist() == numbers
    assert data.warnings == ()


@pytest.mark.parametrize(
    ("cells", "way"),
    [
        (
            ["2,915", "1,250", "850"],
            "add --thousands ',' if the comma separates thousands (2,915 is 2915), or --decimal ',' if it does not "
            "(2,915 is 2.915)",
        ),
        (["2,915", "1,250", "850.5"], "add --thousands ',', or write these"),
        (["2,915", "1,25", "850"], "add --decimal ',', or write these"),
        (["1.250.000", "2.915", "850"], "add --decimal ',' --thousands '.', or write these"),
        (["2 915", "1 250", "2 100", "850"], "add --thousands space, or write these"),
        (["2'915", "1'250", "2'100", "850"], 'add --thousands "\'", or write these'),
        (["2,915", "12,5", "1.5"], "; write these numbers with a decimal point and no other separators"),
    ],
)
def test_what_a_separator_means_is_not_guessed(tmp_path, cells, way):
    for options in ({}, {"categorical": ["auto"]}):
        with pytest.raises(CsvError, match=re.escape(way)):
            read(tmp_path, {"x": AGES, "plt": cycled(*cells)}, **options)


@pytest.mark.parametrize(
    ("cells", "other", "options", "asked"),
    [
        (["2.915", "1.250"], AGES, {}, None),
        (["2,915", "1,250"], AGES, {"decimal": ","}, None),
        (
            ["2,915", "850"],
            cycled("13,7", "8", "9"),
            {"decimal": ","},
            "(2915), write them without separators in the file",
        ),
        (["2.915", "850"], cycled("13.7", "8", "9"), {}, "(2915), write them without separators in the file"),
        (["2,915", "1,250"], cycled("13,7", "8", "9"), {"decimal": ","}, None),
        (["2.915", "1.250"], cycled("13.7", "8", "9"), {}, None),
        (["0.915", "1.250"], AGES, {}, None),
        (["2.915", "1.25"], AGES, {}, None),
    ],
)
def test_numbers_that_may_be_thousands_are_questioned(tmp_path, cells, other, options, asked):
    data = read(
        tmp_path,
        {"x": other, "plt": cycled(*cells), "y": AGES},
        **options,
        exclude=[] if other != AGES else ["y"],
    )
    found = [said for said in data.warnings if "column 'plt'" in said]
    assert len(found) == (asked is not None)
    assert all(asked in said and "is read as 2.915" in said for said in found)


# --- texts that mean a missing value


@pytest.mark.parametrize("given", [["-", "unknown", "999"], ["UNKNOWN", "-", " 999.0"]])
def test_further_texts_mean_a_missing_value(tmp_path, given):
    columns = {
        "x": ["999", "-", *AGES[2:]],
        "site": cycled("n", "s", "Unknown", "n"),
        "y": ["9.99e2", *AGES[1:]],
    }
    with pytest.raises(CsvError, match=r"13 missing values in 'data.csv': 'x' 2, 'site' 10, 'y' 1;"):
        read(tmp_path, columns, missing_values=given)
    data = read(tmp_path, columns, missing_values=given, missing="drop", categorical=["auto"])
    assert data.feature_names == ("x", "site=s", "y")
    assert data.X.shape == (28, 3)


def test_a_number_rounded_to_minus_zero_is_zero_and_a_long_identifier_keeps_its_digits():
    assert key_of("-0.00") == key_of("0") == "0"
    assert key_of("12345678901234567") != key_of("12345678901234568")


def test_ten_steps_of_one_number_the_rows_and_nine_out_of_ten_are_enough():
    def counts(*numbers: int) -> bool:
        return numbers_the_rows(pd.Series([str(number) for number in numbers], dtype=object))

    assert counts(*range(11))
    assert not counts(*range(10))
    assert counts(*range(10), 20)
    assert not counts(*range(9), 20, 30)
    assert not counts(*range(30), *range(30))  # a number that stands twice is none of a row


@pytest.mark.parametrize(
    ("numbers", "far"),
    [
        ([30, 31, 32, 33, 34, 99], [99]),  # 65 above, a quarter of the range of 4 is 1
        ([0, 20, 40, 60, 80, 99], []),  # 19 above, below a quarter of 80
        ([0, 20, 40, 60, 79, 99], [99]),  # 20 above, above a quarter of 79
        ([0, 20, 40, 60, 80, 100], []),
        ([3, 4, 9], [9]),
        ([1, 5, 9], [9]),  # as far above as the range
        ([1, 6, 9], []),
        ([1.5, 2, 9], []),
        ([*range(1, 7), 18], []),  # isolated: more than twice the range of 5 above, and on logarithms
        ([*range(1, 7), 40], [40]),
        ([*range(1, 6), 40], [40]),
        ([*range(1, 5), 40], []),  # beside fewer than five numbers nothing is far
        ([-1, 1, 2, 3], [-1]),
    ],
)
def test_far_values_at_their_edges(numbers, far):
    levels = np.array(numbers, dtype=float)
    assert [levels[end] for end in (0, -1) if is_far(levels[end], np.delete(levels, end), 2)] == far
