"""Clones with a fixed seed: the same seed gives the same fit."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Return an unfitted clone in which `seed` replaces every ``random_state`` that is None, including nested ones."""
    return clone(estimator).set_params(**dict.fromkeys(unseeded_parameters(estimator), seed))


def unseeded_parameters(estimator: Any) -> list[str]:
    """Return the names of the ``random_state`` parameters that are None, including nested ones."""
    return [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
