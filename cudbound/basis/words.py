"""Numbers, names of metrics and foreign text in sentences and tables: rounding, words and escaping."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from html import escape
from typing import Literal, TypeVar

Kind = Literal["text", "count", "proportion", "difference", "statistic", "pvalue", "level"]

#: Decimals of a proportion: with n patients an error moves in steps of 1/n, and n is 20 to 200.
PROPORTION_DECIMALS = 3
#: Decimals of the same in percent.
PERCENT_DECIMALS = 1
#: Decimals of a p-value and of a test statistic.
TEST_DECIMALS = 3

_MIRRORED = {"<": ">-", ">": "<-"}


def format_proportion(value: float, decimals: int | None = None, percent: bool = False) -> str:
    """Round a proportion, to 3 decimals by default.

    A nonzero value is never shown as ``0.000``, nor a value other than 1 as ``1.000``: readers regard these as
    exact, and a width of zero has a special meaning.

    Parameters
    ----------
    value : float
        A proportion, usually in [0, 1], or a ratio of two; NaN means an undefined value.
    decimals : int or None, default None
        Digits after the decimal point; None means 3, or 1 in percent.
    percent : bool, default False
        Whether to write 21.6% instead of 0.216.

    Returns
    -------
    str

    Examples
    --------
    >>> [format_proportion(x) for x in (0.0, 0.0001, 0.21649, 0.9999, 1.0, float("nan"))]
    ['0.000', '<0.001', '0.216', '>0.999', '1.000', 'undefined']
    >>> format_proportion(0.21649, percent=True), format_proportion(0.001, 2)
    ('21.6%', '<0.01')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinity"
    if decimals is None:
        decimals = PERCENT_DECIMALS if percent else PROPORTION_DECIMALS
    whole, sign = (100.0, "%") if percent else (1.0, "")
    step = 10.0**-decimals
    text = f"{whole * value + 0.0:.{decimals}f}"  # adding 0 takes the sign off a negative zero
    if value > 0 and float(text) == 0:
        return f"<{step:.{decimals}f}{sign}"
    if value < 1 and float(text) == whole:
        return f">{whole - step:.{decimals}f}{sign}"
    return f"{text}{sign}"


def format_difference(value: float, decimals: int | None = None, percent: bool = False) -> str:
    """Round a difference of proportions by the rule of `format_proportion`, on either side of 0.

    Examples
    --------
    >>> [format_difference(x) for x in (-0.5, -0.0001, 0.0, 0.0001, -0.9999)]
    ['-0.500', '>-0.001', '0.000', '<0.001', '<-0.999']
    """
    if not value < 0:
        return format_proportion(value, decimals, percent)
    text = format_proportion(-value, decimals, percent)
    return _MIRRORED[text[0]] + text[1:] if text[0] in _MIRRORED else f"-{text}"


def format_pvalue(value: float) -> str:
    """Round a p-value to 3 decimals; one below 0.001 is never shown as 0, which no p-value is.

    Examples
    --------
    >>> [format_pvalue(x) for x in (0.0, 0.00099, 0.0496, 0.9999, 1.0, float("nan"))]
    ['<0.001', '<0.001', '0.050', '>0.999', '1.000', 'undefined']
    """
    smallest = 10.0**-TEST_DECIMALS
    return f"<{smallest:.{TEST_DECIMALS}f}" if value < smallest else format_proportion(value)


def format_statistic(value: float) -> str:
    """Round a test statistic to 3 decimals.

    Examples
    --------
    >>> [format_statistic(x) for x in (-1.6444, -0.0, float("inf"), float("nan"))]
    ['-1.644', '0.000', 'inf', 'undefined']
    """
    if math.isnan(value):
        return "undefined"
    return f"{round(value, TEST_DECIMALS) + 0.0:.{TEST_DECIMALS}f}"  # adding 0 takes the sign off a negative zero


def format_level(confidence_level: float) -> str:
    """Write a confidence level in percent, without rounding it away.

    Examples
    --------
    >>> format_level(0.95), format_level(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * confidence_level:.10g}%"


def format_divided_level(confidence_level: float) -> str:
    """Write a computed confidence level in percent, with three digits of its complement; never above the level.

    Examples
    --------
    >>> format_divided_level(1 - 0.05 / 3), format_divided_level(0.975), format_divided_level(1 - 0.0001 / 3)
    ('98.33%', '97.5%', '99.99666%')
    """
    tail = Decimal(f"{1.0 - confidence_level:.9e}")
    percent = f"{100 - 100 * Context(3, ROUND_CEILING).plus(tail):f}"
    return f"{percent.rstrip('0').removesuffix('.')}%"


def format_limit(value: float, percent: bool = False) -> str:
    """Write a proportion that the user chose, such as a margin, without rounding it.

    Examples
    --------
    >>> format_limit(0.125), format_limit(0.125, percent=True)
    ('0.125', '12.5%')
    """
    return format_level(value) if percent else f"{value:g}"


def format_cell(value: str | float, kind: Kind, decimals: int | None = None, percent: bool = False) -> str:
    """Write one value of a table by the rule of its kind; `decimals` and `percent` are for proportions."""
    if isinstance(value, str):
        return printable(value)
    if kind in ("proportion", "difference"):
        return format_difference(value, decimals, percent)
    rules = {"statistic": format_statistic, "pvalue": format_pvalue, "level": format_level}
    return rules[kind](value) if kind in rules else str(value)


def printable(text: str) -> str:
    r"""Escape every character that does not print, so that foreign text cannot steer a terminal.

    Line breaks, escape sequences, and characters that reverse the reading direction are written out; letters
    of any script stay as they are.

    Examples
    --------
    >>> print(printable("na\x1b[2Jme\n"), printable("größe"))
    na\x1b[2Jme\n größe
    """
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def escape_html(text: str) -> str:
    """Escape a sentence, which may be untrusted, for HTML.

    Examples
    --------
    >>> escape_html("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return escape(printable(text))


def sentences_html(main: str, details: Iterable[str]) -> str:
    """Return the HTML of a result for notebooks: the first sentence in bold, the others as a list.

    Examples
    --------
    >>> sentences_html("Found.", ["Why."])
    '<p><b>Found.</b></p><ul><li>Why.</li></ul>'
    """
    items = "".join(f"<li>{escape_html(line)}</li>" for line in details)
    return f"<p><b>{escape_html(main)}</b></p><ul>{items}</ul>"


class InLines(abc.ABC):
    """A result that prints as lines of text, with the main result first."""

    @abc.abstractmethod
    def lines(self) -> list[str]:
        """Return the result as lines of text."""

    def __str__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        main, *details = self.lines()
        return sentences_html(main, details)


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
    details: Mapping[str, float], learners: Mapping[str, str] | None = None, percent: bool = False
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
        words = " ".join((learners or {}).get(word, word) for word in name.split("_"))
        numbers.append(f"{DETAILS.get(name, words)} = {number}")
    return ", ".join(numbers)


def counted(number: int, word: str) -> str:
    """Return a number of things in words, such as 1 row or 2 rows."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key, keys and values in the order of first occurrence."""
    values_of: dict[Key, list[Value]] = {}
    for key, value in pairs:
        values_of.setdefault(key, []).append(value)
    return values_of


def in_formula(metric: str) -> str:
    """Return a metric as it stands before a bracket: AUC(a), error(b)."""
    return "AUC" if metric == "auc" else metric
