"""Logistic regressions of statsmodels as classifiers: the same coefficients, the same intervals, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cudbound import compare_intervals, cud_interval, from_statsmodels, performance_interval
from cudbound.basis.exceptions import UnsupportedEstimatorError

N = 50
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2)) * [1.0, 30.0]
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
TABLE = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y, g=RNG.choice(list("uvw"), N))
BINOMIAL = sm.families.Binomial()

RESULTS = {
    "logit": lambda: sm.Logit(Y, sm.add_constant(X)).fit(disp=0),
    "glm": lambda: sm.GLM(Y, sm.add_constant(X), family=BINOMIAL).fit(),
    "formula": lambda: smf.logit("y ~ a + C(g)", TABLE).fit(disp=0),
    "glm formula": lambda: smf.glm("y ~ np.exp(a) + b", TABLE, family=BINOMIAL).fit(),
    "no intercept": lambda: sm.Logit(Y, X).fit(disp=0),
    "a constant of 2": lambda: sm.Logit(Y, np.column_stack([X, np.full(N, 2.0)])).fit(disp=0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_the_classifier_has_the_probabilities_of_the_result(name):
    result = RESULTS[name]()
    classifier, rows, labels = from_statsmodels(result)
    assert labels.tolist() == Y.tolist()
    np.testing.assert_allclose(classifier.predict_proba(rows)[:, 1], result.predict(), rtol=1e-12)
    np.testing.assert_array_equal(classifier.predict(rows), np.asarray(result.predict()) > 0.5)


@pytest.mark.parametrize("name", RESULTS)
def test_a_refit_is_that_of_statsmodels_on_the_rows_of_the_draw(name):
    result = RESULTS[name]()
    classifier, rows, labels = from_statsmodels(result)
    drawn = np.random.default_rng(1).integers(0, N, N)
    ours = clone(classifier).fit(rows[drawn], labels[drawn])
    theirs = sm.Logit(labels[drawn], np.asarray(result.model.exog)[drawn]).fit(disp=0)
    np.testing.assert_allclose(ours.predict_proba(rows[drawn])[:, 1], theirs.predict(), atol=1e-6)


def test_the_intervals_are_those_of_maximum_likelihood_in_scikit_learn():
    classifier, rows, _ = from_statsmodels(RESULTS["logit"]())
    np.testing.assert_array_equal(rows, X)
    known = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(X, Y)
    tables = [
        compare_intervals(one, X, Y, methods="recommended", n_resamples=60, rng=0).to_frame()
        for one in (classifier, known)
    ]
    pd.testing.assert_frame_equal(*tables, rtol=1e-6)


@pytest.mark.parametrize("entry", [performance_interval, cud_interval, compare_intervals])
def test_a_result_that_is_passed_as_it_is_gets_a_way_on(entry):
    with pytest.raises(
        TypeError, match=r"of statsmodels is a result.*classifier, X, y = cudbound.from_statsmodels"
    ):
        entry(RESULTS["logit"](), X, Y)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: sm.Probit(Y, X).fit(disp=0), "is not the result of a logistic regression of statsmodels"),
        (lambda: sm.OLS(Y, X).fit(), "is not the result of a logistic regression of statsmodels"),
        (lambda: sm.GLM(Y, X).fit(), "is not the result of a logistic regression of statsmodels"),
        (
            lambda: sm.GLM(Y, X, family=sm.families.Binomial(sm.families.links.Probit())).fit(),
            "is not the result of a logistic regression",
        ),
        (lambda: LogisticRegression().fit(X, Y), "LogisticRegression is not the result"),
        (
            lambda: sm.GLM(Y, X, family=BINOMIAL, freq_weights=np.arange(1.0, N + 1.0)).fit(),
            "The fit used freq_weights, which cannot be read from its result",
        ),
        (lambda: sm.GLM(Y, X, family=BINOMIAL, offset=np.ones(N)).fit(), "The fit used an offset"),
        (lambda: sm.Logit(Y, X, offset=np.ones(N)).fit(disp=0), "The fit used an offset"),
        (
            lambda: sm.GLM(np.column_stack([Y + 1, 2 - Y]), X, family=BINOMIAL).fit(),
            "The outcomes of GLM are not 0 and 1",
        ),
    ],
)
def test_other_results_are_refused(fit, message):
    with pytest.raises(UnsupportedEstimatorError, match=message):
        from_statsmodels(fit())


DESIGN = sm.add_constant(X)
HALF = np.array([[0.0, 1.0, 0.0]]), np.array([0.5])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "fit",
    [
        lambda: sm.Logit(Y, DESIGN).fit_regularized(disp=0, alpha=2.0),
        lambda: sm.Logit(Y, DESIGN).fit_regularized(disp=0, alpha=1e-4),
        lambda: sm.GLM(Y, DESIGN, family=BINOMIAL).fit_regularized(alpha=0.1),
        lambda: sm.GLM(Y, DESIGN, family=BINOMIAL).fit_regularized(alpha=0.1, L1_wt=0.0),
        lambda: sm.GLM(Y, DESIGN, family=BINOMIAL).fit_regularized(alpha=0.1, L1_wt=1.0, refit=True),
        lambda: sm.GLM(Y, DESIGN, family=BINOMIAL).fit_constrained(HALF),
        lambda: smf.glm("y ~ a + b", TABLE, family=BINOMIAL).fit_constrained("a = 0.5"),
        lambda: smf.logit("y ~ a + b", TABLE).fit_constrained("a = 0.5", disp=0),
        lambda: sm.Logit(Y, DESIGN).fit(disp=0, maxiter=2),
    ],
)
def test_coefficients_that_refits_would_not_have_are_refused(fit):
    with pytest.raises(
        UnsupportedEstimatorError, match=r"do not maximize the likelihood.*fit_regularized or fit_const"
    ):
        from_statsmodels(fit())


@pytest.mark.parametrize("method", ["newton", "bfgs", "lbfgs", "nm", "powell"])
def test_every_optimizer_that_converges_is_accepted(method):
    assert from_statsmodels(sm.Logit(Y, DESIGN).fit(method=method, disp=0, maxiter=5000))[1].shape == (N, 2)
