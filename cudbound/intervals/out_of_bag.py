"""Binomial intervals from out-of-bag losses, as if they were tests of one classifier: naive, and often reported."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.proportions import inverted_binomial_interval, wilson_interval
from cudbound.intervals.method import Method
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG, out_of_bag_error
from cudbound.records import Records

Limits = Callable[[float, float, float], ConfidenceInterval]


def _compute(records: Records, confidence_level: float, *, limits: Limits) -> Outcome:
    error = out_of_bag_error(records)
    if math.isnan(error):
        return Outcome.undefined(NOTHING_OUT_OF_BAG)
    # weighted rows that were never out of bag can leave a mean above 1
    error = min(error, 1.0)
    return Outcome(error, limits(error, records.n_effective, confidence_level))


def _exact(error: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    return inverted_binomial_interval(error * n_tested, n_tested, confidence_level)


OUT_OF_BAG_WILSON = Method(
    name="out-of-bag-wilson",
    title="Wilson score interval from the out-of-bag losses",
    estimand=Estimand("conditional"),
    needs=frozenset({"bootstrap"}),
    assumptions="the mean out-of-bag loss of each row is the loss of this classifier on a new case",
    tendency="too high, since draws have about .632 n distinct rows; liberal if the out-of-bag error is far from that "
    "of this classifier; a naive interval for comparison with others",
    reference="Wilson (1927), with the leave-one-out bootstrap error of Efron and Tibshirani (1997) instead of a "
    "proportion",
    cost="B",
    formula="Wilson score limits at e = Err(1), the mean over rows of their mean out-of-bag loss, n tests",
    compute=partial(_compute, limits=wilson_interval),
)

OUT_OF_BAG_CLOPPER_PEARSON = replace(
    OUT_OF_BAG_WILSON,
    name="out-of-bag-clopper-pearson",
    title="Clopper-Pearson interval from the out-of-bag losses",
    reference="Clopper and Pearson (1934), extended to fractional counts, with the leave-one-out bootstrap error of "
    "Efron and Tibshirani (1997) instead of a proportion",
    formula="inverted binomial tails at n e errors in n tests, e = Err(1), the mean over rows of their mean out-of-bag "
    "loss",
    compute=partial(_compute, limits=_exact),
)
