"""Convex surrogate losses, as functions of the label y in {-1, +1} and the score f = b(gamma-hat, x)'beta.

Each loss is one small object. `curvature` is the second derivative in f; a loss with constant curvature is
quadratic, which is what the kernel's ball coordinates rest on. The compiled solver knows the squared loss alone
(``solvers/src/ball.*`` computes it); `cudbound.reference` takes every loss that also has an expression for cvxpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Loss(Protocol):
    """What the package needs to know of a surrogate loss."""

    @property
    def name(self) -> str:
        """The word for it in ``loss=``."""

    def value(self, labels: Array, scores: Array) -> Array:
        """Loss of each point, shape of `scores`."""

    def gradient(self, labels: Array, scores: Array) -> Array:
        """First derivative in the score, shape of `scores`."""

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Second derivative in the score, shape of `scores`."""


@dataclass(frozen=True)
class SquaredLoss:
    """Squared error (y - f)^2, the surrogate of Laber & Murphy (2008), section 5."""

    name: str = "squared"

    def value(self, labels: Array, scores: Array) -> Array:
        """Return (y - f)^2."""
        return (labels - scores) ** 2

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -2 (y - f)."""
        return -2.0 * (labels - scores)

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return 2 everywhere."""
        return np.full(np.broadcast_shapes(np.shape(labels), np.shape(scores)), 2.0)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (SquaredLoss(),)}


def get_loss(name: str) -> Loss:
    """Return the loss of that name.

    Raises
    ------
    ValueError
        If no loss has that name; the message lists those that exist.
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise ValueError(f"The 'loss' parameter must be one of {sorted(LOSSES)}. Got {name!r} instead.")
    return LOSSES[name]
