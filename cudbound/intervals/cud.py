"""The CUD interval as a method among the others; `cudbound.bound.cud_interval` computes it."""

from __future__ import annotations

from cudbound.intervals.method import Method, Outcome
from cudbound.records import Records


def _cud(records: Records, confidence_level: float) -> Outcome:
    row = records.bound.at(confidence_level=confidence_level).row
    return Outcome(row.estimate, row.raw_interval, row.remarks, row.degenerate, center=row.center)


CUD = Method(
    name="cud",
    title="Constrained uniform deviation bound around the training error",
    estimand="conditional",
    needs=frozenset({"bound"}),
    assumptions="the bootstrap quantile of the smoothed supremum estimates that of the population",
    tendency="conservative: it bounds the deviation of every classifier near the fitted one",
    reference="Laber and Murphy (2008), sections 3 and 4",
    cost="0",
    compute=_cud,
)
