"""Intervals of a mean or a proportion around the .632 estimate: Kohavi, Yang, Langford, and Martin and Hirschberg."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from cudbound.basis.method_card import Choice, Needs, described
from cudbound.basis.proportions import inverted_binomial_interval, wald_interval, wilson_interval
from cudbound.basis.results import ConfidenceInterval, Outcome
from cudbound.intervals.method import Method
from cudbound.point_estimates import bootstrap_632
from cudbound.records import LOSSES, FoldLosses, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import FOLDS

#: ``(estimate, n_samples, confidence_level, **options)``: the .632 estimate, and the rows of the training set.
Limits = Callable[..., ConfidenceInterval]


def _outcome(records: Records, confidence_level: float, *, limits: Limits, **options: Any) -> Outcome:
    estimate = bootstrap_632.estimate_632(records)
    interval = limits(estimate, records.n_effective, confidence_level, **options)
    reason = f"the binomial variance is 0 at an estimate of {estimate:g}; form='wilson' has positive width"
    at_the_edge = estimate in (0.0, 1.0)
    return Outcome(estimate, interval, degenerate=reason if at_the_edge else None, center=".632 estimate")


def _method(name: str, limits: Limits, **card: Any) -> Method:
    card |= {"compute": partial(_outcome, limits=limits), **described(limits)}
    return Method(name, {LOSSES, BOOTSTRAP}, cost="B", with_groups="refits", **card)


def kohavi_interval(
    estimate: float, n_samples: float, confidence_level: float, *, form: str = "wald"
) -> ConfidenceInterval:
    """Normal interval with binomial variance around the .632 estimate.

    Formula: x +/- z(1 - d/2) sqrt(x (1 - x) / n*); n* = n (1 - (1 - 1/n)^n).
    Assumptions: the .632 estimate is a mean of n* independent losses of one fixed classifier.
    Tendency: coverage in 58 settings was .68 to .99.
    Reference: Laber and Murphy (2008), section 2, item 1; Kohavi (1995).
    With form=wilson: Wilson score interval around the .632 estimate, for n* = n (1 - (1 - 1/n)^n) points.
    Reference with form=wilson: Laber and Murphy (2008), section 2, item 1; Wilson (1927).

    Examples
    --------
    >>> round(kohavi_interval(0.2, 30, 0.95).low, 4)
    0.0208
    """
    size = bootstrap_632.effective_size_bootstrap(n_samples)
    if form == "wilson":
        return wilson_interval(estimate, size, confidence_level)
    return wald_interval(estimate, estimate * (1.0 - estimate), size, confidence_level)


KOHAVI = _method("kohavi-normal", kohavi_interval, options={"form": Choice(("wald", "wilson"))})


def langford_interval(estimate: float, n_samples: float, confidence_level: float) -> ConfidenceInterval:
    """Inverted binomial interval on about .632 n hypothetical test points, at the .632 estimate.

    Formula: lo(n* x; n*) and up(n* x; n*); n* = n (1 - (1 - 1/n)^n).
    Assumptions: the .632 estimate is the error on n* independent test points.
    Tendency: mostly conservative: coverage in 58 settings was .91 to 1.00; too low for trees and forests fitted to
    noise, and far too low for least squares with 95 features and 100 rows.
    Reference: Laber and Murphy (2008), section 5, footnote 3; Langford (2005).

    The paper takes n* to be the size of the test set here and that of the training set in the Beta interval; both are
    kept as written.

    Examples
    --------
    >>> round(langford_interval(0.2, 30, 0.95).high, 4)
    0.4428
    """
    size = bootstrap_632.effective_size_bootstrap(n_samples)
    return inverted_binomial_interval(estimate * size, size, confidence_level)


LANGFORD = _method("langford-binomial", langford_interval)

#: The value of both parameters of the Beta prior.
PRIORS = {"uniform": 1.0, "jeffreys": 0.5}


def martin_interval(
    estimate: float, n_samples: float, confidence_level: float, *, prior: str = "uniform"
) -> ConfidenceInterval:
    """Beta posterior interval from the points left out of a draw, at the .632 estimate.

    Formula: the d/2 and 1 - d/2 quantiles of Beta(a + x m, a + (1 - x) m); m = n - n*, n* = n (1 - (1 - 1/n)^n), a =
    1, or 1/2 under Jeffreys' prior.
    Assumptions: the .632 estimate is the error on n - n* independent test points.
    Tendency: conservative: coverage in 58 settings was .95 to 1.00; far too low for least squares with 95 features
    and 100 rows.
    Reference: Laber and Murphy (2008), section 2, item 2; Martin and Hirschberg (1996).

    The paper does not state the prior; we assume it is uniform. The numbers of test points and of errors are not
    rounded.

    Examples
    --------
    >>> round(martin_interval(0.2, 30, 0.95).high, 4)
    0.5046
    """
    strength = PRIORS[prior]
    n_tested = n_samples - bootstrap_632.effective_size_bootstrap(n_samples)
    wrong = strength + estimate * n_tested
    right = strength + (1.0 - estimate) * n_tested
    tail = (1.0 - confidence_level) / 2
    return ConfidenceInterval(
        float(betaincinv(wrong, right, tail)), float(betaincinv(wrong, right, 1.0 - tail))
    )


MARTIN = _method("martin-beta", martin_interval, options={"prior": Choice(tuple(PRIORS))})


def yang_interval(
    estimate: float, losses: ArrayLike, n_folds: int, confidence_level: float
) -> ConfidenceInterval:
    """Return the limits from the n cross-validated 0/1 losses of k folds.

    Laber and Murphy name the method and give no formula. Our reading: the formula of their item 1 with nu^2
    the sample variance (divisor n - 1) of the losses.

    Examples
    --------
    >>> round(yang_interval(0.25, [1, 0, 0, 0], 2, 0.95).high, 3)
    0.943
    """
    values = np.asarray(losses, dtype=float)
    size = bootstrap_632.effective_size_folds(values.size, n_folds)
    return wald_interval(estimate, float(values.var(ddof=1)), size, confidence_level)


def _yang(records: Records, confidence_level: float, *, center: str) -> Outcome:
    """Normal interval with the variance of cross-validated losses around the .632 estimate.

    Formula: x +/- z(1 - d/2) sqrt(v / n*); v is the sample variance of the n cross-validated losses, n* = n - n/K.
    Assumptions: cross-validated losses are independent, and vary like those behind the estimate.
    Tendency: often liberal: coverage in 58 settings was .26 to .97.
    Reference: Laber and Murphy (2008), section 2, item 1, and section 5; Yang (2006).
    With center=cv: Normal interval with the variance of cross-validated losses around the cross-validated error.
    Reference with center=cv: Yang (2006).
    """
    folds: FoldLosses = records.require(FOLDS)
    estimate = bootstrap_632.estimate_632(records) if center == "632" else float(folds.losses.mean())
    return Outcome(
        estimate,
        yang_interval(estimate, folds.losses, folds.n_folds, confidence_level),
        degenerate="all cross-validated losses are equal" if not np.isnan(estimate) else None,
        center=".632 estimate" if center == "632" else None,
    )


def _yang_needs(options: Mapping[str, Any]) -> Needs:
    return {FOLDS} if options["center"] == "cv" else {LOSSES, BOOTSTRAP, FOLDS}


YANG = Method(
    "yang-cv-normal",
    {LOSSES, BOOTSTRAP, FOLDS},
    needs_with=_yang_needs,
    cost="B + K, or K with center='cv'",
    with_groups="refits",
    compute=_yang,
    options={"center": Choice(("632", "cv"))},
)
