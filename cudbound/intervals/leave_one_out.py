"""Exact binomial interval from the leave-one-out losses, as if they were independent tests of one classifier."""

from __future__ import annotations

import numpy as np

from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.intervals.method import Method
from cudbound.records import Records


def _leave_one_out(records: Records, confidence_level: float) -> Outcome:
    losses = records.require("leave_one_out").losses
    error, size = float(np.mean(losses)), records.n_effective
    errors = float(np.sum(losses)) if size == np.size(losses) else error * size
    return Outcome(error, inverted_binomial_interval(errors, size, confidence_level))


LEAVE_ONE_OUT = Method(
    name="leave-one-out-binomial",
    title="Clopper-Pearson interval from the leave-one-out losses",
    formula="p with P(X >= k) = d/2 and p with P(X <= k) = d/2; X is binomial(n, p), k the number of leave-one-out "
    "errors",
    estimand=Estimand("conditional"),
    needs=frozenset({"leave_one_out"}),
    assumptions="leave-one-out losses are independent losses of one fixed classifier",
    tendency="liberal: it ignores the dependence between the losses",
    reference="Clopper and Pearson (1934); studied by Jiang, Varma and Simon (2008)",
    cost="n",
    with_groups="refits",
    compute=_leave_one_out,
)
