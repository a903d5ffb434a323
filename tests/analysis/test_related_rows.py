"""Cautions of rows that are not one patient each: when they speak, when they are silent, and where they stand."""

from __future__ import annotations

import itertools
import json
import pickle
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from unwrapped import unwrapped

from cudbound import LeastSquaresClassifier, compare_intervals, performance_interval
from cudbound.basis.exceptions import (
    DuplicateRowsWarning,
    FewGroupsWarning,
    FrequencyWeightsWarning,
    SimilarRowsWarning,
)
from cudbound.basis.groups import Groups
from cudbound.basis.related_rows import related_rows
from cudbound.cli.group import main
from cudbound.study.populations.worlds import WORLDS

RNG = np.random.default_rng(7)


def kinds(X, y=None, groups=None, weight=None):
    y = np.asarray(X)[:, 0] > np.median(np.asarray(X)[:, 0]) if y is None else y
    return [type(one) for one in related_rows(X, y, groups, weight)]


def in_groups(size, n=60, p=4, spread=0.05, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.normal(size=(n // size, p)), size, axis=0) + spread * rng.normal(size=(n, p))


# --- rows that resemble each other


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("n", [24, 60, 120])
def test_groups_of_near_duplicates_are_found_and_their_name_silences_it(size, n):
    X = in_groups(size, n) * [1.0, 1e4, 1e-6, 1.0] + [0.0, 5.0, 0.0, -3.0]  # in whatever units
    assert kinds(X) == [SimilarRowsWarning]
    assert "groups=" in str(related_rows(X, X[:, 0] > 0, None, None)[0])
    if n // size >= 10:
        assert kinds(X, groups=Groups.of(np.arange(n) // size)) == []


def test_the_ratio_is_that_of_plain_loops():
    X = np.column_stack([in_groups(3, 30, p=3), np.ones(30)])  # a column that does not vary is no feature
    Z = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    ratios = []
    for i in range(30):
        distances = sorted(
            np.sqrt(sum((Z[i, k] - Z[j, k]) ** 2 for k in range(3))) for j in range(30) if j != i
        )
        ratios.append(distances[0] / distances[3])
    (found,) = related_rows(X, X[:, 0] > 0, None, None)
    assert found.ratio == pytest.approx(np.median(ratios))


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_independent_rows_are_left_alone(name):
    population = WORLDS[name](n_features=3) if name == "donut" else WORLDS[name]()
    for n, seed in itertools.product((50, 100), range(5)):
        cases = population.draw(n, np.random.default_rng(seed))
        assert kinds(cases.X, cases.y == 1) == []


@pytest.mark.parametrize(
    "X",
    [
        in_groups(3)[:, :2],  # two features: rows are close by chance
        np.column_stack([in_groups(3)[:, :2], np.ones(60)]),
        np.where(in_groups(3) > 9, 0, np.nan),
        pd.DataFrame(in_groups(3)).assign(text="a"),
        in_groups(3).astype(object),
        [["a", "b", "c"]] * 60,
        in_groups(3).ravel(),
        in_groups(3)[:4],
        np.full((60, 4), 1e308) * np.sign(in_groups(3)),  # whose standard deviation overflows
        np.zeros((60, 4)),
    ],
    ids=["two", "constant", "missing", "text", "objects", "texts", "1-D", "four rows", "overflow", "equal"],
)
def test_nothing_is_said_of_other_features(X):
    assert related_rows(X, np.arange(len(X)) % 2 == 0, None, None) == ()


def test_many_rows_take_little_time():
    X = RNG.normal(size=(5000, 50))
    started = time.process_time()
    assert kinds(X) == []
    assert time.process_time() - started < 20.0


# --- equal rows


def test_rows_entered_twice_are_counted():
    X = RNG.normal(size=(40, 4))
    y = X[:, 0] > 0
    again, labels = np.vstack([X, X[:3], X[:1]]), np.r_[y, y[:3], y[:1]]
    found = related_rows(again, labels, None, None)
    assert [type(one) for one in found] == [DuplicateRowsWarning]
    assert found[0].n_equal == 4
    assert str(found[0]).startswith("4 of 44 rows equal an earlier row in every feature and in the label.")
    assert "groups=" in str(found[0])
    other = np.r_[y, ~y[:3], ~y[:1]]  # two of which equal each other, with the other label
    assert related_rows(again, other, None, None)[0].n_equal == 1
    assert kinds(np.vstack([X, X]), np.r_[y, y]) == [DuplicateRowsWarning]  # each row twice


def test_repeats_on_a_lattice_are_expected():
    for levels, p in ((2, 6), (3, 4), (10, 3)):
        X = RNG.integers(0, levels, size=(60, p)).astype(float)
        X[:4] = X[4:8]
        assert kinds(X) == []
    # twelve features of five values leave 60 independent rows distinct: equal ones are no chance
    X = RNG.integers(0, 5, size=(60, 12)).astype(float)
    assert kinds(X) == []
    X[:4] = X[4:8]
    assert kinds(X) == [DuplicateRowsWarning]


# --- groups and weights


def test_few_or_unequal_groups():
    X = RNG.normal(size=(60, 3))
    assert kinds(X, groups=Groups.of(np.arange(60) // 6)) == []  # ten
    assert kinds(X, groups=Groups.of(np.minimum(np.arange(60) // 6, 8))) == [FewGroupsWarning]
    # one of 31 has 30 rows, each other one: 60^2 / (900 + 30) = 3.9
    (found,) = related_rows(X, X[:, 0] > 0, Groups.of(np.maximum(np.arange(60) - 29, 0)), None)
    assert (found.n_groups, found.n_effective) == (31, pytest.approx(3600 / 930))
    assert "31 groups, as informative as 3.9 groups of equal size" in str(found)
    # 24 of one row and 6 of six: 60^2 / (24 + 216) = 15 is above 10, and half of 30
    codes = np.r_[np.arange(24), 24 + np.arange(36) // 6]
    assert kinds(X, groups=Groups.of(codes)) == [FewGroupsWarning]


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (np.r_[2.0, np.ones(59)], [FrequencyWeightsWarning]),
        (np.ones(60), []),
        (np.full(60, 1.5), []),
        (np.r_[2.5, np.full(59, 3.0)], []),
    ],
)
def test_weights_that_are_numbers_of_patients(weight, expected):
    X = RNG.normal(size=(60, 3))
    found = related_rows(X, X[:, 0] > 0, None, weight)
    assert [type(one) for one in found] == expected
    if expected:
        assert found[0].n_patients == 61
        assert "sum to 61 for 60 rows" in str(found[0])


# --- where they stand


def test_they_are_warnings_and_notes_and_survive_pickling():
    X = in_groups(3)
    y = X[:, 0] + 0.5 * RNG.normal(size=60) > 0
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(SimilarRowsWarning) as caught:
        table = compare_intervals(clf, X, y, methods="two-center", n_resamples=20, rng=0)
    assert caught[0].filename == __file__
    assert str(caught[0].message) in unwrapped(str(table))
    assert [type(one) for one in pickle.loads(pickle.dumps(table)).cautions] == [SimilarRowsWarning]
    with pytest.warns(SimilarRowsWarning):
        single = performance_interval(clf, X, y, n_resamples=20, rng=0)
    assert str(caught[0].message) in unwrapped(str(single))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        performance_interval(clf, X, y, groups=np.arange(60) // 3, n_resamples=20, rng=0)


def test_the_command_says_them_and_its_table_has_them(tmp_path):
    X = in_groups(3)
    path = tmp_path / "triples.csv"
    pd.DataFrame(X).add_prefix("x").assign(ill=RNG.integers(0, 2, size=60)).to_csv(path, index=False)
    given = ["interval", str(path), "--target", "ill", "--positive", "1", "--resamples", "20", "--seed", "0"]
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 0
    for text in (found.stdout, found.stderr):
        assert "Rows form small clusters" in unwrapped(text)
    told = json.loads(CliRunner().invoke(main, [*given, "--format", "json"]).stdout)["run"]["cautions"]
    assert [one[:25] for one in told] == ["Rows form small clusters:"]
