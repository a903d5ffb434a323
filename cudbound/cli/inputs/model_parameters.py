"""What the parameters of a saved model may be: of the kind that a fit takes, and such that the fit ends.

scikit-learn checks the kinds, when it fits. Numbers of steps, of trees and of candidates it takes as they are; a
support vector machine takes as many steps as it needs, which for a large cost or a small tolerance may be without end.
And a fit in compiled code cannot be interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cudbound.estimators.convex_loss import ConvexLossClassifier
from cudbound.losses.surrogates import LOSSES

#: Steps of a fit. A support vector machine takes them in about .1 s for 24 rows; libsvm itself warns from 10^7 on.
MAX_STEPS = 1_000_000
#: The most that a parameter may be, in an estimator, a search or a splitter.
LIMITS = {
    "max_iter": MAX_STEPS,
    "n_estimators": 10_000,
    "n_iter": 10_000,
    "n_repeats": 1_000,
    "iterated_power": 1_000,
}
#: Candidates of a search.
MAX_CANDIDATES = 10_000


class ModelError(ValueError):
    """A saved model is refused; the message says why, after "since it"."""


def check_parameters(estimator: Any) -> None:
    """Raise ModelError for parameters that a fit would refuse, or with which it may not end.

    Parameters
    ----------
    estimator : object
        An estimator, a search or a splitter of scikit-learn, or a classifier of this package.
    """
    name = type(estimator).__name__
    try:
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
        if isinstance(estimator, ConvexLossClassifier):
            _check_convex_loss(estimator)
        _check_end(estimator)
        _check_candidates(estimator)
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelError(
            f"holds a {name} that could not be fitted: {' '.join(str(error).split())}"
        ) from error


def grids_of(search: Any) -> list[Mapping[str, Any]]:
    """Return the values that a search tries, by the names of the parameters; no grid for what is not a search."""
    grid = getattr(search, "param_grid", getattr(search, "param_distributions", ()))
    return list(grid) if isinstance(grid, list | tuple) else [grid]


def items(values: Any) -> Iterable[Any]:
    """Return the values that a search tries for one parameter."""
    if isinstance(values, np.ndarray):
        return list(values.ravel().tolist())
    return values if isinstance(values, list | tuple) else [values]


def _check_end(owner: Any) -> None:
    for name, most in LIMITS.items():
        value: Any = getattr(owner, name, None)
        if value is not None and value != "auto" and value > most:
            raise ValueError(f"its {name} is {value}, and the most is {most:,}")


def _check_candidates(search: Any) -> None:
    for grid in grids_of(search):
        tried = {name: list(items(values)) for name, values in grid.items()}
        candidates = math.prod(map(len, tried.values()))
        if candidates > MAX_CANDIDATES:
            raise ValueError(f"it tries {candidates} candidates, and the most is {MAX_CANDIDATES:,}")
        for name, values in tried.items():
            most = LIMITS.get(name.rpartition("__")[2])
            if most is not None and not all(0 <= one <= most for one in values):
                raise ValueError(f"it tries a {name} outside the range from 0 to {most:,}")


def _check_convex_loss(estimator: ConvexLossClassifier) -> None:
    if not isinstance(estimator.loss, str) or estimator.loss not in LOSSES:
        raise ValueError(f"its loss is none of {sorted(LOSSES)}")
    for strength in (estimator.penalty, estimator.intercept_penalty):
        values = np.asarray(strength)
        if (
            values.dtype.kind not in "iuf"
            or values.ndim > 1
            or not np.all((values >= 0.0) & np.isfinite(values))
        ):
            raise ValueError("its penalty is not a number, or one for each column, of at least 0")
