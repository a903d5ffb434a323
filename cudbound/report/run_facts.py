"""What the notes under a table say of data and classifiers that come from Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def describe_data(
    X: Any,
    second: NDArray[np.bool_],
    classes: NDArray[Any],
    seed: int | None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the fields that every `Run` has, by their names, and its choices.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Names of its columns are those of the features; without any they are x0, x1, ...
    second : ndarray of bool, shape (n_samples,)
        Which rows are of the second class, which counts as the event.
    classes : ndarray, shape (2,)
    seed : int or None
    options : mapping of str to mapping, default None
        Options of single methods that were asked for.
    """
    names = getattr(X, "columns", None)
    if names is None:
        shape = np.shape(X)
        names = [f"x{number}" for number in range(shape[1] if len(shape) > 1 else 1)]
    events = int(np.count_nonzero(second))
    choices = ", ".join(
        f"{method}.{name}={value}"
        for method, given in (options or {}).items()
        for name, value in given.items()
    )
    return {
        "source": None,
        "n_samples": int(second.size),
        "n_events": events,
        "n_non_events": int(second.size) - events,
        "event": f"class {classes[1]}",
        "features": tuple(map(str, names)),
        "seed": seed,
        "choices": choices or None,
    }


def weighted_share(event: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None) -> float | None:
    """Return the share of the events by the weights of the rows; None where there are no weights."""
    return None if sample_weight is None else float(sample_weight @ event / sample_weight.sum())


def seed_of(rng: object) -> int | None:
    """Return the seed that an ``rng`` is, or None for a generator and for None."""
    return int(rng) if isinstance(rng, int | np.integer) and not isinstance(rng, bool) else None
