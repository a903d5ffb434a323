"""Beta interval around a resampled error: Martin and Hirschberg (1996), as used by Laber and Murphy."""

from __future__ import annotations

from scipy.special import betaincinv

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.intervals.method import Method
from cudbound.point_estimates.bootstrap_632 import estimate_632
from cudbound.point_estimates.effective_size import effective_size_bootstrap
from cudbound.records import Records

#: The value of both parameters of the Beta prior.
PRIORS = {"uniform": 1.0, "jeffreys": 0.5}


def martin_interval(
    estimate: float, n_samples: float, confidence_level: float, *, prior: str = "uniform"
) -> ConfidenceInterval:
    """Equal-tailed posterior interval, as if a test of n - n* points had given estimate (n - n*) errors.

    The paper does not state the prior; we assume it is uniform. The numbers of test points and of errors are not
    rounded.

    Parameters
    ----------
    estimate : float
        Resampled error, in [0, 1].
    n_samples : float
        Rows of the training set; n* = n (1 - (1 - 1/n)^n) of them count as training points.
    confidence_level : float
    prior : {"uniform", "jeffreys"}, default="uniform"
        Beta(1, 1) or Beta(1/2, 1/2).

    References
    ----------
    Laber and Murphy (2008), section 2, item 2; Martin, J. K. and Hirschberg, D. S. (1996). Small sample
    statistics for classification error rates II: confidence intervals and significance tests. UC Irvine.

    Examples
    --------
    >>> round(martin_interval(0.2, 30, 0.95).high, 4)
    0.5046
    """
    strength = PRIORS[prior]
    n_tested = n_samples - effective_size_bootstrap(n_samples)
    wrong = strength + estimate * n_tested
    right = strength + (1.0 - estimate) * n_tested
    tail = (1.0 - confidence_level) / 2
    return ConfidenceInterval(
        float(betaincinv(wrong, right, tail)), float(betaincinv(wrong, right, 1.0 - tail))
    )


def _martin(records: Records, confidence_level: float, *, prior: str) -> Outcome:
    estimate = estimate_632(records)
    interval = martin_interval(estimate, records.n_effective, confidence_level, prior=prior)
    return Outcome(estimate, interval, center=".632 estimate")


MARTIN = Method(
    name="martin-beta",
    title="Beta posterior interval from the points left out of a draw, at the .632 estimate",
    formula="the d/2 and 1 - d/2 quantiles of Beta(a + x m, a + (1 - x) m); m = n - n*, n* = n (1 - (1 - "
    "1/n)^n), a = 1, or 1/2 under Jeffreys' prior",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the .632 estimate is the error on n - n* independent test points; prior as stated",
    tendency="conservative: it counts only the points left out of a draw; far too low if the rank of the design is "
    "close to the number of rows",
    reference="Laber and Murphy (2008), section 2, item 2; Martin and Hirschberg (1996)",
    cost="B",
    with_groups="refits",
    compute=_martin,
    options={"prior": Choice(tuple(PRIORS))},
)
