"""Rendering of tables: rounding, escapes, and values that survive CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cudbound.analysis.table import ComparisonTable, IntervalTable
from cudbound.basis.results import (
    ComparisonResult,
    ConfidenceInterval,
    Estimand,
    IntervalEstimate,
    PointEstimate,
    TestedRows,
)
from cudbound.basis.words import format_cell, format_level, format_proportion, format_pvalue, printable
from cudbound.intervals import GROUPS
from cudbound.report.render import FORMATS, render_report
from cudbound.report.table_columns import methods_report
from cudbound.report.tables import Run

AROUND_632 = [name for name in GROUPS["paper"] if name != "cud"]

DATA = {"source": "patients.csv", "n_samples": 48, "n_events": 17, "n_non_events": 31, "event": "died = yes"}
RUN = Run(**DATA, features=("age", "sex=m"), n_resamples=1000, localization="n", seed=3)


def row(
    method: str,
    estimate: float = 0.25,
    limits: tuple[float, float] = (0.125, 0.5),
    *,
    level: float = 0.95,
    estimand: str = "conditional",
    n_fits: int = 1,
    remarks: tuple[str, ...] = (),
    degenerate: str | None = None,
    details: dict[str, float] | None = None,
    center: str | None = None,
    tested: TestedRows | None = None,
) -> IntervalEstimate:
    """Return a row; the CUD bound and the other intervals of the paper have their center."""
    centers = {"cud": "training error"} | dict.fromkeys(AROUND_632, ".632 estimate")
    return IntervalEstimate(
        method=method,
        estimate=estimate,
        raw_interval=ConfidenceInterval(*limits),
        confidence_level=level,
        estimand=Estimand.read(estimand),
        n_fits=n_fits,
        remarks=remarks,
        degenerate=degenerate,
        details=details or {},
        center=center or centers.get(method),
        tested=tested,
    )


@pytest.fixture
def table() -> IntervalTable:
    """Three methods: raw limits outside [0, 1], remarks that fill several lines, a zero width."""
    return IntervalTable(
        (
            row("cud", 0.1, (-0.2125, 0.4125)),
            row(
                "bootstrap-bias-corrected",
                1 / 7,
                (0.0001, 1 / 3),
                n_fits=51_000,
                remarks=("3 of 1000 resampled training sets held one class only", "second remark"),
            ),
            row("kohavi-normal", 0.0, (0.0, 0.0), n_fits=200, degenerate="the estimate is 0"),
        )
    )


def test_a_word_is_never_broken():
    path = "folder/" * 14 + "patients.csv"
    text = render_report(IntervalTable((row("cud"),)).report(replace(RUN, source=path)))
    assert path in text
    assert [line for line in text.splitlines() if len(line) > 80] == [f"  {path}, n"[: len(path) + 3]]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_takes_an_empty_table_and_a_table_without_run(form, table, overview):
    assert re.search(r"\bcud\b", render_report(IntervalTable(()).report(), form)) is None
    assert "mcnemar" not in render_report(ComparisonTable(()).report(), form)
    assert "mcnemar" not in render_report(methods_report(overview.iloc[:0]), form)
    assert "patients.csv" not in render_report(table.report(), form)


# --- title and notes


def test_rows_are_unrounded(table):
    rows = table.report().rows
    assert rows[1]["estimate"] == 1 / 7
    assert rows[0]["low"] == 0.0
    assert rows[0]["high"] == 0.4125


# --- rounding


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (1e-300, "<0.001"),
        (0.00049, "<0.001"),
        (0.00051, "0.001"),
        (0.2, "0.200"),
        (0.9994, "0.999"),
        (0.9996, ">0.999"),
        (1.0, "1.000"),
        (math.nan, "undefined"),
    ],
)
def test_proportions(value, text):
    assert format_proportion(value) == text


@pytest.mark.parametrize(
    ("level", "text"), [(0.95, "95%"), (0.9, "90%"), (0.999, "99.9%"), (1 / 3, "33.33333333%")]
)
def test_levels(level, text):
    assert format_level(level) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "<0.001"),
        (1e-300, "<0.001"),
        (0.000999, "<0.001"),
        (0.001, "0.001"),
        (0.0496, "0.050"),
        (0.99951, ">0.999"),
        (1.0, "1.000"),
        (math.nan, "undefined"),
    ],
)
def test_pvalues_are_never_shown_as_0(value, text):
    assert format_cell(value, "pvalue") == format_pvalue(value) == text


# --- escapes

HOSTILE = "a|b`c` <script> [x](http://y) *_z_* $1 & 50% #{q} ~ ^ \\end{table} \x1b[31m\u202e\n| new | row |"


def hostile_table() -> IntervalTable:
    return IntervalTable((row("cud", remarks=(HOSTILE,)),))


def hostile_run() -> Run:
    return Run(HOSTILE, 4, 2, 2, HOSTILE, (HOSTILE,), 10, math.inf, 0)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_hostile_texts_are_escaped_in_every_kind_of_table(form):
    compared = comparison(
        HOSTILE, remarks=(HOSTILE,), degenerate=HOSTILE, estimand=Estimand(HOSTILE), details={HOSTILE: 1.0}
    )
    run = Run(HOSTILE, 4, 2, 2, HOSTILE, (HOSTILE,), seed=0, classifiers={HOSTILE: HOSTILE})
    reports = (
        hostile_table().report(hostile_run()),
        ComparisonTable((compared,)).report(run),
        methods_report(pd.DataFrame({HOSTILE: [HOSTILE], "x": [HOSTILE]}), [HOSTILE]),
    )
    for report in reports:
        text = render_report(report, form)
        assert text.replace("\n", "").isprintable()
        if form == "markdown":
            assert "<script>" not in text
            # header, rule, one row: the line break in a text started no new one
            assert len([line for line in text.splitlines() if line.startswith("|")]) == 3
        if form == "latex":
            assert text.count(r"\end{table}") == 1


def test_markdown_escapes():
    text = render_report(hostile_table().report(hostile_run()), "markdown")
    assert "&lt;script&gt;" in text
    assert r"a\|b\`c\`" in text
    assert r"\[x\](http://y) \*\_z\_\*" in text
    body = [line for line in text.splitlines() if line.startswith("|")]
    assert body[2].replace(r"\|", "").count("|") == body[0].count("|")


def test_latex_escapes():
    text = render_report(hostile_table().report(hostile_run()), "latex")
    assert r"50\% \#\{q\}" in text
    assert r"\textbackslash{}end\{table\}" in text
    assert r"\$1 \& 50" in text
    assert r"\ensuremath{<}script\ensuremath{>}" in text
    remark_line = next(line for line in text.splitlines() if line.startswith("cud & "))
    header = next(line for line in text.splitlines() if line.startswith("method & "))
    assert remark_line.replace(r"\&", "").count("&") == header.count("&")


def test_a_latex_row_cannot_begin_with_an_argument_of_the_line_break():
    text = render_report(IntervalTable((row("[9cm]"), row("*"))).report(), "latex")
    assert "\n{[}9cm] & " in text
    assert "\n{*} & " in text


def test_printable_keeps_letters_of_any_script():
    assert printable("größe 年齢 é") == "größe 年齢 é"
    assert printable("\x00\x9b\u2028\u200b") == r"\x00\x9b\u2028\u200b"


# --- values for programs


def awkward_table() -> IntervalTable:
    return IntervalTable(
        (
            row("cud", 0.1 + 0.2, (-1e-17, 1 / 3), remarks=('a "quoted", remark\nof two lines',)),
            row("x", np.float64(2 / 3), (5e-324, 1.7976931348623157e308), n_fits=int(np.int64(7))),
            row("y", 0.0, (0.0, 0.0), degenerate="zero width"),
        )
    )


def test_json_round_trip_is_the_frame():
    table = awkward_table()
    frame = pd.DataFrame(json.loads(render_report(table.report(), "json"))["intervals"])
    pd.testing.assert_frame_equal(frame, table.to_frame(), check_exact=True)


def test_csv_round_trip_is_the_frame():
    table = awkward_table()
    text = render_report(table.report(), "csv")
    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    read = {"f": float, "i": int, "b": {"True": True, "False": False}.get}
    for name, dtype in table.to_frame().dtypes.items():
        frame[name] = frame[name].map(read.get(dtype.kind, str))
    frame["remarks"] = frame["remarks"].str.replace(r"\n", "\n")  # escaped, so that a row is a line
    assert set(frame["n_test"]) == {""}
    frame["n_test"] = None
    pd.testing.assert_frame_equal(frame, table.to_frame(), check_exact=True)


# --- the value of every column

SEVEN_TESTED = TestedRows(7, n_events=2)
OF_BOTH = {
    "estimate": 0.3,
    "raw_interval": ConfidenceInterval(-1.25, 1.125),
    "confidence_level": 0.9,
    "estimand": Estimand("expected", n_train=45.0),
    "n_fits": 12,
    "remarks": ("one", "two"),
    "degenerate": "why",
    "tested": SEVEN_TESTED,
}
VALUES_OF_BOTH = {
    "estimate": 0.3,
    "raw_low": -1.25,
    "raw_high": 1.125,
    "confidence_level": 0.9,
    "estimand": "expected(n1=45)",
    "n_fits": 12,
    "n_test": 7,
    "degenerate": True,
    "remarks": "one; two; why",
}
AN_INTERVAL = IntervalEstimate(
    method="cud", metric="lr+", alternative="less", lowest=-0.5, highest=0.75, **OF_BOTH
)
A_COMPARISON = ComparisonResult(
    method="mcnemar",
    metric="auc",
    a="first",
    b="other",
    statistic=2.5,
    pvalue=0.0625,
    alternative="greater",
    null=0.03,
    **OF_BOTH,
)
OF_PAIRS = {"adjusted_pvalue": 0.1875, "simultaneous_interval": ConfidenceInterval(-0.9, 0.8)}
A_POINT = PointEstimate(
    method="632",
    **{name: OF_BOTH[name] for name in OF_BOTH if name not in ("raw_interval", "confidence_level")},
)
OF_INTERVAL = {
    "method": "cud",
    "metric": "lr+",
    "low": -0.5,
    "high": 0.75,
    "width": 1.25,
    "alternative": "less",
}
OF_COMPARISON = {
    "a": "first",
    "b": "other",
    "method": "mcnemar",
    "metric": "auc",
    "low": -1.0,
    "high": 1.0,
    "statistic": 2.5,
    "pvalue": 0.0625,
    "alternative": "greater",
    "null": 0.03,
}
#: Each row with the value of every column, written by hand.
VALUES = {
    "interval": (AN_INTERVAL, VALUES_OF_BOTH | OF_INTERVAL),
    "comparison": (A_COMPARISON, VALUES_OF_BOTH | OF_COMPARISON),
    "comparison of several pairs": (
        replace(A_COMPARISON, **OF_PAIRS),
        VALUES_OF_BOTH
        | OF_COMPARISON
        | {"simultaneous_low": -0.9, "simultaneous_high": 0.8, "adjusted_pvalue": 0.1875},
    ),
    "point estimate": (
        A_POINT,
        {
            name: value
            for name, value in VALUES_OF_BOTH.items()
            if name not in ("raw_low", "raw_high", "confidence_level")
        }
        | {"method": "632"},
    ),
}


@pytest.mark.parametrize("kind", VALUES)
def test_every_column_of_a_frame_has_the_value_of_its_name(kind):
    one, expected = VALUES[kind]
    assert one.to_frame().iloc[0].to_dict() == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            IntervalTable((AN_INTERVAL, replace(AN_INTERVAL, confidence_level=0.8))),
            {
                "method": "cud",
                "level": 0.9,
                "metric": "lr+",
                "estimate": 0.3,
                "low": -0.5,
                "high": 0.75,
                "width": 1.25,
                "estimand": "expected(n1=45)",
                "fits": 12,
                "remarks": "one; two; degenerate: why",
            },
        ),
        (
            ComparisonTable((A_COMPARISON, replace(A_COMPARISON, alternative="less"))),
            {
                "method": "mcnemar",
                "alternative": "greater",
                "estimate": 0.3,
                "low": -1.0,
                "high": 1.0,
                "statistic": 2.5,
                "p-value": 0.0625,
                "estimand": "expected(n1=45)",
                "fits": 12,
                "remarks": "one; two; degenerate: why",
            },
        ),
        (
            ComparisonTable(tuple(replace(A_COMPARISON, **OF_PAIRS, b=b) for b in ("other", "third"))),
            {
                "a": "first",
                "b": "other",
                "estimate": 0.3,
                "low": -0.9,
                "high": 0.8,
                "p-value": 0.0625,
                "Holm": 0.1875,
                "estimand": "expected(n1=45)",
                "fits": 12,
                "remarks": "one; two; degenerate: why",
            },
        ),
    ],
    ids=["intervals", "comparisons", "several pairs"],
)
def test_every_printed_column_has_the_value_of_its_heading(table, expected):
    report = table.report()
    assert {column.heading: report.rows[0][column.key] for column in report.columns} == expected


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def test_json_is_strict():
    table = IntervalTable((row("cud", math.nan, (-math.inf, math.nan)),))
    text = render_report(table.report(hostile_run()), "json")
    document = json.loads(text, parse_constant=refuse_constant)
    assert document["intervals"][0]["estimate"] is None
    assert document["intervals"][0]["raw_low"] is None
    assert document["run"]["localization"] == "inf"
    assert document["run"]["source"] == HOSTILE
    assert text.isascii()  # the escapes of JSON leave nothing for a terminal to obey
    assert "\x1b" not in text


def test_undefined_values_are_named_in_text_and_empty_in_csv():
    table = IntervalTable((row("cud", math.nan, (math.nan, math.nan)),))
    assert render_report(table.report()).splitlines()[7].split()[1:5] == ["undefined"] * 4
    header, line = csv.reader(io.StringIO(render_report(table.report(), "csv")))
    numbers = ("estimate", "low", "high", "width", "raw_low", "raw_high")
    assert {dict(zip(header, line, strict=True))[name] for name in numbers} == {""}


# --- comparisons


def comparison(
    method: str = "mcnemar",
    estimate: float = 0.08,
    limits: tuple[float, float] = (-0.0125, 0.15),
    **given: object,
) -> ComparisonResult:
    fields = {
        "statistic": 2.0,
        "pvalue": 0.0768,
        "confidence_level": 0.95,
        "alternative": "two-sided",
        "estimand": Estimand("holdout-model"),
        "n_fits": 2,
    } | given
    return ComparisonResult(
        method=method, estimate=estimate, raw_interval=ConfidenceInterval(*limits), **fields
    )


# --- methods


@pytest.fixture
def overview() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": ["cud", "mcnemar"],
            "aims_at": ["conditional", "holdout-model"],
            "assumes": ["the bootstrap quantile estimates that of the population " * 2, ""],
            "source": [
                "Laber and Murphy (2008), sections 3 and 4",
                "McNemar (1947), no correction for continuity",
            ],
        }
    )
