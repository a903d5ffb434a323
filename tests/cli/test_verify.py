"""A result saved by the command is checked by the command: what holds, what was changed, what cannot be checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import assert_error, invoke
from click.testing import Result

from cudbound import LeastSquaresClassifier, cud_interval
from cudbound.analysis.saved_file import read_saved

N = 30
RNG = np.random.default_rng(8)
DIED = RNG.random(N) < 0.4
FRAME = pd.DataFrame(
    {
        "id": np.arange(N) // 2,
        "age": RNG.normal(60, 9, N).round(1) + 9 * DIED,
        "bmi": RNG.normal(25, 3, N).round(2),
        "sex": np.where(RNG.random(N) < 0.5, "f", "m"),
        "died": np.where(DIED, "yes", "no"),
    }
)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("data.csv", index=False)


def save(*more: str) -> None:
    fixed = ["interval", "data.csv", "--target", "died", "--positive", "yes", "--categorical", "sex"]
    quick = ["--seed", "3", "--resamples", "20", "--save", "result.json"]
    result = invoke(*fixed, *quick, *more)
    assert result.exit_code == 0, result.output
    assert "wrote result.json" in result.stderr


def outcomes(result: Result, code: int) -> dict[str, str]:
    assert result.exit_code == code, result.output
    return {row["check"]: row["outcome"] for row in json.loads(result.stdout)["checks"]}


def verify(*more: str, data: str = "data.csv") -> Result:
    return invoke("verify", "result.json", data, "--format", "json", *more)


PLAIN = ("--exclude", "id", "--standardize", "--classifier", "ridge", "--set", "alpha=0.5")


def test_what_was_saved_holds_and_what_was_changed_is_found():
    save(*PLAIN)
    found = outcomes(verify(), 0)
    assert set(found.values()) == {"passed"}
    assert {"data", "draws", "witnesses", "draws solved again", "limits", "rows"} <= found.keys()
    assert str(Path.cwd()) not in Path("result.json").read_text()
    table = invoke("verify", "result.json", "data.csv")
    assert table.exit_code == 0
    assert "20 solved here" in table.stdout
    assert table.stdout.endswith("The saved result is confirmed: 10 checks passed.\n")

    row, label = FRAME.copy(), FRAME.copy()
    row.loc[4, "bmi"] += 0.01
    label.loc[5, "died"] = "no" if DIED[5] else "yes"
    for name, frame in (("row.csv", row), ("label.csv", label), ("order.csv", FRAME[::-1])):
        frame.to_csv(name, index=False)
        assert outcomes(verify(data=name), 4)["data"] == "FAILED"

    text = Path("result.json").read_text()
    body = json.loads(text)
    body["bounds"][0]["witness"][0][0] += 3.0
    Path("result.json").write_text(json.dumps(body))
    assert outcomes(verify(), 4)["file"] == "FAILED"
    saved, intact = read_saved("result.json")
    assert not intact
    Path("result.json").write_text(saved.to_text())  # with a checksum of its own
    found = outcomes(verify(), 4)
    assert found["file"] == "passed"
    assert found["witnesses"] == "FAILED"


def test_groups_folds_metrics_and_missing_values_are_taken_from_the_file():
    lacking = FRAME.copy()
    lacking.loc[3, "bmi"] = np.nan
    lacking.to_csv("data.csv", index=False)
    save(
        *("--group", "id", "--resampling", "cv=3", "--missing", "median", "--methods", "cud,bayle-cv"),
        *("--metric", "sensitivity,specificity", "--joint", "--alternative", "less"),
    )
    found = outcomes(verify(), 0)
    assert set(found.values()) == {"passed"}
    assert "witnesses of sensitivity and specificity" in found


def test_what_cannot_be_checked_is_said_in_one_line():
    assert_error(verify(), 1, "'result.json': No such file or directory")
    assert_error(
        invoke("verify", "data.csv", "data.csv"), 1, "saved result 'data.csv': it is not written in JSON"
    )
    save(*PLAIN)
    assert_error(verify("--trust", "a.B"), 2, "--trust allows types in a model file")
    assert_error(verify(data="none.csv"), 1, "no such file: 'none.csv'")
    Path("other.csv").write_bytes(as_csv(FRAME.drop(columns="bmi").assign(died=DIED)))
    other = "'other.csv' cannot be read like the data of the saved result: --features: no column 'bmi'"
    assert_error(verify(data="other.csv"), 1, other)
    fixed = ["interval", "data.csv", "--target", "died", "--positive", "yes"]
    assert_error(invoke(*fixed, "--save", "data.csv"), 1, "'data.csv' is an input file")
    X, y = FRAME[["age", "bmi"]].to_numpy(), DIED
    cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=20, rng=0).save("result.json")
    assert_error(verify(), 1, "comes from Python and does not describe how to read a file")


# --- a file that a spreadsheet has saved again

SHEET = FRAME.assign(
    visit=[f"2024-{1 + row % 12:02d}-{1 + row % 28:02d}" for row in range(N)],
    stage=np.where(RNG.random(N) < 0.5, "1.0", "2.0"),
    died=DIED,
)


def as_csv(frame: pd.DataFrame = SHEET, **how: str) -> bytes:
    return frame.to_csv(index=False, **how).encode()


def american(day: str) -> str:
    year, month, date = day.split("-")
    return f"{int(month)}/{int(date)}/{year}"


SAVED_AGAIN = {
    "line ends": as_csv(lineterminator="\r\n"),
    "a byte order mark": b"\xef\xbb\xbf" + as_csv(),
    "a blank column": b"".join(line + b",\n" for line in as_csv().splitlines()),
    "blank rows": as_csv() + b",,,,,,\n" * 3,
    "semicolons": as_csv(sep=";"),
    "1.0 as 1": as_csv(SHEET.assign(stage=SHEET["stage"].str[0])),
    "dates": as_csv(SHEET.assign(visit=SHEET["visit"].map(american))),
    "without the IDs": as_csv(SHEET.drop(columns=["id", "visit"])),
    "another order of columns": as_csv(SHEET[SHEET.columns[::-1]]),
    "a further column": as_csv(SHEET.assign(seen=1)),
    "truth in capitals": as_csv(SHEET.assign(died=np.where(DIED, "TRUE", "FALSE"))),
}


@pytest.fixture
def saved(data) -> None:
    Path("data.csv").write_bytes(as_csv())
    asked = ["--target", "died", "--positive", "True", "--categorical", "sex,stage", "--exclude", "id,visit"]
    quick = ["--seed", "3", "--resamples", "20", "--methods", "cud", "--save", "result.json"]
    assert invoke("interval", "data.csv", *asked, *quick).exit_code == 0


@pytest.mark.parametrize("way", SAVED_AGAIN)
def test_a_file_that_a_spreadsheet_saved_with_the_same_values_holds(way, saved):
    Path("data.csv").write_bytes(SAVED_AGAIN[way])
    assert set(outcomes(verify(), 0).values()) == {"passed"}


DIFFERS = "30 rows, as in the file, but a value, a label, a group or the order of rows differs"
CHANGED = {
    "a cell": (SHEET.assign(age=SHEET["age"] + (SHEET.index == 4)), DIFFERS),
    "the order": (SHEET.sort_values("age"), DIFFERS),
    "a row less": (SHEET[1:], "29 rows, but 30 in the file: some were added, removed, or dropped"),
}


@pytest.mark.parametrize("way", CHANGED)
def test_other_data_are_explained(way, saved):
    frame, why = CHANGED[way]
    Path("data.csv").write_bytes(as_csv(frame))
    found = verify()
    assert outcomes(found, 4)["data"] == "FAILED"
    document = json.loads(found.stdout)
    assert why in document["checks"][1]["found"]
    assert document["notes"] == [
        "These are not the data of the saved result, so it is neither confirmed nor refuted."
    ]
