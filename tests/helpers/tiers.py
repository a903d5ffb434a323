"""Which seeds of a property are tried by `make test`, by `make test-slow`, and by `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def each_tier(
    quick: Iterable[int], slow: Iterable[int], long: Iterable[int] | None = None
) -> pytest.MarkDecorator:
    """Give a test the seeds of each tier as `seeds`; it tries one after the other and names the one that fails."""
    cases = [
        pytest.param(list(quick), id="quick"),
        pytest.param(list(slow), id="slow", marks=pytest.mark.slow),
    ]
    if long is not None:
        cases.append(pytest.param(list(long), id="long", marks=pytest.mark.long))
    return pytest.mark.parametrize("seeds", cases)


def quick_first(values: Iterable[Any]) -> list[Any]:
    """Return the cases of a property for ``parametrize``: all but the first are slow."""
    first, *others = values
    return [first, *(pytest.param(one, marks=pytest.mark.slow) for one in others)]
