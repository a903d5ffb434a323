"""Comparing two classifiers: reproducible, on matched splits, against plain code; and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import SIZES, exactly, sample
from scipy import stats
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from cudbound import LeastSquaresClassifier, compare_learners
from cudbound.resampling import ResamplingSizes
from cudbound.resampling.settings import Resampling

X, Y = sample(30)
NEW_X, NEW_Y = sample(30, seed=5)
A, B = LeastSquaresClassifier(), GaussianNB()
ALL = Resampling.with_sizes(SIZES)


def test_the_default_is_the_t_test_on_ten_partitions_into_ten_folds():
    table = compare_learners([A, B], X, Y, rng=0)
    found = table.row
    assert found.method == "repeated-k-fold-t"
    assert str(found.estimand) == "expected(n1=27)"
    assert found.n_fits == 200
    assert (found.alternative, found.confidence_level) == ("two-sided", 0.95)
    assert (found.a, found.b) == ("LeastSquaresClassifier", "GaussianNB")
    assert (found.adjusted_pvalue, found.simultaneous_interval) == (None, None)
    assert (table.estimate, table.statistic, table.pvalue, table.confidence_interval) == (
        *(found.estimate, found.statistic, found.pvalue),
        found.confidence_interval,
    )


def test_paired_t_test_of_the_folds_is_that_of_scipy():
    cv = KFold(5, shuffle=True, random_state=0)
    means = [
        [np.mean(clone(learner).fit(X[train], Y[train]).predict(X[test]) != Y[test]) for learner in (A, B)]
        for train, test in cv.split(X)
    ]
    errors_a, errors_b = np.transpose(means)
    for alternative in ("two-sided", "less", "greater"):
        expected = stats.ttest_rel(errors_a, errors_b, alternative=alternative)
        found = compare_learners(
            [A, B], X, Y, methods="k-fold-t", resampling=Resampling(cv=cv), alternative=alternative
        ).row
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.pvalue == pytest.approx(expected.pvalue)
        interval = expected.confidence_interval(0.95)
        assert (found.raw_interval.low, found.raw_interval.high) == pytest.approx(tuple(interval))


def test_a_learner_that_was_fitted_elsewhere_is_taken_as_it_is_on_new_cases():
    elsewhere = LeastSquaresClassifier().fit(*sample(50, seed=1))
    taken = compare_learners([elsewhere, B], X, Y, methods="mcnemar", test_set=(NEW_X, NEW_Y), rng=0)
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
        compare_learners([forest, B], X, Y, methods="mcnemar", test_set=new, rng=rng).estimate
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


def test_rho_from_halves_takes_their_fits():
    asked = ("grandvalet-bengio-t", {"rho": "half"})
    sizes = ResamplingSizes(n_folds=4, n_halvings=3)
    row = compare_learners([A, B], X, Y, methods=asked, resampling=Resampling.with_sizes(sizes), rng=1).row
    assert row.n_fits == 2 * (4 + 2 * 3 * 4)
    assert row.details["rho"] == max(row.details["rho_of_halves"], 0.0)
    plain = compare_learners(
        [A, B], X, Y, methods=asked[0], resampling=Resampling.with_sizes(sizes), rng=1
    ).row
    assert (plain.estimate, plain.n_fits) == (row.estimate, 8)
    assert abs(row.statistic / plain.statistic) == pytest.approx(np.sqrt((1 - row.details["rho"]) / 0.3))
    with pytest.raises(ValueError, match="which resample single rows"):
        compare_learners([A, B], X, Y, methods=asked, groups=np.arange(len(Y)) // 2, rng=0)
    few = KNeighborsClassifier(20)  # has more rows than that in a training set, and fewer in half of one
    table = compare_learners([A, few], X, Y, methods=[asked, "k-fold-t"], rng=0)
    assert "could not be computed" in table[asked[0]].degenerate
    assert "n_neighbors" in table[asked[0]].degenerate
    assert table["k-fold-t"].degenerate is None


def test_one_sided_limits_are_open_and_clipped():
    found = compare_learners([A, DummyClassifier()], X, Y, alternative="less", rng=0).row
    assert found.raw_interval.low == -np.inf
    assert found.confidence_interval.low == -1.0
    assert found.pvalue < 0.05
    assert compare_learners([A, DummyClassifier()], X, Y, alternative="greater", rng=0).pvalue > 0.9


# ---- what is refused ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": "t-test"}, r"The 'methods' parameter must be 'all' or one of \[.*Got 't-test' instead"),
        ({"methods": "cud"}, r"The 'methods' parameter must be 'all' or one of .*Got 'cud' instead"),
        ({"confidence_level": 95}, r"'confidence_level' parameter must be .* Got 95 instead"),
        ({"alternative": "smaller"}, r"'alternative' parameter must be one of .* Got 'smaller' instead"),
        (
            {"methods": "5x2cv-f", "alternative": "less"},
            r"'alternative' parameter must be 'two-sided' for 5x2cv-f",
        ),
        (
            {"methods": ("corrected-resampled-t", {"rho": 0.5})},
            r"corrected-resampled-t has no option 'rho'\. Its options are \['rope'\]",
        ),
        ({"resampling": 3}, r"'resampling' parameter must be a Resampling.* Got 3 instead"),
        (
            {"learners": A},
            r"'learners' parameter must be at least two classifiers, in a list or by name",
        ),
        ({"rng": -1}, r"'rng' parameter must be a non-negative integer, .* Got -1 instead"),
        ({"n_jobs": 0}, r"'n_jobs' parameter must be None or an integer other than 0\. Got 0 instead"),
        ({"groups": Y}, r"Each class must occur in at least 2 groups"),
    ],
    ids=str,
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare_learners(**{"learners": [A, B], "X": X, "y": Y, **arguments})


def test_classifiers_of_other_classes():
    words = np.where(Y == 1, "ill", "well")
    fitted = LogisticRegression().fit(X, words)
    text = (
        r"All learners must have the same two classes, in the same order\. Got \['ill', 'well'\] and \[0, 1\]"
    )
    with pytest.raises(ValueError, match=text):
        compare_learners([fitted, B], X, Y)
    with pytest.raises(ValueError, match=r"exactly two classes\. Got \[0, 1, 2\] instead"):
        compare_learners([B, LogisticRegression()], X, np.arange(30) % 3)
    with pytest.raises(TypeError, match="LinearRegression is not a classifier"):
        compare_learners([LinearRegression(), B], X, Y)


def test_data_that_do_not_fit():
    fitted = [LogisticRegression().fit(X, Y), GaussianNB().fit(X, Y)]
    with pytest.raises(ValueError, match=r"same number of rows\. Got 29 and 30"):
        compare_learners(fitted, X[1:], Y)
    with pytest.raises(ValueError, match=r"at least 2 rows of each class\. Got 1 of 1"):
        compare_learners(fitted, X, np.arange(30) == 0)
    with pytest.raises(ValueError, match=r"y must contain the labels .* Also got \[7\]"):
        compare_learners(fitted, X, np.where(np.arange(30) == 3, 7, Y))


class Opposite(LogisticRegression):
    """The opposite of every score, and so of every prediction."""

    def decision_function(self, X):
        return -super().decision_function(X)


@pytest.mark.parametrize("metric", ["error", "auc"])
@pytest.mark.parametrize(
    "setting", [{}, {"null": 0.05, "alternative": "equivalent"}, {"alternative": "greater"}]
)
def test_differences_without_variance_are_no_evidence(metric, setting):
    Z, z = np.repeat([0.0, 10.0], 30)[:, None], np.repeat([0, 1], 30)  # separable
    directed = {
        "error": ["repeated-k-fold-t", "corrected-resampled-t", "bayle-cv", "nested-cv", "single-split-t"],
        "auc": None,
    }[metric]
    methods = "all" if metric == "error" and not setting else directed
    one = LogisticRegression()
    for other, difference in ((LogisticRegression(), 0.0), (Opposite(), -1.0 if metric == "error" else 1.0)):
        for row in compare_learners(
            [one, other], Z, z, methods=methods, metric=metric, n_resamples=20, rng=0, **setting
        ):
            if row.method == "mcnemar" and difference:  # an exact test needs no variance
                assert row.pvalue < 0.001
                continue
            if row.method == "independent-test-sets" and not difference:
                assert row.pvalue == 1.0
                continue
            assert (row.estimate, row.pvalue) == (pytest.approx(difference), 1.0)
            assert row.degenerate
            assert row.low <= setting.get("null", 0.0) <= row.high
            assert np.isnan(row.statistic) or row.statistic == 0.0
            if row.statistic != 0.0:
                assert (row.low, row.high) == (-1.0, 1.0)
