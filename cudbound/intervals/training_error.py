"""The normal interval on the training error, which makes no refits and ignores that the rows were fitted."""

from __future__ import annotations

import numpy as np

from cudbound.basis.proportions import wald_interval
from cudbound.basis.results import Outcome
from cudbound.intervals.method import Method
from cudbound.records import LOSSES, Records


def _training_normal(records: Records, confidence_level: float) -> Outcome:
    """Normal interval on the training error.

    Formula: T +/- z(1 - d/2) sqrt(T (1 - T) / n).
    Assumptions: losses on the training rows are those of one fixed classifier on new cases.
    Tendency: too low: coverage in 8 settings was .00 to .90.
    Reference: Iyengar, Lam and Wang (2024).
    """
    error = float(np.mean(records.require(LOSSES)))
    interval = wald_interval(error, error * (1.0 - error), records.n_effective, confidence_level)
    reason = f"the binomial variance is 0 at a training error of {error:g}" if error in (0.0, 1.0) else None
    return Outcome(error, interval, degenerate=reason, center="training error")


TRAINING_NORMAL = Method(
    "training-normal", {LOSSES}, cost="0", with_groups="refits", compute=_training_normal
)
