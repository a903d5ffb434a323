"""Which module may import which: the way of the data, and sizes that keep modules readable."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import cudbound

PACKAGE = Path(cudbound.__file__).parent
TESTS = Path(__file__).parent

# Every module or folder of the package in the order of the way of the data. A module may import from itself (its
# folder) and from what stands above it, never from below. Within one line nothing imports its neighbours.
LAYERS = (
    {
        "_solvers",
        "exceptions",
        "hints",
        "losses",
        "quantiles",
        "validation",
        "bootstrap",
        "least_squares",
    },
    {"results", "records", "registry", "model", "problem", "cvxpy_loss", "reference_polish"},
    {"basis", "effort", "frontier", "reference_subproblems", "point_estimates", "exact"},
    {"kernel", "certificate"},
    {"estimators", "minimum", "stumps"},
    {"convex_loss", "batches"},
    {"adapters"},
    {"reference"},
    {"solve"},
    {"search"},
    {"bound", "adaptive"},
    # leaves: the core above never needs them
    {"bolstering", "refits", "intervals", "report", "csv_file"},
    {"resampling", "csv_data", "classifiers", "plotting"},
    {"recording"},
    {"compare", "estimate", "learners", "methods", "recorded"},
    {"study"},
    {"cli"},
)
CORE = set().union(*LAYERS[:11])
ORDER = {unit: depth for depth, layer in enumerate(LAYERS) for unit in layer}

# The exceptions: importer, imported, why.
ALLOWED = {
    ("results", "report"),  # a table prints itself; imported when it does
    ("__init__", "bound"),  # the public names, imported when they are first used
    ("__init__", "certificate"),
    ("__init__", "compare"),
    ("__init__", "convex_loss"),
    ("__init__", "cvxpy_loss"),
    ("__init__", "estimate"),
    ("__init__", "estimators"),
    ("__init__", "learners"),
    ("__init__", "methods"),
    ("__init__", "problem"),
    ("__init__", "recorded"),
    ("__init__", "resampling"),
    ("__init__", "results"),
    ("__init__", "solve"),
    ("__init__", "study"),
    ("__init__", "stumps"),
}

# The only units that import these, inside functions or at the top.
ONLY_IMPORTERS = {
    "cudbound._solvers": {"kernel"},
    "cudbound.reference": {"solve"},
    "cudbound.reference_subproblems": {"minimum", "reference"},
    "cudbound.solve": {"adaptive", "search", "__init__"},
    "cudbound.reference_polish": {"reference_subproblems"},
    "cvxpy": {"cvxpy_loss"},
    "click": {"cli"},
    "skops": {"cli"},
    "tabulate": {"report"},
    "matplotlib": {"plotting"},
    "jinja2": {"study"},
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
                # "from cudbound import bound" imports the module cudbound.bound
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
# names of the public interface that "from cudbound import ..." may take; they are no modules
PUBLIC = {name for name in cudbound.__all__ if name not in ORDER}


def test_every_module_has_its_place() -> None:
    units = {unit_of(path) for path in MODULES} - {"__init__"}
    assert units == set(ORDER) - {"_solvers"}
    assert sum(len(layer) for layer in LAYERS) == len(ORDER), "a module stands in two layers"


def test_the_parser_sees_what_is_there() -> None:
    found = {(one.unit, one.module) for one in IMPORTS}
    assert {("kernel", "cudbound._solvers"), ("bound", "cudbound.search"), ("problem", "numpy")} <= found
    lazy = {(one.unit, one.module) for one in IMPORTS if one.inside_function}
    assert ("solve", "cudbound.reference") in lazy
    assert {(one.unit, one.target) for one in IMPORTS if one.for_types_only} >= {("results", "pandas")}


def test_imports_follow_the_way_of_the_data() -> None:
    wrong = []
    for one in IMPORTS:
        if not one.module.startswith("cudbound") or one.for_types_only:
            continue
        if one.target == one.unit or (one.unit, one.target) in ALLOWED:
            continue
        if one.unit == "cli" and (one.target in PUBLIC or one.target == "cudbound"):
            continue  # the command is a user of the public interface
        if one.target not in ORDER or one.unit not in ORDER or ORDER[one.target] >= ORDER[one.unit]:
            wrong.append(str(one))
    assert not wrong


def test_every_exception_is_still_needed() -> None:
    found = {(one.unit, one.target) for one in IMPORTS}
    assert found >= ALLOWED


def test_the_core_does_not_import_leaves() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        if one.unit in CORE
        and one.module.startswith("cudbound")
        and not one.for_types_only
        and one.target not in CORE
        and (one.unit, one.target) not in ALLOWED
    ]
    assert not wrong


def test_modules_that_only_one_place_may_import() -> None:
    wrong = [
        str(one)
        for one in IMPORTS
        for module, importers in ONLY_IMPORTERS.items()
        if (one.module == module or one.module.startswith(module + "."))
        and not one.for_types_only
        and one.unit not in importers
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
    targets = {one.target for one in IMPORTS if one.unit == "intervals" and one.module.startswith("cudbound")}
    allowed = {"intervals", "records", "registry", "results", "point_estimates", "quantiles", "validation"}
    assert targets <= allowed


def test_reports_read_results_and_nothing_else() -> None:
    targets = {one.target for one in IMPORTS if one.unit == "report" and one.module.startswith("cudbound")}
    assert targets <= {"report", "results"}


def test_plots_read_frames_and_nothing_else() -> None:
    targets = {one.target for one in IMPORTS if one.unit == "plotting" and one.module.startswith("cudbound")}
    assert targets <= {"plotting", "report"}


@pytest.mark.parametrize("path", [str(path.relative_to(PACKAGE)) for path in MODULES])
def test_modules_are_short(path: str) -> None:
    # aim for 400 lines; beyond 450 a module does more than one thing
    assert len((PACKAGE / path).read_text().splitlines()) <= 450


def test_no_folder_with_one_file() -> None:
    for root in (PACKAGE, TESTS):
        for folder in (root, *root.rglob("*")):
            if folder.is_dir() and "__pycache__" not in folder.parts:
                files = [path for path in folder.iterdir() if path.suffix in {".py", ".pyi", ".json", ".csv"}]
                assert len(files) != 1, f"{folder} holds {files[0].name} alone"
