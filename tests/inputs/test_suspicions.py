"""What is said of copied rows, patients with several rows, and values that stand alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import CsvError, DataFile

ROWS = [[f"P{i}", 30 + 7 * i % 41, 20 + i / 10, "yes" if i * i % 7 in (1, 2) else "no"] for i in range(30)]


def warnings(tmp_path: Path, rows: list[list[Any]], name: str = "id", **roles: Any) -> tuple[str, ...]:
    path = tmp_path / "data.csv"
    lines = [f"{name},age,bmi,died", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_training_data(DataFile(path, "died", "yes", **{"exclude": [name], **roles})).warnings


def test_copied_rows_are_counted(tmp_path):
    copies, ids = warnings(tmp_path, ROWS + ROWS[:3])
    assert copies == (
        "3 of 33 rows are exact copies of an earlier row, which is more than chance explains; the first is on line "
        "32; delete what was pasted twice, or use --group COL if they belong to one patient"
    )
    assert ids.startswith(
        "column 'id' repeats: 30 different values on 33 rows; use --group 'id' if it identifies"
    )
    (alone,) = warnings(tmp_path, ROWS + ROWS[:1], group="id", exclude=[])
    assert alone.startswith(
        "1 of 31 rows is an exact copy of an earlier row, which is more than chance explains; it is on line 32;"
    )
    assert alone.endswith("pasted twice")


@pytest.mark.parametrize("name", ["id", "code"])
def test_a_column_that_tells_patients_apart_and_repeats(tmp_path, name):
    rows = [[f"P{i // 2 if i < 20 else i}", *row[1:]] for i, row in enumerate(ROWS)]
    (said,) = warnings(tmp_path, rows, name)
    assert said == (
        f"column '{name}' repeats: 20 different values on 30 rows; use --group '{name}' if it identifies patients, "
        "because rows of one patient are not independent"
    )
    assert warnings(tmp_path, rows, name, group=name, exclude=[]) == ()
    assert warnings(tmp_path, [["", *row[1:]] for row in rows], name) == ()


@pytest.mark.parametrize(
    ("ages", "said"),
    [
        (
            [999],
            "column 'age': 999 on line 2 is far from the others, 31 to 69; add --missing-values=999 if it codes",
        ),
        ([99, 99], "column 'age': 99 on 2 rows, the first on line 2 is far from the others, 31 to 69; add"),
        (
            [-9],
            "column 'age': -9 on line 2 is far from the others, 31 to 69; add --missing-values=-9 if it codes",
        ),
        (
            [650.5],
            "column 'age': 650.5 on line 2 is far from the others, 31 to 69; add --missing-values=650.5",
        ),
        ([95], None),
        ([140], None),
        ([20], None),
    ],
)
def test_a_far_value_is_pointed_out(tmp_path, ages, said):
    rows = [[row[0], age, *row[2:]] for row, age in zip(ROWS, ages, strict=False)] + ROWS[len(ages) :]
    found = warnings(tmp_path, rows)
    assert len(found) == (said is not None)
    assert all(one.startswith(str(said)) for one in found)
    assert warnings(tmp_path, rows, missing_values=[str(ages[0])], missing="drop") == ()


AROUND = [round(1.2 ** (i % 24), 1) for i in range(30)]  # skewed, from 1 to 66


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([0, 1, 2], "9"),
        ([0, 1], "9"),
        ([1, 2, 3, 4, 5], "9"),
        ([0, 1, 2], "999"),
        ([0, 1, 2], "-9"),
        (AROUND, "-9"),
        (AROUND, "-1"),
        (AROUND, "99"),
        (AROUND, "999"),
        ([*AROUND, 400], "999"),
    ],
)
def test_a_code_alone_beside_a_range_is_questioned(tmp_path, values, code):
    rows = [[row[0], row[1], values[i % len(values)], row[3]] for i, row in enumerate(ROWS)]
    assert warnings(tmp_path, rows) == ()
    rows[4][2] = rows[11][2] = code
    (said,) = warnings(tmp_path, rows)
    assert said.startswith(f"column 'bmi': {code} on 2 rows, the first on line 6 is far from the others, ")
    assert said.endswith(
        f"; add --missing-values={code} if it codes a missing value, or correct it if it is an error"
    )


@pytest.mark.parametrize(
    "values",
    [
        [13, 14, 15, 14, 15, 15, 9],
        range(10),
        [0, 1, 2, 3, 5, 6, 7, 9],
        [-1, 0, 1],
        [-1, 1],
        range(60, 100),
        [0.5, 2.5, 9],
        [*range(95, 100)],
    ],
)
def test_the_end_of_a_range_is_no_code(tmp_path, values):
    rows = [[row[0], row[1], list(values)[i % len(values)], row[3]] for i, row in enumerate(ROWS * 2)]
    assert not [said for said in warnings(tmp_path, rows) if "'bmi'" in said]


@pytest.mark.parametrize("values", [("0", "9"), ("1", "99"), ("1", "-9")])
def test_a_code_in_the_outcome_is_questioned(tmp_path, values):
    rows = [[*row[:3], values[i % 2]] for i, row in enumerate(ROWS)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["id,age,bmi,died", *(",".join(map(str, row)) for row in rows)]))
    (said,) = read_training_data(DataFile(path, "died", values[0], exclude=["id"])).warnings
    assert said.startswith(
        f"column 'died': {values[1]} on 15 rows, the first on line 3 is far from the others"
    )


@pytest.mark.parametrize("code", ["9", "99", "-9", "unknown"])
def test_a_code_as_the_third_value_of_the_outcome_is_named(tmp_path, code):
    path = tmp_path / "data.csv"
    lines = [f"{30 + i % 17},{('0', '1', '0', code)[i % 4]}" for i in range(40)]
    path.write_text("\n".join(["age,died", *lines]))
    with pytest.raises(
        CsvError,
        match=rf"must have two classes; found .*; add --missing-values={code} if that means a missing value in ev",
    ):
        read_training_data(DataFile(path, "died", "1"))
    data = read_training_data(DataFile(path, "died", "1", missing_values=[code], missing="drop"))
    assert len(data.y) == 30


def write_columns(tmp_path: Path, **columns: list[Any]) -> Path:
    path = tmp_path / "columns.csv"
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return path


N = 60
DIED = [i * i % 11 in (1, 3, 4) for i in range(N)]
AGE = [30 + (11 * i) % 61 for i in range(N)]
LEAKS = {
    "by its values": [("morgue" if died else ("home", "rehab")[i % 2]) for i, died in enumerate(DIED)],
    "by its values in order": [(3.0 if died else 1.0) + i % 7 / 10 for i, died in enumerate(DIED)],
    "by being missing": [("" if died else i % 5) for i, died in enumerate(DIED)],
}


@pytest.mark.parametrize("place", LEAKS)
def test_a_column_that_alone_separates_the_classes_is_named(tmp_path, place):
    path = write_columns(tmp_path, age=AGE, leak=LEAKS[place], died=[int(died) for died in DIED])
    data = DataFile(path, "died", "1", categorical=["auto"], missing="median")
    (said,) = read_training_data(data).warnings
    how = "by being missing" if place == "by being missing" else "by its values"
    assert said == (
        f"column 'leak' alone separates the classes of 'died', {how}; if it records the outcome, or was known only "
        "after it, drop it with --exclude 'leak'"
    )
    assert read_training_data(replace(data, exclude=["leak"])).warnings == ()
    few = write_columns(tmp_path, age=AGE[:7], leak=LEAKS[place][:7], died=[int(died) for died in DIED[:7]])
    assert read_training_data(replace(data, file=few)).warnings == ()


def test_levels_that_say_unknown_are_pointed_out(tmp_path):
    rows = [
        [row[0], row[1], ("high", "low", "Unknown", "unknown")[i % 4], row[3]] for i, row in enumerate(ROWS)
    ]
    spelled, said = warnings(tmp_path, rows, categorical=["bmi"])
    assert "one level" in spelled
    assert said == (
        "column 'bmi': 'Unknown', 'unknown' on 14 rows is a level; add --missing-values=Unknown,unknown if it means a "
        "missing value"
    )
    named = {"categorical": ["bmi"], "missing_values": ["Unknown", "unknown"], "missing": "most-frequent"}
    assert warnings(tmp_path, rows, **named) == ()
    once = [[*row[:2], "Unknown" if i == 5 else ("high", "low")[i % 2], row[3]] for i, row in enumerate(ROWS)]
    assert "'Unknown' on 1 row is a level" in " ".join(warnings(tmp_path, once, categorical=["bmi"]))
