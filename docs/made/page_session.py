"""A page as a session: its blocks run in an empty folder, one after the other, and what they print is put under them.

``python docs/made/page_session.py PAGE...`` renews the parts ``<!-- generated: printed -->`` of pages, each of which
has what the block before it prints.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
import sys
import tempfile
import textwrap
import types
from contextlib import chdir, redirect_stdout
from pathlib import Path

from click.testing import CliRunner, Result

from cudbound.cli.command import main

FENCE = re.compile(
    r"^```(?P<language>\w*|{[\w-]+})(?: (?P<source>\S+))?\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
GENERATED = re.compile(
    r"(?P<begin><!-- generated: (?P<part>[\w-]+) -->\n)(?P<content>.*?)(?P<end><!-- end -->)", re.DOTALL
)
#: A generated part, or a block outside of one.
PIECE = re.compile(f"{GENERATED.pattern}|{FENCE.pattern}", re.MULTILINE | re.DOTALL)
#: Programs of shell blocks that are not run: they set up a copy of the repository.
SET_UP = {"make", "pip", "python3", ".", ".venv/bin/cmake", ".venv/bin/ctest"}


def run_command(command: str) -> Result:
    """Run ``cudbound ... [> FILE]`` in this folder."""
    arguments = shlex.split(command)[1:]
    place = arguments.pop() if ">" in arguments else None
    result = CliRunner().invoke(main, [one for one in arguments if one != ">"])
    if place is not None:
        Path(place).write_bytes(result.stdout_bytes)
    return result


def run_shell(code: str) -> None:
    """Run the commands of this package, and print what they print."""
    for command in code.replace("\\\n", " ").splitlines():
        program = shlex.split(command)[0]
        if program != "cudbound":
            assert program in SET_UP, command
            continue
        result = run_command(command)
        assert result.exit_code == 0, f"{command}: {result.stderr}"
        if ">" not in shlex.split(command):
            print(result.stdout, end="")


def run_examples(code: str, session: types.ModuleType, name: str, line: int) -> None:
    """Run a doctest in a session."""
    case = doctest.DocTestParser().get_doctest(code, session.__dict__, name, name, line)
    case.globs = session.__dict__
    outcome = doctest.DocTestRunner().run(case, clear_globs=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0, f"{name}, line {line}"


def as_in_a_terminal(text: str) -> str:
    """Wrap long lines, but not commands."""
    return "\n".join(
        textwrap.fill(line, 100, subsequent_indent="  ")
        if len(line) > 100 and not line.startswith("cudbound ")
        else line
        for line in text.split("\n")
    )


def run_page(page: Path, folder: Path) -> str:
    """Run the blocks of a page in `folder`, and return the page with what they print.

    ``python`` is executed, ``pycon`` is a doctest, ``shell`` runs the commands of this package.
    """
    text = page.read_text()
    # a module of its own, in which dataclasses can look their annotations up
    session = types.ModuleType("documentation_page")
    printed = ""

    def run(match: re.Match[str]) -> str:
        nonlocal printed
        if match["part"] == "printed":
            assert printed, f"{page.name}: the block before a printed part prints nothing"
            return f"{match['begin']}```text\n{printed}\n```\n{match['end']}"
        if match["language"] in ("python", "pycon", "shell"):
            line, code = text.count("\n", 0, match.start("code")), match["code"]
            with redirect_stdout(io.StringIO()) as stream:
                if match["language"] == "python":
                    exec(compile("\n" * line + code, page.name, "exec"), session.__dict__)
                elif match["language"] == "pycon":
                    run_examples(code, session, page.name, line)
                else:
                    run_shell(code)
            printed = "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").split("\n"))
            if page.name == "README.md":  # is read where no style wraps them
                printed = as_in_a_terminal(printed)
        return match[0]

    sys.modules[session.__name__] = session
    try:
        with chdir(folder):
            return PIECE.sub(run, text)
    finally:
        del sys.modules[session.__name__]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            Path(name).write_text(run_page(Path(name).absolute(), Path(folder)))
