"""Results of statsmodels are refused with the classifier of scikit-learn that has the same coefficients."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

from cudbound import compare_intervals, cud_interval, performance_interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("entry", [performance_interval, cud_interval, compare_intervals])
def test_a_result_that_is_passed_as_it_is_gets_a_way_on(entry):
    result = sm.Logit(Y, sm.add_constant(X)).fit(disp=0)
    with pytest.raises(TypeError, match=r"of statsmodels is a result.*LogisticRegression\(C=np\.inf\)"):
        entry(result, X, Y)
    classifier = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(classifier.coef_[0], result.params[1:], rtol=1e-6)
