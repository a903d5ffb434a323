"""The argument metric=: names, costs, a prevalence, simultaneous intervals, and the target of each metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import ParameterError, SmallSampleWarning, suggestion
from cudbound.basis.method_card import Kind
from cudbound.basis.results import IntervalEstimate, TestedRows
from cudbound.basis.sample import Sample
from cudbound.basis.validation import Array, check_flag, check_number
from cudbound.basis.words import metric_words
from cudbound.metrics.metric import ACCURACY, ERROR, METRICS, SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.problem.draws import draw_counts, draw_stratified_counts

#: Why quantities are not supported and what to request instead, by the names that readers use.
_SENTENCES = {
    "average-precision auprc pr-auc": "it depends on the share of events among the cases at each threshold; use auc.",
    "f1 f1-score f-score f-measure fbeta mcc matthews kappa cohen-kappa": (
        "it is a ratio whose parts vary together, not a mean over cases; use sensitivity and ppv, jointly and with a "
        "prevalence."
    ),
    "log-loss": "it has no largest value; use brier for probabilities.",
    "calibration calibration-slope calibration-intercept": (
        "intercept and slope have no interval; 'cudbound report' has both, and in Python the table for brier "
        "(table.calibration)."
    ),
    "survival c-index concordance concordance-index hazard-ratio": (
        "censored times to an event are not classes; use error for the status at a time when it is known for every "
        "patient."
    ),
}
#: The same by single names, in lower case with hyphens.
INSTEAD = {name: sentence for names, sentence in _SENTENCES.items() for name in names.split()}
#: Other names of metrics, such as those of scikit-learn, in lower case with hyphens.
ALIASES = {
    **dict.fromkeys(("roc-auc", "auroc", "c-statistic"), "auc"),
    "brier-score": "brier",
    **dict.fromkeys(("recall", "tpr", "true-positive-rate"), "sensitivity"),
    **dict.fromkeys(("tnr", "true-negative-rate", "selectivity"), "specificity"),
    **dict.fromkeys(("precision", "positive-predictive-value"), "ppv"),
    "negative-predictive-value": "npv",
    **dict.fromkeys(("positive-likelihood-ratio", "lr-positive", "plr"), "lr+"),
    **dict.fromkeys(("negative-likelihood-ratio", "lr-negative", "nlr"), "lr-"),
    **dict.fromkeys(("false-positive-rate", "fall-out"), "fpr"),
    **dict.fromkeys(("false-negative-rate", "miss-rate"), "fnr"),
}
#: What follows from limits of sensitivity and specificity at a prevalence.
PREDICTIVE = ("ppv", "npv")
#: What follows from limits of both that hold together.
RATIOS = ("lr+", "lr-")
COST, NET_BENEFIT = "cost", "net-benefit"
#: Pairs of labels of which the second is the event by convention.
CODED = ([0, 1], [-1, 1], [False, True])
#: Settings with the metrics that read them.
_SETTINGS: Mapping[str, tuple[Sequence[str], str]] = {
    "costs": ((COST,), "a cost for each class by its label, only with the metric 'cost'"),
    "threshold": ((NET_BENEFIT,), "a number in (0, 1), only with the metric 'net-benefit'"),
    "prevalence": (
        (*PREDICTIVE, NET_BENEFIT),
        "a number in (0, 1) or 'sample', only with the metrics 'ppv', 'npv' and 'net-benefit'",
    ),
}
#: Every name, in the order of the documentation.
NAMES = (*METRICS, COST, NET_BENEFIT, *PREDICTIVE, *RATIOS)


@dataclass(frozen=True)
class Metrics:
    """One or more metrics with their settings. Without settings, names alone may be passed.

    Attributes
    ----------
    metric : str, Metric, or a sequence of them
        Any of "error", "accuracy", "sensitivity" (or "recall", "tpr"), "specificity" (or "tnr"), "fpr", "fnr",
        "balanced-error", "balanced-accuracy", "auc" (or "roc_auc"), "brier" (or "brier_score"), "cost",
        "net-benefit", "ppv" (or "precision"), "npv", "lr+" and "lr-", the likelihood ratios.
    event : object, default=None
        Label of the event, also a keyword of every call that takes a metric. None means the second class if the labels
        are 0 and 1, -1 and 1, or False and True. With more than two classes it means each class in turn; then only the
        error, the accuracy and the sensitivity of each class are supported.
    costs : mapping or None, default=None
        For "cost": the cost of a misclassified case of each class, by the label of its true class.
    prevalence : float or "sample" or None, default=None
        For "ppv", "npv" and "net-benefit": share of events in the target population, strictly between 0 and 1; "sample"
        uses that of the training set, or of the test cases for an interval of them, with its own limits, or as if it
        were known if `joint`.
    joint : bool, default=False
        Whether the intervals of each method hold simultaneously at the level: by Bonferroni's inequality, and for "cud"
        by the quantile over draws of the largest Q over the metrics.
    stratified : bool or None, default=None
        Whether bootstrap samples are drawn within the classes. None does so if all metrics are of single classes. With
        "error" or "cost", whose variation includes that of the class sizes, it draws from all rows.
    threshold : float or None, default=None
        For "net-benefit": the probability from which the classifier predicts an event, in (0, 1). A false positive then
        costs threshold / (1 - threshold) times the value of a true positive (Vickers and Elkin, 2006).

    Raises
    ------
    ValueError
        If a name is unknown, with what to use instead; if costs or a prevalence are missing, out of range, or given
        without a metric that uses them; or if a metric is named twice.

    Examples
    --------
    >>> Metrics(["sensitivity", "ppv"], prevalence=0.1, joint=True).names
    ('sensitivity', 'ppv')
    """

    metric: str | Metric | Sequence[str | Metric]
    event: Any = None
    costs: Mapping[Any, float] | None = None
    prevalence: float | str | None = None
    joint: bool = False
    stratified: bool | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        names = self.names
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ParameterError("metric", "different metrics", repeated[0])
        check_flag("joint", self.joint)
        if self.stratified is not None:
            check_flag("stratified", self.stratified)
        for parameter, (read_by, rule) in _SETTINGS.items():
            value = getattr(self, parameter)
            valid = (value is not None) == any(name in self.requested for name in read_by)
            if valid and not (
                value is None or parameter == "costs" or (parameter, value) == ("prevalence", "sample")
            ):
                valid = not isinstance(value, str) and check_number(parameter, value, 0.0, 1.0) > 0.0
            if not valid:
                what, _, where = rule.partition(", only ")
                raise ParameterError(parameter, f"given {where}, as {what}" if value is None else rule, value)
        if self.prevalence == "sample" and self.joint and NET_BENEFIT in names:
            rule = "a number in (0, 1) for a net benefit jointly with other metrics"
            raise ParameterError("prevalence", rule, self.prevalence)
        user_defined = [metric for metric in self.requested if isinstance(metric, Metric)]
        taken = [metric.name for metric in user_defined if metric != METRICS.get(metric.name, metric)]
        if taken and self.among(PREDICTIVE):
            raise ParameterError("metric", "a unique name for every user-defined metric", taken[0])
        if self.joint and len(names) == 1 and names[0] not in (*PREDICTIVE, *RATIOS, SENSITIVITY.name):
            raise ParameterError("joint", "False for a single metric; request several", self.joint)

    @cached_property
    def requested(self) -> tuple[str | Metric, ...]:
        """User-defined metrics, and the registered names of the others, in the requested order."""
        listed = (self.metric,) if isinstance(self.metric, str | Metric) else self.metric
        if not isinstance(listed, Sequence) or not listed:
            raise ParameterError("metric", f"one or more of {list(NAMES)}", self.metric)
        return tuple(metric if isinstance(metric, Metric) else check_name(metric) for metric in listed)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, in the requested order."""
        return tuple(metric if isinstance(metric, str) else metric.name for metric in self.requested)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The outputs of the classifier that they use, each once: classes, scores or probabilities."""
        metrics = (METRICS.get(each, ERROR) if isinstance(each, str) else each for each in self.requested)
        return tuple(dict.fromkeys(metric.reads for metric in metrics))

    def among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the requested ones of these names, such as `RATIOS`."""
        return tuple(name for name in self.names if name in names)

    @cached_property
    def linear(self) -> tuple[Metric, ...]:
        """The metrics that are linear in the losses, with sensitivity and specificity if their limits are needed."""
        metrics = [
            net_benefit(self.threshold or 0.0, self.prevalence)
            if metric == NET_BENEFIT
            else METRICS[metric]
            if isinstance(metric, str)
            else metric
            for metric in self.requested
            if metric not in (*PREDICTIVE, *RATIOS)
        ]
        of_both = self.among((*PREDICTIVE, *RATIOS) if self.joint else PREDICTIVE)
        behind = (SENSITIVITY, SPECIFICITY) if of_both else ()
        return tuple(dict.fromkeys((*metrics, *behind)))

    def event_class(self, classes: Sequence[Any]) -> int:
        """Return which of two classes is the event, 0 or 1; of more than two, each can be one.

        Raises
        ------
        ValueError
            If the event is not one of them.
        """
        if self.event is not None and self.event not in classes:
            raise ParameterError("event", f"one of the classes {list(classes)}", self.event)
        return 1 if self.event is None or len(classes) > 2 else list(classes).index(self.event)

    def resolve(self, classes: Sequence[Any] = (0, 1), *, one: bool = False) -> Metrics:
        """Return the metrics of a classifier, with its event, and with a metric for its costs.

        With more than two classes: the error, the accuracy, and the sensitivity of the event or of each class, unless
        only `one` metric is allowed.

        Raises
        ------
        ValueError
            If the event or the costs do not match its classes, if the event is required, if a metric is for two
            classes, or if there are several metrics in place of `one`.
        """
        labels = list(classes)
        event_class = self.event_class(labels)
        if len(labels) > 2:
            metrics = self._of_several(labels)
            if one and len(metrics) > 1:
                rule = (
                    f"for one of the several classes, such as performance_interval(..., event={labels[0]!r})"
                )
                raise ParameterError("metric", f"{rule}; compare_intervals accepts all", self.metric)
            return replace(self, metric=metrics)
        cost = self._cost(labels, event_class) if COST in self.requested else None
        metric = tuple(cost if cost and metric == COST else metric for metric in self.requested)
        resolved = replace(self, metric=metric, costs=None, event=labels[event_class])
        uneven = any(
            metric.shares is not None and metric.shares[0] != metric.shares[1] for metric in resolved.linear
        )
        if self.event is None and (uneven or self.among(RATIOS) or self.threshold) and labels not in CODED:
            raise ParameterError(
                "event",
                f"one of the classes {labels}, for example performance_interval(..., event={labels[1]!r})",
                None,
            )
        return resolved

    def _of_several(self, classes: list[Any]) -> tuple[Metric, ...]:
        """Return the metrics of a classifier of more than two classes."""
        events = classes if self.event is None else [self.event]
        metrics: list[Metric] = []
        for requested, name in zip(self.requested, self.names, strict=True):
            metric = METRICS.get(requested) if isinstance(requested, str) else requested
            if metric == SENSITIVITY:
                numbers = map(classes.index, events)
                metrics += [
                    replace(SENSITIVITY, name=f"sensitivity of {classes[k]}", event_class=k) for k in numbers
                ]
            elif metric in (ERROR, ACCURACY) or (metric is not None and metric.event_class is not None):
                metrics.append(metric)
            else:
                advice = (
                    " Others are for one class against the rest: fit the classifier to y == 'a', or on the command "
                    "line use --positive a instead of --all-classes."
                )
                rule = f"'error', 'accuracy' or 'sensitivity' for {len(classes)} classes"
                raise ParameterError("metric", rule, name, advice)
        return tuple(metrics)

    def _cost(self, classes: Sequence[Any], event_class: int) -> Metric:
        costs = self.costs
        if not isinstance(costs, Mapping) or sorted(map(repr, costs)) != sorted(map(repr, classes)):
            raise ParameterError("costs", f"a cost for each of the classes {classes}, by its label", costs)
        of_class = tuple(check_number("costs", costs[label], 0.0, 1e100) for label in classes)
        return Metric(COST, costs=(of_class[1 - event_class], of_class[event_class]))


def net_benefit(threshold: float, prevalence: float | str | None) -> Metric:
    """Return the net benefit at a prevalence, or minus the underlying mean cost for that of the sample.

    It is the share of true positives minus the share of false positives times the odds of the threshold.

    References
    ----------
    Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models.
    Medical Decision Making 26, 565-574.

    Examples
    --------
    A tenth are events, of which 1 in 4 is missed; 1 in 6 others is a false positive, which costs a quarter:

    >>> found = net_benefit(0.2, 0.1)
    >>> others, events = found.shares
    >>> round(found.from_loss(others / 6 + events / 4), 4), round(0.1 * 3 / 4 - 0.9 / 6 / 4, 4)
    (0.0375, 0.0375)
    """
    odds = threshold / (1.0 - threshold)
    if prevalence is None or isinstance(prevalence, str):
        return Metric(NET_BENEFIT, costs=(odds, 1.0), complement=True, top=0.0)
    at_stake = prevalence + odds * (1.0 - prevalence)
    shares = (odds * (1.0 - prevalence) / at_stake, prevalence / at_stake)
    return Metric(NET_BENEFIT, shares, (at_stake, at_stake), complement=True, top=prevalence)


def as_metrics(metric: Any, event: Any = None) -> Metrics:
    """Return the arguments ``metric=`` and ``event=`` of a call as `Metrics`.

    Raises
    ------
    ValueError
        If both name an event, and not the same.
    """
    metrics = metric if isinstance(metric, Metrics) else Metrics(metric)
    if event is None:
        return metrics
    if metrics.event is not None and metrics.event != event:
        rule = f"the event of its Metrics, {metrics.event!r}, or be left out of one of the two"
        raise ParameterError("event", rule, event)
    return replace(metrics, event=event)


def check_name(name: object) -> str:
    """Return the name of a metric.

    Raises
    ------
    ValueError
        If it is unknown; the message says in one sentence what to use instead.
    """
    if not isinstance(name, str):
        raise ParameterError("metric", f"one or more of {list(NAMES)}", name)
    spelled = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    name = ALIASES.get(spelled, next((way for way in (name.lower(), spelled) if way in NAMES), name))
    if name not in NAMES:
        meant = suggestion(name, (*NAMES, *ALIASES)).strip().replace("Did", "did", 1)
        instead = INSTEAD.get(spelled) or meant or f"the metrics are {', '.join(NAMES)}."
        raise ValueError(f"The 'metric' parameter does not support {name!r}: {instead}")
    return name


def targets_of(
    metrics: Metrics, event: NDArray[Any], weights: Array | None, confidence_level: float, alternative: str
) -> tuple[MetricRows, ...]:
    """Return the target of each requested metric, and of the metrics behind predictive values and likelihood ratios.

    Those behind likelihood ratios are simultaneous pairs of sensitivity and specificity, unless all metrics are
    simultaneous.

    `event` marks the events, or gives the class of each row.

    Raises
    ------
    ValueError
        If there are weights for a metric that has none, or an alternative that the metrics do not allow together.
    """
    if weights is not None and set(metrics.kinds) != {"classes"}:
        raise ValueError(
            "The 'sample_weight' parameter must be left out for the AUC and the Brier score, whose intervals were not "
            f"studied for weighted rows. Got weights of {len(weights)} rows."
        )
    if metrics.joint and "lr-" in metrics.names and alternative != "two-sided":
        rule = "'two-sided' for an lr- jointly with other metrics: it decreases as sensitivity increases"
        raise ParameterError("alternative", rule, alternative)
    families = [
        (metric, metrics.linear if metrics.joint else (metric,), alternative, False)
        for metric in metrics.linear
    ]
    if not metrics.joint:
        pair = (SENSITIVITY, SPECIFICITY)
        ways = dict.fromkeys(way_of_parts(name, alternative) for name in metrics.among(RATIOS))
        families += [(metric, pair, way, True) for way in ways for metric in pair]
    targets = []
    for metric, family, way, of_pair in families:
        is_event = event == (1 if metric.event_class is None else metric.event_class)
        targets.append(MetricRows(metric, is_event, weights, family, confidence_level, way, of_pair))
    return tuple(targets)


def way_of_parts(ratio: str, alternative: str) -> str:
    """Convert an alternative about a likelihood ratio to sensitivity and specificity: LR- decreases with both."""
    return SENSITIVITY.alternative_of_loss(alternative) if ratio == "lr-" else alternative


#: Draws that lack a class are drawn again at most this often.
MAX_ATTEMPTS = 1000


def draw_for_metrics(
    metrics: Metrics, metric_rows: Sequence[MetricRows], sample: Sample, n_resamples: int, rng: Generator
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Draw bootstrap samples on which every metric is defined.

    Draws are made within the classes as requested, or else if every metric is of single classes, and never with groups,
    because a group can have both classes. Otherwise draws without a class that a metric averages separately are
    redrawn.

    Parameters
    ----------
    metrics : Metrics
    metric_rows : sequence of MetricRows
        At least one, all of this training set.
    sample : Sample
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    counts : ndarray of int32, shape (n_resamples, n_samples)
    remarks : tuple of str
        How the draws differ from ordinary ones.
    """
    averaging_classes = [rows for rows in metric_rows if rows.metric.shares is not None]
    # what reads scores or probabilities takes the draws of the others
    by_class = [metric.shares is not None for metric in metrics.linear if metric.reads == "classes"]
    within_classes = metrics.stratified
    if within_classes is None:
        within_classes = bool(by_class or metrics.among(RATIOS)) and all(by_class)
    if within_classes and sample.groups is None:
        return draw_stratified_counts(sample.events, n_resamples, rng), ("draws within the classes",)
    counts = draw_counts(sample.n_samples, n_resamples, rng, sample.groups)
    if not averaging_classes:
        return counts, ()
    again = np.arange(n_resamples)
    remarks: tuple[str, ...] = ()
    for attempt in range(MAX_ATTEMPTS):
        again = again[np.any([rows.lacking(counts[again]) for rows in averaging_classes], axis=0)]
        if not again.size:
            return counts, remarks
        if not attempt:
            remarks = (f"{again.size} draws without a row of one class redrawn",)
        counts[again] = draw_counts(sample.n_samples, again.size, rng, sample.groups)
    raise ValueError(
        f"A draw of {sample.n_samples} rows missed a class that counts {MAX_ATTEMPTS} times in a row. Draw within "
        "the classes: stratified=True."
    )


#: Rows of a class below which a metric of it gets a warning: one of them is more than a tenth of it.
FEW = 10


def warn_of_few(metric_rows: Iterable[MetricRows]) -> None:
    """Warn about metrics that are based on fewer than `FEW` rows of a class, once for all of the same rows."""
    alike: dict[tuple[str, int, bool], list[Metric]] = {}
    for rows in {rows.metric: rows for rows in metric_rows}.values():
        n_fewest = rows.metric.smallest((int((~rows.event).sum()), int(rows.event.sum())))
        if n_fewest < FEW:
            alike.setdefault((rows.based_on, n_fewest, rows.metric.compares_classes), []).append(rows.metric)
    for (based_on, n_fewest, _), metrics in alike.items():
        _warn_of_few(metrics, based_on, n_fewest)


def warn_of_few_tested(metric: Metric, tested: TestedRows) -> None:
    """Warn about a metric of a class that has fewer than `FEW` test cases or held-out rows.

    Test cases are also counted for metrics of all rows; that few rows of a rare class are held out is no surprise.
    """
    if tested.sizes is not None and (metric.compares_classes or tested.new):
        n_fewest = metric.smallest(tested.sizes)
        if n_fewest < FEW:
            _warn_of_few([metric], tested.averaged(metric.shares), n_fewest)


def _warn_of_few(metrics: list[Metric], based_on: str, n_fewest: int) -> None:
    """Warn about metrics that are based on the same rows, of which a class has as few as `n_fewest`."""
    several = len(metrics) > 1
    means = f"{'they have' if several else 'it has'} little information on that class"
    if metrics[0].compares_classes:
        means = f"one patient changes {'each' if several else 'the'} estimate by more than 10 points"
    names = metric_words(metric.name for metric in metrics)
    warn(
        SmallSampleWarning(
            f"The {names} {'are' if several else 'is'} based on {based_on}. "
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
        lowest=metric.limits().low,
        highest=metric.limits().high,
    )
