"""Options stand with their method: names, groups, pairs of one of them and options, and lists of any of these."""

from __future__ import annotations

from data import fitted_sample

from cudbound import compare_intervals
from cudbound.intervals import GROUPS, METHODS, find_methods
from cudbound.resampling import Resampling

FAST = {"n_resamples": 20, "rng": 0, "resampling": Resampling(inner="oob", n_splits=3)}


def test_a_pair_sets_the_options_of_one_method():
    asked = find_methods([("kohavi-normal", {"form": "wilson"}), "langford-binomial"])
    assert [one.name for one in asked] == ["kohavi-normal", "langford-binomial"]
    assert asked.options == {"kohavi-normal": {"form": "wilson"}}
    assert asked.named == {"kohavi-normal", "langford-binomial"}


def test_a_pair_with_a_group_sets_an_option_in_the_members_that_have_it():
    asked = find_methods(("paper", {"form": "wilson"}))
    assert [one.name for one in asked] == list(GROUPS["paper"])
    having = {name for name in GROUPS["paper"] if "form" in METHODS[name].options}
    assert set(asked.options) == having == {"kohavi-normal"}
    assert asked.named == frozenset()


def test_options_change_their_own_row_alone():
    clf, X, y = fitted_sample()
    asked = ["kohavi-normal", "yang-cv-normal"]
    plain = compare_intervals(clf, X, y, methods=asked, **FAST)
    changed = compare_intervals(clf, X, y, methods=[("kohavi-normal", {"form": "wilson"}), asked[1]], **FAST)
    assert changed["yang-cv-normal"] == plain["yang-cv-normal"]
    assert changed["kohavi-normal"].raw_interval != plain["kohavi-normal"].raw_interval
    assert changed.run.choices == "kohavi-normal.form=wilson"
