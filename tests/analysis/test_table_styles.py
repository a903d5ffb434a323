"""Tables for a paper: digits, percentages, titles, caption and label; HTML; and texts that cannot break out of them."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET

import pytest

from cudbound import (
    ComparisonResult,
    ComparisonTable,
    ConfidenceInterval,
    Estimand,
    IntervalEstimate,
    IntervalTable,
    PointEstimate,
    PointEstimateTable,
)
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.rounding import format_difference, format_proportion
from cudbound.intervals import METHODS
from cudbound.report.tables import RunDescription

HOSTILE = "<script>alert(1)</script> & \"x\" 'y' \\input{z} 5% \x1b[2J"


def row(method: str, limits: tuple[float, float], **given: object) -> IntervalEstimate:
    fields = {"estimate": 0.1649, "estimand": Estimand("conditional"), "confidence_level": 0.95, "n_fits": 1}
    words = METHODS[method].words if method in METHODS else None
    return IntervalEstimate(
        method=method, raw_interval=ConfidenceInterval(*limits), words=words, **(fields | given)
    )


RUN = RunDescription("patients.csv", 48, 17, 31, "died = yes", ("age",), 1000, "n", 3, "LogisticRegression()")
TABLE = IntervalTable(
    (
        row("cud", (-0.1, 0.3149), remarks=("draws solved exactly as far as needed",)),
        row("my-own", (0.0004, 0.9996)),
        row("martin-beta", (math.nan, math.nan), estimate=math.nan, degenerate="no refits"),
    ),
    RUN,
)


@pytest.mark.parametrize(
    ("value", "decimals", "percent", "text"),
    [
        (0.1649, 2, False, "0.16"),
        (0.1649, None, True, "16.5%"),
        (0.1649, 0, True, "16%"),
        (0.0004, 2, False, "<0.01"),
        (0.0004, 0, True, "<1%"),
        (0.9996, None, True, ">99.9%"),
        (0.9996, 4, False, "0.9996"),
        (0.0, 1, True, "0.0%"),
        (1.0, 0, True, "100%"),
        (1.0, 0, False, "1"),
    ],
)
def test_digits_and_percentages(value, decimals, percent, text):
    assert format_proportion(value, decimals, percent) == text
    if value > 0.0:
        mirrored = {"<": ">-", ">": "<-"}.get(text[0], "-" + text[0]) + text[1:]
        assert format_difference(-value, decimals, percent) == mirrored


def test_golden_table_of_a_paper():
    assert TABLE.to_latex(style="paper", caption="Error, 5% of it", label="tab:error") == (
        r"""% needs \usepackage{booktabs}
\begin{table}
\centering
\caption{Error, 5\% of it}
\label{tab:error}
\begin{tabular}{ll}
\toprule
Method & Error (95\% CI) \\
\midrule
Constrained uniform deviation bound around the training error & 0.16 (0.00 to 0.31) \\
my-own & 0.16 (<0.01 to >0.99) \\
Beta posterior interval from the points left out of a draw, at the .632 estimate & not available \\
\bottomrule
\end{tabular}
\par\smallskip\footnotesize
Data: patients.csv, n = 48: 17 events (died = yes) and 31 non-events; 1 feature.
Classifier: LogisticRegression().
Run: 1000 resamples, localization = n, seed 3.
Scale: proportions in {[}0, 1], limits clipped to it.
Estimand "conditional": the error of the classifier fitted to these data, on new cases from the same population.
Internal intervals from the training data alone, without external validation.
Always predicting the majority class would be wrong for 35.4\% of the training rows.
Nominal level 95\%; no finite-sample guarantee.
Constrained uniform deviation bound around the training error: draws solved exactly as far as needed.
Beta posterior interval from the points left out of a draw, at the .632 estimate: degenerate: no refits.
\end{table}""".replace("(<", r"(\ensuremath{<}").replace(">0.99", r"\ensuremath{>}0.99")
    )


def test_styles_of_the_full_table():
    numbers = TABLE.to_markdown(digits=2).splitlines()[6].split("|")[2:6]
    assert [cell.strip() for cell in numbers] == ["0.16", "0.00", "0.31", "0.31"]
    text = TABLE.to_text(percent=True)
    assert text.splitlines()[7].split()[1:5] == ["16.5%", "0.0%", "31.5%", "31.5%"]
    assert "Scale: percent, from 0% to 100%, limits clipped to it; width = high - low." in text
    assert "proportions" not in text
    assert "\n\nMine\n\n" in TABLE.to_text(caption="Mine")
    assert str(TABLE) == TABLE.to_text()


def test_every_table_says_what_it_was_computed_from():
    for text in (TABLE.to_text(), TABLE.to_html()):
        assert "patients.csv, n = 48: 17 events (died = yes) and 31 non-events" in text
        assert "Classifier: LogisticRegression()." in text
    document = json.loads(TABLE.to_json())
    assert document["run"]["classifier"] == "LogisticRegression()"
    assert set(document["versions"]) == {"python", "cudbound", "numpy", "scipy", "scikit-learn"}
    assert TABLE.to_csv().count("\n") == 3


def test_one_sided_and_mixed_levels_on_paper():
    rows = (
        row("cud", (0.0, 0.31), alternative="less"),
        row("cud", (0.05, 1.0), alternative="greater", confidence_level=0.9),
    )
    lines = IntervalTable(rows).to_markdown(style="paper").splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == ["Method", "Level", "Error (CI)"]
    assert [line.split("|")[3].strip() for line in lines[4:6]] == [
        "0.16 (at most 0.31)",
        "0.16 (at least 0.05)",
    ]


def test_comparisons_and_point_estimates_on_paper():
    compared = ComparisonResult(
        method="mcnemar",
        words=METHODS["mcnemar"].words,
        estimate=-0.0001,
        statistic=1.0,
        pvalue=0.3,
        raw_interval=ConfidenceInterval(-0.1, 0.05),
        confidence_level=0.95,
        alternative="two-sided",
        estimand=Estimand("holdout-model"),
        n_fits=2,
    )
    text = ComparisonTable((compared,)).to_text(style="paper")
    assert "McNemar's test on one test set, with the  >-0.01 (-0.10 to 0.05) " in text
    assert "Difference of errors (95% CI)" in text
    assert "0.300" in text  # the p-value keeps its digits
    point = PointEstimate(method="k-fold", estimate=0.25, estimand=Estimand("expected", 45), n_fits=11)
    assert "0.25" in PointEstimateTable((point,)).to_text(style="paper").splitlines()[4]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"style": "nature"}, r"'style' parameter must be one of \['full', 'paper'\]\. Got 'nature'"),
        ({"digits": 11}, "'digits' parameter must be an int from 0 to 10, or None. Got 11"),
        ({"digits": True}, "'digits' parameter must be an int from 0 to 10, or None. Got True"),
        ({"label": "a b}"}, "'label' parameter must be of letters, digits and : . _ -, such as tab:errors"),
    ],
)
def test_styles_that_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        TABLE.to_latex(**given)


def test_hostile_text_in_html():
    table = IntervalTable((row(HOSTILE, (0.1, 0.2), remarks=(HOSTILE,)),))
    for text in (table.to_html(caption=HOSTILE), table.to_html(style="paper"), table._repr_html_()):
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "&lt;script&gt;" in text
    page = ET.fromstring(table.to_html(label="tab:a").split("\n", 1)[1].replace('<meta charset="utf-8">', ""))
    first, *cells, last = [cell.text for cell in page.iter("td")]
    assert first == last == HOSTILE.replace("\x1b", "\\x1b")
    assert cells[:4] == ["0.165", "0.100", "0.200", "0.100"]
    assert page.find(".//table").attrib["id"] == "tab:a"
