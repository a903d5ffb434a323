"""What must be recorded for a question, and which methods are not available, with the reason."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cudbound.adapters.model import Model, ModelUse
from cudbound.analysis.caller_splits import check_use, takes_groups_apart
from cudbound.analysis.question import Question
from cudbound.basis.exceptions import NoMinimizerError, NotMinimizerError, UnsupportedEstimatorError
from cudbound.basis.method_card import MethodCard, Needs, RequestedMethods
from cudbound.basis.record_kind import RecordKind
from cudbound.intervals.aci import BOUNDARY, check_curvature, near_rate
from cudbound.metrics.targets import Target
from cudbound.problem.problem import AdditiveModel
from cudbound.records import DESIGN
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.inputs import RecordingInputs
from cudbound.resampling.make_records import refits_for
from cudbound.resampling.splits import TEST_SET
from cudbound.solve.minimum import draws_problem


def needs_of(
    asked: RequestedMethods[Any],
    kinds: Sequence[str] = ("classes",),
    without: Container[str] = (),
) -> Needs:
    """Return everything that methods need with their options.

    They are for metrics that evaluate these `kinds`; methods named in `without` are left out.
    """
    methods = asked.reading(kinds)
    each = (one.needed(asked.options_of(one)) for one in methods if one.name not in without)
    return Needs().union(*each)


def use_of_model(question: Question[Any]) -> ModelUse:
    """Return the uses of the classifier's model in a question."""
    asked, bound = question.methods, question.bound
    of_model = {method.name for method in question.readings if any(kind.of_model for kind in method.needs)}
    needs = needs_of(asked, question.metrics.kinds)
    # intervals of scores do not read the rank, and are short where it is nearly that of the rows
    of_scores = any(method.reads != "classes" and BOOTSTRAP in method.needs for method in question.readings)
    return ModelUse(
        design=DESIGN in needs or of_scores,
        rank=DESIGN in needs,
        bound=bool(of_model),
        named=bool(of_model & asked.named),
        scores=BOOTSTRAP in needs,
        refits=refits_for(needs),
        polish=bound.polish,
        native=bound.limits.solver == "native",
    )


@dataclass(frozen=True)
class Plan:
    """What must be recorded.

    Attributes
    ----------
    needs : frozenset of RecordKind
    refused : mapping of str to str
        Why methods cannot be computed, by name.
    """

    needs: Needs
    refused: dict[str, str]

    @classmethod
    def of(
        cls, question: Question[Any], inputs: RecordingInputs, targets: Sequence[Target], model: Model | None
    ) -> Plan:
        """Return the plan of a question.

        Raises
        ------
        ValueError
            If a method requested by name cannot be computed, or no method uses `cv`.
        """
        asked = question.methods
        refused = _unseen(question, targets)
        if model is not None:
            of_model = [method for method in question.readings if any(kind.of_model for kind in method.needs)]
            if model.why_none:
                refused |= {method.name: f"no CUD bound: {model.why_none}" for method in of_model}
            elif model.additive is not None:
                refused |= _without_curvature(question, model.additive)
        methods = [method for method in question.readings if method.name not in refused]
        if question.resampling.cv is not None:
            check_use(methods, inputs)
        if inputs.sample.groups is not None:
            refused |= _torn(question, methods, inputs)
        return cls(needs_of(asked, question.metrics.kinds, refused), refused)


def _unseen(question: Question[Any], targets: Sequence[Target]) -> dict[str, str]:
    """Return the methods that cannot be computed for the requested metrics, or with weights, each with the reason."""
    targets = [target for target in targets if target.metric.reads == "classes"]
    if all(target.rows.plain for target in targets):
        return {}
    weighted = any(target.rows.sample_weight is not None for target in targets)
    what = "rows with weights" if weighted else " or ".join(target.metric.name for target in targets)
    lost = "weighted" if weighted else "separated by class"
    refused = {
        method.name: f"not available for {what}: what it records cannot be {lost}"
        for method in question.readings
        if method.reads == "classes" and not all(kind.of_every_metric for kind in method.needs)
    }
    for name in (one for one in refused if one in question.methods.named):
        known = [method.name for method in question.methods if method.name not in refused]
        instead = "leave the weights out" if weighted else "use the error as metric"
        raise ValueError(
            f"The method {name!r} is {refused[name]}. Use methods that keep every row, such as "
            f"{known or ['two-center', 'cud']}, or {instead}."
        )
    return refused


def _torn(question: Question[Any], methods: Sequence[MethodCard], inputs: RecordingInputs) -> dict[str, str]:
    """Return the methods that would split groups of rows, each with the reason."""
    options_of = question.methods.options_of

    def fills(kind: RecordKind[Any]) -> bool:
        return inputs.fills(kind) or (kind is TEST_SET and inputs.test_set is not None)

    torn = [method.name for method in methods if takes_groups_apart(method, fills, options_of(method))]
    named = [name for name in torn if name in question.methods.named]
    if named:
        raise ValueError(
            f"The 'groups' parameter is not supported by {named}, which resample single rows or count them as "
            "independent in their formulas. Leave them out of 'methods', or omit 'groups'."
        )
    return dict.fromkeys(torn, "not available for rows in groups: it would split groups")


def _without_curvature(question: Question[Any], model: AdditiveModel) -> dict[str, str]:
    """Return why the adaptive interval cannot be computed, if it cannot."""
    asked = {method.name for method in question.readings if BOUNDARY in method.needs}
    n = model.labels.size
    if not asked or not near_rate(question.resampling.sizes.aci_rate, n) > 0.0:
        return {}
    try:
        check_curvature(draws_problem(model, np.ones((1, n), dtype=np.int32)))
    except (UnsupportedEstimatorError, NoMinimizerError, NotMinimizerError):
        if asked & question.methods.named:
            raise
        return dict.fromkeys(asked, "needs a loss with a gradient and a curvature")
    return {}
