"""Rows that are not one patient each, and training rows among the cases of a test set."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from cudbound import LeastSquaresClassifier, compare_intervals
from cudbound.basis.exceptions import RepeatedRowsWarning
from cudbound.basis.sample import count_equal_rows, count_improbable_copies, related_rows
from cudbound.study.worlds import WORLDS

# ---- cautions of rows that are not one patient each ----


RELATED = np.random.default_rng(7)


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


def test_a_column_may_have_the_name_of_an_attribute_of_arrays():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["dtype", "shape"])
    assert count_improbable_copies(frame) == 0
    assert count_improbable_copies(pd.concat([frame, frame])) == 20


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


# --- equal rows


def test_rows_entered_twice_are_counted():
    X = RELATED.normal(size=(40, 4))
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


# ---- training rows among the cases of a test set ----


RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
NEW = RNG.normal(size=(30, 2)), RNG.integers(0, 2, 30)
MIXED = np.r_[NEW[0], X[:7]], np.r_[NEW[1], Y[:7]]


@pytest.mark.parametrize(
    ("tested", "trained", "count"),
    [
        (([[1.0, 2.0], [1.0, 3.0]], [0, 0]), ([[1, 2], [5, 6]], [0, 0]), 1),
        (([[1.0, 2.0]], [1]), ([[1.0, 2.0]], [0]), 0),
        (([[0.0, np.nan]], [0]), ([[-0.0, np.nan]], [0]), 1),
        ((pd.DataFrame({"age": pd.array([50, None], dtype="Int64")}), [0, 0]), ([[50.0], [np.nan]], [0, 0]), 2),
        (([[1.0, 2.0]] * 3, [0] * 3), ([[1.0, 2.0]], [0]), 3),
        ((pd.DataFrame({"sex": ["m", "f"], "age": [50, 60]}), ["a", "b"]),
         (pd.DataFrame({"sex": ["m", "m"], "age": [50, 60]}), ["a", "b"]), 1),
        ((csr_array([[1.0, 0.0]]), [0]), (csr_array([[1.0, 0.0], [0.0, 0.0]]), [0, 0]), 1),
        ((["a text", "another"], [0, 1]), (["a text"], [0]), 1),
        (([], []), ([[1.0]], [0]), 0),
        (([[2**60], [2**60 + 1]], [0, 0]), ([[2**60 + 1], [2**60 + 2]], [0, 0]), 1),
        ((pd.DataFrame({"id": [2**60], "sex": ["m"]}), [0]),
         (pd.DataFrame({"id": [2**60 + 1], "sex": ["m"]}), [0]), 0),
        ((pd.DataFrame({"n": [1.0, None], "sex": ["m", "f"]}), [0, 0]),
         (pd.DataFrame({"n": [1, 2], "sex": ["m", "f"]}), [0, 0]), 1),
        ((np.array([[1, 2.5]], dtype=object), [0]), ([[1.0, 2.5]], [0]), 1),
    ],
    ids=["numbers", "label", "missing and zero", "nullable", "repeated", "frame", "sparse", "texts", "none",
         "long integers", "long integers in a frame", "whole numbers in a frame", "objects"],
)  # fmt: skip
def test_equal_rows_are_counted(tested, trained, count):
    assert count_equal_rows(*tested, *trained) == count


def test_training_rows_in_a_test_set_are_warned_of_and_counted():
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.warns(
        RepeatedRowsWarning, match=r"^7 of 37 test cases equal training rows, in every feature"
    ) as caught:
        table = compare_intervals(
            clf, X, Y, methods=["test-set-wilson", "langford-binomial"], new_cases=MIXED, rng=0
        )
    assert (caught[0].message.n_equal, caught[0].message.n_tested) == (7, 37)
    assert caught[0].filename == __file__
    assert table["test-set-wilson"].remarks[1:] == ("7 of 37 test cases equal training rows",)
    assert "7 of 37 test cases equal training rows" not in table["langford-binomial"].remarks
