"""The command ``cudbound report``: two files or one line of error, and how the page is repeated."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import assert_error, invoke
from docs_pages import PATIENTS

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


def test_the_page_and_its_numbers_are_written(folder):
    result = report(*FEW, "--seed", "3", "--jobs", "2", "--output", "a page.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "cudbound: wrote a page.html\ncudbound: wrote a page.json\n"
    found = json.loads((folder / "a page.json").read_text("utf-8"))
    command = found["reproduction"]["command"]
    assert command == (
        "cudbound report patients.csv --target died --positive yes --categorical sex --exclude id --resamples 60 "
        "--seed 3 --output report.html"
    )
    assert found["box"]["event"] == "died = yes"
    assert found["box"]["source"] == "patients.csv"
    assert found["box"]["features"] == ["age", "sex", "bmi", "creatinine", "diabetes"]
    page = (folder / "a page.html").read_text("utf-8")
    assert f"<pre>{command}</pre>" in page
    assert str(folder) not in page + json.dumps(found)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--output", "a.pdf"), 2, "'--output': it must be a file name that ends in .html."),
        ((), 2, "Missing option '--output'"),
        (("--output", "nowhere/a.html"), 1, "--output: no such folder"),
        (("--output", "a.html", "--target", "dead"), 1, "dead"),
    ],
)
def test_what_cannot_be_is_one_line(folder, arguments, code, message):
    assert_error(report(*arguments), code, message)
    assert not list(folder.glob("a.*"))


def test_the_file_that_is_read_is_not_replaced(folder):
    (folder / "a.json").write_text(PATIENTS)
    assert_error(report("--output", "a.html", file="a.json"), 1, "is an input file; choose another name")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_what_is_missing_is_told_before_the_work(folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("cudbound.clinical.clinical_report.make_report", None)
    result = report(*FEW, "--seed", "1", "--output", "a.html")
    assert_error(result, 1, "which is not installed; get it with: pip install")
    assert not list(folder.glob("a.*"))


@pytest.mark.parametrize("how", [(), ("--weight", "age"), ("--classifier", "logistic", "--threshold", "0.3")])
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


@pytest.mark.parametrize("missing", ["drop", "median", "most-frequent"])
def test_cases_and_coefficients_are_those_of_the_file(folder, missing):
    """Columns are those of the file, not as they were coded, and the sum of terms gives the classes."""
    frame = pd.read_csv(folder / "data" / "patients.csv")
    frame.loc[[2, 9], "sex"], frame.loc[[4, 9, 11], "age"] = None, None
    frame.to_csv("gaps.csv", index=False)
    options = f"--seed 1 --classifier logistic --missing {missing} --output a.html"
    result = report(*FEW, *options.split(), file="gaps.csv")
    assert result.exit_code == 0, result.stderr
    found = json.loads((folder / "a.json").read_text("utf-8"))
    used = frame.dropna() if missing == "drop" else frame
    sex = next(one for one in found["participants"]["features"] if one["name"] == "sex")
    assert [(one["level"], one["all"]) for one in sex["levels"]] == sorted(used["sex"].value_counts().items())
    assert sex["missing"]["all"] == used["sex"].isna().sum()
    lines = (folder / "a.html").read_text("utf-8")
    assert ("4 of 60 rows of the file were left out" in lines) == (missing == "drop")
    assert ("5 of 300 values of the features are missing" in lines) == (missing != "drop")
    model = found["model"]
    names = [(one["column"], one["level"]) for one in model["terms"]]
    assert {("age", None), ("sex", "female"), ("sex", "male")} <= set(names)
    assert (("age", "missing") in names) == (missing != "drop")
    assert model["scale"] == "columns"
    assert "The output is the risk of the event (died = yes); from 0.5 on" in lines
    scores = np.full(len(used), model["intercept"])
    for one in model["terms"]:
        column = used[one["column"]]
        if one["level"] is None:
            scores += one["coefficient"] * column.fillna(0.0)
        else:
            scores += one["coefficient"] * (
                column.isna() if one["level"] == "missing" else column == one["level"]
            )
    called = scores > 0.0
    cells = found["performance"]["cells"]
    assert cells["true_positive"] == (called & (used["died"] == "yes")).sum()
    assert cells["false_positive"] == (called & (used["died"] == "no")).sum()
