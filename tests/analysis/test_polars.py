"""Frames of polars give the results of the same rows in pandas, wherever rows are taken from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from tiers import quick_first

from cudbound import (
    clinical_report,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
)

pytestmark = pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.RepeatedRowsWarning")

N = 60
RNG = np.random.default_rng(0)
PATIENTS = pd.DataFrame(
    {"age": RNG.normal(60, 10, N), "crp": RNG.exponential(3, N), "sex": RNG.choice(["f", "m"], N)}
)
PATIENTS.loc[[3, 4], "crp"] = np.nan
ILL = np.where(PATIENTS["age"] + RNG.normal(0, 8, N) > 60, "ill", "well")
GROUPS = np.repeat(np.arange(N // 3), 3)
FRAME = pl.DataFrame({name: pl.Series(PATIENTS[name].tolist()) for name in PATIENTS})
SERIES = pl.Series(ILL.tolist())
NUMBERS = ["age", "crp"]
CALL = {"n_resamples": 20, "rng": 0}

encoded = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS), (OneHotEncoder(), ["sex"])
    ),
    LogisticRegression(),
)
#: In batches, with steps that are fitted apart, and one by one.
CLASSIFIERS = {
    "together": encoded,
    "apart": make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), QuantileTransformer(n_quantiles=5)), NUMBERS)
        ),
        SelectKBest(k=1),
        LogisticRegression(),
    ),
    "alone": make_pipeline(
        make_column_transformer((SimpleImputer(), NUMBERS)), RandomForestClassifier(3, random_state=0)
    ),
}


def _participants(report):
    return report.to_dict()["participants"]


CALLS = {
    "groups": lambda clf, X, y, series: performance_interval(clf, X, y, groups=series(GROUPS), **CALL).row,
    "processes": lambda clf, X, y, series: performance_interval(clf, X, y, n_jobs=2, **CALL).row,
    "test set": lambda clf, X, y, series: (
        compare_intervals(clf, X, y, methods=["test-set-wilson", "k-fold-t"], new_cases=(X, y), **CALL).rows
    ),
    "auc": lambda clf, X, y, series: performance_interval(clf, X, y, metric="auc", **CALL).row,
    "cud": lambda clf, X, y, series: cud_interval(clf, X, y, **CALL).row,
    "learners": lambda clf, X, y, series: compare_learners({"a": encoded, "b": clf}, X, y, rng=0).row,
    "estimates": lambda clf, X, y, series: (
        estimate_error(clf, X, y, methods=["k-fold", "bootstrap-optimism"], **CALL).rows
    ),
    "report": lambda clf, X, y, series: _participants(clinical_report(clf, X, y, event="ill", **CALL)),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_interval_is_that_of_the_frame_of_pandas(name):
    clf = CLASSIFIERS[name]
    expected = performance_interval(clone(clf).fit(PATIENTS, ILL), PATIENTS, ILL, **CALL)
    frame = performance_interval(clone(clf).fit(FRAME, ILL), FRAME, SERIES, **CALL)
    assert frame.row == expected.row
    assert frame.analysis.fingerprints == expected.analysis.fingerprints


@pytest.mark.parametrize("name", quick_first(list(CALLS)))
def test_every_call_takes_them(name):
    expected = CALLS[name](clone(encoded).fit(PATIENTS, ILL), PATIENTS, ILL, pd.Series)
    assert (
        CALLS[name](clone(encoded).fit(FRAME, ILL), FRAME, SERIES, lambda values: pl.Series(values.tolist()))
        == expected
    )
