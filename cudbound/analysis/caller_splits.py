"""Which methods can use the caller's splits and new cases, and which keep groups of rows together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import RepeatedRowsWarning
from cudbound.basis.method_card import NO_OPTIONS, MethodCard, Needs
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.sample import Sample, check_index
from cudbound.basis.validation import check_lengths, count_rows
from cudbound.intervals import METHODS
from cudbound.intervals.independent_test_sets import OWN_TEST_SETS
from cudbound.point_estimates import ESTIMATORS
from cudbound.resampling.inputs import RecordingInputs
from cudbound.resampling.splits import TEST_SET
from cudbound.resampling.splitters import Splits

#: A partition into folds, such as that of whole groups.
PARTITION = Splits(~np.eye(3, dtype=bool), np.eye(3, dtype=bool))


def check_use(methods: Sequence[MethodCard], inputs: RecordingInputs) -> None:
    """Raise ValueError if no method uses the records that splits fill."""
    if any(map(inputs.fills, Needs().union(*(method.needs for method in methods)))):
        return
    names = ", ".join(method.name for method in methods)
    registry: Mapping[str, MethodCard] = ESTIMATORS if methods[0].name in ESTIMATORS else METHODS
    readers = [method.name for method in registry.values() if any(map(inputs.fills, method.needs))]
    fills = sorted(filter(inputs.fills, Needs().union(*(method.needs for method in registry.values()))))
    words = " and ".join(dict.fromkeys(kind.words for kind in fills))
    raise ValueError(
        f"The 'cv' parameter gives {words}, which none of the requested methods ({names}) uses. Leave it "
        f"out, or request methods that use it, such as {', '.join(readers[:4])}."
    )


def takes_groups_apart(
    method: MethodCard, fills: Callable[[RecordKind[Any]], bool], options: Mapping[str, Any] = NO_OPTIONS
) -> bool:
    """Whether a method cannot keep groups of rows together; ``fills(kind)``: splits or new cases give the record."""
    kept = all(kind.keeps_groups or fills(kind) for kind in method.needed(options))
    return method.with_groups == "no" or not kept


def filled_by_folds(kind: RecordKind[Any]) -> bool:
    """Whether one partition into folds of whole groups fills a record."""
    return kind.filled_by is not None and kind.filled_by(PARTITION)


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
    if not any(TEST_SET in method.needs and OWN_TEST_SETS not in method.needs for method in methods):
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
