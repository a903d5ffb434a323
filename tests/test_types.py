"""The package is typed, a program that uses every public name has no error, and imports follow the rules."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections import Counter
from importlib import import_module
from importlib.resources import files
from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from sklearn.model_selection import StratifiedKFold

import cudbound
from cudbound.basis.exceptions import did_you_mean, install_command, suggestion
from cudbound.basis.validation import Splitter

# ---- the package is typed ----


CALLS = (
    "performance_interval",
    "clinical_report",
    "compare_intervals",
    "compare_learners",
    "estimate_error",
    "cud_interval",
    "from_records",
    "verify_result",
    "plan_sample_size",
    "study.closed_form_sample_sizes",
)

WRONG_CALLS = """
import numpy as np
import cudbound
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

X, y = np.zeros((3, 2)), ["ill", "well", "ill"]
clf = LogisticRegression().fit(X, y)
cudbound.compare_intervals(
    clf, X, y, resampling=cudbound.Resampling(cv=StratifiedKFold(3)), methods=["cud", ("aci", {"a": 1})]
)
cudbound.compare_learners({"ridge": clf, "majority": "majority"}, X, y, methods="all", reference="majority")
cudbound.cud_interval(clf, X, y, bound=cudbound.Bound(seconds=1))
cudbound.Resampling(cv=[([0, 1], [2])])
cudbound.compare_intervals("no classifier", X, y)
cudbound.Resampling(cv=5.5)
cudbound.Bound(polish="no")
cudbound.compare_learners([clf, 3], X, y)
cudbound.compare_intervals(clf, X, y, resampling={"inner": 5})
cudbound.performance_interval(clf, X, y).confidence_interval.low + "x"
"""


def test_the_marker_is_shipped():
    assert files("cudbound").joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", CALLS)
def test_what_users_pass_has_a_type(name):
    call = attrgetter(name)(cudbound)
    # performance_interval imports its types when it is first called
    modules = ("analysis.cud_interval", "analysis.compare_learners", "analysis.table")
    names = {
        name: kind for module in modules for name, kind in vars(import_module(f"cudbound.{module}")).items()
    }
    hints = get_type_hints(call, localns=names)
    vague = [one for one in inspect.signature(call).parameters if hints[one] is Any]
    assert not vague
    assert hints["return"] is not Any


def test_a_splitter_of_scikit_learn_is_one():
    split = inspect.signature(StratifiedKFold.split).parameters
    assert list(inspect.signature(Splitter.split).parameters) == list(split)


@pytest.mark.long
def test_a_type_checker_sees_wrong_calls(tmp_path: Path):
    from mypy import api

    script = tmp_path / "script.py"
    script.write_text(WRONG_CALLS)
    told, _, _ = api.run(
        ["--ignore-missing-imports", "--config-file=", "--cache-dir", str(tmp_path), str(script)]
    )
    lines = [int(line.split(":")[1]) for line in told.splitlines() if ": error: " in line]
    assert lines == [15, 16, 17, 18, 19, 20]


# ---- the program that type checkers read ----


PROGRAM = Path(__file__).with_name("typed_program.py")


def test_it_uses_every_public_name() -> None:
    tree = ast.parse(PROGRAM.read_text())
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    # names in annotations are names too, since the program delays none of them by quotes
    assert set(cudbound.__all__) - used - {"solve", "study"} == set()


# ---- ways on that messages name ----


PACKAGE = Path(cudbound.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("extra", ["reference", "models", "plots", "study", "excel", "dask"])
def test_the_command_names_the_packages_of_an_extra(extra):
    expected = " ".join(f"'{one}'" for one in PROJECT["optional-dependencies"][extra])
    assert install_command(extra) == f"pip install {expected}"


def test_the_case_of_letters_does_not_hide_what_was_meant():
    assert did_you_mean("c", ["alpha", "C"], "its options are") == "did you mean C?"
    assert suggestion("CUD", ["cud", "two-center"]) == " Did you mean 'cud'?"
    assert suggestion("lasso", ["cud", "two-center"]) == ""


# ---- the order of the rooms ----


MODULES = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))


def test_the_page_for_contributors_lists_the_layers():
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    contracts = {one["name"]: one for one in project["tool"]["importlinter"]["contracts"]}
    layers = reversed(contracts["rooms follow the derivation"]["layers"])
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text()
    listed = text[text.index("- `basis`") :].split("\n\n")[0].splitlines()
    assert [set(re.findall("`(.+?)`", line.partition(":")[0])) for line in listed] == [
        set(layer.split(" | ")) for layer in layers
    ]


def test_no_name_stands_for_two_modules():
    names = Counter(Path(path).stem for path in MODULES if not Path(path).stem.startswith("__"))
    assert not [name for name, count in names.items() if count > 1]


def test_no_folder_with_one_file():
    for folder in (PACKAGE, *PACKAGE.rglob("*")):
        if folder.is_dir() and not {"__pycache__", "templates"} & {folder.name, folder.parent.name}:
            inside = [path for path in folder.iterdir() if path.name != "__pycache__"]
            assert len(inside) != 1, f"{folder} holds {inside[0].name} alone"
