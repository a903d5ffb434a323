"""Do the tests notice a wrong sign in the solver? Change one operator or number of it at a time, and run them.

    python tests/helpers/solver_mutants.py [--number 100] [--seed 0]

Each change is compiled in a copy of `solvers` and meets its test programs, the quick ones first, then some tests in
Python with the changed solver, until one fails or does not end. What none of them notices is printed: the change
costs time alone, it changes nothing, or a test is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Tests in Python, such as those of the numbers of nodes, and the seconds after which they are taken to hang.
PYTHON_TESTS = (
    *(f"tests/solve/test_{subject}.py" for subject in ("effort", "limits", "directed")),
    "tests/bound",
)
PATIENCE = 900
#: Bytes that a changed program may take.
MEMORY = 4 * 2**30
#: What becomes of an operator, a name or a whole number; clang-format puts spaces around operators with two sides.
OTHERS = {
    **{" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "},
    **{
        " + ": " - ",
        " - ": " + ",
        " * ": " / ",
        " / ": " * ",
        " += ": " -= ",
        " -= ": " += ",
        " *= ": " /= ",
    },
    **{" && ": " || ", " || ": " && ", "std::min(": "std::max(", "std::max(": "std::min("},
    **{"true": "false", "false": "true", "break;": "continue;", "continue;": "break;"},
}
PLACE = re.compile(
    "|".join(
        [
            *(re.escape(one) for one in OTHERS if one.startswith(" ")),
            r"std::min\((?!\{)|std::max\((?!\{)|\b(?:true|false)\b|\b(?:break|continue);|!(?=[a-z(])",
            r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])",
        ]
    )
)
#: Lines without a statement, and those that a release does not compile.
IDLE = re.compile(r"\s*(//|#|namespace|using|static_assert|assert\(|template|struct|class)")


@dataclass(frozen=True)
class Mutant:
    """One change: the file, its line counted from 1, the line as it was, and as it is now."""

    path: Path
    line: int
    before: str
    after: str


def places(path: Path) -> list[Mutant]:
    """Return every change of a file."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = re.sub(r'"[^"]*"', lambda text: " " * len(text[0]), line.partition("//")[0])
        if not IDLE.match(line):
            found += [
                Mutant(path, number, line, line[: one.start()] + _other(one[0]) + line[one.end() :])
                for one in PLACE.finditer(code)
            ]
    return found


def _other(text: str) -> str:
    if text == "!":
        return ""
    if text in OTHERS:
        return OTHERS[text]
    return str(float(text) + 1 if "." in text else int(text) + 1)


def run(command: list[str], seconds: float | None = None, **environment: str) -> bool:
    """Say whether a command ends well, and within the seconds."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            preexec_fn=limit,
            timeout=seconds,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def built(build: Path, *, jobs: int) -> bool:
    """Compile what has changed, and say whether it is a program."""
    return run([_tool("cmake"), "--build", str(build), "--parallel", str(jobs)])


def _tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def programs(build: Path) -> list[tuple[list[str], float]]:
    """Return the commands of the tests, the quick ones first, and the seconds each takes without a change."""
    shown = subprocess.check_output([_tool("ctest"), "--test-dir", str(build), "--show-only=json-v1"])
    timed = []
    for test in json.loads(shown)["tests"]:
        start = time.monotonic()
        if not run(test["command"]):
            sys.exit(f"the tests fail without any change: {test['name']}")
        timed.append((test["command"], time.monotonic() - start))
    return sorted(timed, key=lambda test: test[1])


def python_tests_pass(build: Path) -> bool:
    """Say whether the tests in Python pass with the solver of a build."""
    (solver,) = build.glob("_solvers.*")
    helpers = str(ROOT / "tests" / "helpers")
    options = ["-q", "-x", "-p", "other_solver", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *PYTHON_TESTS]
    return run(command, PATIENCE, CUDBOUND_SOLVERS=str(solver), PYTHONPATH=helpers, OMP_NUM_THREADS="1")


def configure(solvers: Path, build: Path) -> None:
    """Prepare a build of the test programs and of the module for Python."""
    import nanobind

    places = {
        "CMAKE_MAKE_PROGRAM": _tool("ninja"),
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    options = [
        f"-D{name}={value}" for name, value in {**places, "SKBUILD": "ON", "CUDBOUND_TESTS": "ON"}.items()
    ]
    if not run([_tool("cmake"), "-S", str(solvers), "-B", str(build), "-G", "Ninja", *options]):
        sys.exit("CMake finds something missing")


def check(number: int, seed: int, jobs: int) -> Counter[str]:
    """Print the changes that were not noticed, and return how many were and were not."""
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        solvers, build = Path(place, "solvers"), Path(place, "build")
        shutil.copytree(ROOT / "solvers", solvers)
        configure(solvers, build)
        if not built(build, jobs=jobs):
            sys.exit("the solver does not compile without any change")
        tests = programs(build)
        if not python_tests_pass(build):
            sys.exit(f"{' '.join(PYTHON_TESTS)} fails without any change")
        found = [one for path in sorted((solvers / "src").iterdir()) for one in places(path)]
        random.Random(seed).shuffle(found)
        for mutant in found:
            if ends.total() == number:
                break
            text = mutant.path.read_text()
            lines = text.splitlines(keepends=True)
            lines[mutant.line - 1] = mutant.after + "\n"
            mutant.path.write_text("".join(lines))
            if built(build, jobs=jobs):
                end = _end(build, tests)
                ends[end] += 1
                name = mutant.path.relative_to(solvers)
                print(
                    f"{end}: {name}:{mutant.line}: {mutant.before.strip()}  ->  {mutant.after.strip()}",
                    flush=True,
                )
            mutant.path.write_text(text)
    return ends


def _end(build: Path, tests: list[tuple[list[str], float]]) -> str:
    if not all(run(command, 30 + 5 * seconds) for command, seconds in tests):
        return "noticed"
    return "survived" if python_tests_pass(build) else "noticed in Python"


def main() -> None:
    """Change and test as the command line says, and print the share that was noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    ends = check(**vars(parser.parse_args()))
    print(f"{ends.total() - ends['survived']} of {ends.total()} changes were noticed: {dict(ends)}")


if __name__ == "__main__":
    main()
