"""Convert logistic regressions of statsmodels to scikit-learn classifiers; statsmodels is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.validation import check_lengths

#: Slope of the likelihood, as a share of the sum of a column, above which it is not at its maximum.
STEEP = 1e-3


@public_call
def from_statsmodels(result: Any) -> tuple[LogisticRegression, NDArray[np.float64], NDArray[np.int64]]:
    """Convert a logistic regression of statsmodels to a fitted classifier, with the rows and labels of its fit.

    The classifier predicts 1 if the fitted probability is at least one half. Its coefficients are those of the result.
    A refit is maximum likelihood on the resampled rows of the same design; terms that a formula derived from the data,
    such as splines or levels, stay fixed.

    Parameters
    ----------
    result : object
        Results of ``Logit(...).fit()``, or of ``GLM(..., family=Binomial()).fit()`` with the logit link, from arrays
        or formulas.

    Returns
    -------
    classifier : LogisticRegression
        Without a penalty; a constant column of the design becomes its intercept.
    X : ndarray of float, shape (n_samples, n_features)
        The other columns of the design.
    y : ndarray of int, shape (n_samples,)
        The labels, 0 or 1.

    Raises
    ------
    UnsupportedEstimatorError
        If it is not such a result, if the fit used weights, an offset, an exposure or outcomes other than 0 and 1, or
        if the coefficients do not maximize the likelihood, as those of ``fit_regularized`` and ``fit_constrained``.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import performance_interval, from_statsmodels
    >>> class Logit:  # what statsmodels keeps of a model
    ...     exog = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0], [1.0, 5.0], [1.0, 6.0], [1.0, 7.0]])
    ...     endog = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    >>> class Results:
    ...     model, params = Logit(), np.array([-5.463, 1.214])
    >>> classifier, X, y = from_statsmodels(Results())
    >>> X.ravel().tolist(), y.tolist(), classifier.coef_.tolist(), classifier.intercept_.tolist()
    ([2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0, 0, 1, 0, 1, 1], [[1.214]], [-5.463])
    """
    model: Any = getattr(result, "model", None)
    params = np.asarray(getattr(result, "params", ()), dtype=np.float64)
    kind = type(model).__name__
    family = getattr(model, "family", None)
    logit_link = (
        type(getattr(family, "link", None)).__name__ == "Logit" and type(family).__name__ == "Binomial"
    )
    if kind != "Logit" and not (kind == "GLM" and logit_link):
        raise UnsupportedEstimatorError(
            f"{type(result).__name__} is not the result of a logistic regression of statsmodels.",
            "Fit Logit(y, X), or GLM(y, X, family=Binomial()) with the logit link; for other models pass a fitted "
            "scikit-learn classifier.",
        )
    _check_plain(model)
    design, outcomes = np.asarray(model.exog, dtype=np.float64), np.asarray(model.endog, dtype=np.float64)
    if not np.isin(outcomes, (0.0, 1.0)).all() or np.unique(outcomes).size != 2:
        raise UnsupportedEstimatorError(
            f"The outcomes of {kind} are not 0 and 1.",
            "Use one row per case, with the outcome 0 or 1.",
        )
    check_lengths(design.shape[1], params.size)
    constant = np.flatnonzero((design == design[0]).all(axis=0) & (design[0] != 0.0))[:1]
    _check_maximum(result, design, outcomes, params)
    X, y = np.delete(design, constant, axis=1), outcomes.astype(np.int64)
    classifier = LogisticRegression(
        C=np.inf, solver="newton-cholesky", tol=1e-8, fit_intercept=bool(constant.size)
    )
    classifier.classes_ = np.array([0, 1])
    classifier.n_features_in_ = X.shape[1]
    classifier.coef_ = np.delete(params, constant)[None, :]
    classifier.intercept_ = params[constant] * design[0, constant] if constant.size else np.zeros(1)
    classifier.n_iter_ = np.array([0], dtype=np.int32)
    return classifier, X, y


def _check_maximum(
    result: Any, design: NDArray[np.float64], outcomes: NDArray[np.float64], params: NDArray[np.float64]
) -> None:
    """Raise an error unless the coefficients maximize the likelihood, as those of refits do."""
    slope = np.abs(design.T @ (outcomes - expit(design @ params)))
    penalized = type(result).__name__.startswith(("Regularized", "L1"))
    if (
        not penalized
        and not hasattr(result, "constraints")
        and (slope <= STEEP * abs(design).sum(axis=0)).all()
    ):
        return
    raise UnsupportedEstimatorError(
        "The coefficients do not maximize the likelihood, but those of refits would.",
        "Use fit() of statsmodels, with a larger maxiter if it did not converge, instead of fit_regularized or "
        "fit_constrained; for a penalty, fit LogisticRegression of scikit-learn.",
    )


def _check_plain(model: Any) -> None:
    """Raise an error for fits with row weights, or with a part of the score that no coefficient multiplies."""
    for name in ("freq_weights", "var_weights"):
        weights = getattr(model, name, None)
        if weights is not None and not (np.asarray(weights) == 1.0).all():
            raise UnsupportedEstimatorError(
                f"The fit used {name}, which cannot be read from its result.",
                "Fit without them, or pass a scikit-learn classifier fitted with sample_weight.",
            )
    for name in ("offset", "exposure"):
        shift = getattr(model, name, None)
        if shift is not None and np.any(np.asarray(shift) != 0.0):
            raise UnsupportedEstimatorError(f"The fit used an {name}.", "Fit without it.")
