"""What a caller asks for in ``metric=``: names, costs, a prevalence, and whether all are to hold together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cudbound.basis.hints import suggestion
from cudbound.basis.method_card import Kind
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_flag, check_number
from cudbound.metrics.metric import ACCURACY, ERROR, METRICS, SENSITIVITY, SPECIFICITY, Metric
from cudbound.metrics.not_covered import why_not

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
#: Every name, in the order of the documentation.
NAMES = (*METRICS, COST, NET_BENEFIT, *PREDICTIVE, *RATIOS)


@dataclass(frozen=True)
class ResolvedMetrics:
    """The metrics of one call.

    Attributes
    ----------
    names : tuple of str
        In the order asked for.
    metrics : tuple of Metric
        Those of them that are linear in the losses.
    joint : bool
        Whether all intervals of a method are to hold together.
    prevalence : float or "sample" or None
        Share of events among those whom predictive values and net benefit are for.
    threshold : float or None
        That of the net benefit.
    event_class : int
        Which of the two classes is the event, 0 or 1.
    stratified : bool or None
    """

    names: tuple[str, ...]
    metrics: tuple[Metric, ...]
    joint: bool = False
    prevalence: float | str | None = None
    event_class: int = 1
    stratified: bool | None = None
    threshold: float | None = None

    @property
    def predictive(self) -> tuple[str, ...]:
        """The predictive values among them."""
        return tuple(name for name in self.names if name in PREDICTIVE)

    @property
    def ratios(self) -> tuple[str, ...]:
        """The likelihood ratios among them."""
        return tuple(name for name in self.names if name in RATIOS)

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        """The linear metrics, with sensitivity and specificity where they have those limits too."""
        behind = (SENSITIVITY, SPECIFICITY) if self.predictive or (self.ratios and self.joint) else ()
        return tuple(dict.fromkeys((*self.metrics, *behind)))

    @property
    def drawn_within_classes(self) -> bool:
        """Whether draws are made within the classes: as asked, or where every metric is of single classes."""
        if self.stratified is not None:
            return self.stratified
        # what reads scores or probabilities takes the draws of the others
        known = [one.by_class for one in self.all_metrics if one.reads == "classes"]
        return bool(known or self.ratios) and all(known)


@dataclass(frozen=True)
class Metrics:
    """One or more metrics, and what has to be said of them. Where a name suffices, the name alone may be passed.

    Attributes
    ----------
    asked : str, Metric, or a sequence of them
        Out of "error", "accuracy", "sensitivity" (or "recall", "tpr"), "specificity" (or "tnr"), "fpr", "fnr",
        "balanced-error", "balanced-accuracy", "auc" (or "roc_auc"), "brier" (or "brier_score"), "cost",
        "net-benefit", "ppv" (or "precision"), "npv", "lr+" and "lr-", the likelihood ratios.
    event : object, default=None
        Label of the event. None takes the second class where the labels are 0 and 1, -1 and 1, or False and True, and
        each in turn where there are more than two classes, of which only the error, the accuracy and the sensitivity of
        each are bounded.
    costs : mapping or None, default=None
        For "cost": what a misclassified case of each class costs, by the label of its true class.
    prevalence : float or "sample" or None, default=None
        For "ppv", "npv" and "net-benefit": share of events among those whom they are for, strictly between 0 and 1;
        "sample" takes that of the training set, with limits of its own, or as if it were known if `joint`.
    joint : bool, default=False
        Whether the intervals of each method hold together at the level: by Bonferroni's inequality, and for "cud" by
        the quantile of the draws' largest Q over the metrics.
    stratified : bool or None, default=None
        Whether bootstrap samples are drawn within the classes. None does so where all metrics are of single classes;
        with "error" or "cost" among them, whose variation includes that of the class sizes, it draws from all rows.
    threshold : float or None, default=None
        For "net-benefit": the probability from which the classifier calls a case an event, in (0, 1). A false alarm
        then costs threshold / (1 - threshold) of what a found event is worth (Vickers and Elkin, 2006).

    Raises
    ------
    ValueError
        If a name is not known, with what to use instead; if costs or a prevalence are missing, out of range, or given
        without a metric that reads them; or if a metric is named twice.

    Examples
    --------
    >>> Metrics(["sensitivity", "ppv"], prevalence=0.1, joint=True).names
    ('sensitivity', 'ppv')
    """

    asked: str | Metric | Sequence[str | Metric]
    event: Any = None
    costs: Mapping[Any, float] | None = None
    prevalence: float | str | None = None
    joint: bool = False
    stratified: bool | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        names = self.names
        if not names:
            raise ParameterError("metric", f"one or more of {list(NAMES)}", self.asked)
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ParameterError("metric", "different metrics", repeated[0])
        if (self.costs is None) == (
            COST in names and not any(isinstance(one, Metric) for one in self._listed)
        ):
            rule = "a cost for each class by its label, with the metric 'cost' and only then"
            raise ParameterError("costs", rule, self.costs)
        check_flag("joint", self.joint)
        if self.stratified is not None:
            check_flag("stratified", self.stratified)
        self._check_prevalence()
        if (self.threshold is not None) != (NET_BENEFIT in names) or (
            self.threshold is not None and not check_number("threshold", self.threshold, 0.0, 1.0) > 0.0
        ):
            rule = "a number in (0, 1), with the metric 'net-benefit' and only then"
            raise ParameterError("threshold", rule, self.threshold)
        behind = [
            one.name for one in self._listed if isinstance(one, Metric) and one != METRICS.get(one.name, one)
        ]
        if behind and self._predictive:
            raise ParameterError("metric", "a name of its own for every metric of your own", behind[0])
        if self.joint and len(names) == 1 and names[0] not in (*PREDICTIVE, *RATIOS, SENSITIVITY.name):
            raise ParameterError("joint", "False for one metric by itself; name several", self.joint)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order asked for."""
        return tuple(_named(one) for one in self._listed)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What of a classifier they judge, each once: its classes, its scores or its probabilities."""
        own = (one if isinstance(one, Metric) else METRICS.get(_named(one), ERROR) for one in self._listed)
        return tuple(dict.fromkeys(one.reads for one in own))

    @property
    def several(self) -> bool:
        """Whether a list was asked for, of one or more."""
        return not isinstance(self.asked, str | Metric)

    @property
    def _listed(self) -> Sequence[str | Metric]:
        if isinstance(self.asked, str | Metric):
            return (self.asked,)
        if not isinstance(self.asked, Sequence):
            raise ParameterError("metric", f"one or more of {list(NAMES)}", self.asked)
        return self.asked

    @property
    def _predictive(self) -> bool:
        return any(name in PREDICTIVE for name in self.names)

    def resolve(self, classes: Sequence[Any] = (0, 1)) -> ResolvedMetrics:
        """Return the metrics of a classifier.

        Of more than two classes these are the error, the accuracy, and the sensitivity of the event or of each class.

        Raises
        ------
        ValueError
            If the event or the costs do not name its classes, the event has to be named, or a metric is one of two
            classes.
        """
        known = list(classes)
        number = 1
        if len(known) > 2:
            return self._of_several(known)
        if self.event is not None:
            if self.event not in known:
                raise ParameterError("event", f"one of the classes {known}", self.event)
            number = known.index(self.event)
        found = tuple(
            self._metric(one, known, number)
            for one in self._listed
            if _named(one) not in (*PREDICTIVE, *RATIOS)
        )
        asked = ResolvedMetrics(
            self.names, found, self.joint, self.prevalence, number, self.stratified, self.threshold
        )
        uneven = any(one.shares is not None and one.shares[0] != one.shares[1] for one in asked.all_metrics)
        if self.event is None and (uneven or asked.ratios or asked.threshold) and known not in CODED:
            raise ParameterError(
                "event",
                f"one of the classes {known}, for example Metrics({self.names[0]!r}, event={known[1]!r})",
                None,
            )
        return asked

    def _of_several(self, classes: list[Any]) -> ResolvedMetrics:
        """Return the metrics of a classifier of more than two classes."""
        asked = classes if self.event is None else [self.event]
        if asked[0] not in classes:
            raise ParameterError("event", f"one of the classes {classes}", self.event)
        found: list[Metric] = []
        for one in self._listed:
            metric = one if isinstance(one, Metric) else METRICS.get(_named(one))
            if metric == SENSITIVITY:
                numbers = map(classes.index, asked)
                found += [
                    replace(SENSITIVITY, name=f"sensitivity of {classes[k]}", event_class=k) for k in numbers
                ]
            elif metric in (ERROR, ACCURACY) or (metric is not None and metric.event_class is not None):
                found.append(metric)
            else:
                advice = (
                    " For others fit one classifier for each class against the rest: clf.fit(X, y == 'a')."
                )
                rule = f"'error', 'accuracy' or 'sensitivity' for {len(classes)} classes"
                raise ParameterError("metric", rule, _named(one), advice)
        names = tuple(one.name for one in found)
        return ResolvedMetrics(names, tuple(found), self.joint, stratified=self.stratified)

    def _metric(self, one: str | Metric, classes: Sequence[Any], event: int) -> Metric:
        if isinstance(one, Metric):
            return one
        if _named(one) == NET_BENEFIT:
            return net_benefit(self.threshold or 0.0, self.prevalence)
        if one != COST:
            return METRICS[_named(one)]
        costs = self.costs
        if not isinstance(costs, Mapping) or sorted(map(repr, costs)) != sorted(map(repr, classes)):
            raise ParameterError("costs", f"a cost for each of the classes {classes}, by its label", costs)
        of_class = tuple(check_number("costs", costs[label], 0.0, 1e100) for label in classes)
        return Metric(COST, costs=(of_class[1 - event], of_class[event]))

    def _check_prevalence(self) -> None:
        known = self.prevalence
        right = (known is not None) == (self._predictive or NET_BENEFIT in self.names)
        if known == "sample" and self.joint and NET_BENEFIT in self.names:
            rule = "a number in (0, 1) for a net benefit that is to hold together with others"
            raise ParameterError("prevalence", rule, known)
        if right and known is not None and known != "sample":
            right = not isinstance(known, str) and check_number("prevalence", known, 0.0, 1.0) > 0.0
        if not right:
            rule = "a number in (0, 1) or 'sample', with the metrics 'ppv', 'npv' and 'net-benefit' and only then"
            raise ParameterError("prevalence", rule, known)


def net_benefit(threshold: float, prevalence: float | str | None) -> Metric:
    """Return the net benefit at a prevalence, or minus the mean cost behind it where that is of the sample.

    The share of events that are found, minus the share of false alarms times the odds of the threshold.

    References
    ----------
    Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models.
    Medical Decision Making 26, 565-574.

    Examples
    --------
    A tenth are events, of which 1 in 4 is missed; 1 in 6 others is a false alarm, which costs a quarter:

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


def as_metrics(metric: Any) -> Metrics:
    """Return what was passed as ``metric=``: names stand for `Metrics` of these names."""
    return metric if isinstance(metric, Metrics) else Metrics(metric)


def check_name(name: str) -> str:
    """Return the name of a metric.

    Raises
    ------
    ValueError
        If it is none; the message says in one sentence what to use instead.
    """
    spelled = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    name = ALIASES.get(spelled, next((one for one in (name.lower(), spelled) if one in NAMES), name))
    if name not in NAMES:
        meant = suggestion(name, (*NAMES, *ALIASES)).strip().replace("Did", "did", 1)
        instead = why_not(name) or meant or f"the metrics are {', '.join(NAMES)}."
        raise ValueError(f"The 'metric' parameter knows no {name!r}: {instead}")
    return name


def _named(one: object) -> str:
    if isinstance(one, Metric):
        return one.name
    if not isinstance(one, str):
        raise ParameterError("metric", f"one or more of {list(NAMES)}", one)
    return check_name(one)
