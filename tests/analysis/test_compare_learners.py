"""Comparing two classifiers: reproducible, on matched splits, against plain code; and refusals."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from contract_cases import COMPARISONS, SIZES, exactly, sample
from scipy import stats
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, compare_learners
from cudbound.adapters.parts import seeded_clone, unseeded_parameters
from cudbound.basis.exceptions import UnscaledPenaltyWarning
from cudbound.intervals import METHODS
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


def test_a_table_of_several_rows_has_no_numbers_of_its_own():
    table = compare_learners({"a": A, "b": B}, X, Y, methods=["mcnemar", "k-fold-t"], rng=0)
    assert not hasattr(table, "pvalue")
    with pytest.raises(
        AttributeError, match=r"This table has 2 comparisons: name one, such as table\['mcnemar'\]"
    ):
        table.confidence_interval.low  # noqa: B018 - reading it raises
    assert table["mcnemar"] == table["a", "b", "mcnemar"] == table.rows[0]
    assert "mcnemar" in table
    assert ("b", "a") not in table
    with pytest.raises(
        KeyError, match=r"\('a', 'b'\) has 2 rows: name one, such as table\['a', 'b', 'mcnemar'\]"
    ):
        table["a", "b"]


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


@pytest.mark.parametrize("fit", [False, True], ids=["unfitted", "fitted"])
def test_learners_need_not_be_fitted(fit):
    a, b = clone(A), clone(B)
    if fit:
        a.fit(X, Y)
        b.fit(X, Y)
    found = compare_learners([a, b], X, Y, methods="all", resampling=ALL, rng=0)
    assert exactly(found) == exactly(
        compare_learners([clone(A), clone(B)], X, Y, methods="all", resampling=ALL, rng=0)
    )
    assert hasattr(a, "coef_") == fit  # the caller's are left alone


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


def test_every_unseeded_step_is_seeded_in_a_clone():
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=1))
    assert unseeded_parameters(pipe) == ["randomforestclassifier__random_state"]
    copies = [seeded_clone(pipe, 3).fit(X, Y).predict_proba(NEW_X) for _ in range(2)]
    np.testing.assert_array_equal(*copies)
    assert pipe[-1].random_state is None
    assert unseeded_parameters(RandomForestClassifier(random_state=0)) == []


def test_each_refit_has_a_seed_of_its_own_also_where_the_learner_was_not_fitted():
    """Two forests of one random tree differ between folds in both, or all folds would share one seed."""
    forest = RandomForestClassifier(n_estimators=1, max_depth=2, bootstrap=False, max_features=1)
    rows = [
        compare_learners([each, B], X, Y, methods=["nested-cv", "conservative-z"], resampling=ALL, rng=0)
        for each in (forest, clone(forest).fit(X, Y))
    ]
    assert exactly(rows[0]) == exactly(rows[1])


def test_options_and_level_reach_the_method():
    plain = compare_learners([A, B], X, Y, methods="grandvalet-bengio-t", rng=0)
    weak = compare_learners([A, B], X, Y, methods=("grandvalet-bengio-t", {"rho": 0.0}), rng=0)
    assert abs(weak.statistic) == pytest.approx(abs(plain.statistic) / np.sqrt(0.3))
    assert weak.pvalue < plain.pvalue
    table = compare_learners([A, B], X, Y, methods=[("mcnemar", {"form": "mid-p"}), "5x2cv-t"], rng=0)
    exact = compare_learners([A, B], X, Y, methods="mcnemar", rng=0)
    assert table["mcnemar"].pvalue <= exact.pvalue
    assert table["mcnemar"].estimate == exact.estimate
    narrow = compare_learners([A, B], X, Y, confidence_level=0.5, rng=0).row
    wide = compare_learners([A, B], X, Y, confidence_level=0.99, rng=0).row
    assert narrow.pvalue == wide.pvalue
    assert wide.raw_interval.low < narrow.raw_interval.low < narrow.raw_interval.high < wide.raw_interval.high


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


def test_two_test_sets_are_the_halves_of_the_held_out_rows():
    row = compare_learners([A, B], X, Y, methods="independent-test-sets", rng=0).row
    assert row.n_fits == 2
    for error, n_tested in ((row.details["error_a"], 8), (row.details["error_b"], 7)):  # of 15 rows
        assert error * n_tested == pytest.approx(round(error * n_tested))
        assert 0.0 < error < 0.5


def test_dropped_training_sets_do_not_stop_a_comparison():
    y = np.repeat([0, 1], [28, 2])
    table = compare_learners(
        [DecisionTreeClassifier(max_depth=1), B], X, y, methods="all", resampling=ALL, rng=0
    )
    assert tuple(row.method for row in table.rows) == COMPARISONS
    with pytest.raises(ValueError, match="had only one class, and on_single_class='error'"):
        compare_learners([A, B], X, y, methods="all", resampling=replace(ALL, on_single_class="error"), rng=0)


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


def test_no_method():
    with pytest.raises(ValueError, match=r"must be 'all' or one of .* Got \[\] instead"):
        compare_learners([A, B], X, Y, methods=[])


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


def test_every_comparison_says_what_it_estimates():
    table = compare_learners([A, B], X, Y, methods="all", resampling=ALL, rng=0)
    frame = table.to_frame().set_index("method")
    assert frame.loc["5x2cv-t", "estimand"] == "expected(n1=15)"
    assert frame.loc["mcnemar", "estimand"] == "holdout-model"
    for name in COMPARISONS:
        assert frame.loc[name, "estimand"].startswith(str(METHODS[name].estimand))


def test_a_penalty_that_meets_features_of_very_different_size_is_warned_of():
    X, y = sample(40)
    X = X / X.std(axis=0) * [1.0, *[1e4] * (X.shape[1] - 1)]
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.warns(
        UnscaledPenaltyWarning, match="the penalty of LogisticRegression treats all features alike"
    ):
        compare_learners([LogisticRegression(), LeastSquaresClassifier()], X, y, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnscaledPenaltyWarning)
        compare_learners([scaled, GaussianNB()], X, y, rng=0)


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
