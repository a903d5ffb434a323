"""Pipelines of imbalanced-learn, and classes that are no complete scikit-learn estimators."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline as make_resampling_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from cudbound import (
    compare_intervals,
    compare_learners,
)
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.resampling.refits import prepare_refits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] + RNG.normal(size=60) > 1).astype(int)
CALL = {"n_resamples": 20, "rng": 0}


@pytest.fixture(params=[RandomOverSampler, SMOTE, RandomUnderSampler])
def resampled(request):
    sampler = request.param(random_state=0)
    return make_resampling_pipeline(StandardScaler(), sampler, LogisticRegression()).fit(X, Y)


def test_a_step_that_changes_the_rows_has_no_bound(resampled):
    name = type(resampled.steps[1][1]).__name__
    for method in ("cud", "aci"):
        with pytest.raises(
            UnsupportedEstimatorError, match=f"^{name} changes which rows.*class_weight='balanced'"
        ):
            compare_intervals(resampled, X, Y, methods=method, **CALL)
    table = compare_intervals(resampled, X, Y, methods="recommended", **CALL)
    assert table["two-center"].degenerate is None
    assert f"no CUD bound: the bound treats {name}" in table["cud"].degenerate


def test_refits_are_those_of_clones(resampled):
    counts = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), size=3)
    losses = prepare_refits(resampled, X, Y).recorded(np.random.default_rng(0))(counts)
    drawn = [np.repeat(np.arange(60), row) for row in counts]
    np.testing.assert_array_equal(
        losses, [clone(resampled).fit(X[rows], Y[rows]).predict(X) != Y for rows in drawn]
    )
    with warnings.catch_warnings(action="error"):
        assert (
            compare_learners({"resampled": resampled, "majority": "majority"}, X, Y, rng=0).row.n_fits == 200
        )
