"""Intervals of a mean or a proportion around the .632 estimate: Kohavi, Yang, Langford, and Martin and Hirschberg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from cudbound.basis.method_card import Choice, Needs
from cudbound.basis.outcomes import ConfidenceInterval, Outcome, Words
from cudbound.basis.proportions import inverted_binomial_interval, wald_interval, wilson_interval
from cudbound.intervals.method import Method
from cudbound.point_estimates.bootstrap_632 import (
    effective_size_bootstrap,
    effective_size_folds,
    estimate_632,
)
from cudbound.records import LOSSES, FoldLosses, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import FOLDS


def kohavi_interval(
    estimate: float, n_samples: float, confidence_level: float, *, form: str = "wald"
) -> ConfidenceInterval:
    """Interval around a bootstrap estimate with binomial variance on n* = n (1 - (1 - 1/n)^n) points.

    Parameters
    ----------
    estimate : float
        Resampled error, in [0, 1].
    n_samples : float
        Rows of the training set.
    confidence_level : float
    form : {"wald", "wilson"}, default="wald"
        "wald" is the formula that Laber and Murphy state. "wilson" inverts the normal approximation, as
        Kohavi does; its width is positive even at error 0.

    References
    ----------
    Laber and Murphy (2008), section 2, item 1; Kohavi, R. (1995). A study of cross-validation and bootstrap
    for accuracy estimation and model selection. IJCAI 14.

    Examples
    --------
    >>> round(kohavi_interval(0.2, 30, 0.95).low, 4)
    0.0208
    """
    size = effective_size_bootstrap(n_samples)
    if form == "wilson":
        return wilson_interval(estimate, size, confidence_level)
    return wald_interval(estimate, estimate * (1.0 - estimate), size, confidence_level)


def yang_interval(
    estimate: float, losses: ArrayLike, n_folds: int, confidence_level: float
) -> ConfidenceInterval:
    """Interval with the sample variance of the cross-validated losses on n* = n - n/k points.

    Laber and Murphy name the method and give no formula. Our reading: the formula of their item 1 with nu^2
    the sample variance (divisor n - 1) of the n losses of k-fold cross-validation.

    Parameters
    ----------
    estimate : float
        Center, in [0, 1].
    losses : array-like, shape (n_samples,)
        Cross-validated 0/1 losses.
    n_folds : int
        k.
    confidence_level : float

    References
    ----------
    Laber and Murphy (2008), section 2, item 1, and section 5; Yang, Y. (2006). Comparing learning methods for
    classification. Statistica Sinica 16, 635-657.

    Examples
    --------
    >>> round(yang_interval(0.25, [1, 0, 0, 0], 2, 0.95).high, 3)
    0.943
    """
    values = np.asarray(losses, dtype=float)
    size = effective_size_folds(values.size, n_folds)
    return wald_interval(estimate, float(values.var(ddof=1)), size, confidence_level)


def _kohavi(records: Records, confidence_level: float, *, form: str) -> Outcome:
    """Normal interval with binomial variance around the .632 estimate.

    Formula: x +/- z(1 - d/2) sqrt(x (1 - x) / n*); n* = n (1 - (1 - 1/n)^n).
    Assumptions: the .632 estimate is a mean of n* independent losses of one fixed classifier.
    Tendency: liberal if the error is small; zero width at error 0 or 1.
    Reference: Laber and Murphy (2008), section 2, item 1; Kohavi (1995).
    """
    estimate = estimate_632(records)
    return Outcome(
        estimate,
        kohavi_interval(estimate, records.n_effective, confidence_level, form=form),
        degenerate=f"the binomial variance is 0 at an estimate of {estimate:g}; form='wilson' has positive width"
        if estimate in (0.0, 1.0)
        else None,
        center=".632 estimate",
    )


def _yang(records: Records, confidence_level: float, *, center: str) -> Outcome:
    """Normal interval with the variance of cross-validated losses around the .632 estimate.

    Formula: x +/- z(1 - d/2) sqrt(v / n*); v is the sample variance of the n cross-validated losses, n* = n - n/k.
    Assumptions: cross-validated losses are independent, with the same variance as the losses behind the estimate.
    Tendency: liberal: its effective sample size is the largest of all; zero width if all losses are equal.
    Reference: Laber and Murphy (2008), section 2, item 1, and section 5; Yang (2006).
    """
    folds: FoldLosses = records.require(FOLDS)
    estimate = estimate_632(records) if center == "632" else float(folds.losses.mean())
    return Outcome(
        estimate,
        yang_interval(estimate, folds.losses, folds.n_folds, confidence_level),
        degenerate="all cross-validated losses are equal" if not np.isnan(estimate) else None,
        center=".632 estimate" if center == "632" else None,
    )


def _yang_needs(options: Mapping[str, Any]) -> Needs:
    return frozenset({FOLDS} if options["center"] == "cv" else {LOSSES, BOOTSTRAP, FOLDS})


KOHAVI = Method(
    name="kohavi-normal",
    needs=frozenset({LOSSES, BOOTSTRAP}),
    cost="B",
    with_groups="refits",
    compute=_kohavi,
    options={"form": Choice(("wald", "wilson"))},
    ways={
        ("form", "wilson"): Words(
            "Wilson score interval around the .632 estimate, for n* = n (1 - (1 - 1/n)^n) points",
            "Wilson (1927), with the size n* of Laber and Murphy (2008), section 2, item 1",
        )
    },
)

YANG = Method(
    name="yang-cv-normal",
    needs=_yang_needs({"center": "632"}),
    cost="B + K",
    with_groups="refits",
    compute=_yang,
    options={"center": Choice(("632", "cv"))},
    ways={
        ("center", "cv"): Words(
            "Normal interval with the variance of cross-validated losses around the cross-validated error",
            "Yang (2006)",
        )
    },
    needs_with=_yang_needs,
)


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
    """Inverted binomial interval on about .632 n hypothetical test points, at the .632 estimate.

    Formula: lo(n* x, n*) and up(n* x, n*); lo and up are Clopper-Pearson limits with d/2 in each tail, extended to
    fractional numbers of errors; n* = n (1 - (1 - 1/n)^n).
    Assumptions: the .632 estimate is the error on n* independent test points.
    Tendency: conservative as a binomial interval, but the hypothetical test points were used for training; far too
    low if the classifier overfits, as trees and nearest neighbors do, or if the rank is close to the number of rows.
    Reference: Laber and Murphy (2008), section 5, footnote 3; Langford (2005).
    """
    estimate = estimate_632(records)
    interval = langford_interval(estimate, records.n_effective, confidence_level)
    return Outcome(estimate, interval, center=".632 estimate")


LANGFORD = Method(
    name="langford-binomial",
    needs=frozenset({LOSSES, BOOTSTRAP}),
    cost="B",
    with_groups="refits",
    compute=_langford,
)


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
    """Beta posterior interval from the points left out of a draw, at the .632 estimate.

    Formula: the d/2 and 1 - d/2 quantiles of Beta(a + x m, a + (1 - x) m); m = n - n*, n* = n (1 - (1 - 1/n)^n), a =
    1, or 1/2 under Jeffreys' prior.
    Assumptions: the .632 estimate is the error on n - n* independent test points; prior as stated.
    Tendency: conservative: it counts only the points left out of a draw; far too low if the rank of the design is
    close to the number of rows.
    Reference: Laber and Murphy (2008), section 2, item 2; Martin and Hirschberg (1996).
    """
    estimate = estimate_632(records)
    interval = martin_interval(estimate, records.n_effective, confidence_level, prior=prior)
    return Outcome(estimate, interval, center=".632 estimate")


MARTIN = Method(
    name="martin-beta",
    needs=frozenset({LOSSES, BOOTSTRAP}),
    cost="B",
    with_groups="refits",
    compute=_martin,
    options={"prior": Choice(tuple(PRIORS))},
)
