"""What most tests want: samples whose first feature tells the classes apart, and texts as one line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound import LeastSquaresClassifier


def sample(
    n: int = 30, p: int = 2, seed: int = 0, labels: tuple[Any, Any] = (0, 1), above: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return n rows of p features; the second label stands where the first feature plus noise is above a value."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + rng.normal(size=n) > above, labels[1], labels[0])


def signed_sample(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a sample with the labels -1.0 and 1.0, as the solver and the refits read them."""
    return sample(n, seed=seed, labels=(-1.0, 1.0))


def fitted_sample(n: int = 30, **keywords: Any) -> tuple[LeastSquaresClassifier, NDArray[Any], NDArray[Any]]:
    """Return a least-squares classifier with the sample that it was fitted to."""
    X, y = sample(n, **keywords)
    return LeastSquaresClassifier().fit(X, y), X, y


def unwrapped(text: str) -> str:
    """Join the lines that hang with the ones before them, also those of the lists under a table."""
    return re.sub(r"(?<=\S)\n(?:  |    )(?=\S)", " ", text)
