"""Options stand with their method: names, groups, pairs of one of them and options, and lists of any of these."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from data import fitted_sample

from cudbound import compare_intervals, performance_interval
from cudbound.intervals import GROUPS, METHODS, find_comparisons, find_methods
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


def test_a_pair_after_a_group_adds_to_it_and_names_nothing():
    asked = find_methods([("paper", {"variant": "bca"}), ("kohavi-normal", {"form": "wilson"}), "two-center"])
    assert asked.options["kohavi-normal"] == {"form": "wilson"}
    assert asked.options["bootstrap-bias-corrected"] == {"variant": "bca"}
    assert asked.named == {"two-center"}
    assert len(asked) == len(GROUPS["paper"]) + 1


def test_a_pair_before_a_group_keeps_its_options_and_its_name():
    asked = find_methods([("kohavi-normal", {"form": "wilson"}), "paper"])
    assert asked.options == {"kohavi-normal": {"form": "wilson"}}
    assert asked.named == {"kohavi-normal"}
    assert asked.methods[0].name == "kohavi-normal"


def test_the_later_of_two_values_counts():
    asked = find_methods([("paper", {"form": "wilson"}), ("kohavi-normal", {"form": "wald"})])
    assert asked.options_of(METHODS["kohavi-normal"]) == {"form": "wald"}


def test_options_change_their_own_row_alone():
    clf, X, y = fitted_sample()
    asked = ["kohavi-normal", "yang-cv-normal"]
    plain = compare_intervals(clf, X, y, methods=asked, **FAST)
    changed = compare_intervals(clf, X, y, methods=[("kohavi-normal", {"form": "wilson"}), asked[1]], **FAST)
    assert changed["yang-cv-normal"] == plain["yang-cv-normal"]
    assert changed["kohavi-normal"].raw_interval != plain["kohavi-normal"].raw_interval
    assert changed.run.choices == "kohavi-normal.form=wilson"


@pytest.mark.parametrize("find", [find_methods, find_comparisons])
def test_alpha_in_a_pair_is_no_option(find):
    with pytest.raises(ValueError, match=r"corrected-resampled-t has no option 'alpha'\. Its options are \["):
        find(("corrected-resampled-t", {"alpha": 0.05}))


def test_alpha_in_a_pair_is_refused_by_the_calls():
    clf, X, y = fitted_sample()
    with pytest.raises(ValueError, match=r"^cud has no option 'alpha'\. It has no options\.$"):
        compare_intervals(clf, X, y, methods=[("cud", {"alpha": 0.05})])
    with pytest.raises(ValueError, match=r"^No method of the group 'paper' has the option 'alpha'\.$"):
        compare_intervals(clf, X, y, methods=("paper", {"alpha": 0.05}))
    with pytest.raises(ValueError, match=r"^two-center has no option 'alpha'\. It has no options\."):
        performance_interval(clf, X, y, method=("two-center", {"alpha": 0.05}))


def test_a_slip_in_the_name_of_an_option_is_answered():
    with pytest.raises(ValueError, match=r"kohavi-normal has no option 'from'\..* Did you mean 'form'\?"):
        find_methods(("kohavi-normal", {"from": "wilson"}))


def test_a_table_and_its_pickle_hold_no_row_of_the_data():
    clf, X, y = fitted_sample()
    methods = ["two-center", "cud", "langford-binomial"]
    table = compare_intervals(clf, X, y, methods=methods, **FAST)
    found = pickle.dumps(table)
    assert table.analysis.counts.tobytes() in found
    values = [*X, *X.T, *(np.asarray(value) for value in X.ravel())]
    assert not [value for value in values if np.ascontiguousarray(value).tobytes() in found]
    assert pickle.loads(found).rows == table.rows
