"""Comparing two classifiers: reproducible, on matched splits, and with the majority class."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import SIZES, exactly, sample
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import LeastSquaresClassifier, Resampling, compare_learners
from cudbound.basis.exceptions import ParameterError

# ---- comparing two classifiers ----


X, Y = sample(30)
NEW_X, NEW_Y = sample(30, seed=5)
A, B = LeastSquaresClassifier(), GaussianNB()
ALL = SIZES


def test_a_learner_that_was_fitted_elsewhere_is_taken_as_it_is_on_new_cases():
    elsewhere = LeastSquaresClassifier().fit(*sample(50, seed=1))
    taken = compare_learners([elsewhere, B], X, Y, methods="mcnemar", new_cases=(NEW_X, NEW_Y), rng=0)
    nb = GaussianNB().fit(X, Y)
    assert taken.estimate == pytest.approx(nb.score(NEW_X, NEW_Y) - elsewhere.score(NEW_X, NEW_Y), abs=1e-12)


def test_unseeded_learners_follow_rng():
    forest = RandomForestClassifier(n_estimators=1, max_depth=3)
    arguments = {"methods": ["mcnemar", "k-fold-t", "independent-test-sets"], "resampling": ALL}

    def rows(rng, **more):
        return exactly(compare_learners([forest, B], X, Y, rng=rng, **arguments, **more))

    assert rows(0) == rows(0)
    assert rows(0) != rows(1)
    # the fit to all rows, which meets the new cases, follows it too
    new = sample(300, seed=6)
    found = [
        compare_learners([forest, B], X, Y, methods="mcnemar", new_cases=new, rng=rng).estimate
        for rng in (0, 0, 1, 2, 3, 4)
    ]
    assert found[0] == found[1]
    assert len(set(found)) > 1


def test_each_refit_has_a_seed_of_its_own_also_where_the_learner_was_not_fitted():
    """Two forests of one random tree differ between folds in both, or all folds would share one seed."""
    forest = RandomForestClassifier(n_estimators=1, max_depth=2, bootstrap=False, max_features=1)
    rows = [
        compare_learners([each, B], X, Y, methods=["nested-cv", "conservative-z"], resampling=ALL, rng=0)
        for each in (forest, clone(forest).fit(X, Y))
    ]
    assert exactly(rows[0]) == exactly(rows[1])


# ---- comparisons with the learner that always says the majority class ----


REMARK = "no evidence that {} beats the majority class"
RNG = np.random.default_rng(4)
NOISE = RNG.normal(size=(50, 2)), np.repeat([0, 1], [22, 28])
SIGNAL = NOISE[0] + 4.0 * NOISE[1][:, None], NOISE[1]
OURS = LeastSquaresClassifier()


@pytest.mark.parametrize(
    "majority", ["majority", DummyClassifier(), make_pipeline(StandardScaler(), DummyClassifier())]
)
def test_noise_shows_no_evidence_and_a_signal_does(majority):
    named = {"ours": OURS, "other": majority}
    turned_round = {"other": majority, "ours": OURS}
    assert REMARK.format("ours") in compare_learners(named, *NOISE, rng=0).row.remarks
    assert REMARK.format("ours") in " ".join(str(compare_learners(turned_round, *NOISE, rng=0)).split())
    found = compare_learners(named, *SIGNAL, rng=0).row
    assert found.high < 0.0
    assert not [remark for remark in found.remarks if "majority" in remark]
    turned = compare_learners(turned_round, *SIGNAL, rng=0).row
    assert not [remark for remark in turned.remarks if "majority" in remark]


def test_a_worse_classifier_does_not_beat_it():
    X, y = NOISE[0], np.repeat([0, 1], [4, 46])
    wrong = make_pipeline(StandardScaler(), LeastSquaresClassifier())
    found = compare_learners([wrong, "majority"], X, y, alternative="greater", rng=0).row
    assert REMARK.format("Pipeline") in found.remarks


class FailsOnSomeDraws(GaussianNB):
    """Fails where the first of the rows occurs more than three times."""

    def fit(self, X, y, sample_weight=None):
        if np.count_nonzero(X[0, 0] == X) > 3:
            raise ValueError("too many copies of a row")
        return super().fit(X, y, sample_weight)


RARE = np.arange(30) % 10 == 0


@pytest.mark.parametrize("other", [GaussianNB(), FailsOnSomeDraws()], ids=["refitted alone", "some fail"])
def test_two_aucs_come_from_the_draws_that_both_classifiers_have(other):
    # one is refitted in batches, the other is not
    row = compare_learners([A, other], X, RARE, metric="auc", n_resamples=60, rng=0).rows[0]
    assert row.low < row.estimate < row.high
    assert any("draws used, on which both" in remark for remark in row.remarks) == (
        type(other) is FailsOnSomeDraws
    )
    same = compare_learners([other, A], X, RARE, metric="auc", n_resamples=60, rng=0).rows[0]
    assert same.estimate == pytest.approx(-row.estimate, abs=1e-12)


class CountsFits(GaussianNB):
    """Counts the fits of all its clones."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountsFits.fits += 1
        return super().fit(X, y, sample_weight)


class SignOfTheFirst(ClassifierMixin, BaseEstimator):
    """Has no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_a_learner_without_scores_is_refused_before_the_refits_of_another():
    with pytest.raises(
        ParameterError, match="SignOfTheFirst has neither decision_function nor predict_proba"
    ):
        compare_learners([CountsFits(), SignOfTheFirst()], X, Y, metric="auc", n_resamples=20, rng=0)
    assert CountsFits.fits == 1


class LastClassFirst(GaussianNB):
    """Has its classes, and the columns of its probabilities, in reversed order."""

    def fit(self, X, y, sample_weight=None):
        self.labels_ = super().fit(X, y, sample_weight).classes_
        self.classes_ = self.labels_[::-1]
        return self

    def predict_proba(self, X):
        self.classes_ = self.labels_
        probabilities = super().predict_proba(X)[:, ::-1]
        self.classes_ = self.labels_[::-1]
        return probabilities


@pytest.mark.parametrize("learners", [[A, LastClassFirst()], [LastClassFirst(), A]])
def test_learners_with_other_orders_of_the_classes_have_no_common_event(learners):
    with pytest.raises(ValueError, match=r"the same order in classes_. Got .*'LastClassFirst': \[1, 0\]"):
        compare_learners(learners, X, Y, metric="auc", n_resamples=20, rng=0)


class NumbersItsClasses(GaussianNB):
    """Has its classes as whole numbers, whatever the type of the labels."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.asarray(y).astype(int), sample_weight)


@pytest.mark.parametrize("kind", [bool, float])
def test_equal_classes_of_another_type_have_the_same_order(kind):
    found = compare_learners([A, NumbersItsClasses()], X, Y.astype(kind), metric="auc", n_resamples=20, rng=0)
    same = compare_learners([A, GaussianNB()], X, Y.astype(kind), metric="auc", n_resamples=20, rng=0)
    assert found.estimate == same.estimate


def test_the_aucs_of_a_tuned_and_another_learner_are_compared_on_draws_without_copies():
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=2)
    found = compare_learners([search, A], X, Y, metric="auc", n_resamples=20, rng=0)
    asked = {
        "metric": "auc",
        "n_resamples": 20,
        "rng": 0,
        "resampling": Resampling(copies=False, inner="oob"),
    }
    assert found.rows[0].low < found.estimate < found.rows[0].high
    assert exactly(found) == exactly(compare_learners([search, A], X, Y, **asked))
