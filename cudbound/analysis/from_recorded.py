"""All methods applied to losses recorded by other software, without a classifier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.method_card import Card, RequestedMethods
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate
from cudbound.basis.validation import check_choice, check_confidence_level
from cudbound.intervals import RECORD_KINDS, AskedMethod, compute_interval, find_comparisons, find_methods
from cudbound.intervals.difference import compute_comparison
from cudbound.intervals.method import ALTERNATIVES
from cudbound.metrics.metric import AUC, BRIER
from cudbound.metrics.views import squared_errors
from cudbound.point_estimates import compute_estimate, find_estimators
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
            known = sorted(kind.__name__ for kind in NAME_OF)
            raise ValueError(
                f"Recorded losses must be objects of the classes {known}, each at most once "
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


@public_call
def interval_of(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> IntervalEstimate:
    """Compute an interval from recorded losses.

    Parameters
    ----------
    records : object or list of objects
        Of the classes in `cudbound.records`; a `ScoreRecords` for the AUC, or for the Brier score if its scores are
        probabilities.
    method : str or pair
        An interval in `cudbound.available_methods`, whose column ``needs`` names the losses; or a pair (name, options),
        such as ``("kohavi-normal", {"form": "wilson"})``.
    training_losses : array-like, shape (n_samples,), default=None
        Losses on the training set, for the methods that need them.
    positive, predicted_positive : float, default=None
        Shares of the training set that are positive, and that the classifier fitted to it predicts as positive, in [0,
        1]; the .632+ estimate needs them.
    confidence_level : float, default=0.95
        In (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        As in `scipy.stats`: "less" gives only an upper limit, at the full level, "greater" only a lower limit.

    Raises
    ------
    ValueError
        If the method is unknown, the losses are not those it needs, or an argument is out of range.

    Examples
    --------
    >>> from cudbound import interval_of
    >>> from cudbound.records import SplitLosses
    >>> row = interval_of(SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10), "corrected-resampled-t")
    >>> round(row.confidence_interval.low, 3), str(row.estimand)
    (0.128, 'expected(n1=90)')
    """
    asked, chosen = _one(find_methods([method]))
    level = check_confidence_level(confidence_level)
    check_choice("alternative", alternative, ALTERNATIVES)
    options = asked.options_of(chosen)
    if isinstance(records, ScoreRecords):
        of_losses = {
            "training_losses": training_losses,
            "positive": positive,
            "predicted_positive": predicted_positive,
        }
        for name, value in of_losses.items():
            if value is not None:
                raise ParameterError(name, "None with ScoreRecords, which contain everything needed", value)
        metric, seen = (BRIER, squared_errors(records)) if records.probabilities else (AUC, records)
        row = compute_interval(chosen, seen, level, options, alternative=alternative)
        return replace(row, metric=metric.name)
    found = collect_records(records, training_losses, positive, predicted_positive)
    return compute_interval(chosen, found, level, asked.options_of(chosen), alternative=alternative)


@public_call
def comparison_of(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    null: float = 0.0,
) -> ComparisonResult:
    """Test a difference of errors from recorded differences of losses.

    Parameters
    ----------
    records : object or list of objects
        Of the classes in `cudbound.records`, with the loss of the first classifier minus that of the second; for
        "independent-test-sets" the losses of each on its own test set.
    method : str or pair
        A comparison in `cudbound.available_methods`, or a pair (name, options).
    confidence_level : float, default=0.95
        In (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        As in `cudbound.compare_learners`.
    null : float, default=0.0
        Margin, as in `cudbound.compare_learners`.

    Raises
    ------
    ValueError
        If the method is unknown, the losses are not those it needs, or an argument is out of range.

    Examples
    --------
    >>> from cudbound import comparison_of
    >>> from cudbound.records import FoldLosses
    >>> folds = FoldLosses.from_blocks([[0.1, 0.0, -0.1], [0.2, 0.1, 0.0], [0.1, 0.1, 0.1], [0.0, 0.2, 0.1]])
    >>> found = comparison_of(folds, ("grandvalet-bengio-t", {"rho": 0.5}))
    >>> bool(found.pvalue > comparison_of(folds, "k-fold-t").pvalue)
    True
    """
    asked, chosen = _one(find_comparisons([method]))
    level = check_confidence_level(confidence_level)
    options = asked.options_of(chosen)
    return compute_comparison(chosen, collect_records(records), level, alternative, options, null=null)


@public_call
def estimate_of(
    records: RecordedLosses,
    method: AskedMethod,
    *,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
) -> PointEstimate:
    """Compute a point estimate from recorded losses.

    Parameters
    ----------
    records, training_losses, positive, predicted_positive
        As for `interval_of`.
    method : str or pair
        A point estimate in `cudbound.available_methods`, or a pair (name, options).

    Raises
    ------
    ValueError
        If the method is unknown or the losses are not those it needs.

    Examples
    --------
    >>> from cudbound import estimate_of
    >>> from cudbound.records import FoldLosses
    >>> estimate_of(FoldLosses.from_blocks([[1, 0, 0], [0, 1, 0]]), "k-fold").n_fits
    3
    """
    asked, chosen = _one(find_estimators([method]))
    found = collect_records(records, training_losses, positive, predicted_positive)
    return compute_estimate(chosen, found, asked.options_of(chosen))


def _one(asked: RequestedMethods[Card]) -> tuple[RequestedMethods[Card], Card]:
    """Return the request, and its only method."""
    if len(asked) != 1:
        names = [method.name for method in asked]
        raise ParameterError("method", "one method; a group stands for several", names)
    (method,) = asked
    return asked, method
