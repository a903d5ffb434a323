"""Classifiers without a CUD bound: which words the table has for it, and which error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_versions import sparse_logistic

from cudbound import LeastSquaresClassifier
from cudbound.adapters import to_additive_model
from cudbound.adapters.model import Model
from cudbound.basis.exceptions import NotMinimizerError
from cudbound.basis.sample import Sample

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
LASSO = sparse_logistic(1.0, solver="liblinear", tol=1e-8)


def test_what_can_be_expressed_is():
    fitted = LeastSquaresClassifier().fit(X, Y)
    found = Model.of(Sample.of(fitted, X, Y), needed=True, named=True)
    assert found.why_none == ""
    np.testing.assert_array_equal(found.additive.design, to_additive_model(fitted, X, Y).design)

    descent = make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, Y)
    with pytest.raises(NotMinimizerError) as raised:
        to_additive_model(descent, X, Y)
    assert to_additive_model(descent, X, Y, polish=True).polish.residual == pytest.approx(
        raised.value.residual
    )
    assert to_additive_model(LASSO.fit(X, Y), X, Y).l1_penalty is not None
