"""`sklearn.pipeline.Pipeline`: the fitted transformers are a fixed basis for the last step.

This is the gamma-hat of Laber & Murphy (2008), section 3.1: parameters of the basis, such as principal axes
or the means and scales of a standardisation, are held at their values from the training set in every
bootstrap draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures

from cudbound.adapters.base import Adapter, BatchedRefit
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.model import AdditiveModel

#: Transformers whose output for a row does not depend on the rows that they were fitted to, so that refitting them
#: with the last step changes nothing.
STATELESS = (PolynomialFeatures,)


def pipeline_adapter(find_adapter: Callable[[Any], Adapter]) -> Adapter:
    """Return the adapter of pipelines; `find_adapter` is the registry's look-up, for the last step."""

    def accepts(estimator: Any) -> bool:
        return isinstance(estimator, Pipeline)

    def express(estimator: Pipeline, X: Any, y: Any) -> AdditiveModel:
        final = estimator.steps[-1][1]
        adapter = find_adapter(final)
        basis = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return adapter.express(final, basis, y)

    def batched_refit(estimator: Pipeline, X: Any, y: Any) -> BatchedRefit | None:
        steps = [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
        if any(type(step) not in STATELESS for step in steps):
            return None
        final = estimator.steps[-1][1]
        try:
            adapter = find_adapter(final)
        except UnsupportedEstimatorError:
            return None
        if adapter.batched_refit is None:
            return None
        return adapter.batched_refit(final, estimator[:-1].transform(X) if steps else X, y)

    return Adapter(
        supports="a sklearn Pipeline of transformers that ends in one of these",
        accepts=accepts,
        express=express,
        batched_refit=batched_refit,
    )
