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
from scipy.sparse import csr_array
from unwrapped import unwrapped

from cudbound import LeastSquaresClassifier, compare_intervals, performance_interval
from cudbound.basis.exceptions import RepeatedRowsWarning, SmallSampleWarning
from cudbound.basis.feature_table import count_improbable_copies
from cudbound.basis.groups import Groups
from cudbound.basis.sample import related_rows
from cudbound.cli.group import main
from cudbound.study.populations.worlds import WORLDS

RNG = np.random.default_rng(7)


def kinds(X, y=None, groups=None, weight=None):
    y = np.asarray(X)[:, 0] > np.median(np.asarray(X)[:, 0]) if y is None else y
    return [type(one) for one in related_rows(X, y, groups, weight)]


# --- independent rows


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_independent_rows_are_left_alone(name):
    population = WORLDS[name](n_features=3) if name == "donut" else WORLDS[name]()
    for n, seed in itertools.product((50, 100), range(5)):
        cases = population.draw(n, np.random.default_rng(seed))
        assert kinds(cases.X, cases.y == 1) == []


@pytest.mark.parametrize("seed", range(20))
def test_independent_patients_of_few_values_are_left_alone(seed):
    rng = np.random.default_rng(seed)
    yes_no = rng.integers(0, 2, size=(100, 3)).astype(float)
    severity = rng.normal(size=100)
    # twelve symptoms of one severity, none of them in mild cases: many patients have no symptom
    symptoms = np.clip(np.round(severity[:, None] - 0.5 + 0.3 * rng.normal(size=(100, 12))), 0.0, 4.0)
    age = rng.normal(65, 12, size=100).round()
    dose = np.where(rng.random(100) < 0.6, 0.0, rng.lognormal(size=100))
    tables = {
        "one number and three yes/no": np.column_stack([rng.normal(size=100), yes_no]),
        "score and three yes/no": np.column_stack([rng.integers(0, 11, size=100), yes_no]),
        "age and three yes/no": np.column_stack([age, yes_no]),
        "symptoms": symptoms,
        "symptoms and age": np.column_stack([symptoms, age]),
        "age, year of birth, months": np.column_stack([age, 2020 - age, 12 * age]),
        "age, five and ten years of age": np.column_stack([age, age // 5, age // 10, age > 65]),
        "score": rng.integers(0, 11, size=(100, 1)),
        "dose, 0 in most": np.column_stack([dose, yes_no[:, 0]]),
        "dose and duration, 0 in the same": np.column_stack(
            [dose, dose * rng.lognormal(size=100), yes_no[:, 0]]
        ),
        "age, sex, their product": np.column_stack([age, yes_no[:, 0], age * yes_no[:, 0]]),
        "long identifiers": 2**60 + np.arange(100)[:, None],
    }
    labels = rng.integers(0, 2, size=100)
    for name, X in tables.items():
        assert related_rows(X, labels, None, None) == (), name
        cells = pd.DataFrame(X).assign(y=labels).astype(str)
        assert count_improbable_copies(cells) == 0, name


@pytest.mark.parametrize(
    "X", [np.zeros((60, 4)), np.zeros((60, 4, 2)), csr_array((60, 10**6)), [["a", "b", "c"]] * 60]
)
def test_nothing_is_said_of_tables_without_many_values(X):
    assert related_rows(X, np.arange(60) % 2, None, None) == ()


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
    assert [type(one) for one in found] == [RepeatedRowsWarning]
    assert found[0].n_equal == 4
    assert str(found[0]).startswith(
        "4 of 44 rows equal an earlier row in every feature and in the label, which"
    )
    assert "groups=" in str(found[0])
    assert kinds(np.vstack([X, X[:3]]), np.r_[y, ~y[:3]]) == []  # with the other label
    assert kinds(np.vstack([X, X]), np.r_[y, y]) == [RepeatedRowsWarning]  # each row twice


def test_rows_entered_twice_are_found_in_tables_of_any_kind():
    X = pd.DataFrame({"age": RNG.integers(30, 90, 60), "crp": RNG.lognormal(3, 1, 60).round(1)})
    X["sex"] = RNG.choice(["f", "m"], 60)
    X.loc[::7, "crp"] = np.nan
    again, labels = pd.concat([X, X[:3]]), np.r_[np.arange(60) % 2, [0, 1, 0]]
    whole_numbers = again.assign(sex=again["sex"] == "f", crp=again["crp"].fillna(0.0))
    for table in (again, again.to_numpy(), whole_numbers, csr_array(whole_numbers.to_numpy(float))):
        (found,) = related_rows(table, labels, None, None)
        assert found.n_equal == 3
    assert count_improbable_copies(again.assign(y=labels).astype(str)) == 3
    texts = [f"note {i}" for i in range(60)]
    assert related_rows([*texts, texts[0]], np.r_[labels[:60], 0], None, None)[0].n_equal == 1


def test_chance_explains_twenty_times_the_expected_number():
    # pairs of 100 distinct rows, of which 99 values of one column occur once and one twice: 1 equal pair by that column
    number, few = np.r_[np.arange(99.0), 0.0], np.r_[np.zeros(50), np.ones(50)]
    X = np.column_stack([number, few])
    # the numbers of 1 of 2524 pairs that differ in the other column agree, and half of the others agree in that:
    # about 1 of the 7260 pairs of 121 rows is expected, and chance explains 20
    for n_copies, count in ((20, 0), (21, 21)):
        assert count_improbable_copies(np.vstack([X, X[1 : 1 + n_copies]])) == count


# --- groups and weights


def test_few_or_unequal_groups():
    X = RNG.normal(size=(60, 3))
    assert kinds(X, groups=Groups.of(np.arange(60) // 6)) == []  # ten
    assert kinds(X, groups=Groups.of(np.minimum(np.arange(60) // 6, 8))) == [SmallSampleWarning]
    # one of 31 has 30 rows, each other one: 60^2 / (900 + 30) = 3.9
    (found,) = related_rows(X, X[:, 0] > 0, Groups.of(np.maximum(np.arange(60) - 29, 0)), None)
    assert (found.n_groups, found.n_effective) == (31, pytest.approx(3600 / 930))
    assert "31 groups, as informative as 3.9 groups of equal size" in str(found)
    # 24 of one row and 6 of six: 60^2 / (24 + 216) = 15 is above 10, and half of 30
    codes = np.r_[np.arange(24), 24 + np.arange(36) // 6]
    assert kinds(X, groups=Groups.of(codes)) == [SmallSampleWarning]


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (np.r_[2.0, np.ones(59)], [RepeatedRowsWarning]),
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
    X = np.repeat(RNG.normal(size=(30, 3)), 2, axis=0)
    y = np.repeat(X[::2, 0] + 0.5 * RNG.normal(size=30) > 0, 2)
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(RepeatedRowsWarning) as caught:
        table = compare_intervals(clf, X, y, methods="two-center", n_resamples=20, rng=0)
    assert caught[0].filename == __file__
    assert str(caught[0].message) in unwrapped(str(table))
    assert [type(one) for one in pickle.loads(pickle.dumps(table)).cautions] == [RepeatedRowsWarning]
    with pytest.warns(RepeatedRowsWarning):
        single = performance_interval(clf, X, y, n_resamples=20, rng=0)
    assert str(caught[0].message) in unwrapped(str(single))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        performance_interval(clf, X, y, groups=np.arange(60) // 2, n_resamples=20, rng=0)


def test_the_command_says_them_and_its_table_has_them(tmp_path):
    X = RNG.normal(size=(60, 3))
    path = tmp_path / "twice.csv"
    cells = pd.DataFrame(X).add_prefix("x").assign(ill=RNG.integers(0, 2, size=60))
    pd.concat([cells, cells[:2]]).to_csv(path, index=False)
    given = ["interval", str(path), "--target", "ill", "--positive", "1", "--resamples", "20", "--seed", "0"]
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 0
    for text in (found.stdout, found.stderr):
        assert "2 of 62 rows equal an earlier row" in unwrapped(text)
    told = json.loads(CliRunner().invoke(main, [*given, "--format", "json"]).stdout)["run"]["cautions"]
    assert [one[:22] for one in told] == ["2 of 62 rows equal an "]
