"""What no linter checks: functions of at most 60 code lines, modules of at most 400, rooms, the words of added lines.

python .ci/house_rules.py [BASE]

A code line is neither blank nor comment nor docstring. BASE is the commit that the added lines are counted from: by
default where the branch left main, or, on main itself, the commit before.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

MAX_LINES, MAX_MODULE_LINES = 60, 400
#: The folders of solvers/src, each of which may include the ones before it.
ROOMS = ["control", "linear_algebra", "problem", "cones", "losses", "search", "schedule", "refits"]
#: English of our own, and what a reader expects in its place.
WORDS = {
    r"\bwished\b": "wanted, or target",
    r"\brests on\b": "depends on",
    r"\bwho has the\b": "with the",
    r"\bat the shell\b": "on the command line",
    r"\bputs? an end\b": "stops",
    r"\bin the place of\b": "instead of",
    r"\bone (row|line|value|fit|file|name) an? (?=draw|row|split|method|cell|learner)": "per",
    r"\b(is|are) told apart\b": "differ",
    r"\bso many (nodes|seconds|draws|seeds|workers|times)\b": "this many",
    r"\bcannot be told\b": "is unknown",
    r"\bset at nothing\b": "ignored",
}
NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT),
    *(tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER),
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that are neither blank nor comment nor docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def long_modules_and_functions(path: Path) -> Iterator[str]:
    text = path.read_text()
    tree = ast.parse(text)
    lines = code_lines(text, tree)
    if len(lines) > MAX_MODULE_LINES:
        yield f"{path}: has {len(lines)} code lines; the most is {MAX_MODULE_LINES}"
    for node in ast.walk(tree):
        if isinstance(node, Function):
            length = len(lines & set(range(node.lineno, (node.end_lineno or 0) + 1)))
            if length > MAX_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} code lines; the most is {MAX_LINES}"


def includes_of_later_rooms() -> Iterator[str]:
    for path in sorted(Path("solvers/src").rglob("*.?pp")):
        allowed = ROOMS[: ROOMS.index(path.parent.name) + 1]
        for room, header in re.findall(r'#include "(\w+)/(\w+\.hpp)"', path.read_text()):
            if room in ROOMS and room not in allowed:
                yield f"{path}: {room}/{header} belongs to a later room; {path.parent.name} may use {allowed}"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()


def base_of_change() -> str:
    """Return the commit that the branch left main at, or the one before where that is this one."""
    for main in ("origin/main", "main"):
        if has(main) and (base := git("merge-base", "HEAD", main)) != git("rev-parse", "HEAD"):
            return base
    return "HEAD~1"


def has(commit: str) -> bool:
    """Whether there is such a commit; there is none where there is no history, as in an archive, or no git."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return bool(git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"))
    return False


def own_english(base: str) -> Iterator[str]:
    where, number = "", 0
    for line in git(
        "diff", "--unified=0", "--no-color", base, "--", "*.py", "*.md", "*.toml", "*.hpp", "*.cpp"
    ).splitlines():
        if line.startswith("+++ "):
            where = line.removeprefix("+++ b/")
        elif line.startswith("@@"):
            number = int(line.split("+")[1].split()[0].split(",")[0]) - 1
        elif line.startswith("+"):
            number += 1
            for pattern, better in WORDS.items():
                if where != ".ci/house_rules.py" and re.search(pattern, line, re.IGNORECASE):
                    yield f"{where}:{number}: {pattern} is our own English; say {better}: {line[1:].strip()}"


def main(*arguments: str) -> int:
    found = [
        line for path in sorted(Path("cudbound").rglob("*.py")) for line in long_modules_and_functions(path)
    ]
    found += includes_of_later_rooms()
    base = arguments[0] if arguments else base_of_change()
    if has(base):
        found += own_english(base)
        words = f"the words since {base[:10]} are those of the field"
    else:
        words = f"there is no commit {base} here, so no added words were read"
    print("\n".join(found) or f"functions are short, rooms use earlier ones, {words}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
