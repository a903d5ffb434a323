"""`sklearn.pipeline.Pipeline`: the fitted transformers are a fixed basis for the last step.

This is the gamma-hat of Laber & Murphy (2008), section 3.1: parameters of the basis, such as principal axes
or the means and scales of a standardization, are kept at their values from the training set in every bootstrap draw.
Refits, in contrast, fit the transformers again.
"""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from cudbound.adapters.family import Adapter
from cudbound.adapters.registry import find_adapter
from cudbound.problem.additive_model import AdditiveModel


def _express(estimator: Pipeline, X: Any, y: Any) -> AdditiveModel:
    final = estimator.steps[-1][1]
    adapter = find_adapter(final)
    basis = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
    return adapter.express(final, basis, y)


ADAPTER = Adapter(
    supports="a sklearn Pipeline of transformers that ends in one of these",
    families=(Pipeline,),
    express=_express,
)
