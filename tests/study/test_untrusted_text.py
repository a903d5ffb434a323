"""Reports of a design file that somebody else wrote: its names are shown, and run nowhere."""

from __future__ import annotations

import csv
import io
import json
import platform
import re
from pathlib import Path

import pytest
from cli_fakes import invoke

from cudbound.basis.words import printable
from cudbound.study.study_report import FORMATS

FORMULA = "<script>alert(1)</script> & $\\input{x}$ | =1+1"
#: What a spreadsheet would run; a wide letter counts as its narrow one in some.
FORMULAS = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", " =1", "\uff1d1"]
#: What some of them take for the end of a row or a cell, so that a formula would begin.
BREAKS = ["\r=1+1", "a\r=1+1", "a\n=1+1", "a\x85=1+1", "a;=1+1", 'a","=1+1', "a\u2028=1+1"]
SCENARIOS = [FORMULA, *FORMULAS, *BREAKS]
HOST = "ward-seven"


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("foreign")
    tables = [f'[[scenario]]\nworld = "noise"\nname = {json.dumps(name)}\n' for name in SCENARIOS]
    settings = (
        'n_samples = 12\nn_replicates = 2\nn_resamples = 5\nmethods = ["cud", "langford-binomial"]\n'
        f"name = {json.dumps(FORMULA)}\n"
    )
    (folder / "foreign.toml").write_text("\n".join([settings, *tables]))
    path = folder / "foreign.sqlite"
    here = platform.uname()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platform, "uname", lambda: here._replace(node=HOST))
        patch.setattr(platform, "_platform_cache", {})
        result = invoke("study", "run", str(folder / "foreign.toml"), "--store", str(path))
    assert result.exit_code == 0, result.stderr
    return path


def report(store: Path, folder: Path, form: str) -> str:
    result = invoke("study", "report", str(store), "--output", str(folder / f"report.{form}"))
    assert result.exit_code == 0, result.stderr
    return (folder / f"report.{form}").read_text("utf-8")


def test_csv_holds_no_formula(store, tmp_path):
    numbers = 0
    rows = list(csv.DictReader(io.StringIO(report(store, tmp_path, "csv"), newline="")))
    for row in rows:
        for text in row.values():
            try:
                float(text)
                numbers += 1
            except ValueError:
                assert text.lstrip()[:1] not in ("=", "+", "-", "@", "\uff1d")
    inert = [name if name[0] == "\t" else f"'{name}" for name in FORMULAS]
    assert {row["scenario"] for row in rows} == {FORMULA, *map(printable, [*inert, *BREAKS])}
    assert numbers > 100


def test_csv_holds_one_line_a_row_and_quotes_every_text(store, tmp_path):
    report(store, tmp_path, "csv")
    for path in tmp_path.iterdir():
        text = path.read_bytes().decode()
        assert text.replace("\n", "").isprintable()
        for line in text.splitlines():
            bare = re.sub('"(?:[^"]|"")*"', "", line)  # what stands outside of quotes
            assert re.fullmatch(r"(?:[-+.\deinf]|True|False|,)*", bare), line


@pytest.mark.parametrize("form", FORMATS)
def test_no_report_names_the_computer(store, tmp_path, form):
    text = report(store, tmp_path, form)
    assert "langford-binomial" in text
    assert HOST not in text
    assert HOST.encode() not in store.read_bytes()
