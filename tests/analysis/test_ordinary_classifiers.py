"""The recommended interval of classifiers that have no CUD bound, or whose bound would not know what was chosen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from data import sample
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn_versions import logistic_cv, sparse_logistic

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    Resampling,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.basis.exceptions import (
    FrozenStepsWarning,
    LabelsReadWarning,
    ManyFeaturesWarning,
    NotMinimizerError,
    NotMinimizerWarning,
    TuningNotResampledWarning,
    UnscaledPenaltyWarning,
    UnsupportedEstimatorError,
    UnsupportedProblemError,
)

Draw_sampleS = 25


def raw_sample(n, p, seed=0):
    """Features in units of very different size, on which solvers stop early."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.logspace(0, 3, p) + 10.0
    y = (X[:, 0] - 10.0 + rng.normal(size=n) > 0).astype(int)
    return X, y


ORDINARY = {
    "l1 SVC": (LinearSVC(penalty="l1", random_state=0), sample(40, 3), "l1 penalty"),
    "SVC": (SVC(kernel="linear", tol=0.5), sample(40, 3), "minimize"),
    "SGD": (make_pipeline(StandardScaler(), SGDClassifier(random_state=0)), sample(40, 3), "minimize"),
    "raw logistic": (LogisticRegression(), raw_sample(80, 30), "minimize"),
    "raw SVC": (LinearSVC(max_iter=200, random_state=0), raw_sample(80, 30), "minimize"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.UnscaledPenaltyWarning")
@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning")
@pytest.mark.parametrize("name", ORDINARY)
def test_linear_classifiers_without_a_bound_have_the_interval(name):
    estimator, (X, y), why = ORDINARY[name]
    estimator.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMinimizerWarning)
        table = compare_intervals(estimator, X, y, methods="recommended", n_resamples=Draw_sampleS, rng=0)
        alone = performance_interval(estimator, X, y, n_resamples=Draw_sampleS, rng=0)
    row, cud = table["two-center"], table["cud"]
    assert row.low < row.estimate < row.high
    assert any("upper limit not capped" in remark and why in remark for remark in row.remarks)
    assert np.isnan(cud.low)
    assert why in cud.degenerate
    assert alone.confidence_interval == row.confidence_interval
    assert "Upper limit not capped" in str(alone)
    with pytest.raises((NotMinimizerError, UnsupportedProblemError, UnsupportedEstimatorError)):
        compare_intervals(estimator, X, y, methods=["cud"], n_resamples=Draw_sampleS, rng=0)


SPARSE = {
    "LASSO of liblinear": sparse_logistic(1.0, solver="liblinear", tol=1e-8),
    "LASSO of saga": sparse_logistic(1.0, solver="saga", tol=1e-8, max_iter=20000),
    "elastic net": sparse_logistic(0.5, solver="saga", tol=1e-8, max_iter=20000),
    "SGD log_loss": SGDClassifier("log_loss", penalty="l1", alpha=0.02, random_state=0),
    "SGD squared_error": SGDClassifier(
        "squared_error", penalty="elasticnet", l1_ratio=0.5, alpha=0.05, random_state=0
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_classifiers_have_the_bound_and_the_cap(name):
    X, y = sample(40, 3)
    bound = Bound(polish=name.startswith("SGD"))
    fitted = SPARSE[name].fit(X, y)
    table = compare_intervals(
        fitted, X, y, methods="recommended", n_resamples=Draw_sampleS, rng=0, bound=bound
    )
    row, cud = table["two-center"], table["cud"]
    assert cud.high > cud.estimate
    assert cud.degenerate is None
    assert "q_signed" in row.details
    assert not any("not capped" in remark for remark in row.remarks)


SELECTION = make_pipeline(SelectKBest(f_classif, k=2), LeastSquaresClassifier())


def test_no_cap_where_a_step_reads_the_labels():
    X, y = sample(40, 30)
    selection = SELECTION.fit(X, y)
    table = compare_intervals(selection, X, y, methods="recommended", n_resamples=Draw_sampleS, rng=0)
    row = table["two-center"]
    assert "q_signed" not in row.details
    assert any("SelectKBest, which uses the labels" in remark for remark in row.remarks)
    assert "SelectKBest, which uses the labels" in table["cud"].degenerate
    uncapped = performance_interval(
        selection, X, y, n_resamples=Draw_sampleS, rng=0, method=("two-center", {"cap": False})
    )
    assert uncapped.confidence_interval == row.confidence_interval
    with pytest.warns(LabelsReadWarning, match="SelectKBest") as caught:
        named = compare_intervals(
            selection, X, y, methods=["cud", "two-center"], n_resamples=Draw_sampleS, rng=0
        )
    assert caught[0].message.step == "SelectKBest"
    assert named["cud"].low < named["cud"].high
    assert named["two-center"].confidence_interval == row.confidence_interval
    with pytest.warns(LabelsReadWarning, match="SelectKBest"):
        alone = cud_interval(selection, X, y, n_resamples=Draw_sampleS, rng=0)
    assert alone.confidence_interval == named["cud"].confidence_interval


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=3),
        logistic_cv(Cs=[0.1, 1.0], cv=3),
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_cap_where_something_was_chosen_inside(search):
    X, y = sample(40, 3)
    search.fit(X, y)
    table = compare_intervals(search, X, y, methods="recommended", n_resamples=6, rng=0)
    row = table["two-center"]
    assert any(f"the choice of {type(search).__name__} on these data" in remark for remark in row.remarks)
    assert "on these data as fixed" in table["cud"].degenerate
    with pytest.warns(TuningNotResampledWarning):
        named = compare_intervals(search, X, y, methods=["cud"], n_resamples=6, rng=0)
    assert named["cud"].low < named["cud"].high


def test_frozen_steps_are_pointed_out():
    X, y = sample(40, 10)
    selected = SelectKBest(f_classif, k=2).fit(X, y)
    frozen = make_pipeline(FrozenEstimator(selected), LeastSquaresClassifier()).fit(X, y)
    with pytest.warns(FrozenStepsWarning, match="does not account for a selection"):
        performance_interval(frozen, X, y, n_resamples=Draw_sampleS, rng=0)


@pytest.mark.parametrize("n_features", [28, 60])
def test_columns_that_fit_nearly_any_labels_take_the_cross_validated_error(n_features):
    X, y = sample(30, n_features)
    fitted = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(ManyFeaturesWarning, match="do not rely on the interval"):
        row = performance_interval(fitted, X, y, n_resamples=Draw_sampleS, rng=0)
    assert row.details["error_cross_validated"] <= row.details["upper_center"]
    assert row.details["rank"] > 27
    assert row.row.n_fits == 1 + Draw_sampleS + 50
    with pytest.warns(ManyFeaturesWarning, match="do not rely on the interval"):
        again = compare_intervals(
            fitted, X, y, methods=["two-center", "langford-binomial"], n_resamples=Draw_sampleS, rng=0
        )
    assert again["two-center"].confidence_interval == row.confidence_interval


class FailsOnFolds(LeastSquaresClassifier):
    """Cannot be fitted to rows that are all different but some, as those of a fold's training set are."""

    def fit(self, X, y):
        if 24 < len(np.unique(X, axis=0)) < 30:
            raise ValueError("no such rows")
        return super().fit(X, y)


def test_folds_that_cannot_be_fitted_leave_the_other_centers():
    X, y = sample(30, 28)
    with pytest.warns(ManyFeaturesWarning, match="do not rely on the interval"):
        row = performance_interval(
            FailsOnFolds().fit(X, y),
            X,
            y,
            n_resamples=40,
            rng=0,
            resampling=Resampling(on_single_class="fit"),
        )
    assert "error_cross_validated" not in row.details
    assert "rank nearly that of the rows, and no cross-validated error on record" in row.row.remarks
    assert row.confidence_interval.low < row.confidence_interval.high


def test_many_columns_below_nine_tenths_take_no_further_fits():
    X, y = sample(30, 20)
    with pytest.warns(ManyFeaturesWarning, match="allow for overfitting"):
        row = performance_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=Draw_sampleS, rng=0)
    assert "error_cross_validated" not in row.details
    assert row.details["overfits"] == 1.0
    assert row.details["upper_center"] == pytest.approx(
        max(row.details[name] for name in ("optimism_corrected", "error_632_plus", "error_out_of_bag"))
    )
    assert row.row.n_fits == 1 + Draw_sampleS


def test_the_trigger_of_the_error_holds_for_every_metric():
    X, y = sample(60, 3)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    table = compare_intervals(
        tree, X, y, methods=["two-center"], metric=["sensitivity", "error"], n_resamples=Draw_sampleS, rng=0
    )
    rows = {row.metric: row for row in table.rows}
    alone = compare_intervals(
        tree,
        X,
        y,
        methods=["two-center"],
        metric=["sensitivity", "specificity"],
        n_resamples=Draw_sampleS,
        rng=0,
    )
    for row in (*table.rows, *alone.rows):
        assert row.details["overfits"] == 1.0
        assert "rank" not in row.details
    assert rows["error"].details["training_error"] < rows["error"].details["error_out_of_bag"] / 3


def test_few_distinct_rows_lower_the_lower_limit():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(40, 1)).astype(float)
    y = (rng.random(40) < np.where(X[:, 0] > 0, 0.7, 0.3)).astype(int)
    fitted = LeastSquaresClassifier().fit(X, y)
    row = performance_interval(fitted, X, y, n_resamples=200, rng=0)
    assert row.details["distinct_rows"] == 2.0
    smaller = min(row.details["optimism_corrected"], row.details["error_632_plus"])
    assert row.details["lower_center"] == min(smaller, (smaller + row.details["training_error"]) / 2)
    apart = X + 1e-9 * np.arange(40)[:, None]
    row = performance_interval(LeastSquaresClassifier().fit(apart, y), apart, y, n_resamples=200, rng=0)
    assert row.details["distinct_rows"] == 40.0
    assert row.details["lower_center"] == min(
        row.details["optimism_corrected"], row.details["error_632_plus"]
    )


def test_unequal_units_warn_once_also_where_the_bound_is_not_used():
    X, y = sample(40, 3)
    X = X * [1.0, 1.0, 1e4]
    lasso = sparse_logistic(1.0, solver="liblinear").fit(X, y)
    with pytest.warns(UnscaledPenaltyWarning) as caught:
        performance_interval(lasso, X, y, n_resamples=6, rng=0)
    assert len(caught) == 1
