"""Every method from losses of other software: which arrays it takes, what it makes of them, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import COMPARISONS, INTERVALS, parts_of, random_records
from record_kinds import KINDS, names_of
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from statsmodels.stats.proportion import proportion_confint

from cudbound import from_records
from cudbound.analysis.from_records import NAME_OF, RECORD_KINDS, collect_records
from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.method import compute_comparison
from cudbound.point_estimates import ESTIMATORS, compute_estimate
from cudbound.records import FoldLosses, TestSetLosses

RECORDS = random_records(2, 0.3)


def test_every_record_but_the_bound_can_be_passed():
    of_classes = {kind.name for kind in RECORD_KINDS if kind.holds is not np.ndarray}
    not_passed = {"bound", "second"}  # of a classifier
    follow = {"stratified_folds", "leave_one_out", "second_test_set"}  # from others of the same class
    assert set(NAME_OF.values()) == of_classes - not_passed - follow | {"groups"}


@pytest.mark.parametrize("name", [name for name in INTERVALS if "bound" not in names_of(METHODS[name].needs)])
def test_an_interval_reads_what_it_needs_and_nothing_else(name):
    row = from_records(parts_of(RECORDS, METHODS[name].needs), name)
    assert row == compute_interval(METHODS[name], RECORDS, 0.95)
    # in any order, alone, and beside losses of other kinds; those that fill two fields are passed by themselves
    needs = names_of(METHODS[name].needs)
    if needs & {"losses", "stratified_folds", "leave_one_out", "second_test_set"}:
        return
    parts = [RECORDS.get(KINDS[part]) for part in needs]
    others = [RECORDS.get(KINDS[part]) for part in set(NAME_OF.values()) - needs if part in KINDS]
    more = [record for record in others if record and not isinstance(record, FoldLosses | TestSetLosses)]
    assert more
    assert row == from_records([*more, *parts[::-1]], name)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimate_reads_what_it_needs(name):
    found = from_records(parts_of(RECORDS, ESTIMATORS[name].needs), name)
    assert found == compute_estimate(ESTIMATORS[name], RECORDS)


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_reads_differences(name):
    records = random_records(4, 0.3, differences="second_test_set" not in names_of(METHODS[name].needs))
    parts = parts_of(records, METHODS[name].needs)
    assert from_records(parts, name, differences=True) == compute_comparison(METHODS[name], records, 0.95)
    assert from_records(parts, name, confidence_level=0.8, differences=True).confidence_level == 0.8


def test_losses_of_scikit_learn_in_one_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    cv = KFold(6, shuffle=True, random_state=0)
    wrong = cross_val_predict(LogisticRegression(), X, y, cv=cv) != y
    blocks = [wrong[test] for _, test in cv.split(X)]
    row = from_records(FoldLosses.from_blocks(blocks), "k-fold-t")
    means = np.mean(blocks, axis=1)
    expected = stats.t.interval(0.95, 5, means.mean(), stats.sem(means))
    assert (row.raw_interval.low, row.raw_interval.high) == pytest.approx(expected)
    assert str(row.estimand) == "expected(n1=50)"
    assert from_records(FoldLosses.from_blocks(blocks), "k-fold").estimate == pytest.approx(wrong.mean())


def test_a_test_set_by_statsmodels():
    losses = np.repeat([1, 0], [7, 33])
    peers = {"wilson": "wilson", "clopper-pearson": "beta", "wald": "normal"}
    for name, theirs in peers.items():
        row = from_records(TestSetLosses(losses, 100), f"test-set-{name}", confidence_level=0.9)
        assert (row.raw_interval.low, row.raw_interval.high) == pytest.approx(
            proportion_confint(7, 40, 0.1, method=theirs)
        )


# ---- what is refused ----


@pytest.mark.parametrize("record", [[0, 1], np.array([0.1, 0.2]), None, "losses"], ids=repr)
def test_records_of_another_class(record):
    with pytest.raises(
        ValueError,
        match=r"must be Records, or objects of the classes \['BolsteredLosses', .* once .*twice\)\. Got ",
    ):
        collect_records(record)


def test_a_record_given_twice():
    folds = FoldLosses.from_blocks([[0, 1], [1, 0]])
    with pytest.raises(
        ValueError, match=r"each at most once \(TestSetLosses twice\)\. Got another FoldLosses"
    ):
        from_records([folds, folds], "k-fold-t")
    tested = TestSetLosses([0, 1], 5)
    with pytest.raises(ValueError, match="Got another TestSetLosses"):
        collect_records([tested, tested, tested])
