"""The targets of intervals: one per metric of a call, with its confidence levels, its draws and its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import ParameterError, SmallSampleWarning
from cudbound.basis.metric_words import metric_words
from cudbound.basis.outcomes import TestedRows
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.sample import Sample
from cudbound.basis.validation import Array
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metrics import Metrics
from cudbound.problem.draws import draw_counts, draw_stratified_counts


def targets_of(
    metrics: Metrics, event: NDArray[Any], weights: Array | None, confidence_level: float, alternative: str
) -> tuple[MetricRows, ...]:
    """Return the target of each requested metric, and of the metrics behind predictive values and likelihood ratios.

    Those behind likelihood ratios are simultaneous pairs of sensitivity and specificity, unless all metrics are
    simultaneous.

    `event` marks the events, or gives the class of each row.
    """

    def family(
        linear: Sequence[Metric], joint: bool, way: str, of_pair: bool = False
    ) -> Iterator[MetricRows]:
        for metric in linear:
            is_event = event == (1 if metric.event_class is None else metric.event_class)
            together = tuple(linear) if joint else (metric,)
            yield MetricRows(metric, is_event, weights, together, confidence_level, way, of_pair)

    targets = tuple(family(metrics.linear, metrics.joint, alternative))
    if metrics.joint:
        if "lr-" in metrics.ratios and alternative != "two-sided":
            rule = "'two-sided' for an lr- jointly with other metrics: it decreases as sensitivity increases"
            raise ParameterError("alternative", rule, alternative)
        return targets
    ways = dict.fromkeys(way_of_parts(name, alternative) for name in metrics.ratios)
    pairs = (family((SENSITIVITY, SPECIFICITY), True, way, of_pair=True) for way in ways)
    return (*targets, *chain.from_iterable(pairs))


def way_of_parts(ratio: str, alternative: str) -> str:
    """Convert an alternative about a likelihood ratio to sensitivity and specificity: LR- decreases with both."""
    return SENSITIVITY.alternative_of_loss(alternative) if ratio == "lr-" else alternative


#: Draws that lack a class are drawn again at most this often.
MAX_ATTEMPTS = 1000


def draw_for_metrics(
    metric_rows: Sequence[MetricRows], sample: Sample, n_resamples: int, rng: Generator, within_classes: bool
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Draw bootstrap samples on which every metric is defined.

    Parameters
    ----------
    metric_rows : sequence of MetricRows
        At least one, all of this training set.
    sample : Sample
    n_resamples : int
    rng : numpy.random.Generator
    within_classes : bool
        Whether to draw within the classes, which is never done with groups, because a group can have both classes.
        Draws without a class that a metric averages separately are redrawn otherwise.

    Returns
    -------
    counts : ndarray of int32, shape (n_resamples, n_samples)
    remarks : tuple of str
        How the draws differ from ordinary ones.
    """
    if within_classes and sample.groups is None:
        return draw_stratified_counts(sample.events, n_resamples, rng), ("draws within the classes",)
    counts = draw_counts(sample.n_samples, n_resamples, rng, sample.groups)
    again = _lacking(metric_rows, counts)
    remarks = (f"{again.size} draws without a row of one class redrawn",) if again.size else ()
    for _ in range(MAX_ATTEMPTS):
        if not again.size:
            return counts, remarks
        counts[again] = draw_counts(sample.n_samples, again.size, rng, sample.groups)
        again = again[_lacking(metric_rows, counts[again])]
    raise ValueError(
        f"A draw of {sample.n_samples} rows missed a class that counts {MAX_ATTEMPTS} times in a row. Draw within "
        "the classes: stratified=True."
    )


def _lacking(metric_rows: Sequence[MetricRows], counts: NDArray[np.int32]) -> NDArray[np.intp]:
    return np.flatnonzero(np.any([rows.lacking(counts) for rows in metric_rows], axis=0))


#: Rows of a class below which a metric of it gets a warning: one of them is more than a tenth of it.
FEW = 10


def warn_of_few(metric_rows: Iterable[MetricRows]) -> None:
    """Warn about metrics that are based on fewer than `FEW` rows of a class, once for all of the same rows."""
    names: dict[tuple[str, bool, int], list[str]] = {}
    for rows in {rows.metric: rows for rows in metric_rows}.values():
        every = min(int(rows.event.sum()), int((~rows.event).sum()))
        compares = _compares_classes(rows.metric)
        alike = (rows.based_on, compares, rows.n_fewest if compares else every)
        names.setdefault(alike, []).append(rows.metric.name)
    for (based_on, compares, n_fewest), metrics in names.items():
        _warn_of_few(metrics, based_on, compares, n_fewest)


def warn_of_few_tested(metric: Metric, tested: TestedRows) -> None:
    """Warn about a metric of a class that has fewer than `FEW` test cases or held-out rows.

    Test cases are also counted for metrics of all rows; that few rows of a rare class are held out is no surprise.
    """
    compares = _compares_classes(metric)
    if tested.sizes is not None and (compares or tested.new):
        shares = (1.0, 1.0) if metric.shares is None else metric.shares
        n_fewest = min(size for size, share in zip(tested.sizes, shares, strict=True) if share > 0.0)
        _warn_of_few([metric.name], tested.averaged(metric.shares), compares, n_fewest)


def _compares_classes(metric: Metric) -> bool:
    """Whether a metric averages classes separately, or compares them with each other."""
    return metric.shares is not None or metric.reads == "scores"


def _warn_of_few(metrics: list[str], based_on: str, compares: bool, n_fewest: int) -> None:
    several = len(metrics) > 1
    moves = f"one patient changes {'each' if several else 'the'} estimate by more than 10 points"
    means = moves if compares else f"{'they have' if several else 'it has'} little information on that class"
    if n_fewest < FEW:
        warn(
            SmallSampleWarning(
                f"The {metric_words(metrics)} {'are' if several else 'is'} based on {based_on}. "
                f"With fewer than {FEW} of a class, {means}. Report their number with the interval.",
                n_rows=n_fewest,
            )
        )


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
        Remarks and details of the method remain on the scale of the mean loss.
    """
    based = (f"based on {based_on}",) if based_on else ()
    return replace(
        row,
        metric=metric.name,
        estimate=metric.from_loss(row.estimate),
        raw_interval=metric.limits(row.raw_interval),
        alternative=metric.alternative_of_loss(row.alternative),
        remarks=(*based, *remarks, *row.remarks),
        standard_error=None if row.standard_error is None else metric.scale * row.standard_error,
        lowest=metric.range.low,
        highest=metric.range.high,
    )
