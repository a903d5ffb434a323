"""Tables for a paper: digits, percentages, titles; HTML; and texts that cannot break out of them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from cudbound import ConfidenceInterval, IntervalEstimate, IntervalTable
from cudbound.basis.outcomes import Estimand
from cudbound.basis.rounding import format_difference, format_proportion
from cudbound.intervals import METHODS

HOSTILE = "<script>alert(1)</script> & \"x\" 'y' \\input{z} 5% \x1b[2J"


def row(method: str, limits: tuple[float, float], **given: object) -> IntervalEstimate:
    fields = {"estimate": 0.1649, "estimand": Estimand("conditional"), "confidence_level": 0.95, "n_fits": 1}
    words = METHODS[method].words if method in METHODS else None
    return IntervalEstimate(
        method=method, raw_interval=ConfidenceInterval(*limits), words=words, **(fields | given)
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


def test_hostile_text_in_html():
    table = IntervalTable((row(HOSTILE, (0.1, 0.2), remarks=(HOSTILE,)),))
    for text in (table.to_html(), table.to_html(style="paper"), table._repr_html_()):
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "&lt;script&gt;" in text
    page = ET.fromstring(table.to_html().split("\n", 1)[1].replace('<meta charset="utf-8">', ""))
    first, *cells, last = [cell.text for cell in page.iter("td")]
    assert first == last == HOSTILE.replace("\x1b", "\\x1b")
    assert cells[:4] == ["0.165", "0.100", "0.200", "0.100"]
