"""The probability that two errors are practically equivalent, under the correlated t model."""

from __future__ import annotations

from dataclasses import replace

from scipy.special import stdtr

from cudbound.intervals.pivot import Pivot

MODEL = (
    "probabilities under the correlated t model: differences over splits are jointly normal with correlation n2 / (n1 "
    "+ n2), with a noninformative prior"
)


def with_equivalence(pivot: Pivot, rope: float) -> Pivot:
    """Add the posterior probabilities of a difference below, within and above the region of practical equivalence.

    Under the model of `MODEL`, with the improper prior proportional to 1 / variance, the posterior of the expected
    difference is the t distribution of the pivot around the estimate: the sampling distribution of the corrected
    resampled t test, read the other way round. Like the test, it treats the correlation as known.

    Parameters
    ----------
    pivot : Pivot
        Of the corrected resampled t test.
    rope : float
        Half-width of the region, above 0: differences in [-rope, rope] do not matter.

    Returns
    -------
    Pivot
        With ``p_below``, ``p_within`` and ``p_above`` in its details, if the standard error is positive.

    References
    ----------
    Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017). Time for a change: a tutorial for comparing multiple
    classifiers through Bayesian analysis. Journal of Machine Learning Research 18 (77), 1-36, section 4.1; the function
    ``two_on_single`` of their package baycomp.

    Examples
    --------
    >>> details = with_equivalence(Pivot(0.02, 0.01, df=9), 0.01).details
    >>> {name: round(value, 3) for name, value in details.items()}
    {'p_below': 0.007, 'p_within': 0.164, 'p_above': 0.828}
    """
    if not pivot.standard_error > 0.0:
        return pivot
    below = float(stdtr(pivot.df, -pivot.statistic(-rope)))
    above = float(stdtr(pivot.df, pivot.statistic(rope)))
    found = {"p_below": below, "p_within": 1.0 - below - above, "p_above": above}
    return replace(pivot, details={**pivot.details, **found}, remarks=(*pivot.remarks, MODEL))
