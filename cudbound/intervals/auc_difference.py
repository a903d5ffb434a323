"""The difference of two AUCs: t limits around two centers, with both classifiers refitted on the same draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cudbound.basis.method_card import RecordKind
from cudbound.basis.results import ConfidenceInterval
from cudbound.basis.validation import Array
from cudbound.intervals.method import Method, Pivot
from cudbound.point_estimates import auc
from cudbound.records import SCORES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP

SECOND = RecordKind("second", Records, "scores of a second classifier", holder="second")


PROVISIONAL = "provisional: studied only in the 20 settings that were used to choose it"


@dataclass(frozen=True)
class BetweenCenters(Pivot):
    """A pivot for a true value anywhere between two centers, `spread` below and above the estimate.

    Limits lie farther out by `spread`, and only a null value outside the centers can be rejected.
    """

    spread: float = 0.0

    def interval(self, confidence_level: float, alternative: str = "two-sided") -> ConfidenceInterval:
        """Return the raw limits, each computed from the nearer center."""
        low, high = super().interval(confidence_level, alternative)
        return ConfidenceInterval(low - self.spread, high + self.spread)

    def statistic(self, null: float = 0.0) -> float:
        """Return the distance of a null value from the nearer center in standard errors; 0 between the centers."""
        return self._around(
            min(max(null, self.estimate - self.spread), self.estimate + self.spread)
        ).statistic(null)

    def pvalue(self, null: float = 0.0, alternative: str = "two-sided") -> float:
        """Return the p-value for truth = null; a two-sided test between the centers has 1."""
        low, high = self.estimate - self.spread, self.estimate + self.spread
        center = {"less": high, "greater": low}.get(alternative, min(max(null, low), high))
        return self._around(center).pvalue(null, alternative)

    def _around(self, center: float) -> Pivot:
        return Pivot(center, self.standard_error, self.df)


def _variance(won: Array, records: Records) -> float:
    """Return DeLong's variance of a mean over pairs, or its version for groups."""
    of_events, of_others = won.mean(axis=1), won.mean(axis=0)
    if records.groups is None:
        return auc.delong_variance(of_events, of_others)
    return auc.clustered_variance(of_events, of_others, records.event, records.groups)


def _difference(records: Records) -> Pivot:
    """t limits around the out-of-bag and the optimism-corrected difference of two AUCs (provisional).

    Formula: min(D1, Do) - t s, max(D1, Do) + t s; D1 and Do are the differences of the out-of-bag and of the
    optimism-corrected AUCs; s^2 = max(V1, VT) + v, V1 and VT DeLong's variances of the difference, or Obuchowski's for
    groups, out of bag and on the training rows, v the variance over the draws of the difference on the training rows; t
    the 1 - d/2 quantile with s_min - 1 degrees of freedom, s_min rows of the rarer class, or groups with one.
    Assumptions: one of the two centers is close to the difference between the AUCs.
    Tendency: provisional: chosen by a trial in 20 settings, and not studied in others.
    Reference: this package, docs/how_to/compare_two_learners.md; DeLong et al. (1988).
    Reference with groups: this package, docs/how_to/compare_two_learners.md; Obuchowski (1997).
    """
    second, event = records.require(SECOND), records.event
    counts = records.require(BOOTSTRAP).counts
    if not (np.array_equal(event, second.event) and np.array_equal(counts, second.require(BOOTSTRAP).counts)):
        raise ValueError(
            "The scores of both classifiers must come from the same rows and the same bootstrap draws."
        )
    if min(records.n_fewer, records.n_events, records.n_samples - records.n_events) < 2:
        return Pivot(math.nan, math.nan, degenerate=auc.ONE_ROW)
    both = (records, second)
    apparent = np.subtract(*(auc.shares_won(auc.order_codes(each.require(SCORES)), event) for each in both))
    out = np.subtract(
        *(
            auc.out_of_bag_shares(auc.order_codes(each.require(BOOTSTRAP).scores), event, counts)
            for each in both
        )
    )
    if np.isnan(out).all():
        return Pivot(math.nan, math.nan, degenerate=auc.NO_PAIR)
    left_out = float(np.nanmean(out))
    on_training = np.subtract(*map(auc.aucs_on_training_rows, both))
    optimism = np.subtract(*map(auc.aucs_on_draws, both)) - on_training
    corrected = float(apparent.mean()) - float(optimism.mean())
    # pairs never out of bag together say nothing of how the others vary
    sampled = max(_variance(np.where(np.isnan(out), left_out, out), records), _variance(apparent, records))
    refitted = float(on_training.var())
    return BetweenCenters(
        (left_out + corrected) / 2.0,
        math.sqrt(sampled + refitted),
        df=records.n_fewer - 1.0,
        remarks=(PROVISIONAL,),
        spread=abs(left_out - corrected) / 2.0,
        details={
            "difference_training": float(apparent.mean()),
            "difference_out_of_bag": left_out,
            "difference_optimism_corrected": corrected,
            "variance_of_cases": sampled,
            "variance_of_refits": refitted,
        },
    )


AUC_DIFFERENCE = Method(
    "auc-difference", {SCORES, BOOTSTRAP, SECOND}, reads="scores", cost="B", pivot=_difference
)
