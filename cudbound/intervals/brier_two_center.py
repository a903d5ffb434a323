"""The recommended interval for the Brier score: binomial limits around two centers, for losses between 0 and 1."""

from __future__ import annotations

import math

import numpy as np

from cudbound.basis.outcomes import UNDEFINED_LIMITS, ConfidenceInterval, Estimand, Outcome
from cudbound.basis.proportions import inverted_binomial_tails
from cudbound.intervals.method import Method
from cudbound.point_estimates.bootstrap_632 import (
    error_632,
    error_632_plus,
    leave_one_out_bootstrap_error,
    out_of_bag_error,
)
from cudbound.point_estimates.effective_size import effective_rows
from cudbound.point_estimates.optimism import optimism_corrected_error
from cudbound.records import Records

#: Weight in the variance of one unseen case with the largest loss: without it, a hidden subgroup is missed.
UNSEEN = 0.25


def brier_size(center: float, variance: float, n: float) -> float:
    """Return the number of 0/1 losses whose mean has the same variance as that of n losses with this variance.

    Examples
    --------
    >>> brier_size(0.2, 0.16, 10.0), brier_size(0.0, 0.0, 10.0)
    (10.0, 10.0)
    """
    if center in (0.0, 1.0):
        return n
    largest = center * (1.0 - center)
    return n * largest / min(variance + UNSEEN * (1.0 - center) ** 2 / n, largest)


def brier_variance(records: Records) -> float:
    """Return the variance of the squared errors out of bag, or that on the training rows if it is larger."""
    losses, bootstrap = np.asarray(records.require("losses")), records.require("bootstrap")
    squares = float(leave_one_out_bootstrap_error(np.square(bootstrap.losses), bootstrap.counts))
    return max(squares - out_of_bag_error(records) ** 2, float(losses.var(ddof=1)))


def _two_center(records: Records, confidence_level: float) -> Outcome:
    losses = np.asarray(records.require("losses"))
    training, left_out = float(losses.mean()), out_of_bag_error(records)
    if math.isnan(left_out):
        return Outcome(math.nan, UNDEFINED_LIMITS)
    plus = error_632_plus(training, left_out, records.no_information).estimate
    corrected = min(max(optimism_corrected_error(records), 0.0), 1.0)
    low_center = float(error_632(training, left_out))
    high_center = max(low_center, (left_out + plus) / 2.0, corrected)
    variance = brier_variance(records)
    n = effective_rows(records)
    lower, upper = (brier_size(center, variance, n) for center in (low_center, high_center))
    tail = (1.0 - confidence_level) / 2.0
    low = float(inverted_binomial_tails(lower * low_center, lower, tail, tail)[0])
    high = float(inverted_binomial_tails(upper * high_center, upper, tail, tail)[1])
    remarks = () if records.groups is None else (f"{losses.size} rows counted as {n:.1f}",)
    return Outcome(
        min(max(plus, low), high),
        ConfidenceInterval(low, high),
        remarks=remarks,
        details={
            "training_brier": training,
            "brier_optimism_corrected": corrected,
            "brier_out_of_bag": left_out,
            "brier_632_plus": plus,
            "no_information": records.no_information,
            "lower_center": low_center,
            "upper_center": high_center,
            "variance": variance,
            "lower_size": lower,
            "upper_size": upper,
        },
    )


TWO_CENTER_BRIER = Method(
    name="two-center",
    reads="probabilities",
    title="Binomial limits around the .632, the out-of-bag and the optimism-corrected Brier score, with the variance "
    "of squared errors",
    formula="low = lo(ne(m) m), high = up(ne(M) M); m is the .632 estimate, M the largest of m, the mean of Err(1) and "
    "the .632+ estimate, and the optimism-corrected score; lo and up are Clopper-Pearson limits for ne cases with d/2 "
    "in each tail; ne(c) is the number of 0/1 losses whose mean varies like that of the losses and a quarter of an "
    "unseen case",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="one of the two centers is close to the Brier score of this classifier, and varies as if observed on n "
    "new cases",
    tendency="reached its level in 86 of 87 settings (docs/evidence/auc_and_brier.md); too low "
    "with nearly half as many features as rows, unless the penalty is strong",
    reference="this package, docs/how_to/auc_and_brier.md; Clopper and Pearson (1934), Efron and Gong (1983), Efron "
    "and Tibshirani (1997)",
    cost="B",
    compute=_two_center,
)
