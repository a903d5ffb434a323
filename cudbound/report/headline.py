"""The sentences to quote: the recommended interval, and the error of always predicting the majority class."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cudbound.basis.exceptions import ManyFeaturesWarning
from cudbound.basis.metric_words import metric_words
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import format_difference, format_level, format_proportion
from cudbound.report.estimands import aim_of
from cudbound.report.tables import Run

#: The interval to report for a classifier, and for one tuned by a search (docs/how_to/which_interval.md).
RECOMMENDED = ("two-center", "bbc-cv")
#: The interval to report for the error on new cases, if there are any.
ON_NEW_CASES = ("test-set-wilson", "test-set-clopper-pearson")

#: What an interval below the error of the majority class means for a classifier of many features.
NO_EVIDENCE = (
    "; with so many features for so few rows, an interval below that is no evidence of a better classifier"
)
#: The denominator of an error on the training set.
OF_ROWS = "of the training rows"


def recommended_row(rows: Sequence[IntervalEstimate]) -> IntervalEstimate | None:
    """Return the row to quote, or None if there is none."""
    found = {row.method: row for row in reversed(rows)}
    new = {row.method: row for row in rows if row.center == "error on new cases"}
    chosen = [*(found.get(name) for name in RECOMMENDED), *(new.get(name) for name in ON_NEW_CASES)]
    return next((row for row in (*chosen, *new.values()) if row is not None), None)


def headline(
    rows: Sequence[IntervalEstimate], run: Run | None = None, percent: bool = False
) -> tuple[str, ...]:
    """Return the headline of a table of intervals: sentences to quote, for each metric.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
    run : Run or None, default=None
        The training rows; without them, the majority class is not mentioned.
    percent : bool, default=False
        Whether proportions are written in percent.
    """
    sentences: list[str] = []
    for metric in dict.fromkeys(row.metric for row in rows):
        row = recommended_row([row for row in rows if row.metric == metric])
        if row is not None:
            sentences.append(interval_sentence(row, None if run is None else run.n_samples, percent))
            sentences.extend(
                ()
                if run is None
                else majority_sentence(row, run.base_rate, run.of_rows, is_evidence(row, run))
            )
    if rows and not sentences:
        return (
            f"The interval to quote for the error of this classifier, {RECOMMENDED[0]}, is not in this table.",
        )
    return tuple(sentences)


def interval_sentence(row: IntervalEstimate, n_samples: int | None = None, percent: bool = False) -> str:
    """Return a sentence about an interval, for a paper."""
    level = format_level(row.confidence_level)
    in_percent = percent and row.is_proportion
    numbers = (row.estimate, row.low, row.high)
    estimate, low, high = (format_difference(value, percent=in_percent) for value in numbers)
    cases = "" if n_samples is None else f"{n_samples} training rows and "
    how = f"{row.method} interval from {cases}{row.n_fits:,} fits"
    if row.tested is not None:
        how = f"{row.method} interval from {row.tested}"
    what = metric_words([row.metric])
    if row.estimand.kind == "conditional":
        subject = f"the {what} of this classifier on new cases"
    else:
        subject = f"{aim_of(row.estimand, what) or f'the {what}'} (estimand {row.estimand})"
    if math.isnan(row.estimate + row.low + row.high):
        return f"No {row.method} interval for {subject} is available."
    if row.alternative == "less":
        return f"With {level} confidence, {subject} is at most {high} (estimate {estimate}; {how})."
    if row.alternative == "greater":
        return f"With {level} confidence, {subject} is at least {low} (estimate {estimate}; {how})."
    first = subject[0].upper() + subject[1:]
    return f"{first} is estimated at {estimate} ({level} confidence interval {low} to {high}; {how})."


def is_evidence(row: IntervalEstimate, run: Run) -> bool:
    """Whether an interval below the error of the majority class shows a better classifier.

    With many features it does not, unless it is the recommended interval and the features cannot fit nearly any labels.
    """
    many = [one for one in run.cautions if isinstance(one, ManyFeaturesWarning)]
    return not any(one.fits_any_labels or row.method != RECOMMENDED[0] for one in many)


def majority_sentence(
    row: IntervalEstimate, base_rate: float, of_rows: str = OF_ROWS, evidence: bool = True
) -> tuple[str, ...]:
    """Return the error of always predicting the majority class, and whether the interval includes it.

    Parameters
    ----------
    row : IntervalEstimate
        There is a sentence only for the error.
    base_rate : float
        Share of the rarer class in the training rows; a row from test cases has their share.
    of_rows : str, default="of the training rows"
        The denominator of the share.
    evidence : bool, default=True
        Whether an interval below that error shows a better classifier, see `is_evidence`.
    """
    if row.metric != "error":
        return ()
    if row.tested is not None and row.tested.new:
        if row.tested.majority_error is None:
            return ()
        base_rate, of_rows, evidence = row.tested.majority_error, row.tested.of_rows, True
    known = _majority(base_rate, of_rows)
    if row.low > base_rate:
        return (f"{known}; that is below the interval: it is better than this classifier.",)
    if row.high < base_rate:
        return (f"{known}{'; that is above the interval' if evidence else NO_EVIDENCE}.",)
    if _contains(row, base_rate):
        return (
            f"{known}; the interval includes that value: no evidence that this classifier beats the majority class.",
        )
    return (f"{known}.",)


def majority_notes(
    rows: Sequence[IntervalEstimate],
    base_rate: float,
    of_rows: str = OF_ROWS,
    *,
    name: bool = True,
    evidence: bool = True,
) -> tuple[str, ...]:
    """Return the notes under a table on which intervals include the error of the majority class.

    Rows from test cases are compared with the share in these. A note names no intervals without `name`, and is empty if
    the headline already reports it.
    """
    new = [row for row in rows if row.tested is not None and row.tested.new]
    known = [row for row in rows if row not in new]
    parts = [(known, base_rate, of_rows, evidence)] if known else []
    tested = new[0].tested if new else None
    if tested is not None and tested.majority_error is not None:
        parts.append((new, tested.majority_error, tested.of_rows, True))
    if not name:
        return tuple(f"{_majority(share, of)}." for _, share, of, _ in parts)
    quoted = recommended_row([row for row in rows if row.metric == "error"])
    return tuple(_majority_note(*part, quoted) for part in parts)


def _majority_note(
    rows: Sequence[IntervalEstimate],
    base_rate: float,
    of_rows: str,
    evidence: bool,
    quoted: IntervalEstimate | None,
) -> str:
    """Return which intervals include a value; the headline has it if it quotes one of these rows."""
    judged = [row for row in rows if row.metric == "error" and row.alternative != "greater"]
    in_headline = any(row is quoted for row in judged)
    if not judged or (len(judged) == 1 and in_headline):
        return ""
    known = "Error of always predicting the majority class" if in_headline else _majority(base_rate, of_rows)
    names = list(dict.fromkeys(row.method for row in judged if _contains(row, base_rate)))
    if not names:
        return f"{known}: no interval includes it{'' if evidence else NO_EVIDENCE}."
    which = ", ".join(names) if len(names) < len(judged) else "every interval for the error"
    return f"{known}: included in {which}, so no evidence there that the classifier beats the majority class."


def _majority(base_rate: float, of_rows: str) -> str:
    share = format_proportion(base_rate, percent=True)
    return f"Always predicting the majority class would be wrong for {share} {of_rows}"


def _contains(row: IntervalEstimate, error: float) -> bool:
    """Whether an interval includes this error; a lower limit alone does not tell."""
    return row.alternative != "greater" and bool(row.low <= error <= row.high)
