"""Losses of other software: every class takes lists, and refuses the same wrongs by the same words."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from contract_cases import random_records
from hypothesis import given, settings
from hypothesis import strategies as st
from record_kinds import names_of
from within_limits import within_limits

from cudbound.analysis.from_records import RECORD_KINDS
from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.bootstrap_cv import RemovedCaseErrors, TunedFolds, TunedLosses
from cudbound.intervals.cross_validation import NestedLosses, ReplacementErrors
from cudbound.intervals.laber_murphy import BoundaryDeviations
from cudbound.intervals.method import compute_comparison
from cudbound.intervals.random_splits import HalfSplitLosses, ReplicateLosses
from cudbound.point_estimates import ESTIMATORS, compute_estimate
from cudbound.point_estimates.bolstered import BolsteredLosses
from cudbound.records import (
    BootstrapLosses,
    Design,
    FoldLosses,
    HalvingLosses,
    InnerErrors,
    Records,
    SplitLosses,
    TestSetLosses,
)

N, DRAWS = 6, 4
COUNTS = [[2, 1, 0, 1, 1, 1], [0, 2, 2, 0, 1, 1], [1, 1, 1, 1, 0, 2], [3, 0, 0, 1, 1, 1]]
ROW = [0, 1, 0, 0, 1, 0]
DRAWN = [ROW, [1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]]
FOLD = [0, 0, 1, 1, 2, 2]
INNER = [[[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]]


@dataclass(frozen=True)
class Case:
    """A class with arguments that it takes, as lists, and which of them are arrays of losses, and whole numbers."""

    kind: type
    arguments: dict[str, Any]
    losses: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    unlimited: tuple[str, ...] = ()


CASES = [
    Case(
        BootstrapLosses,
        {"counts": COUNTS, "losses": DRAWN, "no_information": [0.5] * DRAWS},
        ("losses", "no_information"),
    ),
    Case(
        InnerErrors,
        {"errors": [0.25] * DRAWS, "n_fits": 40, "optimism": [0.0] * DRAWS},
        ("errors", "optimism"),
    ),
    Case(RemovedCaseErrors, {"errors": [0.25] * DRAWS, "leave_one_out": 0.5, "n_fits": 6}, ("errors",)),
    Case(
        BoundaryDeviations,
        {"upper": [0.5, 1.0], "lower": [0.0, -1.0], "n_samples": N, "n_fits": 3},
        sizes=("n_samples",),
        unlimited=("upper", "lower"),
    ),
    Case(Design, {"n_rows": N, "rank": 2.0}, sizes=("n_rows",)),
    Case(FoldLosses, {"losses": ROW, "fold": FOLD}, ("losses",)),
    Case(
        NestedLosses,
        {"inner": INNER, "outer": [[[0, 1], [0, 0], [1, 0]]], "n_samples": N},
        ("inner", "outer"),
        ("n_samples",),
    ),
    Case(
        ReplacementErrors,
        {"full": 0.25, "half": 0.5, "replaced": [0.25, 0.5, 0.5], "n_samples": N, "n_folds": 3},
        ("replaced",),
        ("n_samples", "n_folds"),
    ),
    Case(
        SplitLosses,
        {"means": [0.25, 0.5, 0.25], "n_train": 4, "n_test": 2},
        ("means",),
        ("n_train", "n_test"),
    ),
    Case(
        HalfSplitLosses,
        {"means": [[0.25, 0.5], [0.5, 0.5]], "n_train": 2, "n_test": 1, "n_splits": 5},
        ("means",),
        ("n_train", "n_test", "n_splits"),
    ),
    Case(
        ReplicateLosses,
        {"means": [0.25, 0.5], "n_train": 4, "n_test": 2, "n_splits": 5},
        ("means",),
        ("n_train", "n_test", "n_splits"),
    ),
    Case(HalvingLosses, {"means": [[0.25, 0.5]] * 5, "n_train": 3}, ("means",), ("n_train",)),
    Case(TestSetLosses, {"losses": ROW, "n_train": 20}, ("losses",), ("n_train",)),
    Case(TunedLosses, {"losses": np.transpose(DRAWN).tolist(), "counts": COUNTS, "n_folds": 3}, ("losses",)),
    Case(TunedFolds, {"losses": [[0.25, 0.5]] * N, "counts": COUNTS}, ("losses",)),
    Case(
        BolsteredLosses,
        {"losses": [0.25] * N, "wrong": [False, True, False, False, True, False]},
        ("losses",),
    ),
]
#: A design is of no fits, so that it has neither their number nor remarks on them.
OF_FITS = [case for case in CASES if case.kind is not Design]
LOSSES = [(case, name) for case in CASES for name in case.losses]
ARRAYS = [(case, name) for case in CASES for name, value in case.arguments.items() if isinstance(value, list)]


def ids(pairs):
    return [f"{case.kind.__name__}-{name}" for case, name in pairs]


def changed(value: Any, new: Any) -> Any:
    """Return nested lists with another first number."""
    return [changed(value[0], new), *value[1:]] if isinstance(value, list) else new


@pytest.mark.parametrize("case", OF_FITS, ids=lambda case: case.kind.__name__)
def test_lists_are_what_arrays_are(case):
    listed = case.kind(**case.arguments)
    arrays = {name: np.array(one) if isinstance(one, list) else one for name, one in case.arguments.items()}
    for name, value in vars(case.kind(**arrays)).items():
        np.testing.assert_array_equal(value, getattr(listed, name))
        if isinstance(arrays.get(name), np.ndarray):
            assert isinstance(getattr(listed, name), np.ndarray)
            assert getattr(listed, name).dtype in (np.bool_, np.int64, np.float64)
    assert listed.n_fits >= 0


@pytest.mark.parametrize(("case", "name"), ARRAYS, ids=ids(ARRAYS))
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf], ids=str)
def test_arrays_are_finite(case, name, wrong):
    with_gaps = {"errors", "optimism", "no_information"}
    if case.kind in (InnerErrors, BootstrapLosses) and name in with_gaps and np.isnan(wrong):
        assert np.isnan(
            getattr(case.kind(**case.arguments | {name: changed(case.arguments[name], wrong)}), name)
        ).any()
        return
    with pytest.raises(ValueError, match=rf"^The '{name}' parameter must be finite\. Got nan or infinite"):
        case.kind(**case.arguments | {name: changed(case.arguments[name], wrong)})


@pytest.mark.parametrize(("case", "name"), ARRAYS, ids=ids(ARRAYS))
@pytest.mark.parametrize(
    "wrong", [[], "abc", None, {}, [["a"]], [None], np.zeros((1, 1, 1, 1)), 0.5], ids=repr
)
def test_arrays_are_numeric_and_of_their_dimensions(case, name, wrong):
    optional = case.kind in (BootstrapLosses, InnerErrors) and name in ("no_information", "optimism")
    if wrong is None and optional:
        assert getattr(case.kind(**case.arguments | {name: None}), name) is None
        return
    with pytest.raises(
        ValueError, match=rf"^The '{name}' parameter must be a numeric array(, or None| with \d dimension)"
    ):
        case.kind(**case.arguments | {name: wrong})


@pytest.mark.parametrize(("case", "name"), LOSSES, ids=ids(LOSSES))
@pytest.mark.parametrize("wrong", [1.5, -2, 255, 1e300, -1.001])
def test_losses_are_in_their_range(case, name, wrong):
    rule = r"losses in \[0, 1\], or differences of two losses, in \[-1, 1\]"
    with pytest.raises(
        ValueError, match=rf"^The '{name}' parameter must be {rule}\. Got {re.escape(str(wrong))}"
    ):
        case.kind(**case.arguments | {name: changed(case.arguments[name], wrong)})


# --- draws


@pytest.mark.parametrize("name", ["no_information", "square_ratio"])
@pytest.mark.parametrize("wrong", [-0.5, 1.5, np.inf, "0.5", None], ids=repr)
def test_shares_are_in_their_range(name, wrong):
    with pytest.raises(ValueError, match=rf"^The '{name}' parameter must be (a share in \[0, 1\]|a number)"):
        Records(**{name: wrong})


def test_probabilities_are_in_their_range():
    with pytest.raises(
        ValueError, match=r"^The 'probabilities' parameter must be of probabilities in \[0, 1\]"
    ):
        FoldLosses(None, FOLD, probabilities=[0.5, 1.5, 0.5, 0.5, 0.5, np.nan])


# --- anything at all

NUMBERS = st.sampled_from(
    [0, 1, -1, 2, 0.5, np.nan, np.inf, -np.inf, 1e308, 2**62, True, None, "1", b"x", [1]]
)
THINGS = st.one_of(
    NUMBERS,
    st.lists(NUMBERS, max_size=4),
    st.lists(st.lists(st.sampled_from([0, 1, 2, -1, 0.5]), min_size=1, max_size=3), max_size=4),
    st.sampled_from(
        [np.zeros(0), np.array(1.0), np.ones((4, 6)), np.array([1, 2], dtype=np.uint8), np.array(["a"]), {}]
    ),
)


def try_everything(names_and_values):
    """Make a record of anything; what is made must serve every method or be refused by it with a ValueError."""
    case, given_ = names_and_values
    with within_limits():
        try:
            record = case.kind(**case.arguments | given_)
        except ValueError:
            return
        field = next(
            kind.name
            for kind in sorted(RECORD_KINDS)
            if isinstance(random_records(0, 0.3).get(kind), case.kind)
        )
        records = Records.of(**{field: record})
        for method in METHODS.values():
            if field not in names_of(method.needs):
                continue
            if method.gives_interval:
                _tolerated(lambda method=method: compute_interval(method, records, 0.95))
            if method.compares:
                _tolerated(lambda method=method: compute_comparison(method, records, 0.95))
        for estimator in ESTIMATORS.values():
            if field in names_of(estimator.needs):
                _tolerated(lambda estimator=estimator: compute_estimate(estimator, records))


def _tolerated(compute):
    with contextlib.suppress(ValueError):
        compute()


def anything(case):
    return st.dictionaries(st.sampled_from(sorted(case.arguments)), THINGS, min_size=1, max_size=3).map(
        lambda found: (case, found)
    )


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(CASES).flatmap(anything))
def test_anything_is_taken_or_refused(names_and_values):
    try_everything(names_and_values)
