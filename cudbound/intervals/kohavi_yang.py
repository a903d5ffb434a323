"""Normal intervals around a resampled error: Kohavi (1995) and Yang (2006), as used by Laber and Murphy.

Both treat the resampled error as the mean of independent losses of one fixed classifier, which it is not. They are
liberal if the error is small or the classifier varies strongly between draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome, Words
from cudbound.basis.proportions import wald_interval, wilson_interval
from cudbound.intervals.method import Fallback, Method, binomial_fallback
from cudbound.point_estimates.bootstrap_632 import estimate_632
from cudbound.point_estimates.effective_size import effective_size_bootstrap, effective_size_folds
from cudbound.records import FoldLosses, Records


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
    estimate = estimate_632(records)
    return Outcome(
        estimate,
        kohavi_interval(estimate, records.n_effective, confidence_level, form=form),
        degenerate=f"the binomial variance is 0 at an estimate of {estimate:g}; form='wilson' has positive width"
        if estimate in (0.0, 1.0)
        else None,
        center=".632 estimate",
    )


def _wilson_fallback(records: Records, estimate: float, confidence_level: float) -> ConfidenceInterval:
    return kohavi_interval(estimate, records.n_effective, confidence_level, form="wilson")


def _yang_size(records: Records) -> float:
    folds = records.require("folds")
    return effective_size_folds(np.size(folds.losses), folds.n_folds)


def _yang(records: Records, confidence_level: float, *, center: str) -> Outcome:
    folds: FoldLosses = records.require("folds")
    estimate = estimate_632(records) if center == "632" else float(folds.losses.mean())
    return Outcome(
        estimate,
        yang_interval(estimate, folds.losses, folds.n_folds, confidence_level),
        degenerate="all cross-validated losses are equal" if not np.isnan(estimate) else None,
        center=".632 estimate" if center == "632" else None,
    )


def _yang_needs(options: Mapping[str, Any]) -> frozenset[str]:
    return frozenset({"folds"} if options["center"] == "cv" else {"losses", "bootstrap", "folds"})


KOHAVI = Method(
    name="kohavi-normal",
    title="Normal interval with binomial variance around the .632 estimate",
    formula="x +/- z(1 - d/2) sqrt(x (1 - x) / n*); n* = n (1 - (1 - 1/n)^n)",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the .632 estimate is a mean of n* independent losses of one fixed classifier",
    tendency="liberal if the error is small; zero width at error 0 or 1",
    reference="Laber and Murphy (2008), section 2, item 1; Kohavi (1995)",
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
    fallback=Fallback("Wilson score interval on n* = n (1 - (1 - 1/n)^n) points", _wilson_fallback),
)

YANG = Method(
    name="yang-cv-normal",
    title="Normal interval with the variance of cross-validated losses around the .632 estimate",
    formula="x +/- z(1 - d/2) sqrt(v / n*); v is the sample variance of the n cross-validated losses, n* = n - "
    "n/k",
    estimand=Estimand("conditional"),
    needs=_yang_needs({"center": "632"}),
    assumptions="cross-validated losses are independent, with the same variance as the losses behind the estimate",
    tendency="liberal: its effective sample size is the largest of all; zero width if all losses are equal",
    reference="Laber and Murphy (2008), section 2, item 1, and section 5; Yang (2006)",
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
    fallback=binomial_fallback("n* = n - n/k points", _yang_size),
)
