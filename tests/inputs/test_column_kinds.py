"""What a column of texts holds, and which of them `--categorical auto` does not take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cudbound.inputs.column_kinds import is_id_name, kind_of
from cudbound.inputs.csv_columns import TrainingData, read_training_data
from cudbound.inputs.csv_file import CsvError, DataFile

N = 40


def read(tmp_path: Path, columns: dict[str, list[Any]], **roles: Any) -> TrainingData:
    path = tmp_path / "data.csv"
    n = len(next(iter(columns.values())))
    died = ["yes", "no", "no"] * n
    pd.DataFrame({**columns, "died": died[:n]}).to_csv(path, index=False)
    return read_training_data(DataFile(path, "died", "yes", **roles))


def cycled(*texts: str) -> list[str]:
    return [texts[i % len(texts)] for i in range(N)]


AGES = [str(30 + 7 * i % 41) for i in range(N)]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (cycled("1", "2.5", "-3e2"), "numbers"),
        (cycled("21,5", "22,75", "23"), "decimal commas"),
        (cycled("20", "22,75", "23", "24"), "decimal commas"),
        (cycled("2020-01-31", "2020-02-01"), "dates"),
        (cycled("31.1.2020", "1.2.20", "unknown"), "dates"),
        (cycled("2020-01-31 12:30", "2020-02-01T08:00:00Z"), "dates"),
        (cycled("3 Jan 2020", "March 4, 2021"), "dates"),
        (cycled("74 years", "81 years", "60 y", "70", "71 years", "55 years"), "numbers with units"),
        (cycled("5%", "7%", "8 %"), "numbers with units"),
        (cycled("1a", "1b", "2a", "2b", "3a"), "text"),
        (cycled("1st", "2nd", "3rd"), "text"),
        (cycled("5 mg", "10 mg"), "text"),
        (cycled("30", "31", "3O"), "numbers with slips"),
        (cycled(*(f"P{i}" for i in range(9))), "IDs"),
        (cycled(*(f"P{i}" for i in range(8))), "text"),
        (["a", "b", "c", "a", "b"], "text"),
        (["a", "b", "c"], "IDs"),
        (cycled("Male", "male", "F"), "text"),
        ([], "nothing"),
    ],
)
def test_kinds(texts, kind):
    assert kind_of("x", pd.Series(texts, dtype=object)) == kind


@pytest.mark.parametrize(
    "name", ["id", "Patient ID", "patient_id", "PatientID", "MRN", "patient", "subject-no", "Name", "case id"]
)
def test_names_of_identifiers(name):
    assert is_id_name(name)
    assert kind_of(name, pd.Series(cycled("a", "b"))) == "IDs"


@pytest.mark.parametrize(
    "name", ["sex", "site_id", "patient_sex", "case", "idiopathic", "valid", "code", "covid"]
)
def test_names_of_others(name):
    assert not is_id_name(name)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            {"bmi": cycled("21,5", "22,75")},
            "--categorical auto takes no column of decimal commas: column 'bmi' ('21,5' on line 2); write these",
        ),
        (
            {"seen": cycled("2020-01-31", "2020-02-01")},
            "no column of dates: column 'seen' ('2020-01-31' on line 2); turn dates into numbers",
        ),
        (
            {"age": [f"{age} years" for age in AGES]},
            "no column of numbers with units: column 'age' ('30 years' on line 2); write the numbers without",
        ),
        (
            {"patient": cycled(*(f"P{i}" for i in range(20)))},
            "no column of IDs: column 'patient' ('P0' on line 2, 20 different texts on 40 rows); leave such a column "
            "out with --exclude COL, or name it by --group COL if rows of one patient share it",
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
        ". Nor of decimal commas: column 'bmi' ('1,5' on line 2), column '\\x1b[1m' ('3,5' on line 2); "
        in said
    )
    assert said.endswith("is named: --categorical COL,auto")
    assert said.isprintable()


def test_a_column_that_is_named_is_taken(tmp_path):
    data = read(tmp_path, {"id": cycled("a", "b", "c"), "x": AGES}, categorical=["id,auto"])
    assert data.feature_names == ("id=b", "id=c", "x")


@pytest.mark.parametrize("categorical", ["sex", "auto"])
def test_levels_that_differ_in_case_only_are_one(tmp_path, categorical):
    sexes = [*cycled("male", "female")[:-3], "Male", " FEMALE ", "male"]
    data = read(tmp_path, {"x": AGES, "sex": sexes}, categorical=[categorical])
    assert data.feature_names == ("x", "sex=male")
    assert data.X[:, 1].tolist() == [float(one.strip().lower() == "male") for one in sexes]
    assert data.warnings == (
        "column 'sex': 'male' (20), 'Male' (1); 'female' (18), 'FEMALE' (1) differ in case only and are one level; "
        "write them differently in the file if they are not",
    )


def test_a_text_of_one_level_in_two_spellings_is_constant(tmp_path):
    with pytest.raises(CsvError, match="column 'sex' has the same value on every row"):
        read(tmp_path, {"x": AGES, "sex": cycled("F", "f")}, categorical=["auto"])
