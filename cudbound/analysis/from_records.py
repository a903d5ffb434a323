"""All methods applied to losses recorded by other software, without a classifier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, Literal, TypeAlias, overload

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate
from cudbound.basis.validation import check_choice, check_confidence_level
from cudbound.intervals import METHODS, AskedMethod, compute_interval, find_comparisons, find_methods
from cudbound.intervals.method import ALTERNATIVES, compute_comparison
from cudbound.metrics.metric import AUC, BRIER, ERROR
from cudbound.metrics.views import scored, squared_errors
from cudbound.point_estimates import ESTIMATORS, compute_estimate, find_estimators
from cudbound.records import FoldLosses, Records, RepeatedFoldLosses, TestSetLosses
from cudbound.records.rules import Recorded, check_errors

#: Every kind of record that a method or a point estimate can read, with any value of its options.
RECORD_KINDS = {
    kind
    for method in (*METHODS.values(), *ESTIMATORS.values())
    for card in (method, *method.variants.values())
    for options in (*({name: value} for name, option in card.options.items() for value in option.values), {})
    for kind in (*card.needs, *card.needed(options))
}
#: The name of the record for each class of recorded losses.
NAME_OF: dict[type, str] = {Groups: "groups"} | {
    kind.holds: kind.name
    for kind in sorted(RECORD_KINDS, reverse=True)
    if issubclass(kind.holds, Recorded) and kind.holds is not Records
}
# other records of the same class follow from these
NAME_OF |= {FoldLosses: "folds", RepeatedFoldLosses: "repeated_folds", TestSetLosses: "test_set"}


#: All records of a training set, one of them, or several of different classes.
RecordedLosses: TypeAlias = Recorded | Groups | Iterable[Recorded | Groups]
#: How the records of a metric that other software recorded are read.
READINGS = {ERROR.name: lambda records: records, AUC.name: scored, BRIER.name: squared_errors}


def collect_records(records: RecordedLosses) -> Records:
    """Put recorded losses or scores together.

    Parameters
    ----------
    records : object or list of objects
        `cudbound.records.Records`, or objects of the other classes there, and those of single methods in
        `cudbound.intervals`, each at most once, except `TestSetLosses`: a second one belongs to the second classifier.
        `FoldLosses` with one row per fold also serve as leave-one-out losses. `Groups` tell which rows were drawn and
        left out together.

    Raises
    ------
    ValueError
        If an object has another class, a class occurs too often, or losses of rows are not those of right and wrong
        predictions.
    """
    if isinstance(records, Records):
        collected = records
    else:
        filled: dict[str, Any] = {}
        for record in records if isinstance(records, Iterable) else (records,):
            name = NAME_OF.get(type(record))
            if isinstance(record, TestSetLosses):
                name = "second_test_set" if "test_set" in filled else "test_set"
            if name is None or name in filled:
                classes = sorted(kind.__name__ for kind in NAME_OF)
                raise ValueError(
                    f"Recorded losses must be Records, or objects of the classes {classes}, each at most once "
                    f"(TestSetLosses twice). Got {'another ' if name else ''}{type(record).__name__}."
                )
            filled[name] = record
            if isinstance(record, FoldLosses) and record.n_folds == record.n_samples:
                filled["leave_one_out"] = record
            if isinstance(record, RepeatedFoldLosses):
                filled["stratified_folds"] = record
        collected = Records.of(**filled)
    parts = [getattr(collected, entry.name) for entry in fields(collected)]
    for record in (collected, *parts, *collected.of_methods.values()):
        if isinstance(record, Recorded):
            check_errors(record)
    return collected


@overload
def from_records(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    differences: Literal[True],
    confidence_level: float = ...,
    alternative: str = ...,
    null: float = ...,
) -> ComparisonResult: ...


@overload
def from_records(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    differences: Literal[False] = ...,
    metric: str = ...,
    confidence_level: float = ...,
    alternative: str = ...,
) -> IntervalEstimate | PointEstimate: ...


@public_call
def from_records(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    metric: str = "error",
    differences: bool = False,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    null: float = 0.0,
) -> IntervalEstimate | PointEstimate | ComparisonResult:
    """Compute an interval, a point estimate or a comparison from losses that other software recorded.

    Parameters
    ----------
    records : object or list of objects
        Of the classes in `cudbound.records`. Losses on the training set, the no-information error for the .632+
        estimate, and scores on the training set are fields of `cudbound.records.Records`.
    method : str or pair
        A method in `cudbound.available_methods`, whose column ``needs`` names the losses; or a pair (name, options),
        such as ``("kohavi-normal", {"form": "wilson"})``.
    metric : {"error", "auc", "brier"}, default="error"
        What an interval is for: from losses, from scores, or from probabilities.
    differences : bool, default=False
        Whether the losses are those of one classifier minus those of another, and `method` is a comparison. For
        "independent-test-sets" they are the losses of each on its own test set.
    confidence_level : float, default=0.95
        In (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        As in `scipy.stats`: "less" gives only an upper limit, at the full level, "greater" only a lower limit. The last
        is only for differences, see `cudbound.compare_learners`.
    null : float, default=0.0
        Margin of a comparison, as in `cudbound.compare_learners`.

    Returns
    -------
    IntervalEstimate, PointEstimate or ComparisonResult
        By the kind of the method.

    Raises
    ------
    ValueError
        If the method is unknown, the losses are not those it needs, or an argument is out of range.

    Examples
    --------
    >>> from cudbound import from_records
    >>> from cudbound.records import FoldLosses, SplitLosses
    >>> row = from_records(SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10), "corrected-resampled-t")
    >>> round(row.confidence_interval.low, 3), str(row.estimand)
    (0.128, 'expected(n1=90)')
    >>> folds = FoldLosses.from_blocks([[0.1, 0.0, -0.1], [0.2, 0.1, 0.0], [0.1, 0.1, 0.1], [0.0, 0.2, 0.1]])
    >>> test = from_records(folds, ("grandvalet-bengio-t", {"rho": 0.5}), differences=True)
    >>> bool(test.pvalue > from_records(folds, "k-fold-t", differences=True).pvalue)
    True
    """
    name = method[0] if isinstance(method, tuple) else method
    level = check_confidence_level(confidence_level)
    collected = READINGS[check_choice("metric", metric, tuple(READINGS))](collect_records(records))
    is_estimator = isinstance(name, str) and name in ESTIMATORS
    if metric != ERROR.name and (differences or is_estimator):
        raise ParameterError("metric", "'error' for comparisons and point estimates", metric)
    requested: Any
    if differences:
        requested = find_comparisons([method])
    elif is_estimator:
        requested = find_estimators([method])
    else:
        requested = find_methods([method], argument="method")
        check_choice("alternative", alternative, ALTERNATIVES)
    if len(requested.methods) != 1:
        raise ParameterError("method", "one method; a group stands for several", method)
    (card,) = requested
    options = requested.options_of(card)
    if differences:
        return compute_comparison(card, collected, level, alternative, options, null=null)
    if is_estimator:
        return compute_estimate(card, collected, options)
    return replace(compute_interval(card, collected, level, options, alternative=alternative), metric=metric)
