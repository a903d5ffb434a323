"""Instability of risks, by the definitions of Riley and Collins (2023): worked by hand, and of refits made here."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, performance_interval
from cudbound.analysis.instability_and_calibration import Instability
from cudbound.basis.exceptions import ParameterError
from cudbound.problem.draws import draw_counts

RISKS = np.array([0.2, 0.6, 0.7])
EVENT = np.array([False, True, False])
#: Five refits of three rows.
REFITS = np.array([[0.1, 0.7, 0.7], [0.3, 0.5, 0.9], [0.2, 0.9, 0.6], [0.25, 0.4, 0.7], [0.6, 0.6, 0.1]])


def instability(**changes):
    fields = {"risks": RISKS, "refit_risks": REFITS, "event": EVENT} | changes
    return Instability(np.array([0.2, 0.4, 0.2]), 5, **fields)


def test_mape_and_quantiles_are_those_worked_by_hand():
    # rows: |.1-.2|, |.3-.2|, 0, .05, .4; .1, .1, .3, .2, 0; 0, .2, .1, 0, .6: means .13, .14, .18
    np.testing.assert_allclose(instability().mape, [0.13, 0.14, 0.18])
    # R: quantile(c(.1, .2, .25, .3, .6), c(.025, .975)) is .11 and .57, as its type 7 interpolates
    frame = instability().to_frame()
    np.testing.assert_allclose(frame.loc[0, ["risk_low", "risk_high"]].to_numpy(dtype=float), [0.11, 0.57])
    assert instability().summary["mape"] == pytest.approx(0.15)
    assert instability().summary["largest_mape"] == pytest.approx(0.18)


def test_the_sentences_say_that_quantiles_are_no_confidence_interval():
    lines = instability().lines()
    assert any("0.150 on average, and by 0.180" in line for line in lines)
    assert any("not a confidence interval for the risk of a patient" in line for line in lines)
    assert not any("risk" in line for line in instability(risks=None, refit_risks=None).lines())


def test_net_benefit_of_each_curve_is_that_of_its_counts():
    display = instability().plot(Figure().subplots(), picture="net-benefit")
    at = int(np.flatnonzero(np.isclose(display.curve_.get_xdata(), 0.65))[0])
    # the classifier calls row 2 alone, a false positive: -1/3 * .65/.35; the first refit rows 1 and 2
    assert display.curve_.get_ydata()[at] == pytest.approx(-1 / 3 * 0.65 / 0.35)
    first = display.refit_curves_.get_segments()[0]
    assert first[at, 1] == pytest.approx(1 / 3 - 1 / 3 * 0.65 / 0.35)
    assert display.treat_all_.get_ydata()[at] == pytest.approx(1 / 3 - 2 / 3 * 0.65 / 0.35)


def test_calibration_curves_are_those_of_unpenalized_logistic_regressions():
    display = instability().plot(Figure().subplots(), picture="calibration")
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(RISKS)[:, None], EVENT)
    grid = display.curve_.get_xdata()
    expected = fitted.predict_proba(logit(grid)[:, None])[:, 1]
    np.testing.assert_allclose(display.curve_.get_ydata(), expected, atol=1e-4)
    # the third and the fourth refit: the event has the highest risk, or one in the middle
    assert len(display.refit_curves_.get_segments()) == sum(
        REFITS[fit, 1] < REFITS[fit, [0, 2]].max() and REFITS[fit, 1] > REFITS[fit, [0, 2]].min()
        for fit in range(5)
    )


def test_the_pictures_of_risks_show_them():
    risks = instability().plot(Figure().subplots(), picture="risks")
    assert risks.points_.get_xydata().shape == (15, 2)
    np.testing.assert_allclose(risks.quantile_lines_[1].get_ydata()[0], 0.57)
    mape = instability().plot(Figure().subplots(), picture="mape")
    np.testing.assert_allclose(mape.points_.get_offsets()[:, 1], [0.13, 0.14, 0.18])


@pytest.mark.parametrize(
    ("missing", "picture", "rule"),
    [
        (
            {"risks": None, "refit_risks": None},
            "risks",
            r"'risks' instead\. The classifier has no predict_proba",
        ),
        (
            {"event": None},
            "calibration",
            r"one of \['classes', 'mape', 'risks'\]\..*instead\. The outcomes of new rows",
        ),
        ({}, "calibrations", "Did you mean 'calibration'"),
        (
            {"risks": None, "refit_risks": None},
            "risk",
            r"'calibration', 'classes', .* Got 'risk' instead\. Did you mean 'risks'\?$",
        ),
        ({"event": None}, "riskes", r"'calibration', 'classes', .* Did you mean 'risks'\?$"),
    ],
)
def test_a_picture_that_cannot_be_drawn_says_which_can(missing, picture, rule):
    with pytest.raises(ParameterError, match=rule):
        instability(**missing).display(picture)


# ---- from a result ----

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2)).round(1)
Y = np.where(X[:, 0] + RNG.normal(size=40) > 0, "ill", "well")
CLASSIFIERS = {
    "batched": LogisticRegression(tol=1e-8),
    "pipeline": make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.3, tol=1e-8)),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
}


def result_of(clf, **arguments):
    return performance_interval(clf, X, Y, event="ill", n_resamples=30, rng=5, **arguments)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_risks_are_those_of_clones_fitted_to_the_draws(name):
    clf = CLASSIFIERS[name].fit(X, Y)
    instability = result_of(clf).instability
    counts = draw_counts(40, 30, np.random.default_rng(5))
    expected = []
    for row in counts:
        drawn = np.repeat(np.arange(40), row)
        expected.append(clone(clf).fit(X[drawn], Y[drawn]).predict_proba(X)[:, 0])
    np.testing.assert_allclose(instability.refit_risks, expected, atol=1e-6)
    np.testing.assert_allclose(instability.risks, clf.predict_proba(X)[:, 0])
    np.testing.assert_array_equal(instability.event, Y == "ill")
    # of equal risks scikit-learn takes the first class, which is the event
    changed = ((instability.refit_risks >= 0.5) != (instability.risks >= 0.5)).mean(axis=0)
    np.testing.assert_allclose(changed, instability.shares)


def test_recorded_risks_are_those_that_are_made_again():
    clf = CLASSIFIERS["batched"].fit(X, Y)
    recorded = result_of(clf, metric="brier").instability
    np.testing.assert_allclose(recorded.refit_risks, result_of(clf).instability.refit_risks, rtol=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    "kind", [np.asarray, csr_matrix, lambda rows: pd.DataFrame(rows, columns=["age", "marker"])]
)
def test_training_rows_passed_as_new_ones_have_the_same_instability(name, kind):
    rows = kind(X)
    clf = clone(CLASSIFIERS[name]).fit(rows, Y)
    result = performance_interval(clf, rows, Y, event="ill", n_resamples=30, rng=5)
    of_new = result.instability_for(rows[:7])
    frame, columns = (
        result.instability.to_frame(),
        ["share", "distance", "risk", "risk_low", "risk_high", "mape"],
    )
    np.testing.assert_allclose(of_new.to_frame()[columns], frame.loc[:6, columns], atol=1e-12)
    assert of_new.event is None
    assert "of 7 rows" in of_new.lines()[0]


def test_new_rows_are_not_called_training_rows_without_risks_either():
    result = result_of(LeastSquaresClassifier().fit(X, Y))
    assert "of 7 rows" in result.instability_for(X[:7]).lines()[0]
    assert "of 40 training rows" in result.instability.lines()[0]


def test_groups_and_weights_reach_the_refits_of_new_rows():
    clf = LogisticRegression().fit(X, Y, sample_weight=np.linspace(0.5, 3.0, 40))
    arguments = {"groups": np.arange(40) // 2, "sample_weight": np.linspace(0.5, 3.0, 40)}
    result = result_of(clf, **arguments)
    np.testing.assert_allclose(
        result.instability_for(X).refit_risks, result.instability.refit_risks, atol=1e-12
    )


def test_a_pickle_has_shares_without_refits_and_no_new_rows():
    result = pickle.loads(pickle.dumps(result_of(LogisticRegression().fit(X, Y))))
    assert result.instability.risks is None
    with pytest.raises(ValueError, match="comes from a pickle, without rows of the data"):
        result.instability_for(X)


def test_without_draws_or_rows_new_rows_are_refused():
    result = result_of(LogisticRegression().fit(X, Y), method="bayle-cv")
    assert result.instability is None
    with pytest.raises(ValueError, match="a method that refits on bootstrap draws, such as two-center"):
        result.instability_for(X)
    with pytest.raises(ValueError, match="'X_new' parameter must be at least one row"):
        result_of(LogisticRegression().fit(X, Y)).instability_for(X[:0])
