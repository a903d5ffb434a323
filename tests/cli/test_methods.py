"""``cudbound methods``: the frame of the package in every format, for readers and for programs."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest
from cli_fakes import invoke

from cudbound import available_methods
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS

KINDS = {
    None: [*METHODS, *ESTIMATORS],
    "interval": [name for name, method in METHODS.items() if method.gives_interval],
    "comparison": [name for name, method in METHODS.items() if method.compares],
    "point-estimate": [*ESTIMATORS],
}


def listed(*arguments: str) -> str:
    result = invoke("methods", *arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def asked(gives: str | None) -> list[str]:
    return [] if gives is None else ["--gives", gives]


@pytest.mark.parametrize("gives", KINDS)
def test_csv_is_the_frame(gives):
    printed = pd.read_csv(
        io.StringIO(listed(*asked(gives), "--format", "csv")), dtype=str, keep_default_na=False
    )
    frame = available_methods()
    expected = frame[frame["name"].isin(KINDS[gives])].reset_index(drop=True)
    pd.testing.assert_frame_equal(printed, expected, check_dtype=False)


@pytest.mark.parametrize("gives", KINDS)
def test_json_has_the_same_rows_and_the_notes(gives):
    document = json.loads(listed(*asked(gives), "--format", "json"))
    assert [row["name"] for row in document["methods"]] == KINDS[gives]
    assert document["methods"][0].keys() == set(available_methods().columns)
    assert document["run"] is None
    assert any(note.startswith('Estimand "conditional": the error of') for note in document["notes"]) == (
        gives != "comparison"
    )
