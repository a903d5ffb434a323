"""Rendering of interval tables: golden texts, rounding, escapes, and values that survive CSV and JSON."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.base import estimate_632
from cudbound.records import BootstrapLosses, FoldLosses, Records
from cudbound.report import FORMATS, RunDescription, render_table
from cudbound.report.style import format_cell, format_level, format_proportion, printable
from cudbound.report.tables import AROUND_632, notes, reader_columns, reader_rows, title
from cudbound.results import ConfidenceInterval, IntervalEstimate, IntervalTable

RUN = RunDescription(
    source="patients.csv",
    n_samples=48,
    n_events=17,
    n_non_events=31,
    event="died = yes",
    features=("age", "sex=m"),
    n_resamples=1000,
    alpha="n",
    seed=3,
)


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
) -> IntervalEstimate:
    return IntervalEstimate(
        method, estimate, ConfidenceInterval(*limits), level, estimand, n_fits, remarks, degenerate
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


def test_golden_text(table):
    """Written by hand: the right edges of the numbers align their points, remarks wrap at 40 columns."""
    assert render_table(table, "table", run=RUN) == (
        """\
95% confidence intervals for the error of this fitted classifier

method                      estimate     low    high    width  estimand       fits  remarks
------------------------  ----------  ------  ------  -------  -----------  ------  --------------------------------------
cud                            0.100   0.000   0.412    0.412  conditional       1
bootstrap-bias-corrected       0.143  <0.001   0.333    0.333  conditional   51000  3 of 1000 resampled training sets held
                                                                                    one class only; second remark
kohavi-normal                  0.000   0.000   0.000    0.000  conditional     200  degenerate: the estimate is 0

Data: patients.csv, n = 48: 17 events (died = yes) and 31 non-events; 2 features.
Run: 1000 resamples, alpha = n, seed 3.
Scale: proportions in [0, 1], limits clipped to it; width = high - low.
Estimand "conditional": the error that the classifier fitted to these data makes on new cases from the same population.
Internal intervals, from the training data alone; no external validation.
CUD is centred at the training error, the others at the .632 estimate.
Nominal level 95%; no finite-sample guarantee."""
    )


def test_golden_markdown(table):
    assert render_table(IntervalTable(table.rows[:1]), "markdown") == (
        """\
95% confidence intervals for the error of this fitted classifier

| method   |   estimate |   low |   high |   width | estimand    |   fits | remarks   |
|:---------|-----------:|------:|-------:|--------:|:------------|-------:|:----------|
| cud      |      0.100 | 0.000 |  0.412 |   0.412 | conditional |      1 |           |

- Scale: proportions in \\[0, 1\\], limits clipped to it; width = high - low.
- Estimand "conditional": the error that the classifier fitted to these data makes on new cases from the same population.
- Internal intervals, from the training data alone; no external validation.
- CUD is centred at the training error.
- Nominal level 95%; no finite-sample guarantee."""
    )


def test_golden_latex(table):
    assert render_table(IntervalTable(table.rows[2:]), "latex") == (
        r"""% needs \usepackage{booktabs}
\begin{table}
\centering
\caption{95\% confidence intervals for the error of this fitted classifier}
\begin{tabular}{lrrrrlrp{0.25\linewidth}}
\toprule
method & estimate & low & high & width & estimand & fits & remarks \\
\midrule
kohavi-normal & 0.000 & 0.000 & 0.000 & 0.000 & conditional & 200 & degenerate: the estimate is 0 \\
\bottomrule
\end{tabular}
\par\smallskip\footnotesize
Scale: proportions in {[}0, 1], limits clipped to it; width = high - low.
Estimand "conditional": the error that the classifier fitted to these data makes on new cases from the same population.
Internal intervals, from the training data alone; no external validation.
Centred at the .632 estimate.
Nominal level 95\%; no finite-sample guarantee.
\end{table}"""
    )


def test_repr_is_the_text_table(table):
    assert repr(table) == str(table) == render_table(table)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_takes_an_empty_table_and_a_table_without_run(form, table):
    assert "cud" not in render_table(IntervalTable(()), form)
    assert "patients.csv" not in render_table(table, form)


@pytest.mark.parametrize("form", FORMATS)
def test_no_line_ends_in_blanks_and_the_text_ends_without_a_line_end(form, table):
    text = render_table(table, form, run=RUN)
    assert text == text.rstrip()
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_unknown_format(table):
    with pytest.raises(
        ValueError, match=r"The 'format' parameter must be one of \['table'.*Got 'html' instead"
    ):
        render_table(table, "html")


# --- title and notes


def test_levels_that_differ_get_a_column():
    mixed = IntervalTable((row("cud", level=0.9), row("cud", level=0.999)))
    assert "level" in [column.heading for column in reader_columns(mixed)]
    assert title(mixed) == "Confidence intervals for the error of this fitted classifier"
    assert "Nominal level 90%, 99.9%; no finite-sample guarantee." in notes(mixed, None)
    assert "99.9%" in render_table(mixed)


def test_another_estimand_is_not_called_the_error_of_this_classifier():
    other = IntervalTable((row("cud"), row("some-cv", estimand="expected(27)")))
    assert title(other) == "95% confidence intervals for the error of a classifier"
    assert not any("fitted to these data" in note for note in notes(other, None))


@pytest.mark.parametrize(
    ("methods", "note"),
    [
        (("cud",), "CUD is centred at the training error."),
        (("martin-beta",), "Centred at the .632 estimate."),
        (("cud", *AROUND_632), "CUD is centred at the training error, the others at the .632 estimate."),
    ],
)
def test_the_note_on_centres_speaks_of_methods_that_are_there(methods, note):
    assert note in notes(IntervalTable(tuple(map(row, methods))), None)


def test_the_methods_called_so_are_centred_at_the_632_estimate():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(20, np.full(20, 0.05), size=40)
    records = Records(
        losses=rng.random(20) < 0.3,
        bootstrap=BootstrapLosses(counts, rng.random((40, 20)) < 0.3),
        folds=FoldLosses(rng.random(20) < 0.3, 10),
    )
    baselines = [method for name, method in METHODS.items() if name != "cud"]
    centred = {
        method.name
        for method in baselines
        if compute_interval(method, records, 0.95).estimate == estimate_632(records)
    }
    assert centred == AROUND_632
    assert estimate_632(records) not in (records.losses.mean(), records.folds.losses.mean())


def test_nothing_is_said_of_the_centre_of_an_unknown_method():
    assert not any("centred" in note.lower() for note in notes(IntervalTable((row("my-own"),)), None))


def test_rows_are_unrounded(table):
    rows = reader_rows(table)
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


def test_counts_are_written_in_full():
    assert format_cell(np.int64(1_234_567), "count") == "1234567"


# --- escapes

HOSTILE = "a|b`c` <script> [x](http://y) *_z_* $1 & 50% #{q} ~ ^ \\end{table} \x1b[31m\u202e\n| new | row |"


def hostile_table() -> IntervalTable:
    return IntervalTable((row("cud", remarks=(HOSTILE,)),))


def hostile_run() -> RunDescription:
    return RunDescription(HOSTILE, 4, 2, 2, HOSTILE, (HOSTILE,), 10, math.inf, 0)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_texts_for_people_hold_no_control_characters(form):
    text = render_table(hostile_table(), form, run=hostile_run())
    assert text.replace("\n", "").isprintable()


def test_markdown_escapes():
    text = render_table(hostile_table(), "markdown", run=hostile_run())
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert r"a\|b\`c\`" in text
    assert r"\[x\](http://y) \*\_z\_\*" in text
    body = [line for line in text.splitlines() if line.startswith("|")]
    assert len(body) == 3  # header, rule, one row: the line break in the remark started no new one
    assert body[2].replace(r"\|", "").count("|") == body[0].count("|")


def test_latex_escapes():
    text = render_table(hostile_table(), "latex", run=hostile_run())
    assert r"50\% \#\{q\}" in text
    assert r"\textbackslash{}end\{table\}" in text
    assert r"\$1 \& 50" in text
    assert r"\ensuremath{<}script\ensuremath{>}" in text
    assert text.count(r"\end{table}") == 1
    remark_line = next(line for line in text.splitlines() if line.startswith("cud & "))
    assert remark_line.replace(r"\&", "").count("&") == 7


def test_a_latex_row_cannot_begin_with_an_argument_of_the_line_break():
    text = render_table(IntervalTable((row("[9cm]"), row("*"))), "latex")
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
    frame = pd.DataFrame(json.loads(render_table(table, "json"))["intervals"])
    pd.testing.assert_frame_equal(frame, table.to_frame(), check_exact=True)


def test_csv_round_trip_is_the_frame():
    table = awkward_table()
    text = render_table(table, "csv")
    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for name in ("estimate", "low", "high", "width", "raw_low", "raw_high", "confidence_level"):
        frame[name] = frame[name].map(float)
    frame["n_fits"] = frame["n_fits"].map(int)
    frame["degenerate"] = frame["degenerate"].map({"True": True, "False": False})
    pd.testing.assert_frame_equal(frame, table.to_frame(), check_exact=True)


def test_json_fields(table):
    document = json.loads(render_table(table, "json", run=RUN))
    assert list(document) == ["format", "title", "notes", "run", "intervals"]
    assert document["format"] == 1
    assert document["run"]["features"] == ["age", "sex=m"]
    assert document["run"]["seed"] == 3
    assert document["notes"][-1] == "Nominal level 95%; no finite-sample guarantee."
    assert json.loads(render_table(table, "json"))["run"] is None


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def test_json_is_strict():
    table = IntervalTable((row("cud", math.nan, (-math.inf, math.nan)),))
    text = render_table(table, "json", run=hostile_run())
    document = json.loads(text, parse_constant=refuse_constant)
    assert document["intervals"][0]["estimate"] is None
    assert document["intervals"][0]["raw_low"] is None
    assert document["run"]["alpha"] == "inf"
    assert document["run"]["source"] == HOSTILE
    assert text.isascii()  # the escapes of JSON leave nothing for a terminal to obey
    assert "\x1b" not in text


def test_undefined_values_are_named_in_text_and_empty_in_csv():
    table = IntervalTable((row("cud", math.nan, (math.nan, math.nan)),))
    assert render_table(table).splitlines()[4].split()[1:5] == ["undefined"] * 4
    assert render_table(table, "csv").splitlines()[1].startswith("cud,,,,,,,0.95,")
