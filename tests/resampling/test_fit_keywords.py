"""Weights and groups reach the fits that ask for them, with metadata routing and without, in every process."""

from __future__ import annotations

import numpy as np
import pytest
from direct_refits import prepare_refits
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tiers import quick_first

from cudbound import performance_interval

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
WEIGHT = RNG.uniform(0.5, 2.0, N)
GROUPS = np.repeat([f"patient {number}" for number in range(N // 3)], 3)
CALL = {"n_resamples": 20, "rng": 0}

scaled = make_pipeline(StandardScaler(), LogisticRegression())
search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=GroupKFold(3))


def _requesting() -> Pipeline:
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    return make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))


@pytest.mark.parametrize("n_jobs", quick_first([1, 2]))
def test_routing_on_gives_the_interval_of_routing_off(n_jobs):
    clf = clone(scaled).fit(X, Y, logisticregression__sample_weight=WEIGHT)
    expected = performance_interval(clf, X, Y, sample_weight=WEIGHT, **CALL)
    with config_context(enable_metadata_routing=True):
        clf = _requesting().fit(X, Y, sample_weight=WEIGHT)
        routed = performance_interval(clf, X, Y, sample_weight=WEIGHT, n_jobs=n_jobs, **CALL)
    assert routed.row == expected.row


def test_weights_reach_the_parts_of_a_search_that_request_them():
    with config_context(enable_metadata_routing=True):
        inner = (
            LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        )
        tuned = GridSearchCV(inner, {"C": [0.01, 1.0]}, cv=3).fit(X, Y, sample_weight=WEIGHT)
        counts = np.random.default_rng(1).multinomial(N, np.full(N, 1 / N), size=3)
        losses = prepare_refits(tuned, X, Y, sample_weight=WEIGHT).outputs(counts, np.random.default_rng(0))
        drawn = [np.repeat(np.arange(N), row) for row in counts]
        fits = [clone(tuned).fit(X[rows], Y[rows], sample_weight=WEIGHT[rows]) for rows in drawn]
    np.testing.assert_array_equal(losses, [fit.predict(X) != Y for fit in fits])


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.NotMinimizerWarning")
@pytest.mark.parametrize(
    ("routing", "estimator"), [(True, scaled), (False, GridSearchCV(LogisticRegression(), {"C": [1.0]}))]
)
def test_weights_that_no_part_takes_are_refused_before_the_refits(routing, estimator):
    with config_context(enable_metadata_routing=routing):
        clf = clone(estimator).fit(X, Y)
        with pytest.raises(ValueError, match=r"supports weights, and .*enable_metadata_routing=True"):
            performance_interval(clf, X, Y, sample_weight=WEIGHT, **CALL)


@pytest.mark.parametrize(
    ("estimator", "keyword"),
    [
        (search, "groups"),
        (make_pipeline(StandardScaler(), search), "gridsearchcv__groups"),
        (GridSearchCV(scaled, {"logisticregression__C": [0.01, 1.0]}, cv=StratifiedGroupKFold(3)), "groups"),
        (make_pipeline(RFECV(LogisticRegression(), cv=GroupKFold(2)), LogisticRegression()), "rfecv__groups"),
    ],
    ids=["search", "search in a pipeline", "pipeline in a search", "selection in a pipeline"],
)
def test_folds_inside_keep_the_groups_of_a_draw_together(estimator, keyword):
    clf = clone(estimator).fit(X, Y, **{keyword: GROUPS})
    counts = np.random.default_rng(1).multinomial(N // 3, np.full(N // 3, 3 / N), size=3).repeat(3, axis=1)
    losses = prepare_refits(clf, X, Y, groups=GROUPS).outputs(counts, np.random.default_rng(0))
    drawn = [np.repeat(np.arange(N), row) for row in counts]
    fits = [clone(clf).fit(X[rows], Y[rows], **{keyword: GROUPS[rows]}) for rows in drawn]
    np.testing.assert_array_equal(losses, [fit.predict(X) != Y for fit in fits])


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", quick_first([2, 1]))
def test_routing_passes_groups_to_calibration_and_to_searches_alike(n_jobs):
    off = performance_interval(clone(search).fit(X, Y, groups=GROUPS), X, Y, groups=GROUPS, **CALL)
    with config_context(enable_metadata_routing=True):
        tuned = clone(search).fit(X, Y, groups=GROUPS)
        assert performance_interval(tuned, X, Y, groups=GROUPS, n_jobs=n_jobs, **CALL).row == off.row
        clf = CalibratedClassifierCV(LogisticRegression(), cv=GroupKFold(2)).fit(X, Y, groups=GROUPS)
        row = performance_interval(clf, X, Y, groups=GROUPS, metric="brier", **CALL).row
    assert 0.0 < row.low < row.high
