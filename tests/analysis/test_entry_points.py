"""What the entry points that refit have in common: kinds of data, frames of polars, new cases."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contract_cases import INTERVALS, SIZES, exactly, sample
from record_kinds import kinds
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tiers import quick_first

from cudbound import (
    LeastSquaresClassifier,
    Resampling,
    clinical_report,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
    plan_sample_size,
)
from cudbound.adapters import to_additive_model
from cudbound.basis.exceptions import ParameterError
from cudbound.intervals import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.RepeatedRowsWarning")

# ---- what the entry points that refit have in common ----


X, Y = sample(24)
X_FEW, Y_FEW = sample(16)
NEW_X, NEW_Y = sample(40, seed=8)
TINY = Resampling(
    n_folds=3, n_repeats=2, n_splits=2, n_halvings=1, n_replicates=2, n_nested_repeats=1, test_fraction=0.2
)
ARGUMENTS = {"n_resamples": 10, "resampling": replace(SIZES, inner=2), "rng": 0}


def all_tables(estimator, X, y):
    """Return every table of a classifier as text, numbers to 12 digits: sums round by how rows lie in memory."""
    estimator.fit(X, y)
    small = {"n_resamples": 4, "resampling": replace(TINY, inner=2), "rng": 0}
    tables = (
        exactly(compare_intervals(estimator, X, y, methods="all", **small)),
        exactly(estimate_error(estimator, X, y, **small)),
        exactly(
            compare_learners(
                [estimator, DecisionTreeClassifier(max_depth=1)], X, y, methods="all", rng=0, resampling=TINY
            )
        ),
    )
    return tuple(re.sub(r"\d+\.\d{12,}", lambda found: f"{float(found[0]):.12g}", table) for table in tables)


CLASSIFIERS = {
    "batched": LeastSquaresClassifier(),
    "logistic": LogisticRegression(),
    "clones": DecisionTreeClassifier(max_depth=2, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LeastSquaresClassifier()),
}


@pytest.mark.parametrize("name", quick_first([*CLASSIFIERS]))
def test_frames_and_lists_are_read_like_arrays(name):
    expected = all_tables(CLASSIFIERS[name], X_FEW, Y_FEW)
    frame = pd.DataFrame(X_FEW, columns=["age", "dose"], index=np.arange(16)[::-1])
    assert all_tables(CLASSIFIERS[name], frame, pd.Series(Y_FEW, index=frame.index)) == expected
    assert all_tables(CLASSIFIERS[name], X_FEW.tolist(), Y_FEW.tolist()) == expected


@pytest.mark.parametrize("name", ["batched", "clones"])
def test_labels_of_another_index_are_refused(name):
    patients = pd.Index([f"p{i}" for i in range(16)])
    frame, y = pd.DataFrame(X_FEW, index=patients), pd.Series(Y_FEW, index=patients)
    clf, other = clone(CLASSIFIERS[name]).fit(frame, y), DecisionTreeClassifier(max_depth=1)
    sorted_by_class = y.sort_values(kind="stable")
    row = int(np.flatnonzero(np.asarray(sorted_by_class.index != patients))[0])
    known, got = f"p{row}", sorted_by_class.index[row]
    assert known != got
    refused = pytest.raises(
        ParameterError,
        match=f"^The 'y' parameter must be in the order of the index of X, which is '{known}' in row {row}, counted "
        rf"from 0. Got '{got}' instead. Align them, such as y.loc\[X.index\], or pass y.to_numpy\(\)",
    )
    for call in (
        lambda labels: compare_intervals(clf, frame, labels, methods="two-center", n_resamples=5, rng=0),
        lambda labels: performance_interval(clf, frame, labels, n_resamples=5, rng=0),
        lambda labels: estimate_error(clf, frame, labels, methods="k-fold", rng=0),
        lambda labels: compare_learners([clf, other], frame, labels, methods="mcnemar", rng=0),
        lambda labels: plan_sample_size(clf, frame, labels, n_samples=[20], half_width=0.1, rng=0),
        *([lambda labels: cud_interval(clf, frame, labels, n_resamples=5, rng=0)] * (name == "batched")),
    ):
        with refused:
            call(sorted_by_class)
    # the same rows without an index, or with an index that has the same labels
    expected = estimate_error(clf, X_FEW, Y_FEW, methods="k-fold", rng=0).rows
    for X_known, labels in ((frame, y), (frame, y.to_numpy()), (X_FEW, y), (frame, Y_FEW.tolist())):
        assert estimate_error(clf, X_known, labels, methods="k-fold", rng=0).rows == expected
    with pytest.raises(ParameterError, match="'y_new' parameter must be in the order of the index of X_new"):
        estimate_error(clf, frame, y, methods="holdout", new_cases=(frame, sorted_by_class))


@pytest.mark.parametrize("name", ["groups", "sample_weight"])
def test_groups_and_weights_of_another_index_are_refused(name):
    patients = pd.Index([f"p{i}" for i in range(16)])
    frame, y = pd.DataFrame(X_FEW, index=patients), pd.Series(Y_FEW, index=patients)
    values = pd.Series(np.arange(16) // 1.2 + 1.5, index=patients[::-1])
    weights = {"sample_weight": values.to_numpy()} if name == "sample_weight" else {}
    clf = LeastSquaresClassifier().fit(frame, y, **weights)
    small = {"n_resamples": 5, "rng": 0}
    calls = [compare_intervals, performance_interval, cud_interval, clinical_report]
    if name == "groups":
        calls += [
            estimate_error,
            lambda clf, *data, **given: compare_learners([clf, "majority"], *data, **given),
        ]
    else:
        calls.append(
            lambda clf, *data, sample_weight, **given: to_additive_model(
                clf, *data, sample_weight=sample_weight
            )
        )
    for call in calls:
        with pytest.raises(
            ParameterError, match=rf"'{name}' .* order of the index of X, .*{name}.loc\[X.index\]"
        ):
            call(clf, frame, y, **{name: values}, **small)
    # rows without an index have that of their labels
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be in the order of the index of y"):
        performance_interval(clf, X_FEW, y, **{name: values}, **small)
    with pytest.raises(ValueError, match=f"{name}.* rows. Got .*15"):
        performance_interval(clf, frame, y, **{name: values[1:]}, **small)
    expected = performance_interval(clf, X_FEW, Y_FEW, **{name: values.to_numpy()}, **small).row
    for given in (values.to_numpy(), values.set_axis(patients), values.tolist()):
        assert performance_interval(clf, frame, y, **{name: given}, **small).row == expected


@pytest.mark.parametrize(
    "form", quick_first([sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.coo_array])
)
def test_sparse_rows_are_read_like_dense_ones(form):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    assert all_tables(tree, form(X_FEW), Y_FEW) == all_tables(tree, X_FEW, Y_FEW)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("benign", "malignant"), (False, True), (-1, 1), (3, 7)], ids=str)
def test_labels_are_any_two_words(words):
    for clf in (CLASSIFIERS["batched"], CLASSIFIERS["clones"]):
        assert all_tables(clf, X_FEW, np.array(words)[Y_FEW]) == all_tables(clf, X_FEW, Y_FEW)
    as_categories = pd.Series(pd.Categorical.from_codes(Y_FEW, ["ill", "well"]))
    batched = CLASSIFIERS["batched"]
    assert all_tables(batched, X_FEW, as_categories) == all_tables(batched, X_FEW, Y_FEW)


# ---- new test cases ----


def test_new_cases_take_the_place_of_the_holdout():
    clf = LeastSquaresClassifier().fit(X, Y)
    asked = [name for name in INTERVALS if METHODS[name].needs == kinds({"test_set"})]
    assert len(asked) >= 5
    held_out = compare_intervals(clf, X, Y, methods=asked, **ARGUMENTS)
    new = compare_intervals(clf, X, Y, methods=asked, new_cases=(NEW_X, NEW_Y), **ARGUMENTS)
    for name in asked:
        assert (str(held_out[name].estimand), held_out[name].n_fits) == ("holdout-model", 2)
        assert (str(new[name].estimand), new[name].n_fits) == ("conditional", 1)
        assert new[name].estimate == pytest.approx(1 - clf.score(NEW_X, NEW_Y), abs=1e-12)
    estimate = estimate_error(clf, X, Y, methods="holdout", new_cases=(NEW_X, NEW_Y), **ARGUMENTS)
    assert estimate["holdout"].estimate == new[asked[0]].estimate
    assert str(estimate["holdout"].estimand) == "conditional"
    for row in held_out.rows:
        assert row != new[row.method]


def test_the_classifiers_are_compared_on_new_cases_as_they_were_fitted():
    a, b = LeastSquaresClassifier().fit(X[:, :1], Y), DecisionTreeClassifier(max_depth=1).fit(X[:, :1], Y)
    new = NEW_X[:, :1]
    found = compare_learners([a, b], X[:, :1], Y, methods="mcnemar", new_cases=(new, NEW_Y), rng=0).row
    wrong = [clf.predict(new) != NEW_Y for clf in (a, b)]
    assert (str(found.estimand), found.n_fits) == ("conditional", 0)
    assert found.details["only_a_wrong"] == int((wrong[0] & ~wrong[1]).sum())
    assert found.details["only_b_wrong"] == int((wrong[1] & ~wrong[0]).sum())
    assert found.estimate == pytest.approx(wrong[0].mean() - wrong[1].mean(), abs=1e-12)


# ---- frames of polars give the results of the same rows in pandas ----


N = 60
RNG = np.random.default_rng(0)
PATIENTS = pd.DataFrame(
    {"age": RNG.normal(60, 10, N), "crp": RNG.exponential(3, N), "sex": RNG.choice(["f", "m"], N)}
)
PATIENTS.loc[[3, 4], "crp"] = np.nan
ILL = np.where(PATIENTS["age"] + RNG.normal(0, 8, N) > 60, "ill", "well")
FRAME = pl.DataFrame({name: pl.Series(PATIENTS[name].tolist()) for name in PATIENTS})
SERIES = pl.Series(ILL.tolist())
NUMBERS = ["age", "crp"]
CALL = {"n_resamples": 20, "rng": 0}

encoded = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS), (OneHotEncoder(), ["sex"])
    ),
    LogisticRegression(),
)
#: In batches, with steps that are fitted apart, and one by one.
OF_FRAMES = {
    "together": encoded,
    "apart": make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), QuantileTransformer(n_quantiles=5)), NUMBERS)
        ),
        SelectKBest(k=1),
        LogisticRegression(),
    ),
    "alone": make_pipeline(
        make_column_transformer((SimpleImputer(), NUMBERS)), RandomForestClassifier(3, random_state=0)
    ),
}


@pytest.mark.parametrize("name", quick_first(OF_FRAMES))
def test_the_interval_is_that_of_the_frame_of_pandas(name):
    clf = OF_FRAMES[name]
    expected = performance_interval(clone(clf).fit(PATIENTS, ILL), PATIENTS, ILL, **CALL)
    frame = performance_interval(clone(clf).fit(FRAME, ILL), FRAME, SERIES, **CALL)
    assert frame.row == expected.row
    assert frame.saved.fingerprint == expected.saved.fingerprint


@pytest.mark.parametrize(("frame", "labels"), [(FRAME.lazy(), ILL), (PATIENTS, FRAME.lazy())])
def test_a_lazy_frame_has_to_be_collected(frame, labels):
    with pytest.raises(
        TypeError, match=r"Rows and labels must be in memory.* Got LazyFrame instead; call its col"
    ):
        performance_interval(encoded, frame, labels, **CALL)
