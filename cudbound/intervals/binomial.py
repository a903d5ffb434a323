"""Inverted binomial interval: Langford (2005), as Laber and Murphy (2008) applied it to a resampled error."""

from __future__ import annotations

from scipy.special import betaincinv

from cudbound.intervals.base import Method, Outcome, estimate_632
from cudbound.intervals.sample_size import effective_size_bootstrap
from cudbound.records import Records
from cudbound.results import ConfidenceInterval


def inverted_binomial_interval(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Two-sided interval by inverting both binomial tails, continued to numbers that are not whole.

    The limits are sup{p: P(X >= k) <= d/2} and inf{p: P(X <= k) <= d/2} with X ~ Binomial(m, p) and
    d = 1 - confidence_level; for whole k and m these are the limits of Clopper and Pearson. Both tails are
    incomplete beta functions, which continue them to real k and m.

    Parameters
    ----------
    errors : float
        Number of wrong points k, in [0, n_tested].
    n_tested : float
        Number of test points m.
    confidence_level : float

    References
    ----------
    Langford, J. (2005). Tutorial on practical prediction theory for classification. JMLR 6;
    Clopper, C. J. and Pearson, E. S. (1934). Biometrika 26, 404-413.

    Examples
    --------
    >>> round(inverted_binomial_interval(0, 10, 0.95).high, 4)
    0.3085
    """
    tail = (1.0 - confidence_level) / 2
    low = 0.0 if errors <= 0 else float(betaincinv(errors, n_tested - errors + 1, tail))
    high = 1.0 if errors >= n_tested else float(betaincinv(errors + 1, n_tested - errors, 1.0 - tail))
    return ConfidenceInterval(low, high)


def langford_interval(estimate: float, n_samples: int, confidence_level: float) -> ConfidenceInterval:
    """Inverted binomial interval as if n* = n (1 - (1 - 1/n)^n) test points had given n* estimate errors.

    The paper takes n* as the size of the test set here and as that of the training set in the Beta interval;
    both are kept as written.

    Parameters
    ----------
    estimate : float
        Resampled error, in [0, 1].
    n_samples : int
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
    return Outcome(estimate, langford_interval(estimate, records.n_samples, confidence_level))


LANGFORD = Method(
    name="langford-binomial",
    title="Inverted binomial interval on n* pretended test points, at the .632 estimate",
    estimand="conditional",
    needs=frozenset({"bootstrap"}),
    assumptions="the .632 estimate is the error on n* independent test points",
    tendency="conservative as a binomial interval; the pretended test points were trained on",
    reference="Laber and Murphy (2008), section 5, footnote 3; Langford (2005)",
    cost="B",
    compute=_langford,
)
