"""Do the tests notice a wrong sign? Change one operator, number or argument of a package at a time, and run them.

    python tests/helpers/mutants.py FOLDER TESTS ... [--number 200] [--seed 0] [--jobs 1]

such as `python tests/helpers/mutants.py cudbound/intervals tests/intervals`. The tests run once to learn which of them
reach which function; each change then meets those tests alone, the quick ones first, in a process of its own, until one
fails. What none of them notices is printed: either the change changes nothing, or a test is missing.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: Processor seconds that a changed run may take beyond what its tests took; one that takes more has been noticed.
PATIENCE = 30
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]
OTHERS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
    **{ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.MatMult: ast.Mult},
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, the outermost function around it, and the changed text of the module."""

    path: str
    line: int
    function: str
    change: str
    text: str


def changed(node: ast.AST) -> ast.AST | None:
    """Return a node with one change, or None for one that has nothing to change."""
    new: Any = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[operator, *_]):
            new.ops[0] = OTHERS[type(operator)]()
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in OTHERS:
            new.op = OTHERS[type(operator)]()
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            return operand
        case ast.Constant(value=bool() as value):
            new.value = not value
        case ast.Constant(value=int() | float() as value):
            new.value = value + 1
        case ast.Call(func=ast.Name(id="min" | "max")):  # whose order says nothing
            return None
        case ast.Call(args=[first, second, *_]) if not isinstance(second, ast.Starred):
            new.args[:2] = [second, first]
        case ast.IfExp(body=body, orelse=orelse):
            new.body, new.orelse = orelse, body
        case _:
            return None
    return new


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield what may be changed inside functions: the parent, its field and the index there; never annotations."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns"):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and changed(child) is not None:
                    yield parent, field, index


def numbers_of_places(path: str) -> list[tuple[str, int]]:
    """Return every place in the functions of a module, by the module and its number there."""
    tree = ast.parse((ROOT / path).read_text())
    return [(path, n) for n, place in enumerate(places(tree)) if _around(tree, _at(*place))]


def mutant_at(path: str, number: int) -> Mutant:
    """Return the mutant of a place."""
    tree = ast.parse((ROOT / path).read_text())
    parent, field, index = list(places(tree))[number]
    old = _at(parent, field, index)
    function = _around(tree, old)[0]
    new: Any = changed(old)
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new
    change = f"{ast.unparse(old)}  ->  {ast.unparse(new)}"
    return Mutant(
        path, old.lineno, f"{path}:{function}", change, ast.unparse(ast.fix_missing_locations(tree))
    )


def _at(parent: ast.AST, field: str, index: int | None) -> Any:
    value = getattr(parent, field)
    return value if index is None else value[index]


def _around(tree: ast.AST, node: Any) -> list[int]:
    """Return where the functions around a node begin, the outermost first."""
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    return [one.lineno for one in functions if one.lineno < node.lineno <= (one.end_lineno or 0)]


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import other texts, or trees, in place of some modules, by their paths."""

    def __init__(self, texts: Mapping[str, str | ast.Module], **names: object):
        self.paths = {_name(path): path for path in texts}
        self.texts = texts
        self.names = names

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in self.paths:
            return None
        place = ROOT / self.paths[name]
        inside = [str(place.parent)] if place.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, place, loader=self, submodule_search_locations=inside
        )

    def exec_module(self, module: Any) -> None:
        path = self.paths[module.__name__]
        module.__dict__.update(self.names)
        exec(compile(self.texts[path], path, "exec"), module.__dict__)


def _name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


class Reached:
    """A plugin of pytest that notes which test reaches which function, and how long each takes."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.test = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid
        self.seconds[nodeid] = -time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] += time.process_time()
        self.test = ""

    def note(self, function: str) -> None:
        if self.test:
            self.found[function].add(self.test)


def noting(path: str) -> ast.Module:
    """Return a module whose functions say when they are reached."""
    tree = ast.parse((ROOT / path).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            said = ast.parse(f"_note('{path}:{node.lineno}')").body
            after = 0 if ast.get_docstring(node) is None else 1
            node.body[after:after] = said
    return ast.fix_missing_locations(tree)


def note_tests(paths: Sequence[str], tests: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Run the tests; return those that reach each function, and how long each takes."""
    import pytest

    reached = Reached()
    sys.meta_path.insert(0, Instead({path: noting(path) for path in paths}, _note=reached.note))
    if pytest.main([*OPTIONS, *tests], plugins=[reached]):
        sys.exit("the tests fail without any change")
    return {function: sorted(found) for function, found in reached.found.items()}, reached.seconds


def notices(mutant: Mutant, tests: Sequence[str], seconds: float) -> bool:
    """Say whether one of the tests fails in a process of its own, or none has ended after several times `seconds`."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    limit = PATIENCE + 3 * int(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    sys.meta_path.insert(0, Instead({mutant.path: mutant.text}))
    import pytest

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = pytest.main([*OPTIONS, *tests])
    os._exit(int(code))


def check(arguments: argparse.Namespace) -> Counter[str]:
    """Print the changes that were not noticed, and return how many were and were not."""
    paths = [str(path.relative_to(ROOT)) for path in sorted((ROOT / arguments.folder).rglob("*.py"))]
    with tempfile.TemporaryDirectory() as place:
        noted = Path(place) / "noted.json"
        child = os.fork()  # what is imported here could not be changed below
        if not child:
            noted.write_text(json.dumps(note_tests(paths, arguments.tests)))
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)
        reached, seconds = json.loads(noted.read_text())
    found = [place for path in paths for place in numbers_of_places(path)]
    chosen = random.Random(arguments.seed).sample(found, min(arguments.number, len(found)))
    mutants = [mutant_at(*place) for place in chosen]

    def end_of(mutant: Mutant) -> str:
        tests = sorted(reached.get(mutant.function, ()), key=seconds.__getitem__)
        if not tests:
            return "not reached"
        return "noticed" if notices(mutant, tests, sum(map(seconds.__getitem__, tests))) else "survived"

    ends = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for mutant, end in zip(mutants, pool.map(end_of, mutants), strict=True):
            ends.append(end)
            if end != "noticed":
                print(f"{len(ends)} {end}: {mutant.path}:{mutant.line}: {mutant.change}", flush=True)
    return Counter(ends)


def main() -> None:
    """Change and test as the command line says, and print the share that was noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    counted = check(parser.parse_args())
    print(f"{counted['noticed']} of {counted.total()} changes were noticed: {dict(counted)}")


if __name__ == "__main__":
    main()
