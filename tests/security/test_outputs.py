"""What is printed or written where that goes wrong: all of it or nothing, in one line, with an exit code."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_fakes import assert_error, invoke
from study_cases import tiny_study

from cudbound.study.design_file import template_text
from cudbound.study.runner import run_study
from cudbound.study.study_report import write_report

# --- streams that are closed or full, or whose reader has gone

# Each case is a fork of one process that has run the commands before, and so imported all that they need; it ends as
# a process of its own would.
STREAMS = """
import json, os, sys
from click.testing import CliRunner
from cudbound.cli import demo
from cudbound.cli.__main__ import main
from cudbound.cli.command import main as command

demo.ARGUMENTS["n_resamples"] = 20
for arguments in json.load(open("commands.json")):
    assert CliRunner().invoke(command, arguments).exit_code == 0, arguments

def set_up(number, name, what):
    if what == "no reader":
        reader, place = os.pipe()
        os.close(reader)
    else:
        place = os.open(f"{number}" if what == "file" else what, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(place, number)
    os.close(place)

found = {}
for case, (arguments, stdout, stderr) in json.load(open("cases.json")).items():
    for number in "12":
        open(number, "w").close()
    child = os.fork()
    if not child:
        set_up(1, "stdout", stdout)
        set_up(2, "stderr", stderr)
        sys.argv = ["cudbound", *arguments]
        main()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found[case] = [code, *(open(number).read() for number in "12")]
print(json.dumps(found))
"""

INTERVAL = ["interval", "data.csv", "--target", "y", "--positive", "1", "--resamples", "20"]
FULL, NO_READER = "/dev/full", "no reader"
CASES = {
    "undisturbed": (["methods"], "file", "file"),
    "methods, stderr full": (["methods"], "file", FULL),
    "methods, stderr without reader": (["methods"], "file", NO_READER),
    "a seed is chosen, stderr full": (INTERVAL, "file", FULL),
    "a file is written, stderr full": (["study", "new", "quick", "--output", "quick.toml"], "file", FULL),
    "an error, stderr full": (["study", "new", "quick", "--output", "."], "file", FULL),
    **{
        f"{arguments[0]}, stdout {name}": (arguments, what, "file")
        for arguments in (["--help"], ["demo"], ["methods"], ["example"])
        for name, what in {"full": FULL, "without reader": NO_READER}.items()
    },
}


@pytest.fixture(scope="module")
def streams(tmp_path_factory) -> tuple[dict[str, list], Path]:
    if not os.path.exists(FULL):
        pytest.skip("only Linux has a device that is always full")
    folder = tmp_path_factory.mktemp("streams")
    (folder / "cases.json").write_text(json.dumps(CASES))
    (folder / "commands.json").write_text(json.dumps([INTERVAL, ["demo"], ["methods"]]))
    (folder / "data.csv").write_text("x,y\n" + "".join(f"{i % 7},{int(i % 5 > 2)}\n" for i in range(40)))
    ended = subprocess.run(
        [sys.executable, "-c", STREAMS], cwd=folder, capture_output=True, text=True, check=False, timeout=900
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), folder


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if "stderr" in case and "error" not in case])
def test_messages_that_are_lost_stop_nothing(streams, case):
    found, folder = streams
    code, stdout, _ = found[case]
    assert code == 0
    if case.startswith("a file"):
        assert (folder / "quick.toml").read_text() == template_text("quick")
    elif case.startswith("a seed"):
        assert "two-center" in stdout
    else:
        assert stdout == found["undisturbed"][1] != ""


@pytest.mark.parametrize("case", [case for case in CASES if "stdout" in case and "written" not in case])
def test_a_table_that_is_lost_is_an_error_of_one_line(streams, case):
    code, _, said = streams[0][case]
    reason = os.strerror(errno.ENOSPC)
    assert code == 1
    if case.endswith("without reader"):  # `cudbound ... | head` is no mistake
        assert said == ""
    else:
        assert said.startswith(f"cudbound: error: stdout cannot be written: {reason}; ")
        assert said.count("\n") == 1


# --- files


@pytest.fixture
def stored(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_study(tiny_study(n_replicates=2), "s")


def report(*arguments: str):
    return invoke("study", "report", "s", *arguments)


def contents() -> dict[str, str | None]:
    return {
        path.name: path.read_text() if path.is_file() else None
        for path in Path().iterdir()
        if path.name != "s"
    }


def test_a_report_that_cannot_be_written_leaves_what_was_there(stored):
    Path("r.csv").mkdir()
    before = contents()
    assert_error(report("--output", "r.csv"), 2, "File 'r.csv' is a directory")
    with pytest.raises(IsADirectoryError, match=r"r\.csv"):
        write_report("s", "r.csv", "csv")
    assert contents() == before
