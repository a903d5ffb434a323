"""What the cards say of the registered studies is what their stored cells say, and so is the default test."""

from __future__ import annotations

import pytest
import recommended_pages
from sizes_of_tests import CHOSEN, decimal, of_equal_errors, stored_cells

from cudbound.intervals import DEFAULT_COMPARISONS, METHODS
from cudbound.intervals.two_center import TWO_CENTER

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
    few = "" if line["sets"] == 1000 else f", with {line['sets']:.0f} training sets each"
    sentence = (
        "as a 5 % test of two learning algorithms with equal errors it rejected at most "
        f"{decimal(line['largest'])} in 17 settings and kept its level in {line['kept']:.0f}{few}"
    )
    assert f"{sentence};" in f"{METHODS[name].tendency};"


def test_the_default_is_the_shortest_of_those_that_kept_their_level():
    """The registered rule: all cells, all sets, nearly all rows for training."""
    tests = of_equal_errors(stored_cells())
    candidates = tests[(tests["kept"] == 17) & (tests["sets"] == 1000)]
    candidates = candidates[[name.partition(", ")[0] not in OF_OTHERS for name in candidates.index]]
    assert candidates["width"].idxmin() == CHOSEN == DEFAULT_COMPARISONS["error"]
    assert candidates["width"].nsmallest(2).diff().iloc[-1] > 0.02  # or the one of fewer fits would be it


@pytest.mark.parametrize(
    ("metric", "card"),
    [
        ("error", TWO_CENTER),
        ("auc", TWO_CENTER.variants["scores"]),
        ("brier", TWO_CENTER.variants["probabilities"]),
    ],
)
def test_the_cards_of_the_recommended_interval_have_the_numbers_of_its_study(metric, card):
    cells = recommended_pages.read()
    used = recommended_pages.as_used(cells).query("method == 'two-center' and metric == @metric")
    used = used[used["kind"] != recommended_pages.CLASSES]
    again = recommended_pages.repeated(cells).query("metric == @metric")
    assert again["coverage_again"].notna().all()
    assert len(again) == len(used) - used["keeps_level"].sum()
    sentence = (
        f"it reached its level in {used['keeps_level'].sum()} of {len(used)} settings; run again, the lowest coverage "
        f"in the others was {decimal(again['coverage_again'].min())}"
    )
    assert sentence in card.tendency
