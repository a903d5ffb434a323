"""The optimism-corrected error: the training error plus the optimism of refits on their own draws."""

from __future__ import annotations

import numpy as np

from cudbound.basis.outcomes import Estimand, PointOutcome
from cudbound.basis.rounding import Worded
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import Records


def bootstrap_optimism(records: Records) -> float:
    """Return the mean over draws of the refit's error on the training set minus its error on the draw.

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
    assumptions="the training error is too low by the mean difference between a refit's errors on the training set and "
    "on its own draw",
    tendency="too low with many features relative to rows: the training set contains the rows of the draw",
    reference="Efron and Gong (1983); Harrell (2015), section 5.3. Refits are tested on all training rows",
    cost="B",
    compute=_compute,
)
