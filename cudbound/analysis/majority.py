"""The learner that always says the majority class, and what a comparison with it shows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from cudbound.basis.results import ComparisonResult

#: The word for it, in place of a classifier.
MAJORITY = "majority"


def find_learner(learner: Any) -> Any:
    """Return a learner itself, or for the word "majority" one that always says the majority class.

    Raises
    ------
    ValueError
        If it is any other word.
    """
    if not isinstance(learner, str):
        return learner
    if learner != MAJORITY:
        raise ValueError(f"A learner must be a classifier or the word {MAJORITY!r}. Got {learner!r} instead.")
    return DummyClassifier(strategy="most_frequent")


def with_majority_remark(row: ComparisonResult, a: Any, b: Any) -> ComparisonResult:
    """Return a comparison with the remark that there is no evidence against the majority class, where that is so."""
    names = [name for name, other in (("a", b), ("b", a)) if says_majority(other)]
    if len(names) != 1 or _beats(row, *names):
        return row
    return replace(row, remarks=(*row.remarks, f"no evidence that {names[0]} beats the majority class"))


def says_majority(learner: Any) -> bool:
    """Whether a learner always says the class that is more frequent in its training set."""
    last = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    return isinstance(last, DummyClassifier) and last.strategy in ("most_frequent", "prior")


def _beats(row: ComparisonResult, name: str) -> bool:
    """Whether the interval, or the test where there is none, speaks for a smaller error of a, or of b."""
    low, high = (row.low, row.high) if name == "a" else (-row.high, -row.low)
    if not math.isnan(low + high):
        return high < 0.0
    estimate = row.estimate if name == "a" else -row.estimate
    direction = {"two-sided", "less" if name == "a" else "greater"}
    return row.alternative in direction and estimate < 0.0 and row.pvalue <= 1.0 - row.confidence_level
