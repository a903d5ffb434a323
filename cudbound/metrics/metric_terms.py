"""An interval for a mean loss, told as that of the metric, with how many rows it rests on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace

from cudbound.basis.exceptions import FewEventsWarning
from cudbound.basis.outcomes import ConfidenceInterval
from cudbound.basis.results import IntervalEstimate
from cudbound.metrics.metric import Metric, MetricRows

#: Rows of a class below which a metric of it gets a warning: one of them is more than a tenth of it.
FEW = 10


def warn_of_few(seen: Iterable[MetricRows], stacklevel: int = 3) -> None:
    """Warn of each metric of single classes that rests on fewer than `FEW` rows of a class."""
    for one in seen:
        if one.metric.by_class and one.n_fewest < FEW:
            warnings.warn(
                FewEventsWarning(
                    f"The {one.metric.name} rests on {one.rests_on}. Fewer than {FEW} of a class say little: one of "
                    "them moves it by more than a tenth. Report their number with the interval.",
                    n_rows=one.n_fewest,
                ),
                stacklevel=stacklevel,
            )


def in_metric_terms(
    row: IntervalEstimate, metric: Metric, rests_on: str, remarks: tuple[str, ...] = ()
) -> IntervalEstimate:
    """Return an interval for the mean loss of a metric as one for the metric.

    Parameters
    ----------
    row : IntervalEstimate
        As a method gives it, on the scale of the mean loss.
    metric : Metric
    rests_on : str
        How many rows it rests on, in words; empty for the plain error, whose row is returned as it is.
    remarks : tuple of str
        What else is to be said first.

    Returns
    -------
    IntervalEstimate
        Remarks and details of the method stay those of the mean loss, and the remarks say so.
    """
    if not rests_on:
        return replace(row, metric=metric.name, remarks=(*remarks, *row.remarks))
    own = row.remarks
    if own and metric.loss_name != metric.name:
        own = (f"in terms of {metric.loss_name}: {own[0]}", *own[1:])
    low, high = row.raw_interval.low, row.raw_interval.high
    ends = sorted((metric.from_loss(low), metric.from_loss(high))) if not math.isnan(low) else (low, high)
    return replace(
        row,
        metric=metric.name,
        estimate=metric.from_loss(row.estimate),
        raw_interval=ConfidenceInterval(*ends),
        alternative=metric.alternative_of_loss(row.alternative),
        remarks=(*((f"rests on {rests_on}",) if rests_on else ()), *remarks, *own),
        standard_error=None if row.standard_error is None else metric.scale * row.standard_error,
        highest=metric.scale,
    )
