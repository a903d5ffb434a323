"""What is not supported: with which reason, and which way out; other packages."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from direct_refits import prepare_refits
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline as make_resampling_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import LinearSVC

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    compare_intervals,
    compare_learners,
    cud_interval,
    performance_interval,
)
from cudbound.adapters import to_additive_model
from cudbound.adapters.families import REFUSALS
from cudbound.basis.exceptions import NoMinimizerError, UnsupportedEstimatorError

# ---- what is not supported: with which reason, and which way out ----


TIGHT = {"tol": 1e-8, "max_iter": 100_000}


def _data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


def test_refusals_hold_for_subclasses_but_not_for_namesakes():
    X, y = _data()

    class Mine(LinearDiscriminantAnalysis):
        pass

    class Discriminant(LeastSquaresClassifier):
        pass

    Discriminant.__name__ = "LinearDiscriminantAnalysis"
    with pytest.raises(UnsupportedEstimatorError, match=r"^Mine derives its rule"):
        to_additive_model(Mine().fit(X, y), X, y)
    assert to_additive_model(Discriminant().fit(X, y), X, y).loss.name == "squared"
    assert all(refusal.reason and refusal.remedy.endswith(".") for refusal in REFUSALS)


@pytest.mark.parametrize(
    "classifier", [RidgeClassifier(positive=True), LinearSVC(multi_class="crammer_singer", max_iter=100_000)]
)
def test_a_linear_classifier_without_a_bound_has_intervals_from_refits_of_clones(classifier):
    X, y = _data()
    with pytest.raises(UnsupportedEstimatorError):
        to_additive_model(clone(classifier).fit(X, y), X, y)
    result = performance_interval(classifier, X, y, n_resamples=10, rng=0)
    assert 0.0 <= result.low < result.estimate < result.high <= 1.0


def test_separable_data_without_a_penalty():
    X = np.array([[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]])
    y = np.repeat(["healthy", "ill"], 3)
    clf = LogisticRegression(C=np.inf).fit(X, y)
    for polish in (False, True):
        with pytest.raises(
            NoMinimizerError, match=r"logistic loss without a penalty has no minimizer.*C=1\.0"
        ):
            cud_interval(clf, X, y, bound=Bound(polish=polish))
    assert cud_interval(LogisticRegression(**TIGHT).fit(X, y), X, y, n_resamples=5, rng=0).certified


def test_a_subclass_that_fits_otherwise_is_noticed_by_the_residual():
    X, y = _data()

    class Doubled(LogisticRegression):
        def fit(self, X, y):
            super().fit(X, y)
            self.coef_ = 2.0 * self.coef_
            return self

    with pytest.raises(ValueError, match="do not minimize the mean logistic loss"):
        to_additive_model(Doubled(**TIGHT).fit(X, y), X, y)


# ---- pipelines of imbalanced-learn, and classes that are no complete scikit-learn estimators ----


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] + RNG.normal(size=60) > 1).astype(int)
CALL = {"n_resamples": 20, "rng": 0}


@pytest.fixture(params=[RandomOverSampler, SMOTE, RandomUnderSampler])
def resampled(request):
    sampler = request.param(random_state=0)
    return make_resampling_pipeline(StandardScaler(), sampler, LogisticRegression()).fit(X, Y)


def test_a_step_that_changes_the_rows_has_no_bound(resampled):
    name = type(resampled.steps[1][1]).__name__
    for method in ("cud", "aci"):
        with pytest.raises(
            UnsupportedEstimatorError, match=f"^{name} changes which rows.*class_weight='balanced'"
        ):
            compare_intervals(resampled, X, Y, methods=method, **CALL)
    table = compare_intervals(resampled, X, Y, methods="recommended", **CALL)
    assert table["two-center"].degenerate is None
    assert f"no CUD bound: the bound treats {name}" in table["cud"].degenerate


def test_refits_are_those_of_clones(resampled):
    counts = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), size=3)
    losses = prepare_refits(resampled, X, Y).outputs(counts, np.random.default_rng(0))
    drawn = [np.repeat(np.arange(60), row) for row in counts]
    np.testing.assert_array_equal(
        losses, [clone(resampled).fit(X[rows], Y[rows]).predict(X) != Y for rows in drawn]
    )
    with warnings.catch_warnings(action="error"):
        assert (
            compare_learners({"resampled": resampled, "majority": "majority"}, X, Y, rng=0).row.n_fits == 200
        )


class NoParameters(ClassifierMixin):
    """A classifier that was written without BaseEstimator."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class ForgetsItsParameter(NoParameters, BaseEstimator):
    def __init__(self, depth=1):
        self.size = depth


@pytest.mark.parametrize(
    ("classifier", "lacks"), [(NoParameters(), "get_params"), (ForgetsItsParameter(), "depth")]
)
def test_a_class_that_cannot_be_cloned_is_refused_with_what_it_lacks(classifier, lacks):
    name = type(classifier).__name__
    words = (
        f"{name} cannot be cloned for refits: '{name}' object has no attribute '{lacks}'. Write class {name}("
    )
    with pytest.raises(UnsupportedEstimatorError) as refused:
        compare_intervals(classifier.fit(X, Y), X, Y, **CALL)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize("wrapper", [SelfTrainingClassifier, OneVsRestClassifier])
def test_a_wrapper_without_a_classifier_is_refused_with_the_way_to_give_it_one(wrapper):
    name = wrapper.__name__
    words = rf"{name}\(estimator=None\) has no classifier to fit\. Give it one, such as {name}\(LogisticReg"
    with pytest.raises(UnsupportedEstimatorError, match=words):
        compare_intervals(wrapper(None), X, Y, **CALL)
