"""All methods applied to losses recorded by other software, without a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.method_card import Card, RequestedMethods
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate
from cudbound.basis.validation import check_choice, check_confidence_level
from cudbound.intervals import RECORD_KINDS, AskedMethod, compute_interval, find_comparisons, find_methods
from cudbound.intervals.method import ALTERNATIVES, compute_comparison
from cudbound.metrics.metric import AUC, BRIER
from cudbound.metrics.views import squared_errors
from cudbound.point_estimates import ESTIMATORS, compute_estimate, find_estimators
from cudbound.records import FoldLosses, Records, RepeatedFoldLosses, ScoreRecords, TestSetLosses
from cudbound.records.rules import Recorded, check_errors, check_errors_of_rows, row_losses

#: The name of the record for each class of recorded losses.
NAME_OF: dict[type, str] = {Groups: "groups"} | {
    kind.holds: kind.name
    for kind in sorted(RECORD_KINDS, reverse=True)
    if issubclass(kind.holds, Recorded) and kind.holds is not ScoreRecords
}
# other records of the same class follow from these
NAME_OF |= {FoldLosses: "folds", RepeatedFoldLosses: "repeated_folds", TestSetLosses: "test_set"}


#: One record, or several of different classes.
RecordedLosses: TypeAlias = Recorded | Groups | Iterable[Recorded | Groups]


def collect_records(
    records: RecordedLosses,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
) -> Records:
    """Put recorded losses together.

    Parameters
    ----------
    records : object or list of objects
        Of the classes in `cudbound.records`, and those of single methods in `cudbound.intervals`, each at most once,
        except `TestSetLosses`: a second one belongs to the second classifier. `FoldLosses` with one row per fold also
        serve as leave-one-out losses. `Groups` tell which rows were drawn and left out together.
    training_losses : array-like, shape (n_samples,), default=None
        Losses on the training set of the classifier fitted to all of it, for the methods that need them.
    positive, predicted_positive : float, default=None
        Shares of the training set that are positive, and that this classifier predicts as positive, for .632+.

    Raises
    ------
    ValueError
        If an object has another class, a class occurs too often, losses of rows are not those of right and wrong
        predictions, or a share is not in [0, 1].
    """
    filled: dict[str, Any] = {}
    for record in records if isinstance(records, Iterable) else (records,):
        name = NAME_OF.get(type(record))
        if isinstance(record, TestSetLosses):
            name = "second_test_set" if "test_set" in filled else "test_set"
        if name is None or name in filled:
            classes = sorted(kind.__name__ for kind in NAME_OF)
            raise ValueError(
                f"Recorded losses must be objects of the classes {classes}, each at most once "
                f"(TestSetLosses twice). Got {'another ' if name else ''}{type(record).__name__}."
            )
        if isinstance(record, Recorded):
            check_errors(record)
        filled[name] = record
        if isinstance(record, FoldLosses) and record.n_folds == np.size(record.losses):
            filled["leave_one_out"] = record
        if isinstance(record, RepeatedFoldLosses):
            filled["stratified_folds"] = record
    if training_losses is not None:
        filled["losses"] = row_losses("training_losses", training_losses)
        check_errors_of_rows("training_losses", filled["losses"])
    for name, share in (("positive", positive), ("predicted_positive", predicted_positive)):
        if share is not None:
            if not 0.0 <= share <= 1.0:
                raise ParameterError(name, "a share in [0, 1]", share)
            filled[name] = float(share)
    return Records.of(**filled)


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
    training_losses: ArrayLike | None = ...,
    positive: float | None = ...,
    predicted_positive: float | None = ...,
    confidence_level: float = ...,
    alternative: str = ...,
) -> IntervalEstimate | PointEstimate: ...


@public_call
def from_records(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    differences: bool = False,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    null: float = 0.0,
) -> IntervalEstimate | PointEstimate | ComparisonResult:
    """Compute an interval, a point estimate or a comparison from losses that other software recorded.

    Parameters
    ----------
    records : object or list of objects
        Of the classes in `cudbound.records`; a `ScoreRecords` for the AUC, or for the Brier score if its scores are
        probabilities.
    method : str or pair
        A method in `cudbound.available_methods`, whose column ``needs`` names the losses; or a pair (name, options),
        such as ``("kohavi-normal", {"form": "wilson"})``.
    differences : bool, default=False
        Whether the losses are those of one classifier minus those of another, and `method` is a comparison. For
        "independent-test-sets" they are the losses of each on its own test set.
    training_losses : array-like, shape (n_samples,), default=None
        Losses on the training set, for the methods that need them.
    positive, predicted_positive : float, default=None
        Shares of the training set that are positive, and that the classifier fitted to it predicts as positive, in [0,
        1]; the .632+ estimate needs them.
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
    of_one_classifier = {
        "training_losses": training_losses,
        "positive": positive,
        "predicted_positive": predicted_positive,
    }
    name = method[0] if isinstance(method, tuple) else method
    level = check_confidence_level(confidence_level)
    if differences:
        _check_unused(of_one_classifier, "with differences")
        requested, comparison = _single(find_comparisons([method]))
        options = requested.options_of(comparison)
        return compute_comparison(
            comparison, collect_records(records), level, alternative, options, null=null
        )
    if isinstance(name, str) and name in ESTIMATORS:
        estimators, estimator = _single(find_estimators([method]))
        collected = collect_records(records, training_losses, positive, predicted_positive)
        return compute_estimate(estimator, collected, estimators.options_of(estimator))
    intervals, interval = _single(find_methods([method], argument="method"))
    check_choice("alternative", alternative, ALTERNATIVES)
    options = intervals.options_of(interval)
    if isinstance(records, ScoreRecords):
        _check_unused(of_one_classifier, "with ScoreRecords, which contain everything needed")
        metric, scores = (BRIER, squared_errors(records)) if records.probabilities else (AUC, records)
        row = compute_interval(interval, scores, level, options, alternative=alternative)
        return replace(row, metric=metric.name)
    collected = collect_records(records, training_losses, positive, predicted_positive)
    return compute_interval(interval, collected, level, options, alternative=alternative)


def _check_unused(arguments: Mapping[str, object], when: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ParameterError(name, f"None {when}", value)


def _single(requested: RequestedMethods[Card]) -> tuple[RequestedMethods[Card], Card]:
    """Return the request, and its only method."""
    if len(requested) != 1:
        names = [method.name for method in requested]
        raise ParameterError("method", "one method; a group stands for several", names)
    (method,) = requested
    return requested, method
