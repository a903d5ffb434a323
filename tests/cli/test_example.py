"""The data file that the command writes, on which every command of the README runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_fakes import assert_error, invoke
from simulated_patients import N, simulated_patients

from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile

README = Path(__file__).parents[2] / "README.md"


def test_the_file_has_what_data_files_have(tmp_path, monkeypatch):
    """Text, an identifier, two classes of more than 20 patients each."""
    monkeypatch.chdir(tmp_path)
    assert invoke("example", "--output", "patients.csv").exit_code == 0
    assert Path("patients.csv").read_bytes() == simulated_patients().encode()
    data = read_training_data(DataFile(Path("patients.csv"), "died", "yes", ["auto"], ["id"]))
    assert data.feature_names == ("age", "sex=male", "bmi", "creatinine", "diabetes")
    assert data.y.size == N
    assert 20 < data.y.sum() < 40


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    assert_error(invoke("example", "--output", str(tmp_path / "no" / "p.csv")), 1, "--output: no such folder")


@pytest.mark.parametrize(
    "page", [README, README.parent / "docs" / "how_to" / "clinical_report.md"], ids=lambda page: page.name
)
def test_the_first_command_of_a_page_writes_the_file_that_the_others_read(page):
    commands = re.findall(r"^\.venv/bin/cudbound .*$", page.read_text(), re.MULTILINE)
    assert commands[0] == ".venv/bin/cudbound example > patients.csv"
    assert any("patients.csv --target died" in command for command in commands)
