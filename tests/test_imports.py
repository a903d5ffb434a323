"""Which folder may import which: the derivation of the method, and sizes that keep modules readable."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import cudbound

PACKAGE = Path(cudbound.__file__).parent

# Every folder and module of the package in the order of the derivation. Each may import from itself and from the lines
# above it, never from its own line or from below; imports for types alone and inside functions count like all others.
LAYERS = (
    {"parameter_error", "hints", "quantiles", "rounding", "versions", "bars", "protocols", "yardsticks"},
    {"validation"},
    {"outcomes", "groups", "aligned"},
    {"results", "method_card", "losses", "pictured"},
    {"exceptions", "records", "problem"},
    {"metrics", "seeds"},
    {"exact", "audit", "solve", "point_estimates", "report", "plotting"},
    {"estimators", "intervals"},
    {"adapters"},
    {"bound"},
    {"resampling", "inputs"},
    {"tables"},
    {"study"},
    {"planning"},
    {"cli"},
)
CORE = set().union(*LAYERS[:10])
ORDER = {unit: depth for depth, layer in enumerate(LAYERS) for unit in layer}

# The only folders that import these, inside functions or at the top.
ONLY_IMPORTERS = {
    "cudbound._solvers": {"solve"},
    "cvxpy": {"losses"},
    "click": {"cli"},
    "skops": {"cli"},
    "tabulate": {"report"},
    "matplotlib": {"plotting"},
    "jinja2": {"study"},
}

# Modules of a folder that only these modules may import: what stays exchangeable behind one contract.
BEHIND = {
    "cudbound.solve.native": {"solve/solve_draws", "solve/minimum", "bound/boundary", "estimators/*"},
    "cudbound.solve.reference": {"solve/solve_draws"},
    "cudbound.solve.reference_cones": {"solve/minimum", "solve/reference"},
    "cudbound.solve.reference_hyperplanes": {"solve/reference", "solve/reference_cones"},
    "cudbound.solve.reference_polish": {"solve/reference_cones"},
}

# What must not be imported when a module is imported, because it is slow or may be missing.
ONLY_INSIDE_FUNCTIONS = {"pandas", "cvxpy", "tqdm", "tabulate", "matplotlib", "jinja2", "skops"}


@dataclass(frozen=True)
class Import:
    """One imported module, and where the statement stands."""

    unit: str
    path: str
    line: int
    module: str
    inside_function: bool
    for_types_only: bool

    @property
    def target(self) -> str:
        """First part below the package, or the foreign package."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == "cudbound" and len(parts) > 1 else parts[0]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def unit_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text())

    def visit(node: ast.AST, inside: bool, typing: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            names: list[str] = []
            if isinstance(child, ast.Import):
                names = [alias.name for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: relative import"
                assert child.module is not None
                # "from cudbound import bound" imports the module cudbound.bound.cud_interval
                names = [
                    f"cudbound.{alias.name}" if child.module == "cudbound" else child.module
                    for alias in child.names
                ]
            for name in names:
                yield Import(
                    unit_of(path), str(path.relative_to(PACKAGE)), child.lineno, name, inside, typing
                )
            yield from visit(
                child,
                inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda),
                typing or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)),
            )

    return visit(tree, False, False)


MODULES = sorted(PACKAGE.rglob("*.py"))
IMPORTS = [one for path in MODULES for one in imports_of(path)]


def test_every_module_has_its_place() -> None:
    units = {unit_of(path) for path in MODULES} - {"__init__"}
    assert units == set(ORDER)
    assert sum(len(layer) for layer in LAYERS) == len(ORDER), "a module stands in two layers"


def test_contributing_lists_the_layers() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text()
    listed = [line.split("  ")[0] for line in text.split("```text\n")[2].split("```")[0].splitlines()]
    assert [set(line.split(", ")) for line in listed] == list(LAYERS)


def test_the_parser_sees_what_is_there() -> None:
    found = {(one.unit, one.module) for one in IMPORTS}
    assert {("solve", "cudbound._solvers"), ("bound", "cudbound.solve.search"), ("problem", "numpy")} <= found
    lazy = {(one.unit, one.module) for one in IMPORTS if one.inside_function}
    assert ("solve", "cudbound.solve.reference") in lazy
    assert {(one.unit, one.target) for one in IMPORTS if one.for_types_only} >= {("results", "pandas")}


def test_imports_follow_the_derivation() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        if one.module.startswith("cudbound")
        and one.unit not in {one.target, "__init__"}  # the front door opens on every room
        and one.module != "cudbound._solvers"
        and ORDER.get(one.target, len(LAYERS)) >= ORDER[one.unit]
    ]
    assert not wrong


def test_nothing_inside_imports_the_front_door() -> None:
    assert not [str(one) for one in IMPORTS if one.module == "cudbound" or one.target in cudbound.__all__]


def test_the_core_does_not_import_leaves() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        if one.unit in CORE and one.module.startswith("cudbound.") and one.target not in CORE | {"_solvers"}
    ]
    assert not wrong


def test_folders_that_alone_may_import_a_package() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        for module, importers in ONLY_IMPORTERS.items()
        if (one.module == module or one.module.startswith(module + "."))
        and not one.for_types_only
        and one.unit not in importers
    ]
    assert not wrong


def test_both_solvers_stand_behind_one_contract() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        for module, importers in BEHIND.items()
        if one.module == module and not {one.path.removesuffix(".py"), f"{one.unit}/*"} & importers
    ]
    assert not wrong


def test_slow_packages_are_imported_when_they_are_used() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        if one.module.split(".")[0] in ONLY_INSIDE_FUNCTIONS
        and not one.inside_function
        and not one.for_types_only
    ]
    assert not wrong


def test_interval_methods_read_records_and_nothing_else() -> None:
    assert targets_of("intervals") <= {
        *("intervals", "records", "method_card", "outcomes", "results", "point_estimates", "quantiles"),
        *("validation", "parameter_error", "yardsticks"),
    }


def test_reports_read_results_and_nothing_else() -> None:
    assert targets_of("report") <= {
        "report",
        "outcomes",
        "results",
        "rounding",
        "parameter_error",
        "versions",
        "yardsticks",
        "exceptions",  # what a caution is
    }


def test_plots_read_frames_and_nothing_else() -> None:
    assert targets_of("plotting") <= {"plotting", "rounding", "parameter_error", "hints"}


def test_results_load_plots_when_they_draw_them():
    """Plots read frames alone, so that results may draw themselves; but no result needs a plot to exist."""
    drawing = [
        one
        for one in IMPORTS
        if one.module.startswith("cudbound.plotting") and one.unit not in {"plotting", "study", "__init__"}
    ]
    assert {one.unit for one in drawing} >= {"bound", "tables"}
    assert [str(one) for one in drawing if not one.inside_function and not one.for_types_only] == []


def targets_of(unit: str) -> set[str]:
    return {one.target for one in IMPORTS if one.unit == unit and one.module.startswith("cudbound")}


@pytest.mark.parametrize("path", [str(path.relative_to(PACKAGE)) for path in MODULES])
def test_modules_are_short(path: str) -> None:
    assert len((PACKAGE / path).read_text().splitlines()) <= 400


def test_no_name_stands_for_two_modules() -> None:
    names = Counter(path.stem for path in MODULES if not path.stem.startswith("__"))
    assert not [name for name, count in names.items() if count > 1]


def test_no_module_looks_like_a_test_that_is_none() -> None:
    assert not [path for path in MODULES if path.stem.startswith("test_") and path.stem != "test_set"]


def test_no_folder_with_one_file() -> None:
    for folder in (PACKAGE, *PACKAGE.rglob("*")):
        if folder.is_dir() and "__pycache__" not in folder.parts:
            inside = [
                path for path in folder.iterdir() if path.name != "__pycache__" and path.suffix != ".j2"
            ]
            assert len(inside) != 1 or folder.name == "templates", f"{folder} holds {inside[0].name} alone"
