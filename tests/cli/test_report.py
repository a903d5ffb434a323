"""The command ``cudbound report``: two files or one line of error, and how the page is repeated."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_fakes import assert_error, invoke
from docs_pages import PATIENTS
from tiers import quick_first

FEW = ("--resamples", "60")
ROLES = ("--target", "died", "--positive", "yes", "--categorical", "sex", "--exclude", "id")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "patients.csv").write_text(PATIENTS)
    return tmp_path


def report(*arguments: str, file: str = "data/patients.csv"):
    return invoke("report", file, *ROLES, *arguments)


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_what_is_missing_is_told_before_the_work(folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("cudbound.clinical.clinical_report.make_report", None)
    result = report(*FEW, "--seed", "1", "--output", "a.html")
    assert_error(result, 1, "which is not installed; get it with: pip install")
    assert not list(folder.glob("a.*"))


@pytest.mark.parametrize(
    "how", quick_first([(), ("--weight", "age"), ("--classifier", "logistic", "--threshold", "0.3")])
)
def test_what_is_saved_is_verified(folder, how):
    """The page is that of the command without --save; its own numbers are not a saved result, and this is said."""
    (folder / "kept").mkdir()
    result = report(*FEW, *how, "--seed", "1", "--output", "a.html", "--save", "kept/result.json")
    assert result.exit_code == 0, result.stderr
    assert "wrote kept/result.json" in result.stderr
    assert "--save" not in (folder / "a.json").read_text("utf-8")
    checked = invoke("verify", "kept/result.json", "data/patients.csv")
    assert checked.exit_code == 0, checked.output
    assert "The saved result is confirmed" in checked.stdout
    found = json.loads((folder / "a.json").read_text("utf-8"))
    assert f"two-center: error {found['box']['estimate']:.3f}" in checked.stdout
    assert_error(invoke("verify", "a.json", "data/patients.csv"), 1, "give the file that --save of")
    assert_error(invoke("verify", "a.html", "data/patients.csv"), 1, "give the file that --save of")


def test_a_fit_that_stopped_early_is_said_once_with_each_number_of_few_cases(folder):
    """Neither stderr nor the page asks whether the fit of the command itself is one to other rows."""
    rows = (folder / "data" / "patients.csv").read_text("utf-8").splitlines()
    events = [row for row in rows[1:] if row.endswith("yes")][:8]
    few = [rows[0], *events, *(row for row in rows[1:] if row.endswith("no"))]
    (folder / "data" / "few.csv").write_text("\n".join(few) + "\n")
    result = report(*FEW, "--set", "max_iter=1", "--seed", "1", "--output", "a.html", file="data/few.csv")
    assert result.exit_code == 0, result.stderr
    checks = json.loads((folder / "a.json").read_text("utf-8"))["checks"]
    for said in (result.stderr, "\n".join(checks)):
        assert said.count("did not converge") == 1
        assert "other rows" not in said
        assert said.count("The error, Brier score and net benefit are based on 8 events") == 1
        assert "The error is based on" not in said
