"""The question of a call: the one place where its arguments are checked, and what must be recorded to answer it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np

from cudbound.adapters.model import Model
from cudbound.basis import validation
from cudbound.basis.calls import warn
from cudbound.basis.exceptions import ParameterError, RepeatedRowsWarning, StatedError
from cudbound.basis.method_card import NO_OPTIONS, Card, MethodCard, Needs, RecordKind, RequestedMethods
from cudbound.basis.sample import Sample, check_index, count_equal_rows, count_rows
from cudbound.bound.cud_bound import DEFAULT_BOUND, Bound
from cudbound.intervals import METHODS
from cudbound.intervals.comparisons import OWN_TEST_SETS
from cudbound.intervals.method import ALTERNATIVES
from cudbound.metrics.metric import MetricRows
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.point_estimates import ESTIMATORS
from cudbound.problem.draws import check_resamples
from cudbound.resampling.make_records import RecordingInputs
from cudbound.resampling.settings import DEFAULT_SIZES, Resampling, Streams
from cudbound.resampling.splits import TEST_SET, Splits


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(Generic[Card]):
    """The question about a training set, without the data.

    Attributes
    ----------
    methods : RequestedMethods
        With their options.
    readings : tuple of MethodCard
        The methods for what the metrics evaluate: classes, scores or probabilities.
    user_functions : mapping of str to callable
        Those of user-defined methods, by name.
    metrics : Metrics
        After `analyze` those of the classes of the classifier.
    confidence_level : float
    alternative : {"two-sided", "less", "greater"}
        About the metrics.
    n_resamples : int
    resampling : Resampling
    bound : Bound
    all_draws : bool
        Whether all draws of the bound are solved completely.
    rng : numpy.random.Generator
    streams : mapping of str to numpy.random.Generator
        One per record, from `rng`.
    seed : int or None
        Seed of `rng`, if known.
    n_jobs : int
    """

    methods: RequestedMethods[Card]
    readings: tuple[Card, ...]
    user_functions: Mapping[str, Callable[..., Any]]
    metrics: Metrics
    confidence_level: float = 0.95
    alternative: str = "two-sided"
    n_resamples: int = 1000
    resampling: Resampling
    bound: Bound
    all_draws: bool = False
    rng: np.random.Generator = field(repr=False)
    streams: Streams = field(repr=False)
    seed: int | None = None
    n_jobs: int = 1

    @classmethod
    def of(
        cls,
        methods: RequestedMethods[Card],
        *,
        metric: Any = "error",
        event: object = None,
        resampling: object = None,
        bound: object = None,
        rng: Any = None,
        n_jobs: object = 1,
        **further: Any,
    ) -> Question[Card]:
        """Return a question from the arguments of a call; `further` are those named like attributes.

        `bound` takes the place of settings that came with a method.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        metrics = as_metrics(metric, event)
        generator, methods = validation.check_rng(rng), methods.that_read(metrics.kinds)
        readings = methods.reading(metrics.kinds)
        functions = {method.name: getattr(method, "user_function", None) for method in readings}
        question = cls(
            methods=methods,
            readings=readings,
            user_functions={name: function for name, function in functions.items() if function},
            metrics=metrics,
            resampling=validation.check_settings("resampling", resampling, DEFAULT_SIZES, 'inner="oob"'),
            bound=validation.check_settings(
                "bound", methods.settings if bound is None else bound, DEFAULT_BOUND, "polish=True"
            ),
            rng=generator,
            streams=Streams(generator),
            seed=None if rng is None or rng is generator else int(rng),
            n_jobs=validation.check_n_jobs(n_jobs),
            **further,
        )
        validation.check_flag("all_draws", question.all_draws)
        check_resamples(question.n_resamples, 1)
        validation.check_confidence_level(question.confidence_level)
        validation.check_choice("alternative", question.alternative, ALTERNATIVES)
        return question

    def needs(self, without: Container[str] = ()) -> Needs:
        """Return everything that the methods need with their options, except those named in `without`."""
        return self.methods.needed(*(method for method in self.readings if method.name not in without))

    @property
    def choices(self) -> str | None:
        """The options of single methods, in words; None without options."""
        texts = (
            f"{method}.{name}={value}"
            for method, options in self.methods.options.items()
            for name, value in options.items()
        )
        return ", ".join(texts) or None

    def refusals(
        self, inputs: RecordingInputs, targets: Sequence[MetricRows] = (), model: Model | None = None
    ) -> dict[str, str]:
        """Return why methods cannot be computed for these rows, metrics, weights, groups and this classifier, by name.

        Raises
        ------
        ValueError
            If a method requested by name cannot be computed, if no method uses `cv`, or if inner draws are requested
            and a metric cannot use them.
        """
        weighed = [target for target in targets if target.metric.reads == "classes" and not target.plain]
        refused: dict[str, str] = {}
        if weighed:
            weighted = weighed[0].sample_weight is not None
            what = "rows with weights" if weighted else " or ".join(target.metric.name for target in weighed)
            if self.resampling.inner not in (None, "oob"):
                rule = f"'oob' or None for {what}: inner draws record only unweighted means over all rows"
                raise ParameterError("inner", rule, self.resampling.inner)
            refused = self._of_plain_means(what)
        if model is not None and model.why_none:
            of_model = [
                method.name for method in self.readings if any(kind.of_model for kind in method.needs)
            ]
            refused |= dict.fromkeys(of_model, f"no CUD bound: {model.why_none}")
        elif model is not None and model.additive is not None:
            for method in self.readings:
                for check, condition in ((kind.check, kind.condition) for kind in method.needs if kind.check):
                    try:
                        check(inputs)
                    except StatedError:
                        if method.name in self.methods.named:
                            raise
                        refused[method.name] = f"needs {condition}"
        methods = [method for method in self.readings if method.name not in refused]
        if inputs.test_set is None:
            lacking = [method for method in methods if TEST_SET in method.needs and not method.on_test_set]
            if lacking:
                raise ValueError(
                    f"The method {lacking[0].name!r} adds new cases to the training rows: pass "
                    "new_cases=(X_new, y_new), on the command line --new-cases NEW.csv. Without new cases, "
                    "'two-center' is the interval from the training rows."
                )
        if self.resampling.cv is not None:
            _check_use_of_splits(methods, inputs)
        return refused if inputs.sample.groups is None else refused | self._of_groups(methods, inputs)

    def _of_plain_means(self, what: str) -> dict[str, str]:
        """Return the methods that record only unweighted means over all rows, each with the reason."""
        reason = f"not available for {what}: it records only unweighted means over all rows"
        refused = {
            method.name: reason
            for method in self.readings
            if method.reads == "classes" and not all(kind.of_every_metric for kind in method.needs)
        }
        possible = [method.name for method in self.methods if method.name not in refused]
        for name in refused:
            if name in self.methods.named:
                raise ValueError(
                    f"The method {name!r} is {reason}. Use methods that keep every row, such as "
                    f"{possible or ['two-center', 'cud']}, or the error without weights."
                )
        return refused

    def _of_groups(self, methods: Sequence[MethodCard], inputs: RecordingInputs) -> dict[str, str]:
        """Return the methods that would split groups of rows, each with the reason."""

        def fills(kind: RecordKind[Any]) -> bool:
            return inputs.fills(kind) or (kind is TEST_SET and inputs.test_set is not None)

        options_of = self.methods.options_of
        torn = [method.name for method in methods if takes_groups_apart(method, fills, options_of(method))]
        named = [name for name in torn if name in self.methods.named]
        if named:
            raise ValueError(
                f"The 'groups' parameter is not supported by {named}, which resample single rows or count them as "
                "independent in their formulas. Leave them out of 'methods', or omit 'groups'."
            )
        return dict.fromkeys(torn, "not available for rows in groups: it would split groups")


def _check_use_of_splits(methods: Sequence[MethodCard], inputs: RecordingInputs) -> None:
    """Raise ValueError if no method uses the records that the caller's splits fill."""
    if not any(inputs.fills(kind) for method in methods for kind in method.needs):
        names = [method.name for method in methods]
        registry: Mapping[str, MethodCard] = ESTIMATORS if names[0] in ESTIMATORS else METHODS
        users = [method.name for method in registry.values() if any(map(inputs.fills, method.needs))]
        raise ValueError(
            f"The 'cv' parameter is not used by any of the requested methods ({', '.join(names)}). Leave it out, or "
            f"request methods that use such splits, such as {', '.join(users[:4])}."
        )


def _by_folds(kind: RecordKind[Any]) -> bool:
    """Whether one partition into folds of whole groups fills a record."""
    partition = Splits(~np.eye(3, dtype=bool), np.eye(3, dtype=bool))
    return kind.filled_by is not None and kind.filled_by(partition)


def takes_groups_apart(
    method: MethodCard,
    fills: Callable[[RecordKind[Any]], bool] = _by_folds,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> bool:
    """Whether a method cannot keep groups of rows together; ``fills(kind)``: splits or new cases give the record."""
    # a method that adds new cases to the training rows always has them
    added = () if method.on_test_set else (TEST_SET,)
    kept = all(kind.keeps_groups or kind in added or fills(kind) for kind in method.needed(options))
    return method.with_groups == "no" or not kept


def check_new_cases(new_cases: Any, sample: Sample, methods: Iterable[MethodCard]) -> dict[str, Any]:
    """Return fields of `RecordingInputs`: new cases, and a remark if some equal training rows, with a warning.

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
    is_pair = isinstance(new_cases, tuple) and len(new_cases) == 2
    kinds = [type(part).__name__ for part in (new_cases if is_pair else [new_cases])]
    without_rows = not is_pair or any(part is None or np.isscalar(part) for part in new_cases)
    if without_rows or not count_rows(new_cases[1]):
        rule = "a pair (X_new, y_new) of at least one case, or None"
        raise ParameterError("new_cases", rule, ", ".join(kinds) if without_rows else "0 cases")
    X_new, y_new = new_cases[0], np.asarray(new_cases[1])
    names = ("X_new", "y_new")
    validation.check_lengths(count_rows(X_new), len(y_new), names)
    check_index(*new_cases, names=names)
    classes = sample.classes.tolist()
    # as texts, since nan differs from itself
    unknown = sorted({repr(label) for label in y_new.tolist() if label not in classes})
    if unknown:
        raise ValueError(
            f"The labels of 'new_cases' must be those of the classifier, {classes}. Also got {', '.join(unknown[:5])}."
        )
    n_equal = count_equal_rows(X_new, y_new, sample.X, sample.y)
    if not n_equal:
        return {"test_set": (X_new, y_new)}
    remark = f"{n_equal} of {len(y_new)} test cases equal training rows"
    message = (
        f"{remark}, in every feature and in the label; the error on them is not evidence about new cases. Remove them "
        "from the new cases, unless features have so few values that new cases equal old ones by chance."
    )
    warn(RepeatedRowsWarning(message, n_equal=n_equal, n_tested=len(y_new)))
    return {"test_set": (X_new, y_new), "test_remarks": (remark,)}
