"""An interval for a mean loss, told as that of the metric, with how many rows it is based on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import FewEventsWarning
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import Worded
from cudbound.basis.validation import Array
from cudbound.metrics.metric import Metric, MetricRows

#: Rows of a class below which a metric of it gets a warning: one of them is more than a tenth of it.
FEW = 10


def warn_of_few(seen: Iterable[MetricRows]) -> None:
    """Warn of each metric that is based on fewer than `FEW` rows of a class."""
    for one in {one.metric: one for one in seen}.values():
        of_classes = one.metric.by_class or one.metric.reads == "scores"
        n_fewest = one.n_fewest if of_classes else min(int(one.event.sum()), int((~one.event).sum()))
        moves = "one patient changes the estimate by more than 10 points"
        means = moves if of_classes else "it says little of that class"
        if n_fewest < FEW:
            warn(
                FewEventsWarning(
                    f"The {one.metric.name} is based on {one.based_on}. With fewer than {FEW} of a class, {means}. "
                    "Report their number with the interval.",
                    n_rows=n_fewest,
                ),
            )


def check_weights(kinds: Iterable[str], sample_weight: Array | None) -> None:
    """Raise ParameterError if rows with weights meet a metric of scores or probabilities."""
    if sample_weight is not None and any(kind != "classes" for kind in kinds):
        rule = "None for the AUC and the Brier score, whose intervals were not studied for rows with weights"
        raise ParameterError("sample_weight", rule, sample_weight)


def in_metric_terms(
    row: IntervalEstimate, metric: Metric, based_on: str, remarks: tuple[str, ...] = ()
) -> IntervalEstimate:
    """Return an interval for the mean loss of a metric as one for the metric.

    Parameters
    ----------
    row : IntervalEstimate
        As a method gives it, on the scale of the mean loss.
    metric : Metric
    based_on : str
        How many rows it is based on, in words; empty where they are all.
    remarks : tuple of str
        What else is to be said first.

    Returns
    -------
    IntervalEstimate
        Remarks and details of the method stay those of the mean loss, and the remarks say so.
    """
    based = (f"based on {based_on}",) if based_on else ()
    own = row.remarks
    if own and metric.loss_name != metric.name:
        own = (Worded.joined(f"in terms of {metric.loss_name}: ", own[0]), *own[1:])
    return replace(
        row,
        metric=metric.name,
        estimate=metric.from_loss(row.estimate),
        raw_interval=metric.limits(row.raw_interval),
        alternative=metric.alternative_of_loss(row.alternative),
        remarks=(*based, *remarks, *own),
        standard_error=None if row.standard_error is None else metric.scale * row.standard_error,
        lowest=metric.range.low,
        highest=metric.range.high,
    )
