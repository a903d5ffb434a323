"""Point estimates of the error from recorded losses, which may come from any software."""

from __future__ import annotations

from typing import Any

from cudbound.basis.method_card import RequestedMethods, find_named
from cudbound.point_estimates.bolstered import OF_KERNELS
from cudbound.point_estimates.bootstrap_632 import OF_DRAWS
from cudbound.point_estimates.estimator import MEANS, PointEstimator, compute_estimate

__all__ = ["ESTIMATORS", "PointEstimator", "compute_estimate", "find_estimators"]

#: Every point estimator by its name, in the order of the table.
ESTIMATORS: dict[str, PointEstimator] = {card.name: card for card in (*MEANS, *OF_DRAWS, *OF_KERNELS)}


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
    rule = f"'all' or a list of names from {list(ESTIMATORS)}"
    return find_named(names, ESTIMATORS, {"all": ESTIMATORS}, rule)
