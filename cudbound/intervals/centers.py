"""The estimates at which intervals of clinical software can be centered, for the training set and every draw."""

from __future__ import annotations

import math

import numpy as np

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import Outcome, PointOutcome
from cudbound.basis.validation import Array
from cudbound.intervals.method import replicates_632
from cudbound.point_estimates.auc_estimates import (
    NO_PAIR,
    auc_estimates,
    aucs_on_draws,
    aucs_on_training_rows,
    training_auc,
)
from cudbound.point_estimates.bootstrap_632 import (
    NOTHING_OUT_OF_BAG,
    error_632,
    error_632_plus,
    estimate_632,
    estimate_632_plus,
)
from cudbound.point_estimates.optimism import BOOTSTRAP_OPTIMISM
from cudbound.records import Records, ScoreRecords

CENTER = Choice(("optimism", "632", "632-plus"))


def estimate_at(records: Records, center: str) -> PointOutcome:
    """Return the optimism-corrected error, the .632 or the .632+ estimate of the training set.

    The optimism-corrected error may leave [0, 1]; the others are undefined if no point was ever out of bag.
    """
    if center == "optimism":
        return BOOTSTRAP_OPTIMISM.compute(records)
    estimate = estimate_632(records) if center == "632" else estimate_632_plus(records).estimate
    return PointOutcome(estimate, degenerate=NOTHING_OUT_OF_BAG if math.isnan(estimate) else None)


def auc_at(records: ScoreRecords, center: str) -> PointOutcome:
    """Return the optimism-corrected AUC, the .632 or the .632+ AUC of the training set."""
    if center == "optimism":
        optimism = float(np.mean(aucs_on_draws(records) - aucs_on_training_rows(records)))
        return PointOutcome(min(max(training_auc(records) - optimism, 0.0), 1.0))
    found = auc_estimates(records)
    estimate = float(error_632(found.training, found.out_of_bag)) if center == "632" else found.plus
    return PointOutcome(estimate, degenerate=NO_PAIR if math.isnan(estimate) else None)


def replicates_at(records: Records, center: str) -> Array:
    """Return the same estimate recomputed on every draw from inner draws; nan where it is undefined.

    Raises
    ------
    ValueError
        If the records lack what the estimate needs.
    """
    if center == "632":
        return replicates_632(records)
    bootstrap, inner = records.require("bootstrap"), records.require("inner")
    name, found = (
        ("optimism", inner.optimism) if center == "optimism" else ("no_information", bootstrap.no_information)
    )
    if found is None:
        owner = "InnerErrors" if center == "optimism" else "BootstrapLosses"
        raise ValueError(
            f"center={center!r} needs {name!r} of {owner}, which the records do not have. Pass {owner}(..., "
            f"{name}=...), or center='632'."
        )
    if center == "optimism":
        return np.asarray(bootstrap.resubstitution + found)
    each = zip(bootstrap.resubstitution, inner.errors, found, strict=True)
    return np.array([error_632_plus(*(float(value) for value in one)).estimate for one in each])


def undefined_at(found: PointOutcome) -> Outcome | None:
    """Return an outcome without limits for an estimate that is undefined, None for one that is not."""
    return Outcome.undefined(found.degenerate) if found.degenerate else None
