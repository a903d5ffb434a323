"""Percentile intervals of bootstrap case cross-validation: Jiang, Varma and Simon (2008)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.intervals.bootstrap_percentile import percentile_interval, shifted_interval
from cudbound.intervals.method import ON_TRAINING_ROWS, Method
from cudbound.records import Records

SAME = "both limits are the same bootstrap replicate"


def _percentile(records: Records, confidence_level: float) -> Outcome:
    errors = records.require("removed_cases").errors
    return Outcome(float(np.mean(errors)), percentile_interval(errors, confidence_level), degenerate=SAME)


def _bias_reduced(records: Records, confidence_level: float) -> Outcome:
    # a draw has about .632 n distinct cases to train on, which makes its error too large: both percentiles are moved by
    # the mean of the errors minus the leave-one-out error; some public code takes another error as the center
    record = records.require("removed_cases")
    return Outcome(
        record.leave_one_out,
        shifted_interval(record.errors, record.leave_one_out, confidence_level),
        degenerate=SAME,
        details={"bias": float(np.mean(record.errors)) - record.leave_one_out},
    )


BCCVP = Method(
    name="bccvp",
    title="Percentile interval of bootstrap case cross-validation",
    formula="the d/2 and 1 - d/2 quantiles over the draws of theta_b = sum of count_i e_i / n; e_i is the loss "
    "on row i after a fit to the draw without all copies of i",
    estimand=Estimand("conditional"),
    needs=frozenset({"removed_cases"}),
    assumptions="the cross-validated error varies over draws as it does over training sets",
    tendency="conservative, and too high: a draw has fewer distinct cases than the training set",
    reference="Jiang, Varma and Simon (2008). Calculating confidence intervals for prediction error in microarray "
    "classification using resampling. Statistical Applications in Genetics and Molecular Biology 7, article 8. "
    "Quantiles by the inverted distribution function are our choice",
    cost="about .632 n B + n",
    compute=_percentile,
    fallback=ON_TRAINING_ROWS,
)

BCCVP_BR = replace(
    BCCVP,
    name="bccvp-br",
    title="Percentile interval of bootstrap case cross-validation with bias reduction",
    formula="the limits of bccvp minus (mean of theta_b - leave-one-out error)",
    assumptions="the cross-validated error varies over draws as it does over training sets, and its bias on draws is "
    "constant",
    tendency="mildly conservative in its authors' simulations",
    compute=_bias_reduced,
)
