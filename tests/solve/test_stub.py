"""The compiled module: its committed stub, its enumerations, and the message when it is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import cudbound

PACKAGE = Path(cudbound.__file__).parent


def normalized(source: str) -> str:
    """Return the statements without comments, layout and the order of quotes."""
    return ast.unparse(ast.parse(source))


def test_the_committed_stub_is_that_of_the_module(tmp_path: Path) -> None:
    fresh = tmp_path / "_solvers.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "cudbound._solvers", "-o", str(fresh)]
    subprocess.run(command, check=True)
    committed = (PACKAGE / "_solvers.pyi").read_text()
    assert normalized(committed) == normalized(fresh.read_text()), "write it again with 'make stub'"
    assert "def solve_draws(" in committed


WITHOUT_MODULE = """
import sys
sys.modules["cudbound._solvers"] = None
import cudbound, cudbound.basis.results, cudbound.problem.problem
print("CudResult" in cudbound.__all__)
for module, name in (("cudbound.solve", "solve_draws"), ("cudbound", "cud_interval")):
    try:
        exec(f"from {module} import {name}")
    except ImportError as error:
        print(error)
"""


def test_a_missing_module_says_what_to_do_and_leaves_the_package() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_MODULE], capture_output=True, text=True, check=True)
    first, *said = done.stdout.strip().splitlines()
    assert first == "True"
    assert len(said) == 2
    for line in said:
        assert line.startswith(
            "The compiled part of cudbound, cudbound._solvers, cannot be imported. This happens if Python runs in a "
            "source folder that was not built: install it with 'pip install .', or for development with 'pip install "
            "--no-build-isolation --editable .'."
        )
        assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in line
