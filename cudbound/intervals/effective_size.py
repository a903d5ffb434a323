"""Effective sample sizes: the expected number of distinct points that one resampling step trains on."""

from __future__ import annotations


def effective_size_bootstrap(n_samples: float) -> float:
    """Return n* = n (1 - (1 - 1/n)^n), the expected number of distinct points in a bootstrap draw.

    References
    ----------
    Laber and Murphy (2008), section 2, footnote 1.

    Examples
    --------
    >>> round(effective_size_bootstrap(30), 3)
    19.15
    """
    return float(n_samples * (1.0 - (1.0 - 1.0 / n_samples) ** n_samples))


def effective_size_folds(n_samples: int, n_folds: int) -> float:
    """Return n* = n - n/k, the number of points that one fold's classifier is trained on.

    The footnote of the paper defines n* for any resampling; that the training points count, and not the
    tested ones, is our reading for cross-validation.

    References
    ----------
    Laber and Murphy (2008), section 2, footnote 1.

    Examples
    --------
    >>> effective_size_folds(30, 10)
    27.0
    """
    return n_samples - n_samples / n_folds
