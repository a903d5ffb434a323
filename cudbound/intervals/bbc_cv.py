"""Bootstrap bias-corrected cross-validation: the error of choosing a configuration and fitting it to all rows."""

from __future__ import annotations

from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.intervals.bootstrap_percentile import percentile_interval
from cudbound.intervals.method import ON_TRAINING_ROWS, Method, defined_values
from cudbound.records import Records


def _compute(records: Records, confidence_level: float) -> Outcome:
    defined, remarks = defined_values(records.require("tuned").out_of_draw, "that contained all rows")
    if not defined.size:
        return Outcome.undefined("undefined: every draw contained all rows; use more bootstrap draws")
    return Outcome(
        float(defined.mean()),
        percentile_interval(defined, confidence_level),
        remarks=remarks,
        degenerate="both limits are the same draw's error",
    )


BBC_CV = Method(
    name="bbc-cv",
    title="Bootstrap bias-corrected cross-validation of a tuned classifier",
    formula="the d/2 and 1 - d/2 quantiles over the draws of L_b, the mean loss on the rows outside the draw of the "
    "configuration with the smallest mean loss on the draw",
    estimand=Estimand("rule"),
    needs=frozenset({"tuned"}),
    assumptions="choosing a configuration on drawn rows relates to all rows as choosing on all rows relates to the "
    "population",
    tendency="near nominal in its authors' simulations; far below nominal if classes are nearly separable; wide with "
    "few rows, which leave few errors outside a draw",
    reference="Tsamardinos, Greasidou and Borboudakis (2018), algorithm 3. Ties: the first configuration; draws that "
    "contain all rows are dropped",
    cost="K per configuration",
    compute=_compute,
    fallback=ON_TRAINING_ROWS,
)
