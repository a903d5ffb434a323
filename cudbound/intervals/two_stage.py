"""Two-stage bootstrap: percentiles of the corrected estimate, recomputed on every draw from inner draws."""

from __future__ import annotations

from cudbound.basis.outcomes import UNDEFINED_LIMITS, Estimand, Outcome
from cudbound.intervals.bootstrap_percentile import QUANTILE, percentile_interval
from cudbound.intervals.centers import CENTER, estimate_at, replicates_at, undefined_at
from cudbound.intervals.efron_tibshirani import FALLBACK
from cudbound.intervals.method import Method, defined_values
from cudbound.records import Records

NO_INNER_DRAWS = "no inner draws were recorded: request 50, which needs 50 further refits per draw"
#: Used if rows have weights, or only some rows count.
NO_MEANS_OF_SOME_ROWS = (
    "inner draws are recorded as unweighted means over all rows, which only give the unweighted error"
)


def _compute(records: Records, confidence_level: float, *, center: str, quantile: str) -> Outcome:
    found = estimate_at(records, center)
    if undefined := undefined_at(found):
        return undefined
    if records.inner is None:
        reason = NO_MEANS_OF_SOME_ROWS if records.weighed else NO_INNER_DRAWS
        return Outcome(found.estimate, UNDEFINED_LIMITS, remarks=found.remarks, degenerate=reason)
    defined, lost = defined_values(replicates_at(records, center), "without an estimate")
    remarks = (*found.remarks, *lost)
    if not defined.size:
        reason = "the inner draws give no estimate in any draw"
        return Outcome(found.estimate, UNDEFINED_LIMITS, remarks=remarks, degenerate=reason)
    return Outcome(
        found.estimate,
        percentile_interval(defined, confidence_level, quantile),
        remarks=remarks,
        degenerate="both limits are the same bootstrap replicate",
    )


TWO_STAGE = Method(
    name="two-stage",
    title="Percentiles of the corrected estimate, recomputed on every draw from inner draws",
    formula="the d/2 and 1 - d/2 quantiles over the draws of the corrected error, recomputed on each from inner "
    "draws",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap", "inner"}),
    assumptions="the corrected error varies around the true error as that of a draw varies around that of the training "
    "set",
    tendency="too low and liberal, since inner draws train and test on copies of the same row; designed for "
    "C-statistics of logistic models on hundreds of rows",
    reference="Noma et al. (2021), algorithm 2; with center='632' it is the percentile bootstrap with inner draws",
    cost="B (1 + inner draws)",
    compute=_compute,
    options={"center": CENTER, "quantile": QUANTILE},
    fallback=FALLBACK,
)
