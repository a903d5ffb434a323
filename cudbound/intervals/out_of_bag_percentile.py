"""Percentiles of the AUCs, or Brier scores, of the refits on the rows outside their draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.basis.validation import Array
from cudbound.intervals.bootstrap_percentile import QUANTILE, percentile_interval
from cudbound.intervals.method import Method, defined_values
from cudbound.point_estimates.auc import order_codes, weighted_auc
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG
from cudbound.records import Records, ScoreRecords

NO_DRAW = "undefined: no draw leaves out rows of both classes; take more bootstrap draws"
EQUAL_DRAWS = "both limits are the same draw's value"


def out_of_bag_aucs(records: ScoreRecords) -> Array:
    """Return the AUC of each draw's classifier on the rows outside the draw; nan where they are of one class."""
    bootstrap, event = records.require("bootstrap"), records.event
    out = np.asarray(bootstrap.counts) == 0
    both = out[:, event].any(axis=1) & out[:, ~event].any(axis=1)
    aucs = np.full(len(out), np.nan)
    aucs[both] = weighted_auc(order_codes(bootstrap.scores[both]), event, out[both])
    return aucs


def _of_aucs(records: ScoreRecords, confidence_level: float, *, quantile: str) -> Outcome:
    return _outcome(out_of_bag_aucs(records), confidence_level, quantile, "that left out one class", NO_DRAW)


def out_of_bag_means(records: Records) -> Array:
    """Return the mean loss of each draw's classifier on the rows outside the draw; nan where there are none."""
    bootstrap = records.require("bootstrap")
    out = np.asarray(bootstrap.counts) == 0
    n_out = out.sum(axis=1)
    sums = (np.asarray(bootstrap.losses, dtype=np.float64) * out).sum(axis=1)
    return np.where(n_out > 0, sums / np.maximum(n_out, 1), np.nan)


def _of_means(records: Records, confidence_level: float, *, quantile: str) -> Outcome:
    lost = "that left out no row"
    return _outcome(out_of_bag_means(records), confidence_level, quantile, lost, NOTHING_OUT_OF_BAG)


def _outcome(values: Array, confidence_level: float, quantile: str, lost: str, none: str) -> Outcome:
    values, remarks = defined_values(values, lost)
    if values.size == 0:
        return Outcome.undefined(none)
    return Outcome(
        float(values.mean()),
        percentile_interval(values, confidence_level, quantile),
        remarks=remarks,
        degenerate=EQUAL_DRAWS,
    )


_OF_AUCS = Method(
    name="out-of-bag-percentile",
    reads="scores",
    title="Percentiles of the AUCs of the refits on the rows outside their draws",
    formula="the d/2 and 1 - d/2 quantiles, over the draws, of the AUC of the refit on the rows outside its draw",
    estimand=Estimand("conditional"),
    needs=frozenset({"bootstrap"}),
    assumptions="refits on draws vary on .37 n rows as the AUC of this classifier does on n",
    tendency="low, since draws hold .632 n distinct rows, and long; at .95 it covered in .43 of the sets at worst and "
    ".97 in the median of 88 settings, at the level in about three of four",
    reference="Efron and Tibshirani (1993), chapter 13, of out-of-bag AUCs; no paper shows that it keeps its level",
    cost="B",
    compute=_of_aucs,
    options={"quantile": QUANTILE},
)

OUT_OF_BAG_PERCENTILE_BRIER = replace(
    _OF_AUCS,
    reads="probabilities",
    title="Percentiles of the Brier scores of the refits on the rows outside their draws",
    formula="the d/2 and 1 - d/2 quantiles, over the draws, of the Brier score of the refit on the rows outside its "
    "draw",
    assumptions="refits on draws vary on .37 n rows as the Brier score of this classifier does on n",
    tendency="high, since draws hold .632 n distinct rows, and long; its coverage has not been studied for the Brier "
    "score",
    reference="Efron and Tibshirani (1993), chapter 13, of out-of-bag scores; no paper shows that it keeps its level",
    compute=_of_means,
)

OUT_OF_BAG_PERCENTILE = replace(_OF_AUCS, others={"probabilities": OUT_OF_BAG_PERCENTILE_BRIER})
