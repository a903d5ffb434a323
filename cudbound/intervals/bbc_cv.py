"""Bootstrap bias-corrected cross-validation: the error of choosing a configuration and fitting it to all rows."""

from __future__ import annotations

from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.intervals.bootstrap_percentile import percentile_interval
from cudbound.intervals.method import ON_TRAINING_ROWS, Method, defined_values
from cudbound.records import Records


def _compute(records: Records, confidence_level: float) -> Outcome:
    defined, remarks = defined_values(records.require("tuned").out_of_draw, "that held all rows")
    if not defined.size:
        return Outcome.undefined("undefined: every draw held all rows; take more bootstrap draws")
    return Outcome(
        float(defined.mean()),
        percentile_interval(defined, confidence_level),
        remarks=remarks,
        degenerate="both limits are the same error outside a draw",
    )


BBC_CV = Method(
    name="bbc-cv",
    title="Bootstrap bias-corrected cross-validation of a tuned classifier",
    formula="the d/2 and 1 - d/2 quantiles over the draws of L_b, the mean loss, on the rows outside the draw, "
    "of the configuration with the smallest mean loss on the draw",
    estimand=Estimand("rule"),
    needs=frozenset({"tuned"}),
    assumptions="choosing among the configurations on drawn rows differs from choosing on all rows as it does from the "
    "population",
    tendency="near its level in the simulations of its authors; far below it where classes are nearly separable; with "
    "few rows the errors outside a draw are few, and the interval is wide; two-center, of more fits, was shorter",
    reference="Tsamardinos, Greasidou and Borboudakis (2018), algorithm 3. Ties: the first configuration; draws that "
    "hold all rows are dropped",
    cost="K for each configuration",
    compute=_compute,
    fallback=ON_TRAINING_ROWS,
)
