"""What the package has to know of an estimator family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.model import AdditiveModel

#: Maps weights of the training rows, shape (n_fits, n_samples), to whether each training row is misclassified
#: by the classifier fitted with these weights, bool, shape (n_fits, n_samples). It must be able to fit one
#: class alone.
BatchedRefit = Callable[[NDArray[np.float64]], NDArray[np.bool_]]


@dataclass(frozen=True)
class Adapter:
    """One family of estimators that can be written as additive classifiers with a convex surrogate loss.

    Attributes
    ----------
    supports : str
        The family, as error messages and the documentation name it.
    accepts : callable
        ``accepts(estimator)``: whether the estimator belongs to the family.
    express : callable
        ``express(estimator, X, y)``: the fitted estimator on its training rows as plain arrays. Validates `X`
        and `y` against the estimator; need not check that the coefficients minimise the loss.
    batched_refit : callable, optional
        ``batched_refit(estimator, X, y)``: a `BatchedRefit` for refits of this very estimator, or None
        where it has to be cloned and refitted. None for the whole family if not given.
    """

    supports: str
    accepts: Callable[[Any], bool]
    express: Callable[[Any, Any, Any], AdditiveModel]
    batched_refit: Callable[[Any, Any, Any], BatchedRefit | None] | None = None
