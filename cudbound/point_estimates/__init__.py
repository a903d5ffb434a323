"""Point estimates of the error from recorded losses; any software may have recorded them."""

from __future__ import annotations

from collections.abc import Sequence

from cudbound.method_card import find_named
from cudbound.point_estimates.bolstered import (
    BOLSTERED,
    SEMI_BOLSTERED,
    KernelWidths,
    kernel_widths,
    linear_bolstered_losses,
)
from cudbound.point_estimates.bootstrap_632 import (
    BOOTSTRAP_632,
    BOOTSTRAP_632_PLUS,
    BOOTSTRAP_POOLED,
    LEAVE_ONE_OUT_BOOTSTRAP,
    Error632Plus,
    error_632,
    error_632_plus,
    estimate_632,
    estimate_632_plus,
    leave_one_out_bootstrap_error,
    no_information_error,
    pooled_bootstrap_error,
)
from cudbound.point_estimates.cross_validation import (
    HOLDOUT,
    K_FOLD,
    LEAVE_ONE_OUT,
    REPEATED_K_FOLD,
    RESUBSTITUTION,
    mean_training_size,
)
from cudbound.point_estimates.estimator import PointEstimator, compute_estimate
from cudbound.point_estimates.lv1o import LV1O, error_lv1o
from cudbound.records.bootstrap_losses import never_out_of_bag
from cudbound.results import PointEstimate

__all__ = [
    "ESTIMATORS",
    "Error632Plus",
    "KernelWidths",
    "PointEstimate",
    "PointEstimator",
    "compute_estimate",
    "error_632",
    "error_632_plus",
    "error_lv1o",
    "estimate_632",
    "estimate_632_plus",
    "find_estimators",
    "kernel_widths",
    "leave_one_out_bootstrap_error",
    "linear_bolstered_losses",
    "mean_training_size",
    "never_out_of_bag",
    "no_information_error",
    "pooled_bootstrap_error",
]

#: Every point estimator by its name, in the order of the table.
ESTIMATORS: dict[str, PointEstimator] = {
    estimator.name: estimator
    for estimator in (
        RESUBSTITUTION,
        HOLDOUT,
        K_FOLD,
        REPEATED_K_FOLD,
        LEAVE_ONE_OUT,
        LEAVE_ONE_OUT_BOOTSTRAP,
        BOOTSTRAP_POOLED,
        BOOTSTRAP_632,
        BOOTSTRAP_632_PLUS,
        LV1O,
        BOLSTERED,
        SEMI_BOLSTERED,
    )
}


def find_estimators(names: str | Sequence[str]) -> tuple[PointEstimator, ...]:
    """Return the point estimators of one name, of "all" or of a list of names, each once, in the order given.

    Raises
    ------
    ValueError
        If a name is not registered, or the list is empty; the message lists the names.

    Examples
    --------
    >>> [estimator.title for estimator in find_estimators(["bootstrap-632", "k-fold"])]
    ['.632 estimate', 'k-fold cross-validation']
    """
    rule = f"The 'methods' parameter must be 'all' or a list of names out of {list(ESTIMATORS)}."
    return find_named(names, ESTIMATORS, {"all": ESTIMATORS}, rule)
