"""Every option of every command: those of a file are the same for all that read one, and each stands in some test."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from cli_fakes import assert_error, invoke
from sklearn.linear_model import RidgeClassifier

import cudbound
from cudbound import LeastSquaresClassifier, Resampling, compare_learners, plan_sample_size
from cudbound.cli.command import main
from cudbound.report.render import render_report

RNG = np.random.default_rng(5)
N = 40
AGE = RNG.integers(30, 90, N)
BMI = 1000.0 + RNG.normal(25.0, 4.0, N).round(1)
DIED = np.where(AGE + RNG.normal(0.0, 20.0, N) > 60, "yes", "no")
FRAME = pd.DataFrame({"age": AGE, "bmi": BMI, "died": DIED})
ROLES = ("--target", "died", "--positive", "yes")
SMALL = ("--seed", "1", "--format", "csv")
#: Quick calls of the commands that read a file.
QUICK = {
    "check": (),
    "interval": ("--methods", "langford-binomial", "--resamples", "10", *SMALL),
    "compare-learners": ("--learners", "least-squares,ridge", "--methods", "k-fold-t", *SMALL),
    "plan": ("--n-samples", "12,24", "--replicates", "10", "--resamples", "10", *SMALL),
    "report": ("--seed", "1", "--resamples", "20", "--output", "page.html"),
}
AS_WRITTEN = ("--delimiter", ";", "--decimal", ",", "--thousands", ".", "--skip-rows", "2")
OF_COLUMNS = ("--features", "age,bmi", "--missing-values", "unknown", "--missing", "drop")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same patients in a plain file, in one as a registry writes it, and in the second sheet of a workbook."""
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("plain.csv", index=False)
    rows = [f"{i};{a};{b:,.1f};{d}" for i, (a, b, d) in enumerate(zip(AGE, BMI, DIED, strict=True))]
    rows = [row.translate(str.maketrans(".,", ",.")) for row in rows]
    lines = ["Registry of the ward", "", "number;age;bmi;died", *rows, "98;41;unknown;yes"]
    Path("registry.csv").write_text("\n".join(lines) + "\n")
    with pd.ExcelWriter("book.xlsx") as book:
        FRAME.head(3).to_excel(book, sheet_name="First", index=False)
        FRAME.to_excel(book, sheet_name="Patients", index=False)


def answer(command: str, file: str, *options: str) -> object:
    """Return what a command says of a file, or the numbers of its page, without the name of the file."""
    result = invoke(command, file, *ROLES, *QUICK[command], *options)
    assert result.exit_code == 0, result.output
    if command != "report":
        return result.stdout.replace(file, "FILE")
    return json.loads(Path("page.json").read_text("utf-8"))["performance"]


@pytest.mark.parametrize(
    "command", ["interval", "compare-learners", "plan", pytest.param("report", marks=pytest.mark.slow)]
)
def test_the_options_of_a_file_mean_the_same_in_every_command(command):
    plain = answer(command, "plain.csv")
    assert answer(command, "registry.csv", *AS_WRITTEN, *OF_COLUMNS) == plain
    assert answer(command, "book.xlsx", "--sheet", "Patients") == plain


def test_check_reads_a_file_with_the_options_of_the_other_commands():
    found = answer("check", "registry.csv", *AS_WRITTEN, *OF_COLUMNS)
    assert "41 rows, 4 columns" in found
    next_call = shlex.split(found.splitlines()[-1])
    for option in (*AS_WRITTEN, "unknown", "drop"):
        assert option in next_call
    assert "40 rows, 3 columns" in answer("check", "book.xlsx", "--sheet", "Patients")


@pytest.mark.parametrize("command", ["interval", "compare-learners"])
def test_the_style_of_a_paper_has_the_limits_in_one_column(command):
    of_paper = invoke(command, "plain.csv", *ROLES, *QUICK[command], "--format", "table", "--style", "paper")
    assert of_paper.exit_code == 0, of_paper.output
    assert re.search(r"\d \(-?\d\.\d+ to \d\.\d+\)", of_paper.stdout)


def test_a_plan_in_the_style_of_a_paper_has_no_monte_carlo_errors():
    tables = [
        answer("plan", "plain.csv", "--format", "table", "--style", style) for style in ("full", "paper")
    ]
    assert ["(se)" in table for table in tables] == [True, False]


def as_printed(result: Any) -> str:
    return f"{render_report(result.report(), 'csv')}\n"


def test_groups_and_the_metric_of_a_comparison_are_those_of_python():
    wards = np.arange(N) // 4
    FRAME.assign(ward=wards).to_csv("wards.csv", index=False)
    learners = ("--learners", "least-squares,ridge", "--resamples", "20")
    found = invoke(
        "compare-learners", "wards.csv", *ROLES, *learners, *SMALL, "--group", "ward", "--metric", "auc"
    )
    assert found.exit_code == 0, found.output
    compared = {"least-squares": LeastSquaresClassifier(), "ridge": RidgeClassifier()}
    X, y = FRAME[["age", "bmi"]].to_numpy(), (DIED == "yes").astype(int)
    table = compare_learners(compared, X, y, metric="auc", groups=wards, n_resamples=20, rng=1)
    assert found.stdout == as_printed(table)


@pytest.mark.slow
def test_resampling_reaches_a_plan_whose_workers_do_not_matter():
    method = ("--classifier", "least-squares", "--method", "bootstrap-percentile")
    found = answer("plan", "plain.csv", *method, "--resampling", "inner=3", "--jobs", "2")
    X, y = FRAME[["age", "bmi"]].to_numpy(), (DIED == "yes").astype(int)
    few = {"n_samples": (12, 24), "n_replicates": 10, "n_resamples": 10, "rng": 1}
    plan, other = (
        plan_sample_size(
            *(LeastSquaresClassifier(), X, y),
            method="bootstrap-percentile",
            resampling=Resampling(inner=inner),
            **few,
        )
        for inner in (3, "oob")
    )
    assert found == as_printed(plan) != as_printed(other)


@pytest.mark.parametrize("command", ["compare-learners", "plan"])
def test_the_picture_of_a_table_is_a_file(command):
    answer(command, "plain.csv", "--plot", "picture.svg")
    assert "<svg" in Path("picture.svg").read_text("utf-8")


def test_a_saved_result_is_verified_by_several_workers():
    answer("interval", "plain.csv", "--save", "result.json")
    verified = [invoke("verify", "result.json", "plain.csv", "--jobs", jobs) for jobs in ("1", "2")]
    assert [one.exit_code for one in verified] == [0, 0]
    assert verified[0].stdout == verified[1].stdout


@pytest.mark.slow
def test_groups_and_the_level_reach_a_report():
    FRAME.assign(ward=np.arange(N) // 4).to_csv("wards.csv", index=False)
    answer("report", "wards.csv", "--group", "ward", "--confidence-level", "0.9")
    page = Path("page.html").read_text("utf-8")
    assert "90% confidence interval" in page
    assert "10 groups" in page


def test_real_data_of_a_study_come_from_the_folder(monkeypatch):
    monkeypatch.delenv("CUDBOUND_DATA", raising=False)
    Path("sets").mkdir()
    FRAME.assign(died=(DIED == "yes").astype(int)).to_csv("sets/toy.csv", index=False)
    entry = {
        "name": "toy",
        "title": "Toy",
        "file": "toy.csv",
        "sha256": hashlib.sha256(Path("sets/toy.csv").read_bytes()).hexdigest(),
        "feature_columns": ["age", "bmi"],
        "target_column": "died",
    }
    Path("sets/MANIFEST.json").write_text(json.dumps({"datasets": [entry]}))
    settings = 'n_samples = 20\nn_replicates = 1\nmethods = "langford-binomial"\n'
    Path("toy.toml").write_text(f'{settings}[[scenario]]\ndata = "toy"\n')
    run = ("study", "run", "toy.toml", "--store", "toy.sqlite")
    assert_error(invoke(*run), 1, "CUDBOUND_DATA")
    result = invoke(*run, "--data-folder", "sets")
    assert result.exit_code == 0, result.output


def test_the_version_is_that_of_the_package():
    assert invoke("--version").stdout == f"cudbound, version {cudbound.__version__}\n"


# --- no option is forgotten


def arguments_in(tree: ast.AST) -> set[str]:
    """Return texts that are arguments, in a call or a list of them, and functions, such as `interval`, of a command.

    What a test looks for in an output, or expects of an error, is none.
    """
    found = set()
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Tuple | ast.List):
            parts = node.elts
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id != "assert_error"
        ):
            parts = [node.func, *node.args]
        found |= {part.id for part in parts if isinstance(part, ast.Name)}
        found |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
    return found


def options(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of each command with each of its options."""
    yield from (
        (path, name) for parameter in command.params for name in parameter.opts if name.startswith("--")
    )
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from options(command.get_command(click.Context(command), name), (*path, name))


def test_every_option_of_each_command_is_used_in_a_test_of_the_command():
    """The command and the option are arguments in one file of these tests, or stand in a line that is refused."""
    folder = Path(__file__).parent
    places = [arguments_in(ast.parse(file.read_text("utf-8"))) for file in folder.glob("*.py")]
    pages = ast.parse((folder.parent / "pages" / "golden_pages.py").read_text("utf-8"))
    lines = [part.value for part in ast.walk(pages) if isinstance(part, ast.Constant)]
    places.append({word for line in lines for word in str(line).split()})
    refused = (folder.parent / "pages" / "refusals_of_the_command.txt").read_text("utf-8").splitlines()
    places += [set(line.replace("=", " ").split()) for line in refused if not line.startswith("    ")]
    places = [place | {text.partition("=")[0] for text in place} for place in places]
    found = list(options(main))
    assert len(found) > 150
    assert [one for one in found if not any({*one[0], one[1]} <= place for place in places)] == []
