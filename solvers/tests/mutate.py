r"""Changes one operator, number or statement of the solver at a time, and counts the changes that its tests notice.

python solvers/tests/mutate.py BUILD_FOLDER [--changes 100] [--seed 1] [--room cones]

BUILD_FOLDER holds a build of the C++ tests, file by file and with checks of indices; few trials are enough, as in

cmake -S solvers -G Ninja -B build/mutants -DCUDBOUND_TESTS=ON -DCMAKE_UNITY_BUILD=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS="-O1 -D_GLIBCXX_ASSERTIONS"
cmake --build build/mutants
CUDBOUND_TRIALS=10 python solvers/tests/mutate.py build/mutants --seed 1 --seconds 60

The sources are changed in place, one at a time, and are restored also when
the script is interrupted. A change that does not compile is replaced by another one. A test that runs into its time
limit has noticed the change. The test `effort`, which notices most changes, is compiled and runs before the others.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).parents[1] / "src"
#: What is looked for in a line of code, and what takes its place.
CHANGES = {
    r" < ": (" <= ", " > "),
    r" > ": (" >= ", " < "),
    r" <= ": (" < ",),
    r" >= ": (" > ",),
    r" == ": (" != ",),
    r" != ": (" == ",),
    r" \+ ": (" - ",),
    r" - ": (" + ",),
    r" \* ": (" / ",),
    r" / ": (" * ",),
    r" \+= ": (" -= ", " = "),
    r" -= ": (" += ",),
    r" && ": (" || ",),
    r" \|\| ": (" && ",),
    r"\bstd::min\b": ("std::max",),
    r"\bstd::max\b": ("std::min",),
    r"\btrue\b": ("false",),
    r"\bfalse\b": ("true",),
    r"\b0\.5\b": ("0.25", "1.0"),
    r"\b1\.0\b": ("0.5", "2.0"),
    r"\b2\.0\b": ("1.0", "4.0"),
    r"\bcontinue;": ("break;",),
    r"^ +[\w.>-]+\(.*\);$": ("",),  # a call whose result is not used
}
CTEST = ["ctest", "--parallel", "2", "--stop-on-failure"]


class Change(NamedTuple):
    """One line of a source file, and what stands there instead."""

    path: Path
    line: int  # from 0
    before: str
    after: str


def changes(path: Path) -> Iterator[Change]:
    """Yield every change of a file, one of each kind per place."""
    for number, line in enumerate(path.read_text().splitlines()):
        code = line.split("//")[0].rstrip()
        if code.lstrip().startswith(("#", "template", "static_assert")):
            continue
        for pattern, replacements in CHANGES.items():
            for found in re.finditer(pattern, code):
                for replacement in replacements:
                    yield Change(
                        path, number, line, code[: found.start()] + replacement + code[found.end() :]
                    )
        for found in re.finditer(r"\bif \(", code):
            if after := negated(code, found.end()):
                yield Change(path, number, line, after)


def negated(code: str, start: int) -> str:
    """Return the line with the condition that begins at `start` negated; nothing if it ends on another line."""
    depth = 1
    for end in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        if depth == 0:
            return "" if ";" in code[start:end] else f"{code[:start]}!({code[start:end]}){code[end:]}"
    return ""


def noticed(change: Change, build: Path, seconds: int) -> bool | None:
    """Return whether a test fails; None if the change does not compile."""
    ctest = [*CTEST, "--test-dir", build, "--timeout", str(seconds)]
    original = change.path.read_text()
    lines = original.splitlines(keepends=True)
    lines[change.line] = change.after + "\n"
    try:
        change.path.write_text("".join(lines))
        for target, choice in (("test_effort", "--tests-regex"), ("all", "--exclude-regex")):
            compile_it = ["cmake", "--build", build, "--target", target]
            if subprocess.run(compile_it, capture_output=True, check=False).returncode != 0:
                return None
            if subprocess.run([*ctest, choice, "^effort$"], capture_output=True, check=False).returncode != 0:
                return True
        return False
    finally:
        change.path.write_text(original)


def main() -> int:
    """Try as many changes as asked, in an order that the seed decides."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", default="", help="a folder of src; default: all")
    parser.add_argument("--seconds", type=int, default=120, help="time limit of one test")
    asked = parser.parse_args()
    possible = [c for path in sorted((SOURCES / asked.room).rglob("*.?pp")) for c in changes(path)]
    random.Random(asked.seed).shuffle(possible)
    tried, missed = 0, 0
    for change in possible:
        if tried == asked.changes:
            break
        seen = noticed(change, asked.build, asked.seconds)
        if seen is None:
            continue
        tried += 1
        missed += not seen
        where = f"{change.path.relative_to(SOURCES)}:{change.line + 1}"
        what = change.after.strip() or f"removed: {change.before.strip()}"
        print(f"{tried:4} {'noticed' if seen else 'MISSED '} {where}: {what}", flush=True)
    print(
        f"{tried - missed} of {tried} changes noticed (of {len(possible)} possible ones, seed {asked.seed})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
