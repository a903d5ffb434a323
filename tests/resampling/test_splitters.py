"""Splits from scikit-learn: what they fill, the same losses as scikit-learn's own, groups, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import sample
from record_kinds import filled_by
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals, compare_learners, estimate_error
from cudbound.resampling.splits import make_splits

# six groups are few
pytestmark = pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning")

N = 24
GROUPS = np.arange(N) % 6
X, Y = sample(N)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
LEAST_SQUARES = LeastSquaresClassifier()

FOLDS = {"splits", "folds", "repeated_folds", "stratified_folds"}
SPLITTERS = {
    "KFold": (KFold(4), FOLDS),
    "KFold shuffled": (KFold(5, shuffle=True, random_state=1), FOLDS),
    "StratifiedKFold": (StratifiedKFold(3), FOLDS),
    "GroupKFold": (GroupKFold(3), FOLDS),
    "StratifiedGroupKFold": (StratifiedGroupKFold(3), FOLDS),
    "LeaveOneGroupOut": (LeaveOneGroupOut(), FOLDS),
    "LeaveOneOut": (LeaveOneOut(), FOLDS),
    "PredefinedSplit": (PredefinedSplit(GROUPS), FOLDS),
    "RepeatedKFold": (RepeatedKFold(n_splits=4, n_repeats=3, random_state=2), FOLDS - {"folds"}),
    "5x2": (
        RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=3),
        FOLDS - {"folds"} | {"halvings"},
    ),
    "ShuffleSplit": (ShuffleSplit(6, test_size=5, random_state=4), {"splits"}),
    "StratifiedShuffleSplit": (StratifiedShuffleSplit(4, test_size=6, random_state=4), {"splits"}),
    "GroupShuffleSplit": (GroupShuffleSplit(4, test_size=2, random_state=4), {"splits"}),
    "TimeSeriesSplit": (TimeSeriesSplit(3), {"splits"}),
    "list of pairs": ([(np.arange(12, N), np.arange(12)), (np.arange(12), np.arange(12, N))], FOLDS),
    "list of masks": ([(GROUPS != 0, GROUPS == 0), (GROUPS != 1, GROUPS == 1)], {"splits"}),
}


def groups_for(cv):
    """The groups for splitters that keep them; scikit-learn warns where others are given some."""
    return GROUPS if "Group" in type(cv).__name__ else None


def pairs_of(cv):
    return cv if isinstance(cv, list) else list(cv.split(X, Y, groups_for(cv)))


def errors_by_split(estimator, cv):
    """The errors of scikit-learn's own loop."""
    return 1.0 - cross_val_score(estimator, X, Y, cv=cv, groups=groups_for(cv))


def sizes_by_split(cv):
    return np.array([[len(np.arange(N)[train]), len(np.arange(N)[test])] for train, test in pairs_of(cv)])


def splits_of(cv, seed=0):
    return make_splits(cv, X, Y, groups_for(cv), np.random.default_rng(seed))


@pytest.mark.parametrize("name", SPLITTERS)
def test_splits_fill_what_they_can(name):
    cv, fills = SPLITTERS[name]
    found = splits_of(cv)
    assert filled_by(found) == fills
    for (train, test), training, tested in zip(pairs_of(cv), found.training, found.test, strict=True):
        np.testing.assert_array_equal(np.sort(np.arange(N)[train]), np.flatnonzero(training))
        np.testing.assert_array_equal(np.sort(np.arange(N)[test]), np.flatnonzero(tested))


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("estimator", [TREE, LEAST_SQUARES], ids=["clones", "batched"])
def test_losses_are_those_of_cross_val_score(name, estimator):
    cv, fills = SPLITTERS[name]
    errors = errors_by_split(estimator, cv)
    n_train, n_test = sizes_by_split(cv).mean(axis=0)
    asked = ["resampled-t", "corrected-resampled-t"]
    asked += ["k-fold-t"] if "folds" in fills else []
    asked += ["5x2cv-t"] if "halvings" in fills else []
    table = compare_intervals(
        estimator.fit(X, Y), X, Y, methods=asked, groups=groups_for(cv), rng=0, resampling=Resampling(cv=cv)
    )
    half = table["resampled-t"].raw_interval.width / 2
    corrected = table["corrected-resampled-t"]
    assert corrected.estimate == pytest.approx(errors.mean(), abs=1e-12)
    assert corrected.raw_interval.width / 2 == pytest.approx(
        half * np.sqrt(1 + len(errors) * n_test / n_train)
    )
    assert str(corrected.estimand) == f"expected(n1={n_train:g})"
    assert corrected.n_fits == 1 + len(errors)
    if "folds" in fills:
        assert table["k-fold-t"].estimate == pytest.approx(errors.mean(), abs=1e-12)
        pooled = estimate_error(
            estimator, X, Y, methods="k-fold", groups=groups_for(cv), rng=0, resampling=Resampling(cv=cv)
        )
        assert pooled["k-fold"].estimate == pytest.approx(
            np.average(errors, weights=sizes_by_split(cv)[:, 1]), abs=1e-12
        )
    if "halvings" in fills:
        row, pairs = table["5x2cv-t"], errors.reshape(5, 2)
        assert row.estimate == pytest.approx(pairs[0, 0])
        spread = np.sqrt(np.square(pairs[:, 0] - pairs[:, 1]).sum() / 10)
        assert row.raw_interval.high == pytest.approx(pairs[0, 0] + 2.5705818366 * spread)  # t(5) at .975


@pytest.mark.parametrize(
    "cv",
    [
        4,
        np.int64(4),
        KFold(4, shuffle=True),
        StratifiedKFold(4, shuffle=True),
        RepeatedKFold(n_splits=4, n_repeats=2),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=5),
        ShuffleSplit(4),
        StratifiedShuffleSplit(4),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_splitters_without_a_seed_follow_rng(cv):
    one, again, other = splits_of(cv, 0), splits_of(cv, 0), splits_of(cv, 1)
    np.testing.assert_array_equal(one.test, again.test)
    assert (one.test != other.test).any()
    if not isinstance(cv, int | np.integer):
        assert cv.random_state is None  # it is not the caller's that was seeded
    rows = [
        compare_learners(
            [TREE, LEAST_SQUARES], X, Y, methods="resampled-t", resampling=Resampling(cv=cv), rng=rng
        )
        for rng in (0, 0, 1)
    ]
    assert rows[0].rows == rows[1].rows


@pytest.mark.parametrize(
    ("cv", "groups", "got"),
    [
        ([(np.arange(10), np.arange(9, N))], None, r"1 rows in both sets"),
        ([(np.arange(10), np.arange(10, N))], np.arange(N) // 4, r"1 groups in both sets"),
        ([(np.repeat(np.arange(10), 2), np.arange(10, N))], None, r"up to 2 copies of a row"),
        ([(np.arange(N), np.arange(0))], None, r"and 0 test rows in split 0"),
        (
            [(np.arange(10), np.arange(10, N)), (np.arange(10), [N])],
            None,
            r"cannot split these rows in split 1: index",
        ),
        (
            [(np.arange(10), np.arange(10, N)), (np.arange(10), np.arange(-3, 0))],
            None,
            rf"cannot split these rows in split 1: row numbers must be from 0 to {N - 1}\. Got -3 instead",
        ),
        (KFold(N + 1), None, r"cannot split these rows: Cannot have number of splits"),
        ([], None, r"at least one split"),
        (True, None, r"a number of folds"),
    ],
)
def test_splits_on_which_errors_would_be_too_low_are_refused(cv, groups, got):
    with pytest.raises(ValueError, match=rf"'cv' parameter.*{got}"):
        make_splits(cv, X, Y, groups, np.random.default_rng(0))
