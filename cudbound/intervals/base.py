"""The contract of an interval method, and what all of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from cudbound.point_estimates import error_632, leave_one_out_bootstrap_error, never_out_of_bag
from cudbound.records import BootstrapLosses, Records
from cudbound.results import ConfidenceInterval, IntervalEstimate
from cudbound.validation import check_choice

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Outcome:
    """What a method computes from the records.

    Attributes
    ----------
    estimate : float
        The point the interval is built around.
    interval : ConfidenceInterval
        Raw limits.
    remarks : tuple of str
    degenerate : str or None
        The method's own reason for an interval without width; one is found for it if this is None.
    """

    estimate: float
    interval: ConfidenceInterval
    remarks: tuple[str, ...] = ()
    degenerate: str | None = None


@dataclass(frozen=True)
class Method:
    """One interval method.

    Attributes
    ----------
    name : str
        The word for it in ``methods=``.
    title : str
        One line.
    estimand : str
        What it aims at: "conditional" is the error of the classifier fitted to this training set.
    needs : frozenset of str
        What must be recorded, of "bound", "bootstrap", "inner" and "folds".
    assumptions : str
        What has to hold for the nominal level.
    tendency : str
        Whether the interval is known to be too short (liberal) or too long (conservative), and where.
    reference : str
        Source with section or equation.
    cost : str
        Classifier fits beyond the one that is given, in B draws, inner draws and k folds.
    compute : callable
        ``compute(records, confidence_level, **options) -> Outcome``.
    options : mapping of str to tuple of str
        Allowed values of each option; the first is the default.
    """

    name: str
    title: str
    estimand: str
    needs: frozenset[str]
    assumptions: str
    tendency: str
    reference: str
    cost: str
    compute: Callable[..., Outcome] = field(repr=False)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def resolve_options(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Return a value for every option, the given one or the default.

        Raises
        ------
        ValueError
            If an option is unknown or its value is not allowed.
        """
        for name in sorted(set(given) - set(self.options)):
            raise ValueError(f"{self.name} has no option {name!r}. Its options are {sorted(self.options)}.")
        return {
            name: check_choice(name, given.get(name, allowed[0]), allowed)
            for name, allowed in self.options.items()
        }


def compute_interval(
    method: Method, records: Records, confidence_level: float, options: Mapping[str, Any] = NO_OPTIONS
) -> IntervalEstimate:
    """Compute one row of the table from recorded losses.

    Parameters
    ----------
    method : Method
        From `cudbound.intervals.METHODS`.
    records : Records
        Must hold what ``method.needs`` names; "inner" may be absent, see `Records`.
    confidence_level : float
        In (0, 1).
    options : mapping, default={}
        Options of the method that differ from their defaults.

    Raises
    ------
    ValueError
        If a record is missing, an option is unknown or its value is not allowed.

    Guarantee
    ---------
    An interval that is nan or has no width after clipping to [0, 1] carries the reason in ``degenerate``.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound.intervals import METHODS
    >>> from cudbound.records import BootstrapLosses, Records
    >>> counts = np.array([[2, 0, 1, 1], [0, 2, 2, 0], [1, 1, 0, 2]])
    >>> losses = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=bool)
    >>> records = Records(losses=losses[0], bootstrap=BootstrapLosses(counts, losses))
    >>> row = compute_interval(METHODS["langford-binomial"], records, 0.95)
    >>> round(row.estimate, 3), round(row.confidence_interval.high, 3)
    (0.408, 0.945)
    """
    for need in sorted(method.needs - {"inner"}):
        if getattr(records, need) is None:
            raise ValueError(f"{method.name} needs recorded {need} losses, and the records have none.")
    outcome = method.compute(records, confidence_level, **method.resolve_options(options))
    return IntervalEstimate(
        method=method.name,
        estimate=outcome.estimate,
        raw_interval=outcome.interval,
        confidence_level=confidence_level,
        estimand=method.estimand,
        n_fits=_count_fits(method, records),
        remarks=(*_shared_remarks(method, records), *outcome.remarks),
        degenerate=_why_degenerate(outcome),
    )


def _count_fits(method: Method, records: Records) -> int:
    """Count the classifier fits, with the one on the whole training set."""
    fits = 1
    if "bootstrap" in method.needs and records.bootstrap is not None:
        fits += len(records.bootstrap.counts)
    if "inner" in method.needs and records.inner is not None:
        fits += records.inner.n_fits
    if "folds" in method.needs and records.folds is not None:
        fits += records.folds.n_folds
    return fits


def _shared_remarks(method: Method, records: Records) -> tuple[str, ...]:
    remarks: list[str] = []
    if "bootstrap" in method.needs and records.bootstrap is not None:
        remarks += records.bootstrap.remarks
        if never := never_out_of_bag(records.bootstrap.counts):
            remarks.append(f"{never} points never out of bag")
    if "inner" in method.needs and records.inner is not None:
        remarks += records.inner.remarks
    if "folds" in method.needs and records.folds is not None:
        remarks += records.folds.remarks
    return tuple(remarks)


def _why_degenerate(outcome: Outcome) -> str | None:
    interval = outcome.interval
    if np.isnan(outcome.estimate):
        return "undefined: no point was ever out of bag, raise n_resamples"
    if np.isnan([interval.low, interval.high]).any():
        return outcome.degenerate or "undefined limits"
    if interval.width <= 0.0:
        return outcome.degenerate or "zero width"
    if interval.clipped(0.0, 1.0).width <= 0.0:
        return "both raw limits lie outside [0, 1]"
    return None


def estimate_632(records: Records) -> float:
    """Return the .632 estimate of the whole training set; nan if no point was ever out of bag."""
    bootstrap = _bootstrap(records)
    left_out = leave_one_out_bootstrap_error(bootstrap.losses, bootstrap.counts)
    return float(error_632(records.losses.mean(), left_out))


def replicates_632(records: Records) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the .632 estimate recomputed on every draw, shape (n_resamples,).

    With inner draws on record it is the .632 estimate of the draw. Without them it is the variant
    .368 err(f_b on D_b) + .632 err(f_b off D_b), which needs no further fit. Entries are nan where nothing
    was out of bag.
    """
    bootstrap = _bootstrap(records)
    left_out = bootstrap.out_of_bag if records.inner is None else records.inner.errors
    return np.asarray(error_632(bootstrap.resubstitution, left_out))


def _bootstrap(records: Records) -> BootstrapLosses:
    if records.bootstrap is None:
        raise ValueError("The .632 estimate needs recorded bootstrap losses, and the records have none.")
    return records.bootstrap
