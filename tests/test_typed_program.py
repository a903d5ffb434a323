"""The program that type checkers read; `make lint` has mypy read it, and the workflow of the tests pyright too."""

from __future__ import annotations

import ast
from pathlib import Path

import cudbound

PROGRAM = Path(__file__).with_name("typed_program.py")


def test_it_uses_every_public_name() -> None:
    tree = ast.parse(PROGRAM.read_text())
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    # names in annotations are names too, since the program delays none of them by quotes
    assert set(cudbound.__all__) - used - {"solve", "study"} == set()
