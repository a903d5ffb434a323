"""What one call knows of the fitted classifier: its additive model, or why the CUD bound cannot serve it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cudbound.adapters import express_or_reason
from cudbound.adapters.fitted_facts import FittedFacts, facts_of
from cudbound.basis.exceptions import (
    FrozenStepsWarning,
    LabelsReadWarning,
    ManyFeaturesWarning,
    NoMinimizerError,
    NotMinimizerError,
    NotMinimizerWarning,
    UnsupportedEstimatorError,
)
from cudbound.basis.groups import Groups
from cudbound.basis.validation import Array
from cudbound.bound.boundary import check_curvature, near_rate
from cudbound.intervals import Method
from cudbound.problem.additive_model import AdditiveModel
from cudbound.records import Design
from cudbound.solve.minimum import draws_problem

#: Records that need the classifier written as an additive model with a convex loss.
MODEL_RECORDS = frozenset({"bound", "boundary"})


@dataclass(frozen=True, eq=False)
class KnownClassifier:
    """What is known of a fitted classifier.

    Attributes
    ----------
    model : AdditiveModel or None
        None where it has none, or where nothing asked for can use it.
    design : Design
        The matrix that reached it.
    refused : dict of str to str
        Why methods that need the model cannot be computed, by their names.
    why_not_capped : str
        Why the upper limit of "two-center" has no cap; empty where there is nothing against one.
    """

    model: AdditiveModel | None
    design: Design
    refused: dict[str, str]
    why_not_capped: str = ""


@dataclass(frozen=True, eq=False)
class ModelRequest:
    """What a call asks of the classifier.

    Attributes
    ----------
    methods : sequence of Method
    caps : bool
        Whether one of them reads the signed suprema.
    lenient : bool
        Whether methods that need the model get a row with the reason where there is none, and no error.
    polish : bool
    aci_rate : str or float
        Of the adaptive interval.
    native : bool
        Whether the compiled solver is to search.
    """

    methods: Sequence[Method]
    caps: bool
    lenient: bool
    polish: bool
    aci_rate: str | float
    native: bool

    @property
    def of_model(self) -> list[str]:
        """The methods that need the model."""
        return [method.name for method in self.methods if method.needs & MODEL_RECORDS]

    def without_model(self, why: str) -> dict[str, str]:
        """Return why methods that need the model cannot be computed, by their names."""
        return dict.fromkeys(self.of_model, f"no CUD bound: {why}")


def look_at(
    estimator: Any,
    X: Any,
    y: Any,
    request: ModelRequest,
    *,
    groups: Groups | None,
    sample_weight: Array | None,
) -> KnownClassifier:
    """Return what is known of a fitted classifier, as far as the methods of a call need it.

    The CUD bound takes what happened before the classifier, and what was chosen inside it, as given: where that
    depends on the labels, the bound knows nothing of it, so that it caps no other interval.

    Raises
    ------
    UnsupportedEstimatorError, UnsupportedProblemError, NotMinimizerError
        If a method that needs the model was asked for by name, and there is none.

    Warns
    -----
    LabelsReadWarning, NotMinimizerWarning, ManyFeaturesWarning, FrozenStepsWarning
    """
    n = len(y)
    if not request.caps and not request.of_model and not any(one.also_needs for one in request.methods):
        return KnownClassifier(None, Design(n), {})
    facts = facts_of(estimator, X, y)
    design = Design(n, facts.rank, facts.distinct_rows, None if groups is None else groups.n_groups)
    _warn(facts, design, request)
    unseen = _unseen_choice(facts)
    if unseen and (request.lenient or not request.of_model):
        return KnownClassifier(None, design, request.without_model(unseen), unseen)
    if not request.caps and not request.of_model:
        return KnownClassifier(None, design, {})
    if facts.reads_labels:
        warnings.warn(LabelsReadWarning(facts.reads_labels), stacklevel=3)
    found = express_or_reason(
        estimator, X, y, polish=request.polish, sample_weight=sample_weight, native=request.native
    )
    if found.model is None:
        if found.error is not None and request.of_model and not request.lenient:
            raise found.error
        if not np.isnan(found.residual):
            warnings.warn(NotMinimizerWarning(found.residual), stacklevel=3)
        return KnownClassifier(None, design, request.without_model(found.reason), unseen or found.reason)
    return KnownClassifier(found.model, design, _without_curvature(found.model, request), unseen)


def _unseen_choice(facts: FittedFacts) -> str:
    """Return what depends on the labels and the bound takes as given, in a few words; empty if nothing does."""
    if facts.reads_labels:
        return f"the bound takes {facts.reads_labels}, which reads the labels, as given"
    if facts.chosen_inside:
        return f"the bound takes what {' and '.join(facts.chosen_inside)} chose on these data as given"
    return ""


def _warn(facts: FittedFacts, design: Design, request: ModelRequest) -> None:
    if facts.frozen:
        warnings.warn(FrozenStepsWarning(facts.frozen), stacklevel=4)
    if design.has_many_columns and any(one.also_needs for one in request.methods):
        units = f"{design.n_rows} rows" if design.n_groups is None else f"{design.n_groups} groups of rows"
        advice = (
            "Its columns can fit nearly any labels: do not rely on the interval"
            if design.is_nearly_full
            else "The limits of two-center allow for overfitting, and are long"
        )
        warnings.warn(
            ManyFeaturesWarning(
                f"The design has rank {design.rank:.0f} and {units}. {advice}; fit fewer features or a penalty, or "
                "report this caution with the interval."
            ),
            stacklevel=4,
        )


def _without_curvature(model: AdditiveModel, request: ModelRequest) -> dict[str, str]:
    """Return why the adaptive interval cannot be computed, if that is so.

    Raises
    ------
    UnsupportedEstimatorError, NoMinimizerError
        If it was asked for by name.
    """
    asked = [method.name for method in request.methods if "boundary" in method.needs]
    n = model.labels.size
    if not asked or not near_rate(request.aci_rate, n) > 0.0:
        return {}
    try:
        check_curvature(draws_problem(model, np.ones((1, n), dtype=np.int32)))
    except (UnsupportedEstimatorError, NoMinimizerError, NotMinimizerError):
        if not request.lenient:
            raise
        return dict.fromkeys(asked, "needs a loss with a gradient and a curvature")
    return {}
