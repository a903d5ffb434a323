"""Percentile intervals of bootstrap case cross-validation: Jiang, Varma and Simon (2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cudbound.intervals.bootstrap_percentile import percentile_interval, shifted_interval
from cudbound.intervals.method import Method, binomial_fallback
from cudbound.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.records import Records

NEEDS = frozenset({"removed_cases"})
SAME = "both limits are the same bootstrap replicate"
FALLBACK = binomial_fallback("the n training rows", lambda records: records.n_samples)
REFERENCE = (
    "Jiang, Varma and Simon (2008). Calculating confidence intervals for prediction error in microarray "
    "classification using resampling. Statistical Applications in Genetics and Molecular Biology 7, article 8. "
    "Quantiles by the inverted distribution function are ours"
)
COST = "about .632 n B + n"


def bias_reduced_interval(
    errors: ArrayLike, leave_one_out: float, confidence_level: float
) -> ConfidenceInterval:
    """Percentile interval of cross-validated errors of bootstrap draws, moved to the leave-one-out error.

    A draw has about .632 n distinct cases to train on, which makes its error too large. Both percentiles are moved by
    the mean of the errors minus the leave-one-out error of the training set.

    Parameters
    ----------
    errors : array-like of float, shape (n_resamples,)
        For each draw the mean loss of its cases, each tested by a classifier fitted to the draw without any copy of
        the case.
    leave_one_out : float
        Leave-one-out cross-validated error of the training set.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        It may leave [0, 1].

    References
    ----------
    Jiang, W., Varma, S. and Simon, R. (2008). Calculating confidence intervals for prediction error in microarray
    classification using resampling. Statistical Applications in Genetics and Molecular Biology 7, article 8: the
    method BCCVP-BR. Some public code uses a different error than the leave-one-out error for the center.

    Examples
    --------
    >>> bias_reduced_interval([0.25, 0.5, 0.75], 0.25, 0.5)
    ConfidenceInterval(low=0.0, high=0.5)
    """
    return shifted_interval(errors, leave_one_out, confidence_level)


def _percentile(records: Records, confidence_level: float) -> Outcome:
    errors = records.require("removed_cases").errors
    return Outcome(float(np.mean(errors)), percentile_interval(errors, confidence_level), degenerate=SAME)


def _bias_reduced(records: Records, confidence_level: float) -> Outcome:
    record = records.require("removed_cases")
    interval = bias_reduced_interval(record.errors, record.leave_one_out, confidence_level)
    return Outcome(
        record.leave_one_out,
        interval,
        degenerate=SAME,
        details={"bias": float(np.mean(record.errors)) - record.leave_one_out},
    )


BCCVP = Method(
    name="bccvp",
    title="Percentile interval of bootstrap case cross-validation",
    estimand=Estimand("conditional"),
    needs=NEEDS,
    assumptions="the cross-validated error varies over draws as over training sets",
    tendency="conservative, and high: a draw has fewer distinct cases to train on than the training set",
    reference=REFERENCE,
    cost=COST,
    compute=_percentile,
    fallback=FALLBACK,
)

BCCVP_BR = Method(
    name="bccvp-br",
    title="Percentile interval of bootstrap case cross-validation with bias reduction",
    estimand=Estimand("conditional"),
    needs=NEEDS,
    assumptions="the cross-validated error varies over draws as over training sets, and its bias on draws is constant",
    tendency="mildly conservative in the simulations of its authors",
    reference=REFERENCE,
    cost=COST,
    compute=_bias_reduced,
    fallback=FALLBACK,
)
