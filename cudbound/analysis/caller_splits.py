"""Which methods can read the splits and the new cases of a caller, and which keep groups of rows together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.aligned import check_index
from cudbound.basis.method_card import MethodCard
from cudbound.basis.validation import check_lengths, count_rows
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


def check_test_set(
    test_set: Any, classes: NDArray[Any], methods: Iterable[MethodCard]
) -> tuple[Any, NDArray[Any]]:
    """Return new cases ``(X_test, y_test)``.

    Raises
    ------
    ValueError
        If they are no such pair, their labels are not those of the classifier, or none of the methods tests on them.
    """
    if not any("test_set" in method.needs and "second_test_set" not in method.needs for method in methods):
        raise ValueError(
            "The 'test_set' parameter is read by none of the methods asked for. Leave it out, or ask for one whose "
            "needs, in available_methods(), include test_set."
        )
    if not isinstance(test_set, tuple) or len(test_set) != 2:
        raise ValueError(
            f"The 'test_set' parameter must be a pair (X_test, y_test) or None. Got {type(test_set).__name__} instead."
        )
    X_test, y_test = test_set[0], np.asarray(test_set[1])
    check_lengths(count_rows(X_test), len(y_test))
    check_index(*test_set, names=("X_test", "y_test"))
    unknown = sorted(set(y_test.tolist()) - set(classes.tolist()), key=repr)
    if unknown:
        raise ValueError(
            f"The labels of 'test_set' must be those of the classifier, {classes.tolist()}. Also got {unknown[:5]}."
        )
    return X_test, y_test
