"""Learners by name, in pairs, and fitted; the learner that always predicts the majority class, and what beats it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from cudbound.adapters import warn_unscaled
from cudbound.adapters.model import design_of, facts_of, many_features
from cudbound.adapters.parts import fit_keywords, seeded_clone, unseeded_parameters
from cudbound.basis.exceptions import CudboundWarning, ManyFeaturesWarning, ParameterError, suggestion
from cudbound.basis.results import ComparisonResult
from cudbound.basis.sample import Sample
from cudbound.basis.validation import (
    check_binary_classifier,
    check_can_be_refitted,
    check_row_weights,
    count_rows,
)
from cudbound.resampling.failed_refits import naming_the_step

#: The word for it, instead of a classifier.
MAJORITY = "majority"


def find_learner(learner: Any) -> Any:
    """Return the learner, or for the word "majority" one that always predicts the majority class.

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
    """Return a comparison, with a remark if there is no evidence that a learner beats the majority class."""
    a_is_tested, b_is_tested = says_majority(b), says_majority(a)
    if a_is_tested == b_is_tested or _beats(row, first=a_is_tested):
        return row
    name = row.a if a_is_tested else row.b
    return replace(row, remarks=(*row.remarks, f"no evidence that {name} beats the majority class"))


def says_majority(learner: Any) -> bool:
    """Whether a learner always predicts the more frequent class of its training set."""
    last = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    return isinstance(last, DummyClassifier) and last.strategy in ("most_frequent", "prior")


def _beats(row: ComparisonResult, first: bool) -> bool:
    """Whether the interval, or else the test, shows a smaller error of the first learner, or of the second."""
    smaller = first == (row.metric == "error")  # a larger AUC is better
    low, high = (row.low, row.high) if smaller else (-row.high, -row.low)
    if not math.isnan(low + high):
        return high < 0.0
    estimate = row.estimate if smaller else -row.estimate
    direction = {"two-sided", "less" if smaller else "greater"}
    return row.alternative in direction and estimate < 0.0 and row.pvalue <= 1.0 - row.confidence_level


def name_learners(learners: Any) -> dict[str, Any]:
    """Return learners by name; unnamed ones get the name of their class, numbered if it repeats.

    Raises
    ------
    ValueError
        If there are fewer than two, or they are not classifiers.
    """
    if isinstance(learners, Mapping):
        named = dict(learners)
    elif isinstance(learners, Sequence) and not isinstance(learners, str):
        kinds = [one if isinstance(one, str) else type(one).__name__ for one in learners]
        named = {
            kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: i + 1].count(kind)}": learner
            for i, (kind, learner) in enumerate(zip(kinds, learners, strict=True))
        }
    else:
        named = {}
    if len(named) < 2 or not all(isinstance(name, str) for name in named):
        raise ParameterError("learners", "at least two classifiers, in a list or by name", learners)
    return {name: find_learner(learner) for name, learner in named.items()}


def find_pairs(names: list[str], reference: str | None) -> list[tuple[str, str]]:
    """Return all pairs of names, or the pairs of each learner with the reference."""
    if reference is None:
        return list(combinations(names, 2))
    if reference not in names:
        rule = f"None or one of {', '.join(names)}"
        raise ParameterError("reference", rule, reference, suggestion(reference, names))
    return [(name, reference) for name in names if name != reference]


def fit_learners(
    streams: Mapping[str, np.random.Generator],
    learners: Mapping[str, Any],
    X: Any,
    y: Any,
    groups: ArrayLike | None = None,
) -> dict[str, Any]:
    """Return fitted learners as they are, and others as clones fitted to all rows, seeded if they have no seed.

    Warns
    -----
    UnscaledPenaltyWarning
        If one is known to penalize features of very different scales.
    """
    seed = int(streams["learners"].integers(2**31 - 1))
    fitted = {
        name: _fitted(learner, X, y, seed, f"learner {name!r}", groups=groups)
        for name, learner in learners.items()
    }
    for learner in fitted.values():
        warn_unscaled(learner, X, y)
    return fitted


def fitted_classifier(
    estimator: Any,
    X: Any,
    y: Any,
    streams: Mapping[str, np.random.Generator],
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Return a fitted classifier as it is, and otherwise a clone fitted to all rows, seeded if it has no seed.

    Raises
    ------
    ValueError
        If it cannot be fitted with the weights or groups of the rows.
    FailedRefitsError
        If its fit fails.
    """
    seed = int(streams["learners"].integers(2**31 - 1))
    weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
    return _fitted(estimator, X, y, seed, "the classifier", sample_weight=weights, groups=groups)


def _fitted(learner: Any, X: Any, y: Any, seed: int, what: str, **metadata: Any) -> Any:
    check_can_be_refitted(learner)
    try:
        check_is_fitted(learner)
    except NotFittedError:
        keywords = fit_keywords(learner, **metadata)
        fitted = seeded_clone(learner, seed)
        with naming_the_step(fitted, what):
            fitted.fit(X, y, **keywords)
        # clones of it take seeds of their own
        return fitted.set_params(**dict.fromkeys(unseeded_parameters(learner)))
    return learner


def common_classifier(fitted: Iterable[Any]) -> Any:
    """Return the first of the fitted classifiers; raise ValueError unless all have the same two classes."""
    one, *others = fitted
    first = check_binary_classifier(one)
    for second in map(check_binary_classifier, others):
        if not np.array_equal(first, second):
            raise ValueError(
                f"All learners must have the same two classes, in the same order. Got {first.tolist()} and "
                f"{second.tolist()}; fit all to the same labels."
            )
    return one


def cautions_of_learners(sample: Sample, fitted: Mapping[str, Any]) -> tuple[CudboundWarning, ...]:
    """Return reasons for caution about the training rows, and that learners have many features for them."""
    found = list(sample.cautions)
    for name, learner in fitted.items():
        facts = facts_of(learner, sample.X)
        for caution in many_features(facts, design_of(facts, sample), "comparison"):
            found.append(ManyFeaturesWarning(f"{name}: {caution}"))
    return tuple(found)
