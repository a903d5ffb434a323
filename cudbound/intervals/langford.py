"""Inverted binomial interval: Langford (2005), applied to a resampled error as in Laber and Murphy (2008)."""

from __future__ import annotations

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.intervals.method import Method
from cudbound.point_estimates.bootstrap_632 import estimate_632
from cudbound.point_estimates.effective_size import effective_size_bootstrap
from cudbound.records import Records


def langford_interval(estimate: float, n_samples: float, confidence_level: float) -> ConfidenceInterval:
    """Inverted binomial interval as if n* = n (1 - (1 - 1/n)^n) test points had given n* estimate errors.

    The paper takes n* to be the size of the test set here and that of the training set in the Beta interval; both are
    kept as written.

    Parameters
    ----------
    estimate : float
        Resampled error, in [0, 1].
    n_samples : float
        Rows of the training set.
    confidence_level : float

    References
    ----------
    Laber and Murphy (2008), section 5, footnote 3; Langford (2005).

    Examples
    --------
    >>> round(langford_interval(0.2, 30, 0.95).high, 4)
    0.4428
    """
    size = effective_size_bootstrap(n_samples)
    return inverted_binomial_interval(estimate * size, size, confidence_level)


def _langford(records: Records, confidence_level: float) -> Outcome:
    estimate = estimate_632(records)
    interval = langford_interval(estimate, records.n_effective, confidence_level)
    return Outcome(estimate, interval, center=".632 estimate")


LANGFORD = Method(
    name="langford-binomial",
    title="Inverted binomial interval on about .632 n hypothetical test points, at the .632 estimate",
    formula="lo(n* x, n*) and up(n* x, n*); lo and up are Clopper-Pearson limits with d/2 in each tail, extended to "
    "fractional numbers of errors; n* = n (1 - (1 - 1/n)^n)",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the .632 estimate is the error on n* independent test points",
    tendency="conservative as a binomial interval, but the hypothetical test points were used for training; far too "
    "low if the classifier overfits, as trees and nearest neighbors do, or if the rank is close to the number of rows",
    reference="Laber and Murphy (2008), section 5, footnote 3; Langford (2005)",
    cost="B",
    with_groups="refits",
    compute=_langford,
)
