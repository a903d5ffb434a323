"""Interval methods: one file a family, one registry, one contract (`cudbound.intervals.base.Method`)."""

from __future__ import annotations

from collections.abc import Sequence

from cudbound.intervals.base import Method, Outcome, compute_interval
from cudbound.intervals.beta import MARTIN
from cudbound.intervals.binomial import LANGFORD
from cudbound.intervals.bootstrap import BIAS_CORRECTED, PERCENTILE
from cudbound.intervals.cud import CUD
from cudbound.intervals.normal import KOHAVI, YANG

__all__ = ["GROUPS", "METHODS", "Method", "Outcome", "compute_interval", "find_methods"]

#: Every method by its name, in the order of the table.
METHODS: dict[str, Method] = {
    method.name: method for method in (CUD, PERCENTILE, BIAS_CORRECTED, KOHAVI, YANG, MARTIN, LANGFORD)
}

#: Names that stand for several methods. "paper": what Laber and Murphy (2008), section 5, compare.
GROUPS: dict[str, tuple[str, ...]] = {
    "paper": (
        "cud",
        "bootstrap-percentile",
        "bootstrap-bias-corrected",
        "kohavi-normal",
        "yang-cv-normal",
        "martin-beta",
        "langford-binomial",
    )
}


def find_methods(methods: str | Sequence[str]) -> tuple[Method, ...]:
    """Return the methods of a group, of one name or of a list of names, each once, in the order given.

    Raises
    ------
    ValueError
        If a name is not registered, or the list is empty; the message lists the names.
    """
    asked = GROUPS.get(methods, (methods,)) if isinstance(methods, str) else methods
    names = tuple(dict.fromkeys(asked))
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise ValueError(
            f"The 'methods' parameter must be one of the groups {sorted(GROUPS)} or a list of names out of "
            f"{list(METHODS)}. Got {unknown[0] if unknown else methods!r} instead."
        )
    return tuple(METHODS[name] for name in names)
