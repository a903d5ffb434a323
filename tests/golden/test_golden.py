"""The numbers of seeded calls of every entry point are those that are kept."""

from __future__ import annotations

import json

import pytest
from golden_calls import CALLS, NUMBERS, SLOW, differences, numbers_of
from sklearn_versions import older_than

from cudbound.estimators.batched.classifiers import FIRST_VERSION

KEPT = json.loads(NUMBERS.read_text())
#: Of linear discriminant analyses, whose draws of one class are drawn again where it is refitted one draw at a time.
DISCRIMINANTS = ("compare_intervals_algorithm", "error_interval_of_a_selection")


def test_every_call_is_kept():
    assert KEPT.keys() == CALLS.keys()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CALLS]
)
def test_numbers_stay(name):
    if name in DISCRIMINANTS and older_than(FIRST_VERSION):
        pytest.skip("linear discriminant analyses of older versions are refitted one draw at a time")
    assert not list(differences(KEPT[name], numbers_of(name), digits=1e-9))
