"""What is written of a result at the shell: the form by the name of the file, pictures, styles, words for a paper."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import assert_error, interval, invoke

pytestmark = pytest.mark.usefixtures("patients")


#: What a file of each form has and no other.
HAS = {
    "a.tex": r"\begin{table}",
    "a.csv": '"method",',
    "a.html": "<!DOCTYPE html>",
    "a.HTML": "<!DOCTYPE html>",
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


def test_a_picture_beside_the_table(fake):
    for name, start in {"a.svg": b"<?xml", "a.pdf": b"%PDF", "a.png": b"\x89PNG", "b.svg": b"<?xml"}.items():
        result = interval("--seed", "1", "--plot", name)
        assert result.exit_code == 0, result.stderr
        assert "\nmethod  " in result.stdout
        assert Path(name).read_bytes().startswith(start)
    assert Path("b.svg").read_text() == Path("a.svg").read_text()  # neither a date nor a random name


def test_instability_is_drawn_and_told_below_the_table(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.2f},{'yes' if a + b > 0 else 'no'}" for a, b in rng.normal(size=(30, 2))]
    patients, picture = tmp_path / "few.csv", tmp_path / "risks.svg"
    patients.write_text("\n".join(["age,died", *lines]))
    few = (
        "interval",
        str(patients),
        "--target",
        "died",
        "--positive",
        "yes",
        "--resamples",
        "20",
        "--seed",
        "0",
    )
    parsed = json.loads(invoke(*few, "--instability", str(picture), "--format", "json").stdout)
    assert parsed["instability"]["mape"] > 0.0
    assert any("not a confidence interval for the risk of a patient" in note for note in parsed["notes"])
    assert picture.read_text().startswith("<?xml")
    refused = invoke(*few, "--methods", "bayle-cv", "--instability", str(picture))
    assert_error(refused, 2, "--instability needs two classes and a method that refits on bootstrap draws")
