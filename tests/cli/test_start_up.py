"""What is wrong with the file, its header or its roles is told before anything large is loaded."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

LINES = [
    f"{age},{sex},{outcome}" for age, sex, outcome in zip(range(30, 50), "mffm" * 5, "01" * 10, strict=True)
]
ROLES = ("--target", "outcome", "--positive", "1")
#: Each with the exit code and a part of what is said; nothing large is loaded for these.
OF_THE_FILE = [
    (("interval", "p.csv"), 2, "Missing option '--target'"),
    (("interval", "none.csv", *ROLES), 1, "no such file"),
    (("interval", "title.csv", *ROLES), 1, "--skip-rows 1"),
    (("interval", "p.csv", "--target", "died", "--positive", "1"), 1, "no column 'died'"),
    (("interval", "p.csv", "--target", "outcome", "--positive", "yes"), 1, "--positive 'yes' is not a value"),
    (("interval", "p.csv", "--target", "outcome"), 2, "Missing option '--positive'"),
    (("interval", "p.csv", "--target", "sex", "--positive", "x"), 1, "--positive 'x' is not a value"),
    (("interval", "p.csv", "--target", "age", "--positive", "30"), 1, "must have two classes; it has 20 values"),
    (("report", "p.csv", "--target", "no", "--positive", "1", "--output", "p.html"), 1, "no column 'no'"),
    (("interval", "p.csv", *ROLES, "--group", "center"), 1, "--group: no column 'center'"),
    (("interval", "p.csv", *ROLES, "--recommend", "--exclude", "bmi"), 1, "--exclude: no column 'bmi'"),
    (("compare-learners", "p.csv", *ROLES, "--learners", "tree"), 2, "two or more different classifiers"),
    (("compare-learners", "p.csv", "--target", "no", "--positive", "1", "--learners", "tree,lda"), 1, "no column"),
    (("plan",), 2, "Missing FILE.csv"),
    (("plan", "p.csv", "--target", "no", "--positive", "1"), 1, "no column 'no'"),
    (("plan", "p.csv", "--target", "outcome", "--positive", "2"), 1, "--positive '2' is not a value"),
    (("interval", "p.csv", *ROLES, "--classifier", "forest"), 2, "give its file with --model"),
    (("interval", "p.csv", *ROLES, "--classifier", "logit"), 2, "did you mean logistic?"),
]  # fmt: skip
WRONG = [
    *OF_THE_FILE,
    (("interval", "p.csv", *ROLES), 1, "not numeric: column 'sex'"),
    (("interval", "p.csv", *ROLES, "--methods", "two-centre"), 2, "Did you mean 'two-center'"),
    (("interval", "p.csv", *ROLES, "--option", "two-center.cup=no"), 2, "two-center has no option 'cup'"),
    (("interval", "p.csv", *ROLES, "--metric", "f1"), 2, "does not support 'f1'"),
    (("interval", "p.csv", *ROLES, "--metric", "ppv"), 2, "--prevalence must be a number in (0, 1)"),
    (("interval", "p.csv", *ROLES, "--metric", "cost", "--cost", "1:5"), 2, "not of the form VALUE=COST"),
    (("interval", "p.csv", *ROLES, "--resamples", "0"), 2, "--resamples must be an integer of at least 1"),
    (("interval", "p.csv", *ROLES, "--jobs", "0"), 2, "--jobs must be"),
    (("interval", "p.csv", *ROLES, "--size", "n_fold=3"), 2, "did you mean n_folds"),
    (("interval", "p.csv", *ROLES, "--localization", "m"), 2, "--localization must be"),
    (("interval", "p.csv", *ROLES, "--output", "table.docx"), 2, "ends in '.docx'"),
    (("compare-learners", "p.csv", *ROLES, "--learners", "tree,lda", "--methods", "t"), 2, "--methods must be"),
    (("compare-learners", "p.csv", *ROLES, "--learners", "tree,lda", "--null", "2"), 2, "--null must be"),
    (("compare-learners", "p.csv", *ROLES, "--learners", "tree,lda", "--resamples", "0"), 2, "--resamples must"),
    (("verify", "none.json", "p.csv"), 1, "'none.json'"),
]  # fmt: skip
SCRIPT = """
import contextlib, io, json, sys
from cudbound.cli.group import main
for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            main(words)
    except SystemExit as end:
        print(json.dumps([end.code, said.getvalue(), sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str, list[str]]]:
    """What one fresh interpreter answers to one command after another, and the modules that it then holds."""
    folder = tmp_path_factory.mktemp("start_up")
    folder.joinpath("p.csv").write_text("\n".join(["age,sex,outcome", *LINES]))
    folder.joinpath("title.csv").write_text("\n".join(["Patients", "age,sex,outcome", *LINES]))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([words for words, *_ in WRONG])],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[" ".join(words) for words, *_ in WRONG])
def test_an_error_is_told_and_one_of_the_file_before_scipy_is_loaded(
    told: list[tuple[int, str, list[str]]], number: int
) -> None:
    (_, code, part), (found, said, modules) = WRONG[number], told[number]
    assert found == code, said
    assert part in said
    if number < len(OF_THE_FILE):
        assert {"sklearn", "scipy", "cudbound.intervals"}.isdisjoint(modules)
