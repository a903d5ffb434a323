"""Which methods can read the splits of a caller, and which keep groups of rows together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from cudbound.method_card import MethodCard
from cudbound.resampling.plan import KEEP_GROUPS
from cudbound.resampling.splitters import Splits

Named = TypeVar("Named", bound=MethodCard)

#: Records that a splitter can fill.
FROM_SPLITS = frozenset({"splits", "folds", "repeated_folds", "halvings"})
#: Records that one partition into folds fills, such as that of whole groups.
FOLDS_OF_GROUPS = frozenset({"folds", "repeated_folds", "splits"})


def check_use(methods: Sequence[MethodCard], fills: frozenset[str]) -> None:
    """Raise ValueError if no method reads the records that splits fill."""
    readers = [method.name for method in methods if method.needs & fills]
    if not readers:
        raise ValueError(
            f"The 'cv' parameter gives {sorted(fills)}, which none of the methods asked for reads: "
            f"{ {method.name: sorted(method.needs & FROM_SPLITS) for method in methods} }. A single partition into "
            "folds gives 'folds' and 'splits', several of them 'repeated_folds' and 'splits', other splitters 'splits'."
        )


def takes_groups_apart(method: MethodCard, filled: Collection[str]) -> bool:
    """Whether a method cannot keep groups of rows together, given the records that splits or new cases fill."""
    return method.with_groups == "no" or not method.needs <= KEEP_GROUPS | frozenset(filled)


def unless_torn(
    methods: Sequence[Named], splits: Splits | None, has_test_set: bool, refused: dict[str, str] | None
) -> Sequence[Named]:
    """Return the methods that keep groups together, and say of the others why they do not."""
    filled = (frozenset() if splits is None else splits.fills) | ({"test_set"} if has_test_set else set())
    torn = [method.name for method in methods if takes_groups_apart(method, filled)]
    if torn and refused is None:
        raise ValueError(
            f"The 'groups' parameter cannot be kept by {torn}, which resample single rows or count them as "
            "independent in their formulas. Leave them out of 'methods', or 'groups' out."
        )
    if refused is not None:
        refused |= dict.fromkeys(torn, "not available for rows in groups: it would take groups apart")
    return [method for method in methods if method.name not in torn]
