"""The adapters of all families, and the look-up of the one that takes an estimator."""

from __future__ import annotations

from typing import Any

from cudbound.adapters.family import Adapter
from cudbound.adapters.refusals import REFUSALS
from cudbound.exceptions import UnsupportedEstimatorError

#: In the order in which they are asked. `cudbound.adapters` fills it: adapters of what holds another estimator, such
#: as a pipeline, look up the adapter of that one here.
ADAPTERS: list[Adapter] = []

_OTHER_METHODS = (
    "Or leave 'cud' and 'aci' out of the methods of cudbound.compare_intervals: the others take any classifier of two "
    "classes."
)


def find_adapter(estimator: Any) -> Adapter:
    """Return the adapter that accepts the estimator.

    Raises
    ------
    UnsupportedEstimatorError
        If there is none; the message gives the reason, names what is supported and says what to do.
    """
    name = type(estimator).__name__
    for refusal in REFUSALS:
        if refusal.applies(estimator):
            raise UnsupportedEstimatorError(f"{name} {refusal.reason}", f"{refusal.remedy} {_OTHER_METHODS}")
    for adapter in ADAPTERS:
        if adapter.accepts(estimator):
            return adapter
    supported = "; ".join(adapter.supports for adapter in ADAPTERS)
    raise UnsupportedEstimatorError(
        f"{name} is not known as an additive classifier with a convex surrogate loss.",
        f"Supported: {supported}. Fit one of these for the CUD interval. {_OTHER_METHODS}",
    )
