"""Nested cross-validation: Bates, Hastie and Tibshirani (2024)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import Estimand
from cudbound.intervals.method import ON_TRAINING_ROWS, Method, size_in_study
from cudbound.intervals.pivot import EQUAL, Pivot
from cudbound.records import Records

#: Exponents of (K - 2) / K in the correction of bias.
EXPONENTS = {"linear": 1.0, "package": 1.5}


def nested_cv_pivot(inner: ArrayLike, outer: ArrayLike, n_samples: int, *, bias: str = "linear") -> Pivot:
    """Return the bias-corrected error of nested cross-validation, with its root mean squared error as standard error.

    For every outer fold, a is the squared difference between the mean inner and the mean outer loss, and b is the
    sample variance of the outer losses divided by their number. The mean squared error of the inner cross-validation is
    estimated by mean(a) - mean(b), and

        SE = max(s, min(sqrt(K) s, sqrt(max(0, (K - 1)/K (mean(a) - mean(b))))))

    with s the standard deviation of all inner losses divided by sqrt(n). The estimate is the mean inner loss minus
    (1 + ((K - 2)/K)^c) times the difference of the mean inner and the mean outer loss.

    Parameters
    ----------
    inner : array-like, shape (n_repeats, n_folds, (n_folds - 1) * n_outer)
        For each outer fold the losses of cross-validation inside the other folds; at least three folds.
    outer : array-like, shape (n_repeats, n_folds, n_outer)
        The losses on the outer fold of the classifier fitted to the other folds.
    n_samples : int
        Rows of the training set.
    bias : {"linear", "package"}, default="linear"
        c = 1, exact if the expected error with n1 training rows is a + c'/n1, or c = 1.5 as in the authors' software.

    Returns
    -------
    Pivot
        Its estimate may leave [0, 1]. Its details are "inner_error", "outer_error", "bias" and "mse"; "mse" may be
        negative. With a ``degenerate`` reason if all inner losses are equal or a fold has one row.

    Raises
    ------
    ValueError
        If there are fewer than three folds.

    References
    ----------
    Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it estimate and how well does it do
    it? JASA 119, 1434-1445, section 4 and algorithm 1. The mean outer loss replaces separate repetitions of
    cross-validation.

    Examples
    --------
    >>> inner = [[[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]]
    >>> outer = [[[0, 1], [0, 0], [1, 0]]]
    >>> pivot = nested_cv_pivot(inner, outer, 6)
    >>> round(pivot.estimate, 3), round(pivot.standard_error, 3)
    (0.361, 0.185)
    """
    inner, outer = np.asarray(inner, dtype=float), np.asarray(outer, dtype=float)
    exponent = EXPONENTS[bias]
    n_folds, n_outer = outer.shape[1:]
    if n_folds < 3:
        raise ValueError(
            "Nested cross-validation needs at least 3 folds because its classifiers leave out two of them. Got "
            f"{n_folds}; record it again with more folds."
        )
    inner_error, outer_error = float(inner.mean()), float(outer.mean())
    correction = (1.0 + ((n_folds - 2) / n_folds) ** exponent) * (inner_error - outer_error)
    numbers = {"inner_error": inner_error, "outer_error": outer_error, "bias": correction}
    estimate = inner_error - correction
    if n_outer < 2:
        reason = "the mean squared error is undefined: a fold has only one row"
        return Pivot(estimate, math.nan, degenerate=reason, details=numbers)
    squared = np.square(inner.mean(axis=2) - outer.mean(axis=2))
    mse = float(squared.mean() - (outer.var(axis=2, ddof=1) / n_outer).mean())
    constant = float(np.ptp(inner)) <= EQUAL
    lowest = 0 if inner.min() >= 0.0 else -1  # losses, or differences of losses
    low = 0.0 if constant else float(inner.std(ddof=1)) / math.sqrt(n_samples)
    root = math.sqrt(max(0.0, (n_folds - 1) / n_folds * mse))
    return Pivot(
        estimate,
        max(low, min(math.sqrt(n_folds) * low, root)),
        remarks=()
        if lowest <= estimate <= 1.0
        else (f"the bias-corrected estimate is outside [{lowest}, 1]",),
        degenerate="all inner losses are equal" if constant else None,
        details={**numbers, "mse": mse},
    )


def _nested_cv(records: Records, *, bias: str) -> Pivot:
    nested = records.require("nested")
    return nested_cv_pivot(nested.inner, nested.outer, nested.n_samples, bias=bias)


NESTED_CV = Method(
    name="nested-cv",
    title="Normal interval with the mean squared error estimated by nested cross-validation",
    formula="I - c +/- z(1 - d/2) max(s, min(sqrt(k) s, sqrt(max(0, (k - 1)/k MSE)))); I and O are the means of the "
    "inner and outer losses, c = (1 + (k - 2)/k) (I - O), s the standard deviation of the inner losses / sqrt(n), MSE "
    "the mean over outer folds of (inner mean - outer mean)^2 - variance of the outer losses / their number",
    estimand=Estimand("conditional"),
    needs=frozenset({"nested"}),
    assumptions="the mean squared error of cross-validation is the same on K - 1 of K folds, up to the factor (K - "
    "1)/K; the authors' target is the error of the fitted classifier, but in practice the method estimates how far a "
    "cross-validated error is from it on average over training sets",
    tendency="its standard error is between 1 and sqrt(K) times that of independent losses, and noisy with few "
    "repetitions; zero width if all losses are equal; " + size_in_study(".130", 13, sets=100),
    reference="Bates, Hastie and Tibshirani (2024), section 4 and algorithm 1; bias='package' uses the exponent 1.5 of "
    "their software, the default is exact for errors of the form a + c/n1; rows that do not fill the folds are left "
    "out of a repetition, but their software trains on them",
    cost="R (K + K (K - 1) / 2)",
    pivot=_nested_cv,
    options={"bias": Choice(tuple(EXPONENTS))},
    fallback=ON_TRAINING_ROWS,
)
