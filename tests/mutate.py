"""Change one line of the package at a time, at random, and list the changes that no quick test notices.

    python tests/mutate.py --seed 1 --draws 120 [--room intervals] [--matching-only]

A change replaces a comparison, an operator, a number, ``and`` and ``or``, a ``not``, a truth value or what is returned.
For each, the tests that name its module run first, then those of its room, then all other quick tests, up to the first
failure. The file is changed in place and restored at the end, also after Ctrl-C; what is not committed in cudbound/ is
refused.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OTHER_OPERATOR: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
#: A run that takes longer does not end: the change made a loop without an end.
SECONDS = 1200
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """One changed expression or statement on one line."""

    path: Path
    line: int
    start: int  # in bytes of the line, as in ast
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.before}  ->  {self.after}"

    def applied(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1].encode()
        lines[self.line - 1] = (line[: self.start] + self.after.encode() + line[self.end :]).decode()
        return "".join(lines)


def other_forms(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node is replaced by."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare(ops=[operator, *_]) if type(operator) in OTHER_OPERATOR:
            changed.ops[0] = OTHER_OPERATOR[type(operator)]()
        case ast.BoolOp(op=operator) | ast.BinOp(op=operator) if type(operator) in OTHER_OPERATOR:
            changed.op = OTHER_OPERATOR[type(operator)]()
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            changed = changed.operand
        case ast.Constant(value=bool()):
            changed.value = not changed.value
        case ast.Constant(value=int()):
            changed.value += 1
        case ast.Constant(value=float()):
            changed.value = changed.value * 1.1 if changed.value else 0.1
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            changed.value = ast.Constant(None)
        case _:
            return
    yield changed


def is_about_words(node: ast.AST) -> bool:
    """Whether nothing in a node computes: annotations, imports, and the number of frames that a warning skips."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.keyword) and node.arg == "stacklevel"
    )


def changes_of(path: Path) -> Iterator[Change]:
    """Yield all changes of a module."""
    text = path.read_text()

    def visit(node: ast.AST) -> Iterator[Change]:
        if is_about_words(node):
            return
        if getattr(node, "lineno", 0) and node.lineno == node.end_lineno:
            for other in other_forms(node):
                before = ast.get_source_segment(text, node)
                after = ast.unparse(other)
                if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
                    after = f"({after})"
                yield Change(path, node.lineno, node.col_offset, node.end_col_offset, before, after)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_comment", "type_params"):
                continue
            if isinstance(node, ast.JoinedStr):  # texts are compared elsewhere, by reading
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from visit(child)

    yield from visit(ast.parse(text))


def matching_tests(path: Path) -> list[list[str]]:
    """Return the test files in their order: those that name the module, the others of its room, and all others."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    room = path.relative_to(ROOT / "cudbound").parts[0].removesuffix(".py")
    files = sorted(str(one.relative_to(ROOT)) for one in (ROOT / "tests").rglob("test_*.py"))
    naming = re.compile(rf"\b{re.escape(module)}\b|\b{re.escape(path.stem)}\b")
    near = [one for one in files if naming.search((ROOT / one).read_text()) or naming.search(Path(one).stem)]
    of_room = [
        one for one in files if one.startswith((f"tests/{room}/", f"tests/test_{room}")) and one not in near
    ]
    return [near, of_room, [one for one in files if one not in {*near, *of_room}]]


def noticed_by(files: list[str]) -> str | None:
    """Return the first quick test that fails, or None."""
    if not files:
        return None
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    command += ["--numprocesses", str(min(2, os.cpu_count() or 1)), "--dist", "loadfile", *files]
    environment = os.environ | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as run:  # fmt: skip
        try:
            output, _ = run.communicate(timeout=SECONDS)
        except BaseException as stop:
            os.killpg(run.pid, 9)
            if isinstance(stop, subprocess.TimeoutExpired):
                return "no end"
            raise
    if run.returncode in (0, 5):  # 5: none of these tests is quick
        return None
    failed = FAILED.search(output)
    return failed[1] if failed else f"exit code {run.returncode}"


def outcome(change: Change, matching_only: bool) -> str | None:
    """Return the test that notices a change, or None."""
    text = change.path.read_text()
    try:
        change.path.write_text(change.applied(text))
        for files in matching_tests(change.path)[: 2 if matching_only else 3]:
            if test := noticed_by(files):
                return test
        return None
    finally:
        change.path.write_text(text)


def main() -> None:
    """Draw changes, run the tests for each, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--draws", type=int, default=120)
    parser.add_argument("--room", default="", help="a folder or a file in cudbound/; all if it is not given")
    parser.add_argument("--matching-only", action="store_true", help="leave out the tests of other rooms")
    options = parser.parse_args()
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "cudbound"], cwd=ROOT, check=False).returncode:
        sys.exit("commit the changes of cudbound/ first")
    place = ROOT / "cudbound" / options.room
    modules = [place] if place.suffix else sorted(place.rglob("*.py"))
    every = [change for module in modules for change in changes_of(module)]
    drawn = random.Random(options.seed).sample(every, min(options.draws, len(every)))
    survivors = []
    for number, change in enumerate(drawn, 1):
        test = outcome(change, options.matching_only)
        print(f"{number:3d} {change}\n      {test or 'NOT NOTICED'}", flush=True)
        if test is None:
            survivors.append(change)
    print(
        f"\nnoticed: {len(drawn) - len(survivors)} of {len(drawn)}; seed {options.seed}, of {len(every)} changes"
    )
    for change in survivors:
        print(f"survivor: {change}")


if __name__ == "__main__":
    main()
