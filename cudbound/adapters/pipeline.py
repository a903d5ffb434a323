"""`sklearn.pipeline.Pipeline`: the fitted transformers are a fixed basis for the last step.

This is the gamma-hat of Laber & Murphy (2008), section 3.1: parameters of the basis, such as principal axes
or the means and scales of a standardization, are kept at their values from the training set in every bootstrap draw.
Refits, in contrast, fit the transformers again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.pipeline import Pipeline

from cudbound.adapters.family import Adapter
from cudbound.problem.additive_model import AdditiveModel


def pipeline_adapter(find_adapter: Callable[[Any], Adapter]) -> Adapter:
    """Return the adapter of pipelines; `find_adapter` is the registry's look-up, for the last step."""

    def accepts(estimator: Any) -> bool:
        return isinstance(estimator, Pipeline)

    def express(estimator: Pipeline, X: Any, y: Any) -> AdditiveModel:
        final = estimator.steps[-1][1]
        adapter = find_adapter(final)
        basis = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return adapter.express(final, basis, y)

    return Adapter(
        supports="a sklearn Pipeline of transformers that ends in one of these",
        accepts=accepts,
        express=express,
    )
