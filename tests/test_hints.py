"""Ways on that messages name: commands that work wherever the package came from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import cudbound
from cudbound.basis.exceptions import did_you_mean, install_command, suggestion

PACKAGE = Path(cudbound.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("extra", ["reference", "models", "plots", "study", "excel", "dask"])
def test_the_command_names_the_packages_of_an_extra(extra):
    expected = " ".join(f"'{one}'" for one in PROJECT["optional-dependencies"][extra])
    assert install_command(extra) == f"pip install {expected}"


def test_no_message_asks_an_index_for_this_package():
    """Which works for those alone who got it from there."""
    asking = re.compile(r"pip install '?cudbound\b")
    assert [str(path) for path in PACKAGE.rglob("*.py") if asking.search(path.read_text())] == []


def test_the_case_of_letters_does_not_hide_what_was_meant():
    assert did_you_mean("c", ["alpha", "C"], "its options are") == "did you mean C?"
    assert suggestion("CUD", ["cud", "two-center"]) == " Did you mean 'cud'?"
    assert suggestion("lasso", ["cud", "two-center"]) == ""
