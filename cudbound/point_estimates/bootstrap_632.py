"""Bootstrap estimates of the error: Err(1), the pooled out-of-bag error, .632 and .632+."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import Estimand, PointOutcome
from cudbound.basis.rounding import Worded
from cudbound.basis.validation import check_choice
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import Records

Array = NDArray[np.float64]

#: Forms of the .632+ estimate; the first is the default.
FORMS = ("capped", "literal")
_WHERE_CUT = {"capped": "", "literal": " in what is added to the .632 estimate, and not in that estimate"}
NOTHING_OUT_OF_BAG = "undefined: no point was ever out of bag; use more bootstrap draws"


def leave_one_out_bootstrap_error(
    losses: ArrayLike, counts: ArrayLike, sizes: ArrayLike | None = None
) -> Array:
    """Leave-one-out bootstrap error: mean over points of their mean loss over the draws that left them out.

    Parameters
    ----------
    losses : array-like, shape (..., n_resamples, n_samples)
        Loss on the point of the classifier fitted to the draw: 0 or 1, or a difference of losses.
    counts : array-like of int, shape (..., n_resamples, n_samples)
        How often the point occurs in the draw; the point is out of bag where this is 0.
    sizes : array-like of int, shape (..., n_samples), default=None
        Rows of each point, where points are groups of rows and `losses` the sums over them; None means 1.

    Returns
    -------
    ndarray of float, shape (...)
        Mean losses, without the points that occur in every draw; nan if there are no others.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA
    92, 548-560.

    Examples
    --------
    >>> leave_one_out_bootstrap_error([[1, 0, 0], [1, 0, 1]], [[0, 2, 1], [0, 3, 0]])
    array(1.)
    """
    out_of_bag = np.asarray(counts) == 0
    times_out = out_of_bag.sum(axis=-2)
    errors = (np.asarray(losses) * out_of_bag).sum(axis=-2)
    per_point = np.divide(errors, times_out, out=np.zeros(errors.shape), where=times_out > 0)
    rows = times_out > 0 if sizes is None else (times_out > 0) * np.asarray(sizes)
    return _ratio(per_point.sum(axis=-1), rows.sum(axis=-1))


def pooled_bootstrap_error(losses: ArrayLike, counts: ArrayLike) -> Array:
    """Pooled out-of-bag error e0: mean loss over all pairs of a draw and a point that it left out.

    It weights a point by the number of draws that left it out; `leave_one_out_bootstrap_error` weights all points
    equally. They agree if every point was left out equally often.

    Parameters
    ----------
    losses, counts : array-like, shape (..., n_resamples, n_samples)
        As in `leave_one_out_bootstrap_error`.

    Returns
    -------
    ndarray of float, shape (...)
        Mean losses; nan if no draw left a point out.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. JASA
    78, 316-331.

    Examples
    --------
    >>> pooled_bootstrap_error([[1, 0, 0], [1, 0, 0]], [[0, 2, 1], [0, 3, 0]]).round(3)
    np.float64(0.667)
    """
    out_of_bag = np.asarray(counts) == 0
    return _ratio((np.asarray(losses) * out_of_bag).sum(axis=(-2, -1)), out_of_bag.sum(axis=(-2, -1)))


def error_632(resubstitution: ArrayLike, leave_one_out_bootstrap: ArrayLike) -> Array:
    """Return the .632 estimate .368 resubstitution + .632 Err(1), elementwise.

    Parameters
    ----------
    resubstitution : array-like of float
        Training error, in [0, 1].
    leave_one_out_bootstrap : array-like of float
        Err(1) of the same training set, in [0, 1].

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. JASA
    78, 316-331; with Err(1) in place of the pooled out-of-bag error, as in Efron and Tibshirani (1997).

    Examples
    --------
    >>> float(error_632(0.1, 0.3))
    0.2264
    """
    return np.asarray(
        0.368 * np.asarray(resubstitution, dtype=float)
        + 0.632 * np.asarray(leave_one_out_bootstrap, dtype=float)
    )


def no_information_error(positive: ArrayLike, predicted_positive: ArrayLike) -> Array:
    """Return the no-information error gamma: the error if labels and predictions were independent.

    It is the mean loss over all n^2 pairs of a training row's prediction and a training row's label.

    Parameters
    ----------
    positive : array-like of float
        Share p of the training rows of the class +1, in [0, 1].
    predicted_positive : array-like of float
        Share q of the training rows that the classifier fitted to all of them predicts as +1, in [0, 1].

    Returns
    -------
    ndarray of float
        p (1 - q) + (1 - p) q, elementwise.

    References
    ----------
    Efron and Tibshirani (1997), section 3.

    Examples
    --------
    >>> float(no_information_error(0.25, 0.5))
    0.5
    """
    p, q = np.asarray(positive, dtype=float), np.asarray(predicted_positive, dtype=float)
    return np.asarray(p * (1.0 - q) + (1.0 - p) * q)


@dataclass(frozen=True)
class Error632Plus:
    """The .632+ estimate with its components.

    Attributes
    ----------
    estimate : float
        (1 - w) err + w Err(1)', plus .632 (Err(1) - Err(1)') in the literal form.
    leave_one_out_bootstrap : float
        Err(1)' = min(Err(1), gamma).
    no_information : float
        gamma.
    overfitting : float
        Relative overfitting rate R, in [0, 1].
    weight : float
        w = .632 / (1 - .368 R), in [.632, 1].
    """

    estimate: float
    leave_one_out_bootstrap: float
    no_information: float
    overfitting: float
    weight: float


def error_632_plus(
    resubstitution: float, leave_one_out_bootstrap: float, no_information: float, *, form: str = "capped"
) -> Error632Plus:
    """Return the .632+ estimate: the weight of Err(1) increases from .632 to 1 with the overfitting rate.

    The rate is R = (Err(1)' - err) / (gamma - err) with Err(1)' = min(Err(1), gamma), if Err(1)' and gamma are both
    above err, and 0 otherwise. R is therefore in [0, 1]; implementations without clipping can return weights above 1 or
    below .632, and divide by 0 at gamma = err.

    Parameters
    ----------
    resubstitution : float
        Training error err, in [0, 1].
    leave_one_out_bootstrap : float
        Err(1), in [0, 1]; nan gives a result of nan.
    no_information : float
        gamma, from `no_information_error`, in [0, 1].
    form : {"capped", "literal"}, default="capped"
        One of the two forms in section 3, which differ by .632 (Err(1) - gamma) if Err(1) exceeds gamma and agree
        otherwise. "capped" is (1 - w) err + w Err(1)', with Err(1)' for Err(1) throughout; "literal" is their last
        equation as it is printed, .368 err + .632 Err(1) + (Err(1)' - err) .368 .632 R / (1 - .368 R), whose first two
        terms keep Err(1) as it is. Public code without clipping of R gives a third value.

    Returns
    -------
    Error632Plus

    Raises
    ------
    ValueError
        If `form` is unknown.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA
    92, 548-560, section 3.

    Examples
    --------
    >>> result = error_632_plus(0.0, 0.4, 0.5)
    >>> result.overfitting, round(result.weight, 4), round(result.estimate, 4)
    (0.8, 0.8957, 0.3583)
    >>> [round(error_632_plus(0.0, 0.6, 0.5, form=form).estimate, 4) for form in ("capped", "literal")]
    [0.5, 0.5632]
    """
    check_choice("form", form, FORMS)
    if math.isnan(leave_one_out_bootstrap):
        return Error632Plus(math.nan, math.nan, no_information, math.nan, math.nan)
    clipped = min(leave_one_out_bootstrap, no_information)
    overfitting = 0.0
    if clipped > resubstitution:  # and so gamma > err
        overfitting = (clipped - resubstitution) / (no_information - resubstitution)
    weight = 0.632 / (1.0 - 0.368 * overfitting)
    estimate = (1.0 - weight) * resubstitution + weight * clipped
    if form == "literal":
        estimate += 0.632 * (leave_one_out_bootstrap - clipped)
    return Error632Plus(
        estimate=estimate,
        leave_one_out_bootstrap=clipped,
        no_information=no_information,
        overfitting=overfitting,
        weight=weight,
    )


def estimate_632(records: Records) -> float:
    """Return the .632 estimate of the whole training set; nan if no point was ever out of bag."""
    return float(error_632(np.mean(records.require("losses")), out_of_bag_error(records)))


def estimate_632_plus(records: Records, *, form: str = "capped") -> Error632Plus:
    """Return the .632+ estimate of the whole training set; nan if no point was ever out of bag.

    Parameters
    ----------
    records : Records
    form : {"capped", "literal"}, default="capped"
        As in `error_632_plus`.

    Raises
    ------
    ValueError
        If the records lack losses, bootstrap, `positive` or `predicted_positive`.
    """
    return error_632_plus(
        float(np.mean(records.require("losses"))),
        out_of_bag_error(records),
        no_information_of(records),
        form=form,
    )


def no_information_of(records: Records) -> float:
    """Return the no-information error of a training set, as recorded or from the two shares.

    Raises
    ------
    ValueError
        If the records contain neither.
    """
    if not math.isnan(records.no_information):
        return records.no_information
    if records.chance_losses is not None:
        return float(np.mean(records.chance_losses))
    for name in ("positive", "predicted_positive"):
        if math.isnan(getattr(records, name)):
            raise ValueError(
                f"The .632+ estimate needs '{name}', a share of the training set, and the records have none. Pass "
                f"Records(..., {name}=...); for a difference between two errors the .632+ estimate is not defined."
            )
    return float(no_information_error(records.positive, records.predicted_positive))


def out_of_bag_error(records: Records) -> float:
    """Return Err(1), the mean over rows of the error of draws without them; nan if no row was ever left out."""
    bootstrap = records.require("bootstrap")
    return float(leave_one_out_bootstrap_error(bootstrap.losses, bootstrap.counts))


def _ratio(total: ArrayLike, number: ArrayLike) -> Array:
    """Return total / number, or nan if the number is 0."""
    return np.asarray(
        np.divide(total, number, out=np.full(np.shape(total), np.nan), where=np.asarray(number) > 0)
    )


def _pooled(records: Records) -> Array:
    bootstrap = records.require("bootstrap")
    return pooled_bootstrap_error(bootstrap.losses, bootstrap.counts)


def _compute(records: Records, *, of: Callable[[Records], SupportsFloat]) -> PointOutcome:
    estimate = float(of(records))
    return PointOutcome(estimate, degenerate=NOTHING_OUT_OF_BAG if math.isnan(estimate) else None)


def _compute_632_plus(records: Records, *, form: str) -> PointOutcome:
    left_out = out_of_bag_error(records)
    result = estimate_632_plus(records, form=form)
    details = {
        "resubstitution": float(np.mean(records.require("losses"))),
        "leave_one_out_bootstrap": left_out,
        "no_information": result.no_information,
        "overfitting": result.overfitting,
        "weight": result.weight,
    }
    remarks: tuple[str, ...] = ()
    if left_out > result.no_information:
        remarks = (
            Worded.of(
                lambda write: (
                    f"leave-one-out bootstrap error {write(left_out)} cut to the no-information error "
                    f"{write(result.no_information)}{_WHERE_CUT[form]}"
                )
            ),
        )
    return PointOutcome(
        result.estimate,
        remarks=remarks,
        degenerate=NOTHING_OUT_OF_BAG if math.isnan(left_out) else None,
        details=details,
    )


LEAVE_ONE_OUT_BOOTSTRAP = PointEstimator(
    name="leave-one-out-bootstrap",
    title="Leave-one-out bootstrap error Err(1)",
    formula="Err(1) = mean over the rows of the mean loss on the row over the draws without it",
    estimand=Estimand("rule"),
    needs=frozenset({"bootstrap"}),
    assumptions="a classifier fitted to a draw, with about .632 n distinct points, is like one fitted to n points",
    tendency="too high: it estimates the error for a training set of about .632 n points",
    reference="Efron and Tibshirani (1997), section 2",
    cost="B",
    compute=partial(_compute, of=out_of_bag_error),
)

BOOTSTRAP_POOLED = replace(
    LEAVE_ONE_OUT_BOOTSTRAP,
    name="bootstrap-pooled",
    title="Pooled out-of-bag error e0",
    formula="mean loss over all pairs of a draw and a row outside it",
    reference="Efron (1983)",
    compute=partial(_compute, of=_pooled),
)

BOOTSTRAP_632 = PointEstimator(
    name="bootstrap-632",
    title=".632 estimate",
    formula=".368 T + .632 Err(1)",
    estimand=Estimand("rule"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the training error is too low by a fixed share of its distance from Err(1)",
    tendency="too low if the classifier fits its training set closely, as nearest neighbors do",
    reference="Efron (1983), with Err(1) of Efron and Tibshirani (1997) instead of the pooled out-of-bag error",
    cost="B",
    compute=partial(_compute, of=estimate_632),
)

BOOTSTRAP_632_PLUS = replace(
    BOOTSTRAP_632,
    name="bootstrap-632-plus",
    title=".632+ estimate",
    formula="(1 - w) T + w min(Err(1), g); w = .632 / (1 - .368 R), R = (min(Err(1), g) - T) / (g - T), or 0 unless "
    "Err(1) and g exceed T, g = p (1 - q) + (1 - p) q, p the share of positives and q the share predicted positive",
    assumptions="the overfitting rate measures how much too low the training error is",
    tendency="nearly unbiased in its authors' simulations; with weight 1 it equals Err(1), which is too high",
    reference="Efron and Tibshirani (1997), section 3, with the overfitting rate kept within [0, 1]",
    compute=_compute_632_plus,
    options={"form": Choice(FORMS)},
)
