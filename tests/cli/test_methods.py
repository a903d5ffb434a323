"""``cudbound methods``: the frame of the package in every format, for readers and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from cli_fakes import assert_error, invoke

from cudbound import available_methods
from cudbound.cli import methods as command
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS

KINDS = {
    None: [*METHODS, *ESTIMATORS],
    "interval": [name for name, method in METHODS.items() if method.gives_interval],
    "comparison": [name for name, method in METHODS.items() if method.compares],
    "point-estimate": [*ESTIMATORS],
}


def listed(*arguments: str) -> str:
    result = invoke("methods", *arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def asked(gives: str | None) -> list[str]:
    return [] if gives is None else ["--gives", gives]


def test_the_kinds_are_those_of_the_package():
    told = {what for gives in available_methods()["gives"] for what in gives.split(" and ")}
    assert told == set(command.KINDS.values())
    assert set(KINDS) == {None, *command.KINDS}


@pytest.mark.parametrize("gives", KINDS)
def test_csv_is_the_frame(gives):
    printed = pd.read_csv(
        io.StringIO(listed(*asked(gives), "--format", "csv")), dtype=str, keep_default_na=False
    )
    frame = available_methods()
    expected = frame[frame["name"].isin(KINDS[gives])].reset_index(drop=True)
    pd.testing.assert_frame_equal(printed, expected, check_dtype=False)


@pytest.mark.parametrize("gives", KINDS)
def test_json_has_the_same_rows_and_the_notes(gives):
    document = json.loads(listed(*asked(gives), "--format", "json"))
    assert [row["name"] for row in document["methods"]] == KINDS[gives]
    assert document["methods"][0].keys() == set(available_methods().columns)
    assert document["run"] is None
    assert any(note.startswith('Estimand "conditional": the error of') for note in document["notes"]) == (
        gives != "comparison"
    )


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("gives", KINDS)
def test_readers_see_every_name_and_a_part_of_the_columns(form, gives):
    text = listed(*asked(gives), "--format", form)
    assert all(name in text for name in KINDS[gives])
    assert ("resampled-t" in text) == (gives in (None, "interval", "comparison"))
    assert "Nadeau" not in text  # references are for programs
    heading = {"table": "Options:", "markdown": "| options ", "latex": "& options"}[form]
    assert (heading in text) == (gives is not None)


@pytest.mark.parametrize("gives", KINDS)
def test_lines_fit_80_columns(gives):
    assert 60 < max(map(len, listed(*asked(gives)).splitlines())) <= 80


def test_the_overview_has_a_table_for_each_thing_that_methods_give():
    titles = [line for line in listed().splitlines() if line.startswith("Methods that give: ")]
    assert titles == [f"Methods that give: {what}" for what in dict.fromkeys(available_methods()["gives"])]


def test_estimands_of_comparisons_are_those_of_differences():
    text = listed("--gives", "comparison")
    assert 'Estimand "conditional": the errors of the two fitted classifiers' in text


def test_output_is_written_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke("methods", "--output", "methods.txt")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "cudbound: wrote methods.txt\n")
    assert Path("methods.txt").read_text() == listed()
    assert listed("--output", "-") == listed()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--gives", "test"], 2, "'test' is not one of 'interval', 'comparison', 'point-estimate'"),
        (["--format", "pdf"], 2, "'pdf' is not one of 'table', 'markdown', 'latex', 'html', 'csv', 'json'"),
        (["cud"], 2, "Got unexpected extra argument (cud)"),
        (["--output", "nowhere/methods.txt"], 1, "--output: no such folder"),
    ],
)
def test_errors(tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    result = invoke("methods", *arguments)
    assert_error(result, code, message)
    assert ("See 'cudbound methods --help'." in result.stderr) == (code == 2)
