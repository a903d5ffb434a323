"""The numbers of seeded calls of every entry point are those that are kept."""

from __future__ import annotations

import json

import pytest
from golden_calls import CALLS, NUMBERS, SLOW, differences, numbers_of

KEPT = json.loads(NUMBERS.read_text())


def test_every_call_is_kept():
    assert KEPT.keys() == CALLS.keys()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CALLS]
)
def test_numbers_stay(name):
    assert not list(differences(KEPT[name], numbers_of(name), digits=1e-9))
