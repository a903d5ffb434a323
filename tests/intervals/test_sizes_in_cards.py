"""What the cards say of the registered studies is what their stored cells say, and so is the default test."""

from __future__ import annotations

import pandas as pd
import pytest
import recommended_pages
from sizes_of_tests import CHOSEN, FOLDER, decimal, of_equal_errors, stored_cells

from cudbound.intervals import DEFAULT_COMPARISONS, METHODS
from cudbound.intervals.method import size_in_study
from cudbound.intervals.two_center import OF_PROBABILITIES, OF_SCORES, TWO_CENTER, in_registered_study

TESTS = [
    name
    for name, method in METHODS.items()
    if method.compares and method.reads == "classes" and name != CHOSEN
]
#: Methods that the study has under several names: that with the default options.
BY_DEFAULT = {"5x2cv-t": "5x2cv-t, none", "grandvalet-bengio-t": "grandvalet-bengio-t, rho = 0.7"}
#: Of other hypotheses, or of learners with half of the rows: not to be chosen by the registered rule.
OF_OTHERS = ("mcnemar", "single-split-t", "independent-test-sets", "5x2cv-t", "5x2cv-f")


@pytest.mark.parametrize("name", [CHOSEN, *TESTS])
def test_a_card_has_the_size_of_its_test(name):
    line = of_equal_errors(stored_cells()).loc[BY_DEFAULT.get(name, name)]
    assert (
        size_in_study(decimal(line["largest"]), int(line["kept"]), int(line["sets"]))
        in METHODS[name].tendency
    )


def test_the_default_is_the_shortest_of_those_that_kept_their_level():
    """The registered rule: all cells, all sets, nearly all rows for training."""
    tests = of_equal_errors(stored_cells())
    candidates = tests[(tests["kept"] == 17) & (tests["sets"] == 1000)]
    candidates = candidates[[name.partition(", ")[0] not in OF_OTHERS for name in candidates.index]]
    assert candidates["width"].idxmin() == CHOSEN == DEFAULT_COMPARISONS["error"]
    assert candidates["width"].nsmallest(2).diff().iloc[-1] > 0.02  # or the one of fewer fits would be it


def test_the_repetition_kept_its_level():
    again = pd.read_csv(FOLDER / "repeated.csv").query("method == @CHOSEN").squeeze()
    worst = stored_cells().query("method == @CHOSEN and equal").iloc[0]
    assert (again["cell"], again["sets"]) == (worst["cell"], 3000)
    assert (
        again["rejected"] <= again["limit"] == pytest.approx(0.05 + 2 * (0.05 * 0.95 / 3000) ** 0.5, abs=5e-5)
    )


@pytest.mark.parametrize(
    ("metric", "card"), [("error", TWO_CENTER), ("auc", OF_SCORES), ("brier", OF_PROBABILITIES)]
)
def test_the_cards_of_the_recommended_interval_have_the_numbers_of_its_study(metric, card):
    cells = recommended_pages.read()
    used = recommended_pages.as_used(cells).query("method == 'two-center' and metric == @metric")
    used = used[used["kind"] != recommended_pages.CLASSES]
    again = recommended_pages.repeated(cells).query("metric == @metric")
    assert again["coverage_again"].notna().all()
    assert len(again) == len(used) - used["keeps_level"].sum()
    found = in_registered_study(used["keeps_level"].sum(), len(used), decimal(again["coverage_again"].min()))
    assert found in card.tendency
