"""Calibration by two other implementations, where it does not exist, and the pictures of scores and risks."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cudbound import compare_intervals, performance_interval
from cudbound.analysis.instability_and_calibration import calibration_in, predictions_in
from cudbound.point_estimates.calibration_values import CLIP, calibration_values
from cudbound.records import BootstrapLosses, Records

RNG = np.random.default_rng(5)
N = 60
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + RNG.normal(size=N) > 0.4
TABLE = compare_intervals(GaussianNB().fit(X, Y), X, Y, metric=["auc", "brier"], n_resamples=60, rng=0)
RECORDS = TABLE.analysis.records
BOTH = [b for b, count in enumerate(RECORDS.bootstrap.counts) if 0 < (count * Y).sum() < N]


@pytest.fixture(autouse=True)
def no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
        import matplotlib.pyplot as plt

        plt.close("all")


def by_statsmodels(probabilities, event, weights):
    eta = logit(np.clip(probabilities, CLIP, 1 - CLIP))
    family = sm.families.Binomial()
    models = (
        sm.GLM(event, np.ones((event.size, 1)), family=family, offset=eta, freq_weights=weights),
        sm.GLM(event, sm.add_constant(eta), family=family, freq_weights=weights),
    )
    return [model.fit(tol=1e-12, maxiter=200).params[-1] for model in models]


def recorded(probabilities, draws=None, counts=None):
    bootstrap = None
    if draws is not None:
        zeros = np.zeros(np.shape(counts), dtype=bool)
        bootstrap = BootstrapLosses(counts, zeros, probabilities=np.asarray(draws, float))
    return Records(event=EVENT, probabilities=np.asarray(probabilities, float), bootstrap=bootstrap)


def test_intercept_and_slope_are_those_of_statsmodels_and_of_scikit_learn():
    draws = RECORDS.bootstrap
    found = calibration_values(draws.probabilities, Y, draws.counts)
    for b in (0, 7, 31):
        np.testing.assert_allclose(
            found[b], by_statsmodels(draws.probabilities[b], Y.astype(float), draws.counts[b]), atol=1e-7
        )
    plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    eta = logit(np.clip(RECORDS.probabilities, CLIP, 1 - CLIP))[:, None]
    apparent = calibration_values(RECORDS.probabilities[None], Y, np.ones(N))[0]
    assert plain.fit(eta, Y).coef_[0, 0] == pytest.approx(apparent[1], abs=1e-6)


def test_the_correction_takes_off_the_mean_over_draws_of_draw_minus_training_rows():
    found, draws, event = TABLE.calibration, RECORDS.bootstrap, Y.astype(float)
    differences = [
        np.subtract(
            by_statsmodels(draws.probabilities[b], event, draws.counts[b]),
            by_statsmodels(draws.probabilities[b], event, np.ones(N)),
        )
        for b in BOTH
    ]
    apparent = np.array([found.apparent_intercept, found.apparent_slope])
    np.testing.assert_allclose(apparent, by_statsmodels(RECORDS.probabilities, event, np.ones(N)), atol=1e-7)
    np.testing.assert_allclose(
        [found.intercept, found.slope], apparent - np.mean(differences, axis=0), atol=1e-6
    )
    assert found.n_draws == len(BOTH)
    assert found.slope < found.apparent_slope


def test_an_unpenalized_logistic_regression_is_calibrated_on_its_rows():
    clf = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, Y)
    result = performance_interval(clf, X, Y, metric="brier", n_resamples=40, rng=0)
    assert result.calibration.apparent_intercept == pytest.approx(0.0, abs=1e-4)
    assert result.calibration.apparent_slope == pytest.approx(1.0, abs=1e-4)
    assert "intercept 0.00, slope 1.00" in str(result.calibration).replace("-0.00", "0.00")


EVENT = np.array([True, True, False, False])


def test_far_risks_and_near_separation_are_fitted():
    event = np.arange(40) < 20
    eta = np.linspace(12.0, -12.0, 40)
    eta[[19, 20]] = eta[[20, 19]]
    found = calibration_values(1.0 / (1.0 + np.exp(-eta))[None], event, np.ones(40))[0]
    np.testing.assert_allclose(
        found, by_statsmodels(1.0 / (1.0 + np.exp(-eta)), event * 1.0, np.ones(40)), rtol=1e-5, atol=1e-9
    )


def test_draws_without_calibration_are_left_out_and_counted():
    risks = [0.2, 0.8, 0.7, 0.1]
    counts = [[2, 2, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    found = calibration_in(recorded(risks, [risks, risks, [0.9, 0.8, 0.2, 0.1]], counts))
    assert found.n_draws == 1
    assert found.slope == pytest.approx(found.apparent_slope)
    assert found.remarks[0].startswith("2 of 3 draws were left out: the predicted risks separate the classes")


def test_out_of_bag_is_the_mean_over_the_draws_that_left_the_row_out():
    frame, draws = predictions_in(RECORDS), RECORDS.bootstrap
    for i in (0, 17, 59):
        held = [b for b in BOTH if draws.counts[b, i] == 0]
        assert frame["probability_out_of_bag"][i] == pytest.approx(draws.probabilities[held, i].mean())
        ranks = []
        for b in held:
            others = draws.scores[b][draws.counts[b] == 0]
            own = draws.scores[b, i]
            ranks.append((others < own).mean() + (others == own).mean() / 2)
        assert frame["rank_out_of_bag"][i] == pytest.approx(np.mean(ranks))
    always = predictions_in(recorded([0.2, 0.8, 0.7, 0.1], [[0.5] * 4], [[2, 1, 1, 0]]))
    assert always["probability_out_of_bag"].notna().tolist() == [False, False, False, True]
