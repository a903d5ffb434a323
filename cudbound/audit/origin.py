"""Where a result comes from, as far as a saved result says it: noted when it is computed, written on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cudbound.audit.fingerprint import fingerprint
from cudbound.audit.saved_result import ROWS, SavedAsked, SavedClassifier, SavedData, SavedMetric
from cudbound.groups import Groups
from cudbound.metrics.metrics import Metrics, ResolvedMetrics
from cudbound.problem.additive_model import AdditiveModel
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Origin:
    """The training set without its rows, the classifier, and what was asked of them.

    Attributes
    ----------
    data : SavedData
    asked : ResolvedMetrics
    words : str
        The classifier in words.
    model : AdditiveModel or None
        The classifier as coefficients and rows; None where it was not needed.
    rows : str
        One of `ROWS`.
    """

    data: SavedData
    asked: ResolvedMetrics
    words: str
    model: AdditiveModel | None
    rows: str

    @classmethod
    def of(
        cls,
        X: Any,
        second: NDArray[np.bool_],
        classes: NDArray[Any],
        asked: ResolvedMetrics,
        model: AdditiveModel | None,
        words: str | None,
        groups: Groups | None,
        sample_weight: Array | None,
    ) -> Origin:
        """Note where a result comes from; `second` says which rows are of the second class."""
        names = classes.tolist()
        data = SavedData(
            fingerprint(X, second if asked.event_class else ~second, groups, sample_weight),
            second.size,
            (names[0], names[1]),
            names[asked.event_class],
            groups is not None,
            sample_weight is not None,
        )
        rows = ROWS[2] if model is None or sample_weight is not None else rows_of(X, model.design)
        return cls(data, asked, words or "", model, rows)

    def classifier(self, problem: Problem) -> SavedClassifier:
        """Return the classifier as a problem has it."""
        model = self.model
        assert model is not None, "a problem comes from a model"
        negative, positive = model.classes.tolist()
        return SavedClassifier(
            self.words[:1000],
            self.rows,
            (negative, positive),
            problem.coef,
            problem.loss.name,
            problem.penalty,
            problem.l1_penalty,
            None if self.data.weighted else _class_weights(model),
            float(model.offset),
        )


def saved_asked(asked: ResolvedMetrics) -> SavedAsked:
    """Return what was asked, with every metric that is linear in the losses in full."""
    linear = {one.name: SavedMetric.of(one) for one in asked.metrics}
    names = tuple(linear.get(name, name) for name in asked.names)
    return SavedAsked(names, asked.joint, asked.prevalence, asked.stratified)


def asked_again(asked: SavedAsked, data: SavedData) -> Metrics:
    """Return what to pass as ``metric=`` to ask for the same again; raises ValueError where it cannot be asked."""
    named = [one if isinstance(one, str) else one.metric for one in asked.metrics]
    return Metrics(
        named,
        event=data.event,
        prevalence=asked.prevalence,
        joint=asked.joint,
        stratified=asked.stratified,
    )


def rows_of(X: Any, design: Array) -> str:
    """Return how the rows of a design come from the features: one of `ROWS`."""
    if sparse.issparse(X):
        return ROWS[2]
    try:
        values = np.asarray(X, dtype=np.float64)
    except (ValueError, TypeError):
        return ROWS[2]
    for rows in ROWS[:2]:
        if values.ndim == 2 and np.array_equal(design, make_rows(values, rows)):
            return rows
    return ROWS[2]


def make_rows(X: Array, rows: str) -> Array:
    """Return the rows that coefficients multiply, where they come from the features alone."""
    return X if rows == ROWS[0] else np.column_stack([np.ones(len(X)), X])


def _class_weights(model: AdditiveModel) -> tuple[float, float] | None:
    """Return the weights of the classes of a negative and of a positive score, or None if there are none."""
    if model.sample_weight is None:
        return None
    first, second = (float(model.sample_weight[model.labels == label][0]) for label in (-1.0, 1.0))
    return first, second
