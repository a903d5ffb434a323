"""One method in full: every card is told whole, and formulas that can be computed give what the methods give."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from cudbound import from_records
from cudbound.intervals import METHODS
from cudbound.records import FoldLosses, SplitLosses, TestSetLosses

#: 40 new cases of which 7 are wrong, 5 folds of 8 rows, and 5 splits into 90 and 10.
WRONG = np.array([1] * 7 + [0] * 33)
FOLDS = FoldLosses.from_blocks(
    np.array([1, 0, 0, 1, 1, 0, 0, 0] * 2 + [0, 0, 1, 0, 0, 0, 0, 0] * 3).reshape(5, 8)
)
SPLITS = SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10)
MEANS = {"u": 0.25, "s": np.std([0.2, 0.3, 0.25, 0.15, 0.35], ddof=1)}
OF_FOLDS = {"k": 5, "u": FOLDS.losses.mean(), "s": np.std([3 / 8, 3 / 8, 1 / 8, 1 / 8, 1 / 8], ddof=1)}
TEST_SET = {"m": 40, "k": 7, "r": 7 / 40, "s": np.std(WRONG, ddof=1), "z": stats.norm.ppf(0.975)}

CLOSED = {
    "test-set-wald": (TestSetLosses(WRONG, 60), TEST_SET),
    "test-set-wilson": (TestSetLosses(WRONG, 60), TEST_SET),
    "test-set-wilson-corrected": (TestSetLosses(WRONG, 60), TEST_SET),
    "test-set-agresti-coull": (TestSetLosses(WRONG, 60), {**TEST_SET, "c": None}),
    "single-split-t": (TestSetLosses(WRONG, 60), TEST_SET),
    "resampled-t": (SPLITS, {**MEANS, "J": 5}),
    "corrected-resampled-t": (SPLITS, {**MEANS, "J": 5, "n1": 90, "n2": 10}),
    "k-fold-t": (FOLDS, OF_FOLDS),
    "grandvalet-bengio-t": (FOLDS, {**OF_FOLDS, "rho": 0.7}),
    "bayle-cv": (FOLDS, {**OF_FOLDS, "n": 40, "v": FOLDS.losses.var()}),
}


def evaluated(text: str, values: dict[str, float]) -> float:
    """Compute a formula that is written as the cards write them."""
    text = re.sub(r"(?<=[\w)]) (?=[(\w])", " * ", text.replace("; ", ", ").replace("^", "**"))
    functions = {
        "sqrt": np.sqrt,
        "z": values.get("z"),
        "t": lambda p, v: stats.t.ppf(p, v),
        "d": 0.05,
    }
    if "z(" in text:
        functions["z"] = stats.norm.ppf
    return float(eval(text, {"__builtins__": {}}, {**values, **functions}))


@pytest.mark.parametrize("name", CLOSED)
def test_the_formula_gives_the_limits_of_the_method(name):
    recorded, values = CLOSED[name]
    formula, *definitions = METHODS[name].formula.split("; ")
    if re.search(r"\bt\(", formula):  # whose degrees of freedom stand after a semicolon
        formula = f"{formula}; {definitions[0]}"
    if "c" in values:
        text = re.search(r"c = (.*?),", METHODS[name].formula)
        assert text is not None
        values = {**values, "c": evaluated(text[1], TEST_SET)}
    sides = formula.split(" and ") if " and " in formula else [formula.replace("+/-", sign) for sign in "-+"]
    row = from_records(recorded, name)
    expected = [evaluated(side, values) for side in sides]
    assert [row.raw_interval.low, row.raw_interval.high] == pytest.approx(expected, abs=1e-12)
