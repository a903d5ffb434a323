"""What a number of new cases can show, whatever the classifier."""

from __future__ import annotations


def limit_without_error(n_cases: int, confidence_level: float, alternative: str = "two-sided") -> float:
    """Return the exact binomial upper limit for the error of a classifier that gets all of n new cases right.

    Parameters
    ----------
    n_cases : int
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less"}, default="two-sided"
        "less" for an upper limit alone, at the whole level.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). Biometrika 26, 404-413: the p for which (1 - p)^n is the tail.

    Examples
    --------
    >>> round(limit_without_error(120, 0.95), 4), round(limit_without_error(30, 0.95, "less"), 4)
    (0.0303, 0.095)
    """
    tails = 2.0 if alternative == "two-sided" else 1.0
    return float(1.0 - ((1.0 - confidence_level) / tails) ** (1.0 / n_cases))
