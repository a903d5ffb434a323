"""Classification instability: shares of refits by a second way, from a table, from recorded losses, and on no page."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals
from cudbound.analysis.instability_and_calibration import Instability
from cudbound.basis.exceptions import CudboundWarning
from cudbound.basis.groups import Groups
from cudbound.problem.draws import draw_counts


class Nearest(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearer; it has no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        distances = ((np.asarray(X)[:, None, :] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


class BadScores(Nearest):
    """Scores that are not those of its rule."""

    def decision_function(self, X):
        return np.arange(len(X)) - 0.5


RNG = np.random.default_rng(3)
X = RNG.normal(size=(24, 2)).round(1)  # ties
Y = np.where(X[:, 0] + RNG.normal(size=24) > 0, "ill", "well")
B = 40


def instability(*data, **arguments):
    """Return the instability from the refits of an interval."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CudboundWarning)  # of the interval
        return compare_intervals(*data, methods="langford-binomial", **arguments).instability


def by_hand(estimator, counts, weights=None):
    """Fit a clone to the rows of each draw, and compare its classes with those of the classifier."""
    changed = np.zeros(len(Y))
    for row in counts:
        drawn = np.repeat(np.arange(len(Y)), row)
        if len(set(Y[drawn])) == 1:
            changed += estimator.predict(X) != Y[drawn][0]
            continue
        named = {} if weights is None else {"sample_weight": weights[drawn]}
        changed += clone(estimator).fit(X[drawn], Y[drawn], **named).predict(X) != estimator.predict(X)
    return changed / len(counts)


CLASSIFIERS = {
    "batched": LeastSquaresClassifier(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "no scores": Nearest(),
}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_shares_are_those_of_clones_fitted_to_the_draws(name, grouped):
    clf = CLASSIFIERS[name].fit(X, Y)
    groups = np.arange(24) // 2 if grouped else None
    counts = draw_counts(24, B, np.random.default_rng(5), None if groups is None else Groups.of(groups))
    found = instability(clf, X, Y, n_resamples=B, groups=groups, rng=5)
    np.testing.assert_array_equal(found.shares, by_hand(clf, counts))
    assert found.n_refits == B
    assert ("12 groups of 2 rows kept together" in found.remarks) == grouped
    assert 0.0 < found.mean < 0.5  # the case says something


def test_weights_enter_the_refits():
    weights = np.linspace(0.5, 3.0, 24)
    clf = LogisticRegression().fit(X, Y, sample_weight=weights)
    counts = draw_counts(24, B, np.random.default_rng(0))
    found = instability(clf, X, Y, sample_weight=weights, n_resamples=B, rng=0)
    np.testing.assert_array_equal(found.shares, by_hand(clf, counts, weights))
    assert (found.shares != instability(clf, X, Y, n_resamples=B, rng=0).shares).any()


def test_draws_of_one_class_are_counted_or_drawn_again():
    few_X, few_y = X[:5], np.array(["a", "a", "a", "b", "b"])
    clf = LeastSquaresClassifier().fit(few_X, few_y)
    as_drawn = instability(clf, few_X, few_y, n_resamples=60, rng=0)
    (remark,) = as_drawn.remarks
    n_bad = int(re.fullmatch(r"(\d+) single-class draws fitted as drawn", remark)[1])
    dropped = instability(
        clf, few_X, few_y, n_resamples=60, rng=0, resampling=Resampling(on_single_class="drop")
    )
    assert dropped.n_refits == 60 - n_bad < 60


def test_a_share_at_the_mark_is_not_above_it():
    found = Instability(np.array([0.1, 0.0]), 10)
    assert (found.shares[0], found.above(0.1)) == (0.1, 0.0)


@pytest.mark.parametrize(
    ("clf", "expected", "what"),
    [
        (LogisticRegression(), lambda s, p: abs(s), "distance of decision_function from 0"),
        (
            FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label="well"),
            lambda s, p: abs(p - 0.3),
            "distance of predict_proba from 0.3",
        ),
        (
            FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label="ill"),
            lambda s, p: abs(p - 0.7),
            "distance of predict_proba from 0.7",
        ),
        (
            FixedThresholdClassifier(
                LogisticRegression(), threshold=0.2, pos_label="ill", response_method="decision_function"
            ),
            lambda s, p: abs(s + 0.2),
            "distance of decision_function from -0.2",
        ),
    ],
    ids=["plain", "second", "first", "score"],
)
def test_distances_are_from_the_threshold_that_divides_the_classes(clf, expected, what):
    inner = LogisticRegression().fit(X, Y)
    scores, probabilities = inner.decision_function(X), inner.predict_proba(X)[:, 1]
    found = instability(clf.fit(X, Y), X, Y, n_resamples=2, rng=0)
    np.testing.assert_allclose(found.distances, expected(scores, probabilities), rtol=1e-12)
    assert found.distances_of == what


@pytest.mark.parametrize(
    ("clf", "reason"),
    [
        (Nearest(), "Nearest has neither decision_function nor predict_proba"),
        (BadScores(), "the scores of BadScores do not separate its classes"),
    ],
)
def test_without_scores_of_the_rule_the_rows_stand_in_order(clf, reason):
    found = instability(clf.fit(X, Y), X, Y, n_resamples=B, rng=0)
    assert found.distances is None
    assert found.distances_of == reason
    assert found.to_frame()["distance"].isna().all()
    display = found.plot(Figure().subplots())
    at, heights = display.points_.get_offsets().T
    assert at.tolist() == list(range(1, 25))
    np.testing.assert_array_equal(heights, np.sort(found.shares)[::-1])
    assert reason in display.ax_.get_xlabel()
