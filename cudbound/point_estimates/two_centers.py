"""The centers of the recommended interval: the estimates behind its limits, and when further estimates are used.

The optimism-corrected error is anchored at the given classifier, and too low with many features; the .632+ estimate
averages over refits. If the classifier overfits, both are too low, and the upper limit comes from the uncorrected
out-of-bag error. If most cases lie on a few points, the optimism correction is largest when the training error is
already too high by chance, and the lower limit starts from a point closer to the training error. If a classifier with
few columns makes no training error, it may make no errors at all, and the lower limit is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cudbound.point_estimates.bootstrap_632 import error_632_plus, no_information_of, out_of_bag_error
from cudbound.point_estimates.optimism import optimism_corrected_error
from cudbound.records import Records
from cudbound.records.design import MANY

#: The overfitting rate (Err(1) - T) / (gamma - T) above which a classifier overfits.
OVERFITTING = 0.5
#: A classifier overfits if its training error is below this share of Err(1).
SMALL_TRAINING_ERROR = 1.0 / 3.0
#: The cap is used if the rank of the design is at most this share of the rows. At half of the rows, coverage for
#: logistic regression on pure noise (24 features, 50 rows) was .88 with the cap and .99 without.
MOST_CAPPED = 1.0 / 3.0


@dataclass(frozen=True)
class TwoCenters:
    """The estimates behind the limits of the interval, each in [0, 1].

    Attributes
    ----------
    training_error : float
        T.
    optimism_corrected, error_632_plus : float
        The two centers; the second is nan if no point was ever out of bag.
    out_of_bag : float, default=nan
        Err(1), not capped at the no-information error; a further center of the upper limit if the classifier overfits.
    no_information : float, default=nan
        gamma.
    overfits : bool, default=False
    cross_validated : float, default=nan
        A further center of the upper limit, if the rank of the design is close to the number of rows; otherwise nan.
    toward : float or None, default=None
        Center of the lower limit if it is below the smaller center: closer to the training error for data with few
        distinct rows, 0 if a classifier with few columns makes no training error.
    """

    training_error: float
    optimism_corrected: float
    error_632_plus: float
    out_of_bag: float = math.nan
    no_information: float = math.nan
    overfits: bool = False
    cross_validated: float = math.nan
    toward: float | None = None

    @property
    def smaller(self) -> float:
        """The smaller one of the two."""
        return min(self.optimism_corrected, self.error_632_plus)

    @property
    def low(self) -> float:
        """The center of the lower limit."""
        return self.smaller if self.toward is None else min(self.smaller, self.toward)

    @property
    def high(self) -> float:
        """The center of the upper limit."""
        found = [self.optimism_corrected, self.error_632_plus]
        if self.overfits:
            found.append(self.out_of_bag)
        if not math.isnan(self.cross_validated):
            found.append(self.cross_validated)
        return max(found)

    @property
    def estimate(self) -> float:
        """The point estimate: the mean of the two, or of Err(1) and .632+ if the classifier overfits."""
        first = self.out_of_bag if self.overfits else self.optimism_corrected
        return (first + self.error_632_plus) / 2


def overfits(records: Records) -> bool:
    """Whether the classifier overfits, judged by the error on all rows.

    It does if the rank of the design exceeds half the number of rows or groups; if the out-of-bag error Err(1) is more
    than halfway from the training error T to the no-information error, or exceeds a T that is at least the
    no-information error; or if T is below a third of Err(1).

    Parameters
    ----------
    records : Records
        For the error, with `bootstrap` and what the .632+ estimate needs, unless they contain the answer.

    Examples
    --------
    >>> overfits(Records(overfits=True))
    True
    """
    if records.overfits is not None:
        return records.overfits
    if records.design is not None and records.design.has_many_columns:
        return True
    training, left_out = float(np.mean(records.require("losses"))), out_of_bag_error(records)
    gamma = no_information_of(records)
    if training < SMALL_TRAINING_ERROR * left_out:
        return True
    if gamma > training:
        return (left_out - training) / (gamma - training) > OVERFITTING
    return left_out > training


def two_centers(records: Records) -> TwoCenters:
    """Return the centers of the interval for the error, or for the mean loss of a metric."""
    training = float(np.mean(records.require("losses")))
    # of rows that do not count alike the mean over those that were left out may be above 1
    left_out = min(out_of_bag_error(records), 1.0)
    corrected = min(max(optimism_corrected_error(records), 0.0), 1.0)
    gamma = no_information_of(records)
    plus = error_632_plus(training, left_out, gamma).estimate
    if math.isnan(plus):
        return TwoCenters(training, corrected, plus)
    design, folds = records.design, records.stratified_folds
    cross_validated, toward = math.nan, None
    if design is not None and design.is_nearly_full and folds is not None:
        cross_validated = float(np.mean([one.losses.mean() for one in folds.partitions]))
    if training == 0.0 and _rank_is_at_most(MANY, records):
        toward = 0.0
    elif design is None or design.has_few_distinct_rows:
        toward = training if records.averages_classes else (min(corrected, plus) + training) / 2
    return TwoCenters(training, corrected, plus, left_out, gamma, overfits(records), cross_validated, toward)


def allows_cap(records: Records) -> bool:
    """Whether the design is known to have few enough columns for a cap on the upper limit.

    Its rank must be at most a third of the rows that count, or of the groups: with a higher rank, refits differ more
    from the classifier than the neighborhood of the supremum allows.
    """
    return _rank_is_at_most(MOST_CAPPED, records)


def _rank_is_at_most(share: float, records: Records) -> bool:
    """Whether the rank of the design is known, and at most this share of the rows that count, or of the groups."""
    units = records.n_samples if records.groups is None else records.groups.n_groups
    return records.design is not None and records.design.rank <= share * units
