"""The order of the rooms, which `make lint` checks by the contracts in pyproject.toml, and the names of modules."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import cudbound

PACKAGE = Path(cudbound.__file__).parent
MODULES = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))


def test_the_page_of_the_rooms_lists_the_layers():
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    contracts = {one["name"]: one for one in project["tool"]["importlinter"]["contracts"]}
    layers = reversed(contracts["rooms follow the derivation"]["layers"])
    text = (PACKAGE.parent / "docs" / "developers" / "rooms.md").read_text()
    listed = [line.split("  ")[0] for line in text.split("```text\n")[2].split("```")[0].splitlines()]
    assert [set(line.split(", ")) for line in listed] == [set(layer.split(" | ")) for layer in layers]


def test_no_name_stands_for_two_modules():
    names = Counter(Path(path).stem for path in MODULES if not Path(path).stem.startswith("__"))
    assert not [name for name, count in names.items() if count > 1]


def test_no_folder_with_one_file():
    for folder in (PACKAGE, *PACKAGE.rglob("*")):
        if folder.is_dir() and not {"__pycache__", "templates"} & {folder.name, folder.parent.name}:
            inside = [path for path in folder.iterdir() if path.name != "__pycache__"]
            assert len(inside) != 1, f"{folder} holds {inside[0].name} alone"
