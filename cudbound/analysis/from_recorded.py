"""Every method from losses that other software recorded, without a classifier."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.groups import Groups
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate
from cudbound.basis.validation import check_choice, check_confidence_level, refuse_others
from cudbound.intervals import compute_interval, find_comparisons, find_methods
from cudbound.intervals.difference import compute_comparison
from cudbound.intervals.method import ALTERNATIVES
from cudbound.point_estimates import compute_estimate, find_estimators
from cudbound.records import FoldLosses, Records, TestSetLosses
from cudbound.records.rules import Recorded, row_losses

#: The field of `Records` that each class of recorded losses fills.
FIELD_OF = {
    kind: name
    for name, hint in reversed(get_type_hints(Records).items())
    for kind in get_args(hint)
    if isinstance(kind, type) and issubclass(kind, Recorded | Groups) and name != "leave_one_out"
}


def collect_records(
    *recorded: Any,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
) -> Records:
    """Put recorded losses together.

    Parameters
    ----------
    *recorded : object
        Of the classes in `cudbound.records`, each at most once, but for `TestSetLosses`: the second is that of the
        second classifier. `FoldLosses` of one row each also serve as leave-one-out losses. `Groups` say which rows
        were drawn and left out together.
    training_losses : array-like, shape (n_samples,), default=None
        Losses on the training set of the classifier fitted to all of it, for the methods that need them.
    positive, predicted_positive : float, default=None
        Shares of the training set that are positive and that this classifier calls positive, for .632+.

    Raises
    ------
    ValueError
        If an object is of another class, or one of its class was given before, or a share is not in [0, 1].
    """
    filled: dict[str, Any] = {}
    for record in recorded:
        name = FIELD_OF.get(type(record))
        if isinstance(record, TestSetLosses):
            name = "second_test_set" if "test_set" in filled else "test_set"
        if name is None or name in filled:
            known = sorted(kind.__name__ for kind in FIELD_OF)
            raise ValueError(
                f"Recorded losses must be of the classes {known} in cudbound.records, each once "
                f"(TestSetLosses twice). Got {'another ' if name else ''}{type(record).__name__}."
            )
        filled[name] = record
        if isinstance(record, FoldLosses) and record.n_folds == np.size(record.losses):
            filled["leave_one_out"] = record
    if training_losses is not None:
        filled["losses"] = row_losses("training_losses", training_losses)
    for name, share in (("positive", positive), ("predicted_positive", predicted_positive)):
        if share is not None:
            if not 0.0 <= share <= 1.0:
                raise ParameterError(name, "a share in [0, 1]", share)
            filled[name] = float(share)
    return Records(**filled)


def recorded_interval(
    method: str,
    *recorded: Any,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    fallback: bool = False,
    **options: Any,
) -> IntervalEstimate:
    """Compute an interval from recorded losses.

    Parameters
    ----------
    method : str
        One of those that `cudbound.available_methods` lists as intervals; its column ``needs`` says which losses.
    *recorded : object
        Of the classes in `cudbound.records`.
    training_losses : array-like, shape (n_samples,), default=None
        Losses on the training set, for the methods that need them.
    positive, predicted_positive : float, default=None
        Shares of the training set that are positive and that the classifier fitted to it calls positive, in [0, 1];
        the .632+ estimate needs them.
    confidence_level : float, default=0.95
        In (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        As in `scipy.stats`: "less" gives an upper limit alone, at the whole level, "greater" a lower one.
    fallback : bool, default=False
        Whether a zero-width interval is replaced by the method's fallback.
    **options
        Of the method.

    Raises
    ------
    ValueError
        If the method is unknown, the losses are not those it needs, or an argument is out of range.

    Examples
    --------
    >>> from cudbound import recorded_interval
    >>> from cudbound.records import SplitLosses
    >>> row = recorded_interval("corrected-resampled-t", SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10))
    >>> round(row.confidence_interval.low, 3), str(row.estimand)
    (0.128, 'expected(n1=90)')
    """
    refuse_others(recorded_interval, options.keys() & {"alpha"})
    (chosen,) = find_methods([method])
    level = check_confidence_level(confidence_level)
    check_choice("alternative", alternative, ALTERNATIVES)
    records = collect_records(
        *recorded, training_losses=training_losses, positive=positive, predicted_positive=predicted_positive
    )
    return compute_interval(
        chosen, records, level, options | ({"fallback": True} if fallback else {}), alternative=alternative
    )


def recorded_comparison(
    method: str,
    *recorded: Any,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    null: float = 0.0,
    **options: Any,
) -> ComparisonResult:
    """Compare two classifiers, or two learning algorithms, by recorded differences of their losses.

    Parameters
    ----------
    method : str
        One of those that `cudbound.available_methods` lists as comparisons.
    *recorded : object
        Of the classes in `cudbound.records`, holding losses of the first minus losses of the second on the same points
        or splits; for "independent-test-sets" the losses of each.
    confidence_level : float, default=0.95
        In (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        As in `cudbound.compare_learners`.
    null : float, default=0.0
        Margin, as in `cudbound.compare_learners`.
    **options
        Of the method.

    Raises
    ------
    ValueError
        If the method is unknown, the losses are not those it needs, or an argument is out of range.

    Examples
    --------
    >>> from cudbound import recorded_comparison
    >>> from cudbound.records import FoldLosses
    >>> differences = [[0.1, 0.0, -0.1], [0.2, 0.1, 0.0], [0.1, 0.1, 0.1], [0.0, 0.2, 0.1]]
    >>> found = recorded_comparison("grandvalet-bengio-t", FoldLosses.from_blocks(differences), rho=0.5)
    >>> bool(found.pvalue > recorded_comparison("k-fold-t", FoldLosses.from_blocks(differences)).pvalue)
    True
    """
    refuse_others(recorded_comparison, options.keys() & {"alpha"})
    (chosen,) = find_comparisons([method])
    level = check_confidence_level(confidence_level)
    return compute_comparison(chosen, collect_records(*recorded), level, alternative, options, null=null)


def recorded_estimate(
    method: str,
    *recorded: Any,
    training_losses: ArrayLike | None = None,
    positive: float | None = None,
    predicted_positive: float | None = None,
    **options: Any,
) -> PointEstimate:
    """Compute a point estimate from recorded losses.

    Parameters
    ----------
    method : str
        One of those that `cudbound.available_methods` lists as point estimates.
    *recorded, training_losses, positive, predicted_positive, **options
        As for `recorded_interval`.

    Raises
    ------
    ValueError
        If the method is unknown or the losses are not those it needs.

    Examples
    --------
    >>> from cudbound import recorded_estimate
    >>> from cudbound.records import FoldLosses
    >>> recorded_estimate("k-fold", FoldLosses.from_blocks([[1, 0, 0], [0, 1, 0]])).n_fits
    3
    """
    (chosen,) = find_estimators([method])
    records = collect_records(
        *recorded, training_losses=training_losses, positive=positive, predicted_positive=predicted_positive
    )
    return compute_estimate(chosen, records, options)
