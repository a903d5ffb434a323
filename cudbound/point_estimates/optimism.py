"""The optimism-corrected error: how much better a refit does on its own draw than on the training set."""

from __future__ import annotations

import numpy as np

from cudbound.basis.outcomes import Estimand, PointOutcome
from cudbound.basis.rounding import Worded
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import Records


def bootstrap_optimism(records: Records) -> float:
    """Return the mean over draws of the error on the training set minus the error on the draw, of the refit.

    Parameters
    ----------
    records : Records
        With `bootstrap`.

    References
    ----------
    Efron, B. and Gong, G. (1983). A leisurely look at the bootstrap, the jackknife, and cross-validation. The American
    Statistician 37, 36-48; Harrell, F. E. (2015). Regression modeling strategies, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound.records import BootstrapLosses
    >>> bootstrap_optimism(Records(bootstrap=BootstrapLosses(np.array([[2, 0]]), np.array([[0, 1]]))))
    0.5
    """
    bootstrap = records.require("bootstrap")
    return float(np.mean(np.asarray(bootstrap.losses).mean(axis=1) - bootstrap.resubstitution))


def optimism_corrected_error(records: Records) -> float:
    """Return the training error plus `bootstrap_optimism`; it may leave [0, 1]."""
    return float(np.mean(records.require("losses"))) + bootstrap_optimism(records)


def _compute(records: Records) -> PointOutcome:
    estimate = optimism_corrected_error(records)
    outside = Worded.of(
        lambda write: f"estimate {write(estimate)} outside [{write(0.0, 0)}, {write(1.0, 0)}]"
    )
    remarks = () if 0.0 <= estimate <= 1.0 else (outside,)
    return PointOutcome(estimate, remarks=remarks, details={"optimism": bootstrap_optimism(records)})


BOOTSTRAP_OPTIMISM = PointEstimator(
    name="bootstrap-optimism",
    title="Optimism-corrected training error",
    formula="T + mean over the draws of (D_b - A_b)",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the training error is too low by as much as the error of a refit on its own draw is lower than on the "
    "training set",
    tendency="too low where there are many features for the rows: the training set holds the rows of the draw",
    reference="Efron and Gong (1983); Harrell (2015), section 5.3. Draws leave no row of the training set aside",
    cost="B",
    compute=_compute,
)
