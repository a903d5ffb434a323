"""Point estimates of the error from recorded losses, which may come from any software."""

from __future__ import annotations

from typing import Any

from cudbound.basis.method_card import RequestedMethods, find_named
from cudbound.point_estimates.bolstered import BOLSTERED, SEMI_BOLSTERED
from cudbound.point_estimates.bootstrap_632 import (
    BOOTSTRAP_632,
    BOOTSTRAP_632_PLUS,
    BOOTSTRAP_OPTIMISM,
    BOOTSTRAP_POOLED,
    LEAVE_ONE_OUT_BOOTSTRAP,
    LV1O,
)
from cudbound.point_estimates.estimator import (
    HOLDOUT,
    K_FOLD,
    LEAVE_ONE_OUT_ERROR,
    REPEATED_K_FOLD,
    RESUBSTITUTION,
    PointEstimator,
    compute_estimate,
)

__all__ = ["ESTIMATORS", "PointEstimator", "compute_estimate", "find_estimators"]

#: Every point estimator by its name, in the order of the table.
ESTIMATORS: dict[str, PointEstimator] = {
    estimator.name: estimator
    for estimator in (
        RESUBSTITUTION,
        HOLDOUT,
        K_FOLD,
        REPEATED_K_FOLD,
        LEAVE_ONE_OUT_ERROR,
        LEAVE_ONE_OUT_BOOTSTRAP,
        BOOTSTRAP_POOLED,
        BOOTSTRAP_632,
        BOOTSTRAP_632_PLUS,
        BOOTSTRAP_OPTIMISM,
        LV1O,
        BOLSTERED,
        SEMI_BOLSTERED,
    )
}


def find_estimators(names: Any) -> RequestedMethods[PointEstimator]:
    """Return the requested point estimators, see `cudbound.basis.method_card.find_named`.

    Raises
    ------
    ValueError
        If a name is not registered, or the list is empty; the message lists the names.

    Examples
    --------
    >>> [estimator.title for estimator in find_estimators(["bootstrap-632", "k-fold"])]
    ['.632 estimate', 'k-fold cross-validation']
    """
    return find_named(
        names, ESTIMATORS, {"all": ESTIMATORS}, lambda: f"'all' or a list of names from {list(ESTIMATORS)}"
    )
