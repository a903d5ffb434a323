"""What is written of a result at the shell: the form by the name of the file, pictures, styles, words for a paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_fakes import assert_error, interval

pytestmark = pytest.mark.usefixtures("patients")


#: What a file of each form has and no other.
HAS = {
    "a.tex": r"\begin{table}",
    "a.csv": '"method",',
    "a.html": "<!DOCTYPE html>",
    "a.HTM": "<!DOCTYPE html>",
    "a.md": "\n| method ",
    "a.json": "{",
    "a.txt": "\nmethod  ",
    "a": "\nmethod  ",
}


@pytest.mark.parametrize("name", HAS)
def test_the_extension_decides_the_form(fake, name):
    result = interval("--seed", "1", "--output", name)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"cudbound: wrote {name}\n")
    assert HAS[name] in Path(name).read_bytes().decode("latin-1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--output", "a.dat"),
            "--output: 'a.dat' ends in '.dat', which is not a format of this command",
        ),
        (("--output", "a.docx", "--format", "json"), "'a.docx' ends in '.docx', which is not a format"),
        (
            ("--output", "a.tex", "--format", "json"),
            "--format json and --output 'a.tex' contradict each other",
        ),
        (("--output", "a.svg"), "'a.svg' ends in '.svg', which is not a format of this command"),
        (("--plot", "a.bmp"), "'a.bmp' ends in none of .svg, .png, .pdf"),
        (
            ("--plot", "a.svg", "--instability-plot", "a.svg"),
            "--plot and --instability-plot name the same file",
        ),
        (("--describe", "--format", "csv"), "--describe prints to stdout, and so does --format csv"),
    ],
)
def test_wishes_that_contradict_each_other_are_refused_before_the_work(fake, arguments, message):
    assert_error(interval("--seed", "1", *arguments), 2, message)
    assert fake.calls == []
    assert [path.name for path in Path().iterdir()] == ["patients.csv"]


def test_a_picture_beside_the_table(fake):
    for name, start in {"a.svg": b"<?xml", "a.pdf": b"%PDF", "a.png": b"\x89PNG", "b.svg": b"<?xml"}.items():
        result = interval("--seed", "1", "--plot", name)
        assert result.exit_code == 0, result.stderr
        assert "\nmethod  " in result.stdout
        assert Path(name).read_bytes().startswith(start)
    assert Path("b.svg").read_text() == Path("a.svg").read_text()  # neither a date nor a random name
