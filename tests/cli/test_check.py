"""What ``cudbound check`` says of files of others, and that the command it prints reads them."""

from __future__ import annotations

import csv
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from cli_fakes import Fake, invoke
from click.testing import Result

N = 60
RNG = random.Random(3)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def columns(**others: Any) -> dict[str, list[Any]]:
    ages = [RNG.randint(30, 80) for _ in range(N)]
    died = ["yes" if age + RNG.gauss(0, 15) > 60 else "no" for age in ages]
    return {"age": ages, "sex": [RNG.choice("fm") for _ in range(N)], **others, "died": died}


def write(found: dict[str, list[Any]], delimiter: str = ",", name: str = "patients.csv") -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([list(found), *zip(*found.values(), strict=True)])


def check(*arguments: str, file: str = "patients.csv") -> Result:
    return invoke("check", file, *arguments)


def following(result: Result) -> Result:
    """Run the command that was printed last."""
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    program, *words = shlex.split(result.stdout.splitlines()[-1])
    assert program == "cudbound"
    return invoke(*words, "--resamples", "10", "--seed", "1")


def role(result: Result, name: str) -> str:
    (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"{name}  ")]
    return line.removeprefix(name).strip().split("  ")[0]


def test_a_clean_file_is_read_at_once():
    write(columns(bmi=[20 + i / 7 for i in range(N)]))
    result = check("--target", "died", "--positive", "yes")
    assert result.stdout.startswith("'patients.csv': 60 rows, 4 columns\n\ncolumn  role ")
    assert "No problems were found." in result.stdout
    assert result.stdout.endswith(
        "\nNext:\ncudbound interval patients.csv --target died --positive yes --categorical auto --recommend\n"
    )
    assert following(result).exit_code == 0


def test_a_file_of_one_row_is_counted_as_one():
    write({"id": [1], "age": [50], "died": [1]})
    result = check("--target", "died")
    assert result.stdout.startswith("'patients.csv': 1 row, 3 columns")
    assert "1 rows" not in result.output


def test_columns_named_as_features_are_features_and_the_target_is_another():
    half_missing = [i % 7 if i % 3 == 0 else "" for i in range(N)]
    write(columns(number=list(range(N)), marker=half_missing, weight=[50 + i % 9 for i in range(N)]))
    guessed = check()
    assert (role(guessed, "number"), role(guessed, "marker")) == ("ID", "mostly missing")
    result = check("--features", "number,marker,sex")
    assert [role(result, name) for name in ("number", "marker", "sex", "died", "age", "weight")] == [
        *("numeric feature", "numeric feature", "categorical feature", "target"),
        *("left out", "left out"),
    ]
    assert " --features number,marker,sex " in result.stdout
    unknown = check("--features", "age,nothing")
    assert unknown.exit_code == 1
    assert "--features: no column 'nothing'" in unknown.stderr
    assert following(result).exit_code == 0


def test_features_in_units_of_very_different_size_are_to_be_standardized():
    """What the command then warns of without it, the check has said before."""
    write(
        columns(
            creatinine=[0.8 + (i % 9) / 10 for i in range(N)],
            platelets=[150_000 + 3_000 * i for i in range(N)],
        )
    )
    result = check("--target", "died", "--positive", "yes")
    assert "- the standard deviations of the features range from 0.25 to 52,000" in result.stdout
    assert result.stdout.endswith(" --standardize --recommend\n")
    assert "standardize" not in following(result).stderr
    words = shlex.split(result.stdout.splitlines()[-1])[1:]
    words.remove("--standardize")
    assert "add --standardize" in invoke(*words, "--resamples", "10", "--seed", "1").stderr


def test_columns_of_few_integers_may_have_codes():
    """One line for all: neither two values, nor seven, nor decimals, nor a column that was named."""
    few = {f"to_{k}": [RNG.randint(1, k) for _ in range(N)] for k in (2, 3, 6, 7)}
    write(columns(**few, half=[RNG.choice((0.5, 1, 2)) for _ in range(N)]))
    (line,) = [
        line for line in check("--target", "died").stdout.splitlines() if "few different integers" in line
    ]
    assert ": 'to_3', 'to_6'; if some are codes of categories" in line
    assert ": 'to_6'; if" in check("--target", "died", "--categorical", "to_3").stdout


def test_names_that_need_quotes_can_be_pasted():
    odd = {
        name: [f"2020-0{1 + i % 9}-11" for i in range(N)] for name in ("a,b", 'say "x"', "-d", "it's $HOME")
    }
    write(columns(**odd), name="a file's.csv")
    assert following(check(file="a file's.csv")).exit_code == 0


def test_foreign_characters_do_not_reach_the_terminal():
    write(columns(**{"s\x1b[2Jite": ["a\x1b[31m", "b"] * (N // 2)}))
    result = check()
    assert "\x1b" not in result.stdout
    assert "s\\x1b[2Jite" in result.stdout
    assert following(result).exit_code == 0
    write(columns(**{"d\x1b[2J": [f"2020-0{1 + i % 9}-11" for i in range(N)]}))
    result = check()
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout + result.stderr
    assert "has unprintable characters; rename that column" in result.stderr


def test_what_is_given_is_kept(fake: Fake):
    write(columns(site=["1", "2", "3"] * (N // 3)))
    result = check("--target", "sex", "--positive", "f", "--exclude", "died", "--categorical", "site")
    assert role(result, "died") == "left out"
    assert following(result).exit_code == 0
    assert fake.fitted[0].sample.feature_names == ("age", "site=2", "site=3")


@pytest.mark.parametrize("option", ["--features", "--categorical", "--exclude", "--group"])
@pytest.mark.parametrize("target", [(), ("--target", "died")])
def test_a_column_that_does_not_exist_is_an_error_with_and_without_a_target(option, target):
    write(columns())
    result = check(option, "Age", *target)
    assert result.exit_code == 1
    assert (
        result.stderr
        == f"cudbound: error: {option}: no column 'Age' in 'patients.csv'. Did you mean 'age'?\n"
    )


def test_a_column_of_two_roles_is_an_error_without_a_target():
    write(columns())
    result = check("--categorical", "sex", "--exclude", "sex")
    assert result.exit_code == 1
    assert "column 'sex' is named in both --categorical and --exclude; choose one" in result.stderr


def test_an_outcome_of_three_values_is_the_outcome():
    found = columns()
    write(
        {**found, "outcome": [RNG.choice(["cured", "dead", "lost"]) for _ in range(N)]}
        | {"died": found["age"]}
    )
    result = check()
    assert role(result, "outcome") == "target"
    assert (
        "target 'outcome': a guess; set it with --target COL --positive VALUE; other columns with two values: 'sex'"
        in result.stdout
    )
    assert result.exit_code == 1
    assert "the target 'outcome' must have two classes; found " in result.stderr
    write({**found, "outcome": [RNG.choice(["0", "1", "9"]) for _ in range(N)]} | {"died": found["age"]})
    assert "add --missing-values=9 if that means a missing value in every column" in check().stderr
    result = check("--missing-values", "9")
    assert " --target outcome --positive 1 " in result.stdout
    assert " --missing drop " in result.stdout
    assert following(result).exit_code in (0, 3)  # read, and solved to the end or not


@pytest.mark.parametrize(
    ("cells", "delimiter", "options"),
    [
        (["2,915", "1,250", "850"], ",", " --thousands , "),
        (["2,915", "1,250", "850"], ";", " --decimal , "),
        (["2.915,5", "1.250", "850"], ";", " --decimal , --thousands . "),
        (["2 915", "1 250", "850"], ",", " --thousands space "),
        (["2'915", "1'250", "850"], ",", """ --thousands ''"'"'' """),
    ],
)
def test_separators_of_thousands_are_recognized(cells, delimiter, options):
    write(columns(plt=[RNG.choice(cells) for _ in range(N)]), delimiter)
    result = check()
    assert options in result.stdout.splitlines()[-1]
    assert following(result).exit_code in (0, 3)  # read, and solved to the end or not


@pytest.mark.parametrize(
    ("n_patients", "n_missing", "is_group"),
    [(5, 0, False), (6, 0, True), (30, 0, True), (60, 0, False), (30, 1, False)],
)
def test_an_identifier_that_repeats_is_the_group_if_every_row_has_it(n_patients, n_missing, is_group):
    ids = [f"P{row % n_patients}" if row >= n_missing else "" for row in range(N)]
    write(columns(patient_id=ids))
    command = check("--target", "died", "--positive", "yes").stdout.splitlines()[-1]
    assert ("--group patient_id" in command) == is_group


@pytest.mark.parametrize(("n_missing", "is_feature"), [(30, True), (31, False)])
def test_a_column_that_more_than_half_of_the_rows_lack_is_left_out(n_missing, is_feature):
    write(columns(bmi=["" if row < n_missing else 20 + row / 7 for row in range(N)]))
    result = check("--target", "died", "--positive", "yes")
    assert (role(result, "bmi") == "numeric feature") == is_feature
    assert ("--exclude bmi" in result.stdout.splitlines()[-1]) != is_feature
