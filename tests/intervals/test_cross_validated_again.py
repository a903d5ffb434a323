"""The recommended interval against its second implementation, and worked numbers of twelve published data sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_again import lower_limit, upper_limit
from scipy.special import betaincinv
from shared_files import needs_published_sets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from worked_sets import (
    ALL_METRICS,
    SETS,
    TWO_CLASSES,
    WITH_SCORES,
    Case,
    converged,
    numbers_again,
    stored_numbers,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning"),
    pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning"),
]
CLOSE = {"rel": 0.0, "abs": 1e-9}
OF_CLASSES = (*TWO_CLASSES, "accuracy", "balanced-accuracy", "fpr", "fnr", "cost")


def numbers_of(row):
    return {
        **row.details,
        "estimate": row.estimate,
        "low": row.raw_interval.low,
        "high": row.raw_interval.high,
    }


def assert_agrees(row, expected):
    of_package = numbers_of(row)
    assert {name: of_package[name] for name in expected} == pytest.approx(expected, **CLOSE), row.metric


# ---- binomial limits ----


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(center=st.floats(1e-6, 1.0), size=st.floats(1.0, 800.0), tail=st.floats(1e-4, 0.5))
def test_the_limits_are_quantiles_of_beta_distributions(center, size, tail):
    wrong = size * center
    assert lower_limit(center, size, tail) == pytest.approx(
        betaincinv(wrong, size - wrong + 1.0, tail), **CLOSE
    )
    if center < 1.0:
        upper = betaincinv(wrong + 1.0, size - wrong, 1.0 - tail)
        assert upper_limit(center, size, tail) == pytest.approx(upper, **CLOSE)


# ---- simulated rows ----


def simulated(classifier, n=30, p=2, *, signal=1.0, n_classes=2, event_share=0.5, rounded=False, **keywords):
    """Normal rows whose first feature is higher in each class than in the one before it."""
    rng = np.random.default_rng([n, p])
    y = np.arange(n) % n_classes if n_classes > 2 else (np.arange(n) < event_share * n).astype(int)
    X = rng.normal(size=(n, p))
    X[:, 0] += signal * y
    return Case(classifier, X.round() if rounded else X, y, n_resamples=20, **keywords)


def patients(n):
    """Groups of one to three rows, most of them with rows of both classes."""
    return np.repeat(np.arange(n), np.arange(n) % 3 + 1)[:n] * 7 % n


def equal_rows_of_groups():
    """Groups of one to five equal rows, so that the events count as Kish's number of their groups."""
    codes = np.repeat(np.arange(16), np.tile([5, 1, 1, 2], 4))
    y = np.arange(16) // 2 % 2
    X = np.random.default_rng([36, 2]).normal(size=(16, 2))
    X[:, 0] += 0.3 * y
    return Case(converged(), X[codes], y[codes], groups=codes, n_resamples=20, linear=True)


CASES = {
    "every metric of classes": simulated(converged(), metrics=OF_CLASSES, linear=True),
    "scores and probabilities": simulated(converged(), n=31, linear=True),
    "separated classes": simulated(
        LinearDiscriminantAnalysis(), signal=4.5, metrics=(*ALL_METRICS, "cost"), linear=True
    ),
    "separated classes and many columns": simulated(
        LinearDiscriminantAnalysis(), 30, 11, signal=4.5, linear=True
    ),
    "more columns than rows": simulated(converged(), n=24, p=30, linear=True),
    "no signal": simulated(converged(), n=26, signal=0.0, linear=True),
    "the wrong way round": simulated(GaussianNB(), n=24, signal=-0.1),
    "equal rows": simulated(converged(), n=40, signal=0.5, rounded=True, linear=True),
    "a tree": simulated(DecisionTreeClassifier(random_state=0), n=28),
    "few events": simulated(converged(), n=40, event_share=0.1, linear=True),
    "draws of one class": simulated(
        converged(), n=24, event_share=0.1, metrics=("error", "auc", "brier", "cost"), linear=True
    ),
    "rows split inside": simulated(RidgeClassifierCV(), n=32, metrics=WITH_SCORES, linear=True),
    "groups": simulated(
        converged(), n=36, metrics=(*ALL_METRICS, "cost"), groups=np.arange(36) // 2 * 5 % 18, linear=True
    ),
    "equal rows of groups": equal_rows_of_groups(),
    "weights": simulated(
        converged(), metrics=OF_CLASSES, weights=np.arange(30) % 4 + 0.5, signal=0.6, linear=True
    ),
    "weights and groups": simulated(
        converged(),
        n=34,
        metrics=OF_CLASSES,
        weights=np.arange(34) % 3 + 0.5,
        groups=patients(34),
        linear=True,
    ),
    "three classes": simulated(GaussianNB(), n=36, n_classes=3, metrics=("error", "sensitivity"), event=2),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_implementations_agree(case):
    table = case.table()
    again = numbers_again(case, table)
    assert len(table.rows) == len(again) == len(case.metrics)
    for row, expected in zip(table.rows, again.values(), strict=True):
        assert_agrees(row, expected)


# ---- published data sets ----


@needs_published_sets
@pytest.mark.parametrize("worked", SETS, ids=lambda worked: worked.name)
def test_the_worked_numbers_of_published_data_sets(worked):
    case, stored = worked.case(), stored_numbers()
    for metric, row in zip(case.metrics, case.table().rows, strict=True):
        assert_agrees(row, stored[worked.name, metric])
