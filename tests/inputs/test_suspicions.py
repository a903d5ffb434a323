"""What is said of copied rows, patients with several rows, and values that stand alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile

ROWS = [[f"P{i}", 30 + 7 * i % 41, 20 + i / 10, ("yes", "no", "no")[i % 3]] for i in range(30)]


def warnings(tmp_path: Path, rows: list[list[Any]], name: str = "id", **roles: Any) -> tuple[str, ...]:
    path = tmp_path / "data.csv"
    lines = [f"{name},age,bmi,died", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_training_data(DataFile(path, "died", "yes", **{"exclude": [name], **roles})).warnings


def test_a_clean_file_is_read_without_a_word(tmp_path):
    assert warnings(tmp_path, ROWS) == ()


def test_copied_rows_are_counted(tmp_path):
    copies, ids = warnings(tmp_path, ROWS + ROWS[:3])
    assert copies == (
        "3 of 33 rows are exact copies of an earlier row, the first on line 32, which chance does not explain; "
        "delete what was pasted twice, or use "
        "--group COL if they belong to one patient"
    )
    assert ids.startswith(
        "column 'id' repeats: 30 different values on 33 rows; use --group 'id' if it identifies"
    )
    (alone,) = warnings(tmp_path, ROWS + ROWS[:1], group="id", exclude=[])
    assert alone.startswith(
        "1 of 31 rows is an exact copy of an earlier row, the first on line 32, which chance"
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


@pytest.mark.parametrize("levels", [("a", "b", "c"), range(15), ("2020-01-01", "2020-02-01")])
def test_a_column_left_out_for_another_reason_is_none(tmp_path, levels):
    rows = [[levels[i % len(levels)], *row[1:]] for i, row in enumerate(ROWS)]
    assert warnings(tmp_path, rows, "site") == ()


def test_numbers_of_patients_are_no_feature(tmp_path):
    rows = [[i, *row[1:]] for i, row in enumerate(ROWS)]
    (said,) = warnings(tmp_path, rows, exclude=[])
    assert said == "column 'id' is a feature named like an ID; if it is one, drop it with --exclude 'id'"
    assert warnings(tmp_path, rows) == ()


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


def test_codes_of_few_values_are_never_far(tmp_path):
    rows = [[row[0], (0, 1, 2, 999)[i % 4], *row[2:]] for i, row in enumerate(ROWS)]
    assert warnings(tmp_path, rows) == ()


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


def test_a_column_that_numbers_the_rows_is_pointed_out(tmp_path):
    rows = [[row[0], i + 1, *row[2:]] for i, row in enumerate(ROWS)]
    said = "column 'age' is a feature and numbers the rows; leave it out with --exclude 'age'"
    assert warnings(tmp_path, rows) == (said,)
    assert warnings(tmp_path, rows, exclude=["id", "age"]) == ()
    halved = [[row[0], i // 2, *row[2:]] for i, row in enumerate(ROWS)]
    assert warnings(tmp_path, halved) == ()
