"""Numbers of new cases for testing a fitted classifier with a given precision: closed forms for proportions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_confidence_level, check_number
from cudbound.study.population import check_share

#: A number of cases that exceeds a whole number by at most this share is rounded down to it.
ROUNDING = 1e-9


@dataclass(frozen=True)
class ClosedFormSize:
    """New cases needed for a z interval of a proportion with a given half-width.

    Attributes
    ----------
    measure : str
        "accuracy", "sensitivity", "specificity", "ppv", "npv" or "auc".
    expected : float
        Its expected value, a proportion; nan for 0/0.
    n : int or None
        Cases of both classes together, rounded up; None if the expected value is 0, 1 or nan, for which the formula
        gives no width.
    """

    measure: str
    expected: float
    n: int | None


@public_call
def closed_form_sample_sizes(
    half_width: float = 0.10,
    *,
    accuracy: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    auc: float | None = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
) -> tuple[ClosedFormSize, ...]:
    """Return the numbers of new cases for testing a fitted classifier with a given precision, per measure.

    The cases must be new: nothing was fitted to them. To plan a study that fits and evaluates a classifier on the same
    patients, use `cudbound.plan_sample_size`. With s = `half_width` / z, where z is the normal quantile (1.96 at 95 %),
    phi the prevalence and p the expected value of the measure:

    ==============  ==========================================
    accuracy        p (1 - p) / s^2
    sensitivity     p (1 - p) / (s^2 phi)
    specificity     p (1 - p) / (s^2 (1 - phi))
    PPV             p (1 - p) / (s^2 (se phi + (1 - sp) (1 - phi)))
    NPV             p (1 - p) / (s^2 (sp (1 - phi) + (1 - se) phi))
    AUC             n with A (1 - A) (1 + (n/2 - 1) ((1 - A)/(2 - A) + A/(1 + A))) = s^2 n^2 phi (1 - phi)
    ==============  ==========================================

    Parameters
    ----------
    half_width : float, default=0.10
        Half-width of the interval, in (0, 0.5); half of the target width in pmvalsampsize.
    accuracy, sensitivity, specificity, auc : float or None, default=None
        Expected values in [0, 1]; at least one. Do not give the accuracy together with sensitivity, specificity and
        prevalence, which determine it.
    prevalence : float or None, default=None
        Expected share of events, in (0, 1); needed for all measures except the accuracy.
    confidence_level : float, default=0.95
        In (0, 1).

    Returns
    -------
    tuple of ClosedFormSize
        One per measure that the given values determine, in the order of the table.

    Raises
    ------
    ParameterError
        If a value is out of range, none is given, the prevalence is missing, or accuracy is given with values that
        determine it.

    References
    ----------
    Whittle, R. et al. (2025). Extended sample size calculations for evaluation of prediction models using a threshold
    for classification. BMC Medical Research Methodology 25, 170. AUC: Riley, R. D. et al. (2021). Minimum sample size
    for external validation of a clinical prediction model with a binary outcome. Statistics in Medicine 40, 4230-4251.

    Examples
    --------
    >>> for size in closed_form_sample_sizes(0.1, sensitivity=0.9, specificity=0.85, prevalence=0.2):
    ...     print(size.measure, round(size.expected, 3), size.n)
    accuracy 0.86 47
    sensitivity 0.9 173
    specificity 0.85 62
    ppv 0.6 308
    npv 0.971 16
    """
    check_half_width(half_width)
    se_of_interval = half_width / float(ndtri(0.5 + check_confidence_level(confidence_level) / 2.0))
    expected = {"accuracy": accuracy, "sensitivity": sensitivity, "specificity": specificity, "auc": auc}
    for name, value in expected.items():
        if value is not None and value != 1.0:
            check_number(name, value, 0.0, 1.0)
    if all(value is None for value in expected.values()):
        raise ParameterError(
            "accuracy", "a proportion, unless sensitivity, specificity or auc is given", None
        )
    if accuracy is not None and sensitivity is not None and specificity is not None:
        rule = "None with sensitivity and specificity, which determine it"
        raise ParameterError("accuracy", rule, accuracy)
    phi = 0.5
    if not sensitivity is specificity is auc is None:
        if prevalence is None:
            rule = "the share of events if sensitivity, specificity or auc is given"
            raise ParameterError("prevalence", rule, None)
        check_share("prevalence", prevalence)
        phi = prevalence
    proportions = _proportions(accuracy, sensitivity, specificity, phi)
    sizes = [
        ClosedFormSize(
            name,
            value,
            round_up(value * (1.0 - value) / (share * se_of_interval**2)) if 0.0 < value < 1.0 else None,
        )
        for name, (value, share) in proportions.items()
    ]
    if auc is not None:
        sizes.append(ClosedFormSize("auc", auc, _cases_of_auc(auc, phi * (1.0 - phi) * se_of_interval**2)))
    return tuple(sizes)


def check_half_width(half_width: float) -> None:
    """Raise for a half-width outside (0, 0.5): an interval within [0, 1] cannot have a larger one."""
    if check_number("half_width", half_width, 0.0, 0.5) == 0.0:
        raise ParameterError("half_width", "above 0 and below 0.5", half_width)


def _proportions(
    accuracy: float | None, sensitivity: float | None, specificity: float | None, phi: float
) -> dict[str, tuple[float, float]]:
    """Return what is expected of each measure that is a proportion, and the share of the cases that count for it."""
    proportions: dict[str, tuple[float, float]] = {} if accuracy is None else {"accuracy": (accuracy, 1.0)}
    if sensitivity is not None:
        proportions["sensitivity"] = sensitivity, phi
    if specificity is not None:
        proportions["specificity"] = specificity, 1.0 - phi
    if sensitivity is not None and specificity is not None:
        hits, passes = sensitivity * phi, specificity * (1.0 - phi)
        called = {"ppv": (hits, hits + (1.0 - specificity) * (1.0 - phi))}
        called["npv"] = passes, passes + (1.0 - sensitivity) * phi
        predictive = {name: (of / n if n > 0.0 else math.nan, n) for name, (of, n) in called.items()}
        proportions = {"accuracy": (hits + passes, 1.0), **proportions, **predictive}
    return proportions


def _cases_of_auc(auc: float, variance: float) -> int | None:
    """Return the number of cases for a variance of Newcombe's method 4, given times the shares of both classes."""
    spread, slope = auc * (1.0 - auc), (1.0 - auc) / (2.0 - auc) + auc / (1.0 + auc)
    linear, constant = spread * slope / 2.0, spread * (1.0 - slope)
    root = math.hypot(linear, 2.0 * math.sqrt(variance * constant))
    return round_up((linear + root) / (2.0 * variance)) if spread > 0.0 else None


def round_up(cases: float) -> int:
    """Round up to a whole number, ignoring rounding errors in `cases`."""
    return math.ceil(cases * (1.0 - ROUNDING))
