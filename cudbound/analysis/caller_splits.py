"""Which methods can use the caller's splits and new cases, and which keep groups of rows together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import RepeatedRowsWarning
from cudbound.basis.method_card import NO_OPTIONS, MethodCard
from cudbound.basis.sample import Sample, check_index
from cudbound.basis.validation import check_lengths, count_rows
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.records.words import in_words
from cudbound.resampling.recorders import KEEP_GROUPS

#: Records that one partition into folds fills, such as that of whole groups.
FOLDS_OF_GROUPS = frozenset({"folds", "repeated_folds", "splits"})


def check_use(methods: Sequence[MethodCard], fills: frozenset[str]) -> None:
    """Raise ValueError if no method uses the records that splits fill."""
    if any(method.needs & fills for method in methods):
        return
    names = ", ".join(method.name for method in methods)
    registry: Mapping[str, MethodCard] = ESTIMATORS if methods[0].name in ESTIMATORS else METHODS
    readers = [method.name for method in registry.values() if method.needs & fills]
    raise ValueError(
        f"The 'cv' parameter gives {in_words(fills)}, which none of the requested methods ({names}) uses. Leave it "
        f"out, or request methods that use it, such as {', '.join(readers[:4])}."
    )


def takes_groups_apart(
    method: MethodCard, filled: Collection[str], options: Mapping[str, Any] = NO_OPTIONS
) -> bool:
    """Whether a method cannot keep groups of rows together, given the records from splits or new cases."""
    return method.with_groups == "no" or not method.needed(options) <= KEEP_GROUPS | frozenset(filled)


class NewCases(NamedTuple):
    """Test cases (X_test, y_test), and a remark if some of them are training rows."""

    cases: tuple[Any, NDArray[Any]] | None
    remarks: tuple[str, ...] = ()


def check_test_set(test_set: Any, sample: Sample, methods: Iterable[MethodCard]) -> NewCases:
    """Return new cases, and warn about those that equal training rows.

    Raises
    ------
    ValueError
        If they are not a pair, their labels are not those of the classifier, or none of the methods uses them.
    """
    if not any("test_set" in method.needs and "second_test_set" not in method.needs for method in methods):
        raise ValueError(
            "The 'test_set' parameter is not used by any of the requested methods. Leave it out, or request a method "
            "whose needs, in available_methods(), include test_set."
        )
    if not isinstance(test_set, tuple) or len(test_set) != 2:
        raise ValueError(
            f"The 'test_set' parameter must be a pair (X_test, y_test) or None. Got {type(test_set).__name__} instead."
        )
    X_test, y_test = test_set[0], np.asarray(test_set[1])
    names = ("X_test", "y_test")
    check_lengths(count_rows(X_test), len(y_test), names)
    if not len(y_test):
        raise ValueError(
            "The 'test_set' parameter must have at least one case, or be None. Got 0 cases instead."
        )
    check_index(*test_set, names=names)
    classes = sample.classes.tolist()
    by_text = {
        repr(label): label for label in y_test.tolist() if label not in classes
    }  # nan differs from itself
    unknown = [by_text[text] for text in sorted(by_text)]
    if unknown:
        raise ValueError(
            f"The labels of 'test_set' must be those of the classifier, {classes}. Also got {unknown[:5]}."
        )
    n_equal = sample.count_equal(X_test, y_test)
    if not n_equal:
        return NewCases((X_test, y_test))
    remark = f"{n_equal} of {len(y_test)} test cases equal training rows"
    message = (
        f"{remark}, in every feature and in the label; the error on them is not evidence about new cases. Remove them "
        "from 'test_set', unless features have so few values that new cases equal old ones by chance."
    )
    warn(RepeatedRowsWarning(message, n_equal=n_equal, n_tested=len(y_test)))
    return NewCases((X_test, y_test), (remark,))
