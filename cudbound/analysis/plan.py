"""What must be recorded for a question, what is not available, and what the caller's splits and cases fill."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters.model import Model, ModelUse
from cudbound.analysis.question import Question
from cudbound.basis.calls import warn
from cudbound.basis.exceptions import (
    NoMinimizerError,
    NotMinimizerError,
    RepeatedRowsWarning,
    UnsupportedEstimatorError,
)
from cudbound.basis.method_card import NO_OPTIONS, MethodCard, Needs, RequestedMethods
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.sample import Sample, check_index
from cudbound.basis.validation import (
    check_lengths,
    count_rows,
)
from cudbound.intervals import METHODS
from cudbound.intervals.aci import BOUNDARY, check_curvature, near_rate
from cudbound.intervals.independent_test_sets import OWN_TEST_SETS
from cudbound.metrics.targets import Target
from cudbound.point_estimates import ESTIMATORS
from cudbound.problem.problem import AdditiveModel
from cudbound.records import DESIGN
from cudbound.resampling.make_records import RecordingInputs, refits_for
from cudbound.resampling.splits import TEST_SET, Splits
from cudbound.solve.minimum import draws_problem


def needs_of(
    requested: RequestedMethods[Any],
    kinds: Sequence[str] = ("classes",),
    without: Container[str] = (),
) -> Needs:
    """Return everything that methods need with their options.

    They are for metrics that evaluate these `kinds`; methods named in `without` are left out.
    """
    methods = requested.reading(kinds)
    each = (method.needed(requested.options_of(method)) for method in methods if method.name not in without)
    return {kind for needs in each for kind in needs}


def use_of_model(question: Question[Any]) -> ModelUse:
    """Return the uses of the classifier's model in a question."""
    requested, bound = question.methods, question.bound
    of_model = {method.name for method in question.readings if any(kind.of_model for kind in method.needs)}
    needs = needs_of(requested, question.metrics.kinds)
    return ModelUse(
        model=bool(of_model) or DESIGN in needs,
        named=bool(of_model & requested.named),
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
        requested = question.methods
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
        return cls(needs_of(requested, question.metrics.kinds, refused), refused)


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
    for name in refused:
        if name not in question.methods.named:
            continue
        possible = [method.name for method in question.methods if method.name not in refused]
        instead = "leave the weights out" if weighted else "use the error as metric"
        raise ValueError(
            f"The method {name!r} is {refused[name]}. Use methods that keep every row, such as "
            f"{possible or ['two-center', 'cud']}, or {instead}."
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
    names = {method.name for method in question.readings if BOUNDARY in method.needs}
    n = model.labels.size
    if not names or not near_rate(question.resampling.aci_rate, n) > 0.0:
        return {}
    try:
        check_curvature(draws_problem(model, np.ones((1, n), dtype=np.int32)))
    except (UnsupportedEstimatorError, NoMinimizerError, NotMinimizerError):
        if names & question.methods.named:
            raise
        return dict.fromkeys(names, "needs a loss with a gradient and a curvature")
    return {}


#: A partition into folds, such as that of whole groups.
PARTITION = Splits(~np.eye(3, dtype=bool), np.eye(3, dtype=bool))


def check_use(methods: Sequence[MethodCard], inputs: RecordingInputs) -> None:
    """Raise ValueError if no method uses the records that splits fill."""
    if any(inputs.fills(kind) for method in methods for kind in method.needs):
        return
    names = ", ".join(method.name for method in methods)
    registry: Mapping[str, MethodCard] = ESTIMATORS if methods[0].name in ESTIMATORS else METHODS
    readers = [method.name for method in registry.values() if any(map(inputs.fills, method.needs))]
    fills = sorted({kind for method in registry.values() for kind in method.needs if inputs.fills(kind)})
    words = " and ".join(dict.fromkeys(kind.words for kind in fills))
    raise ValueError(
        f"The 'cv' parameter gives {words}, which none of the requested methods ({names}) uses. Leave it "
        f"out, or request methods that use it, such as {', '.join(readers[:4])}."
    )


def takes_groups_apart(
    method: MethodCard, fills: Callable[[RecordKind[Any]], bool], options: Mapping[str, Any] = NO_OPTIONS
) -> bool:
    """Whether a method cannot keep groups of rows together; ``fills(kind)``: splits or new cases give the record."""
    kept = all(kind.keeps_groups or fills(kind) for kind in method.needed(options))
    return method.with_groups == "no" or not kept


def filled_by_folds(kind: RecordKind[Any]) -> bool:
    """Whether one partition into folds of whole groups fills a record."""
    return kind.filled_by is not None and kind.filled_by(PARTITION)


class NewCases(NamedTuple):
    """Test cases (X_new, y_new), and a remark if some of them are training rows."""

    cases: tuple[Any, NDArray[Any]] | None
    remarks: tuple[str, ...] = ()


def check_new_cases(new_cases: Any, sample: Sample, methods: Iterable[MethodCard]) -> NewCases:
    """Return new cases, and warn about those that equal training rows.

    Raises
    ------
    ValueError
        If they are not a pair, their labels are not those of the classifier, or none of the methods uses them.
    """
    if not any(TEST_SET in method.needs and OWN_TEST_SETS not in method.needs for method in methods):
        raise ValueError(
            "The 'new_cases' parameter is not used by any of the requested methods. Leave it out, or request a method "
            "whose needs, in available_methods(), include test_set."
        )
    if not isinstance(new_cases, tuple) or len(new_cases) != 2:
        raise ValueError(
            f"The 'new_cases' parameter must be a pair (X_new, y_new) or None. Got {type(new_cases).__name__} instead."
        )
    X_new, y_new = new_cases[0], np.asarray(new_cases[1])
    names = ("X_new", "y_new")
    check_lengths(count_rows(X_new), len(y_new), names)
    if not len(y_new):
        raise ValueError(
            "The 'new_cases' parameter must have at least one case, or be None. Got 0 cases instead."
        )
    check_index(*new_cases, names=names)
    classes = sample.classes.tolist()
    by_text = {
        repr(label): label for label in y_new.tolist() if label not in classes
    }  # nan differs from itself
    unknown = [by_text[text] for text in sorted(by_text)]
    if unknown:
        raise ValueError(
            f"The labels of 'new_cases' must be those of the classifier, {classes}. Also got {unknown[:5]}."
        )
    n_equal = sample.count_equal(X_new, y_new)
    if not n_equal:
        return NewCases((X_new, y_new))
    remark = f"{n_equal} of {len(y_new)} test cases equal training rows"
    message = (
        f"{remark}, in every feature and in the label; the error on them is not evidence about new cases. Remove them "
        "from 'new_cases', unless features have so few values that new cases equal old ones by chance."
    )
    warn(RepeatedRowsWarning(message, n_equal=n_equal, n_tested=len(y_new)))
    return NewCases((X_new, y_new), (remark,))
