"""Cautions of rows that are not one patient each: when they speak, when they are silent, and where they stand."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from cudbound.basis.exceptions import RepeatedRowsWarning
from cudbound.basis.feature_table import count_improbable_copies
from cudbound.basis.sample import related_rows
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


# --- groups and weights


# --- where they stand
