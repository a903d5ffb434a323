"""Proportions in percent: tables, notes, sentences to quote, pictures."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    estimate_error,
)
from cudbound.basis.proportions import within
from cudbound.basis.rounding import format_proportion

RNG = np.random.default_rng(3)
#: Separable, so that limits are too low to be believed, and remarks say from where limits were taken.
X = np.concatenate([RNG.normal(-4.0, 1.0, size=(20, 2)), RNG.normal(4.0, 1.0, size=(20, 2))])
Y = np.repeat(["well", "ill"], 20)
CLF = LeastSquaresClassifier().fit(X, Y)
FEW = {"n_resamples": 60, "rng": 0}
#: A proportion, but for numbers with a percent sign.
BARE = r"(?<![\d.%])[01]\.\d{2,}(?![\d]*%)"


def test_bounds_are_written_with_digits_enough_to_differ():
    assert within(0.2500001, 0.2500004) == "between 0.2500001 and 0.2500004"
    assert within(0.25, 0.25) == format_proportion(0.25) == "0.250"


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_tables_have_no_other_proportions():
    asked = ["two-center", "cud", "bayle-cv"]
    table = compare_intervals(CLF, X, Y, methods=asked, **FEW)
    plain, percent = table.to_text(), table.to_text(percent=True)
    assert "Too good to be true" in plain
    for text in (
        percent,
        table.to_markdown(percent=True),
        table.to_html(percent=True),
        table.describe(True).results,
    ):
        assert not re.search(BARE, re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)), text
    paper = table.to_text(style="paper", percent=True)
    assert not re.search(BARE, paper), paper
    points = estimate_error(CLF, X, Y, methods="all", **FEW).to_text(percent=True)
    assert re.search(r"\d\.\d%", points)
