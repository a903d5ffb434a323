"""Names of metrics, and of other numbers that methods report, for use in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from cudbound.basis.rounding import format_difference

Key = TypeVar("Key")
Value = TypeVar("Value")

#: Metrics in the words of a sentence, where they are not their names.
METRIC_WORDS: Mapping[str, str] = {
    "auc": "AUC (c-statistic)",
    "brier": "Brier score",
    "balanced-error": "balanced error",
    "balanced-accuracy": "balanced accuracy",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "cost": "mean cost of the errors",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
    "net-benefit": "net benefit",
    "lr+": "positive likelihood ratio",
    "lr-": "negative likelihood ratio",
}
#: Measures that are one minus an error.
COMPLEMENTS = ("accuracy", "sensitivity", "specificity", "balanced-accuracy")
#: What of a classifier or a learning algorithm an interval covers, by the kind of its estimand: words after the metric.
ESTIMAND_WORDS: Mapping[str, str] = {
    "conditional": "of the classifier fitted to these data, on new cases from the same population",
    "expected": "on new cases of classifiers fitted by the same learning algorithm, averaged over training sets of n1 "
    "cases",
    "cv-average": "on new cases of the classifiers fitted without one fold, averaged over the folds",
    "holdout-model": "on new cases of the classifier fitted to the training part of the split alone",
    "rule": "on new cases of the learning algorithm, averaged over training sets of about this size",
}
#: Proportions of a method's own that a reader wants to see, in words.
DETAILS: Mapping[str, str] = {
    "cross_validated": "cross-validated estimate",
    "at_632_plus": ".632+ estimate",
    "out_of_bag": "out-of-bag estimate",
    "new_cases": "value on the new cases",
}
#: More numbers than these are not added to the remarks of a row; JSON has all of them.
MAX_DETAILS = 3
NO_LEARNERS: Mapping[str, str] = MappingProxyType({})


def metric_words(metrics: Iterable[str]) -> str:
    """Return the names of metrics for a sentence, each once.

    Examples
    --------
    >>> metric_words(["sensitivity", "auc", "brier"])
    'sensitivity, AUC (c-statistic) and Brier score'
    """
    return enumerated([METRIC_WORDS.get(name, name) for name in dict.fromkeys(metrics)])


def enumerated(words: Sequence[str]) -> str:
    """Return words, at least one, with commas between them and "and" before the last."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def details_in_words(
    details: Mapping[str, float], learners: Mapping[str, str] = NO_LEARNERS, percent: bool = False
) -> str:
    """Return numbers of a method's own with their names, nothing if they are many; `learners` has names for a and b.

    Examples
    --------
    >>> print(details_in_words({"out_of_bag": 0.25, "n_tested": 20.0}))
    out-of-bag estimate = 0.25, n tested = 20
    >>> print(details_in_words({"out_of_bag": 0.25}, percent=True))
    out-of-bag estimate = 25.0%
    >>> print(details_in_words({"only_a_wrong": 3.0}, {"a": "ridge", "b": "tree"}))
    only ridge wrong = 3
    """
    few = details if len(details) <= MAX_DETAILS else {}
    numbers = []
    for name, value in few.items():
        number = format_difference(value, percent=True) if percent and name in DETAILS else f"{value:.4g}"
        words = " ".join(learners.get(word, word) for word in name.split("_"))
        numbers.append(f"{DETAILS.get(name, words)} = {number}")
    return ", ".join(numbers)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key, keys and values in the order of first occurrence."""
    values_of: dict[Key, list[Value]] = {}
    for key, value in pairs:
        values_of.setdefault(key, []).append(value)
    return values_of


def in_formula(metric: str) -> str:
    """Return a metric as it stands before a bracket: AUC(a), error(b)."""
    return "AUC" if metric == "auc" else metric
