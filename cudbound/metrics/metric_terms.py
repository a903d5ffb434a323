"""Convert an interval for a mean loss to one for the metric, with the number of rows it is based on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import ParameterError, SmallSampleWarning
from cudbound.basis.metric_words import metric_words
from cudbound.basis.outcomes import TestedRows
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import Worded, worded
from cudbound.basis.validation import Array
from cudbound.metrics.metric import Metric, MetricRows

#: Rows of a class below which a metric of it gets a warning: one of them is more than a tenth of it.
FEW = 10


def warn_of_few(seen: Iterable[MetricRows]) -> None:
    """Warn about each metric that is based on fewer than `FEW` rows of a class."""
    for one in {one.metric: one for one in seen}.values():
        every = min(int(one.event.sum()), int((~one.event).sum()))
        _warn_of_few(one.metric, one.based_on, one.n_fewest if _compares_classes(one.metric) else every)


def warn_of_few_tested(metric: Metric, tested: TestedRows) -> None:
    """Warn about a metric of a class that has fewer than `FEW` test cases or held-out rows.

    Test cases are also counted for metrics of all rows; that few rows of a rare class are held out is no surprise.
    """
    compares = _compares_classes(metric)
    if tested.sizes is not None and (compares or tested.new):
        shares = (1.0, 1.0) if metric.shares is None else metric.shares
        n_fewest = min(size for size, share in zip(tested.sizes, shares, strict=True) if share > 0.0)
        _warn_of_few(metric, tested.averaged(metric.shares), n_fewest)


def _compares_classes(metric: Metric) -> bool:
    """Whether a metric averages classes separately, or compares them with each other."""
    return metric.by_class or metric.reads == "scores"


def _warn_of_few(metric: Metric, based_on: str, n_fewest: int) -> None:
    moves = "one patient changes the estimate by more than 10 points"
    means = moves if _compares_classes(metric) else "it has little information on that class"
    if n_fewest < FEW:
        warn(
            SmallSampleWarning(
                f"The {metric_words([metric.name])} is based on {based_on}. With fewer than {FEW} of a class, {means}. "
                "Report their number with the interval.",
                n_rows=n_fewest,
            ),
        )


def check_weights(kinds: Iterable[str], sample_weight: Array | None) -> None:
    """Raise ParameterError for a metric of scores or probabilities with weighted rows."""
    if sample_weight is not None and any(kind != "classes" for kind in kinds):
        rule = "None for the AUC and the Brier score, whose intervals were not studied for weighted rows"
        raise ParameterError("sample_weight", rule, sample_weight)


def in_metric_terms(
    row: IntervalEstimate, metric: Metric, based_on: str, remarks: tuple[str, ...] = ()
) -> IntervalEstimate:
    """Convert an interval for the mean loss of a metric to one for the metric.

    Parameters
    ----------
    row : IntervalEstimate
        The interval from a method, on the scale of the mean loss.
    metric : Metric
    based_on : str
        The number of rows it is based on, in words; empty for all rows.
    remarks : tuple of str
        Further remarks, which come first.

    Returns
    -------
    IntervalEstimate
        Remarks and details of the method remain on the scale of the mean loss; remarks with numbers on it state this.
    """
    based = (f"based on {based_on}",) if based_on else ()
    own = row.remarks
    if metric.loss_name != metric.name:
        own = tuple(
            # a remark without a proportion is the same on either scale
            one if worded(one, True) == one else Worded.joined(f"in terms of {metric.loss_name}: ", one)
            for one in own
        )
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
