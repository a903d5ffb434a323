"""Ways on that messages name: commands that work wherever the package came from."""

from __future__ import annotations

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


def test_the_case_of_letters_does_not_hide_what_was_meant():
    assert did_you_mean("c", ["alpha", "C"], "its options are") == "did you mean C?"
    assert suggestion("CUD", ["cud", "two-center"]) == " Did you mean 'cud'?"
    assert suggestion("lasso", ["cud", "two-center"]) == ""
