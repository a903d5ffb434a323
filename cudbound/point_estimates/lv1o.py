"""Leave-one-out clipped to the band between the .632 bootstrap and repeated two-fold cross-validation (LV1O*)."""

from __future__ import annotations

import math

import numpy as np

from cudbound.basis.outcomes import Estimand, PointOutcome
from cudbound.basis.rounding import format_proportion
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG, estimate_632
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import LOSSES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import LEAVE_ONE_OUT
from cudbound.resampling.splits import HALVINGS


def error_lv1o(leave_one_out: float, bootstrap_632: float, two_fold: float) -> float:
    """Return the leave-one-out error clipped to the band between two less variable estimates.

    Parameters
    ----------
    leave_one_out : float
        Leave-one-out error, in [0, 1].
    bootstrap_632 : float
        .632 estimate, the lower limit of the band.
    two_fold : float
        Error of repeated two-fold cross-validation, the upper limit. Limits in the wrong order are swapped.

    Returns
    -------
    float
        nan if the .632 estimate is nan.

    References
    ----------
    Weiss, S. M. (1991). Small sample error rate estimation for k-NN classifiers. IEEE Transactions on Pattern Analysis
    and Machine Intelligence 13, 285-289, describes the estimator. The formula here could not be checked against the
    article, and its treatment of crossed limits is our choice.

    Examples
    --------
    >>> error_lv1o(0.15, 0.22, 0.3)
    0.22
    """
    if math.isnan(bootstrap_632):
        return math.nan
    low, high = sorted((bootstrap_632, two_fold))
    return min(max(leave_one_out, low), high)


def _compute(records: Records) -> PointOutcome:
    leave_one_out = float(np.mean(records.require(LEAVE_ONE_OUT).losses))
    bootstrap_632 = estimate_632(records)
    two_fold = float(np.mean(records.require(HALVINGS).means))
    remarks = ["experimental: the formula could not be checked against its source"]
    if bootstrap_632 > two_fold:
        remarks.append(
            f"the .632 estimate {format_proportion(bootstrap_632)} is above that of two-fold cross-validation "
            f"{format_proportion(two_fold)}: limits swapped"
        )
    return PointOutcome(
        error_lv1o(leave_one_out, bootstrap_632, two_fold),
        remarks=tuple(remarks),
        degenerate=NOTHING_OUT_OF_BAG if math.isnan(bootstrap_632) else None,
        details={"leave_one_out": leave_one_out, "bootstrap_632": bootstrap_632, "two_fold": two_fold},
    )


LV1O = PointEstimator(
    name="lv1o",
    title="Leave-one-out clipped to the band from .632 to repeated two-fold cross-validation (experimental)",
    formula="min(max(L, x), C); L is the leave-one-out error, C the error of repeated two-fold cross-validation",
    estimand=Estimand("rule"),
    needs=frozenset({LOSSES, LEAVE_ONE_OUT, BOOTSTRAP, HALVINGS}),
    assumptions="the error lies between the .632 and the two-fold cross-validation estimate",
    tendency="unbiased for discriminants and nearest neighbors, but not for trees, according to Martin and Hirschberg "
    "(1996)",
    reference="Weiss (1991), experimental: formula and treatment of limits in the wrong order are our interpretation; "
    ".632 with Err(1)",
    cost="n + B + 2 M",
    compute=_compute,
)
