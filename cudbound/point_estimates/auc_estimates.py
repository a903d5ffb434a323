"""Estimates of the AUC from refits on bootstrap draws, and the number of cases as which they count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cudbound.basis.validation import Array
from cudbound.point_estimates.auc import (
    clustered_variance,
    delong_variance,
    hanley_mcneil_size,
    order_codes,
    out_of_bag_auc,
    placements,
    weighted_auc,
)
from cudbound.point_estimates.bootstrap_632 import error_632_plus
from cudbound.records import ScoreRecords

ONE_ROW = "undefined: a class has a single row"
NO_PAIR = "undefined: no event and non-event were ever out of bag together; use more bootstrap draws"
#: The AUC of uninformative scores.
NO_INFORMATION = 0.5


@dataclass(frozen=True)
class AucEstimates:
    """Estimates of the AUC of one classifier, each in [0, 1].

    Attributes
    ----------
    training : float
        T.
    out_of_bag : float
        By pairs; nan if no pair was ever out of bag together.
    plus : float
        The .632+ estimate, with losses 1 - AUC and the no-information rate 1/2; nan where `out_of_bag` is.
    n_never : int
        Pairs never out of bag together.
    """

    training: float
    out_of_bag: float
    plus: float
    n_never: int


def aucs_on_draws(records: ScoreRecords) -> Array:
    """Return A_b, the AUC of each draw's classifier on the draw, shape (n_resamples,)."""
    bootstrap = records.require("bootstrap")
    return weighted_auc(order_codes(bootstrap.scores), records.event, bootstrap.counts)


def aucs_on_training_rows(records: ScoreRecords) -> Array:
    """Return D_b, the AUC of each draw's classifier on all training rows, shape (n_resamples,)."""
    codes = order_codes(records.require("bootstrap").scores)
    return weighted_auc(codes, records.event, np.ones(records.n_samples))


def training_auc(records: ScoreRecords) -> float:
    """Return T, the AUC of the classifier on its training rows."""
    return float(placements(records.require("scores"), records.event)[0].mean())


def auc_estimates(records: ScoreRecords) -> AucEstimates:
    """Return the estimates of the AUC.

    Parameters
    ----------
    records : ScoreRecords
        With `scores` and `bootstrap`.
    """
    bootstrap, training = records.require("bootstrap"), training_auc(records)
    left_out, n_never = out_of_bag_auc(order_codes(bootstrap.scores), records.event, bootstrap.counts)
    plus = 1.0 - error_632_plus(1.0 - training, 1.0 - left_out, NO_INFORMATION).estimate
    return AucEstimates(training, left_out, plus, n_never)


@dataclass(frozen=True)
class AucSize:
    """The effective number of cases of an AUC.

    Attributes
    ----------
    n_events, n_others : int
        Rows of each class.
    n_fewer : int
        Rows of the rarer class, or groups with such a row.
    variance : float
        DeLong's variance of the AUC on the training scores, or its version for groups; nan or 0 if it is not
        informative.
    shrinkage : float, default=1.0
        The variance of independent rows divided by that of groups, at most 1.
    """

    n_events: int
    n_others: int
    n_fewer: int
    variance: float
    shrinkage: float = 1.0

    @classmethod
    def of(cls, records: ScoreRecords) -> AucSize:
        """Return the sizes of a training set, from the scores on it."""
        event, groups = records.event, records.groups
        parts = placements(records.require("scores"), event)
        sizes = (records.n_events, records.n_samples - records.n_events, records.n_fewer)
        plain = delong_variance(*parts)
        if groups is None:
            return cls(*sizes, plain)
        clustered = clustered_variance(*parts, event, groups)
        shrinkage = min(1.0, plain / clustered) if clustered > 0.0 else 1.0
        return cls(*sizes, clustered, shrinkage)

    def at(self, center: float) -> float:
        """Return the number of cases at a center: by Hanley and McNeil, or by DeLong if scores vary less.

        If every case is ranked correctly, a wrongly ranked subgroup with share e is absent from the s rows of the rarer
        class with probability (1 - e)^s; near 1 the number therefore decreases to s.
        """
        fewer = float(self.n_fewer)
        size = max(self.shrinkage * hanley_mcneil_size(center, self.n_events, self.n_others), fewer)
        size = fewer + (size - fewer) * min(1.0, fewer * (1.0 - center))
        if self.variance > 0.0:
            size = min(size, center * (1.0 - center) / self.variance)
        return max(size, fewer)
