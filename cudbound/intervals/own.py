"""User-defined interval methods, which fit and compute by themselves."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import RecordKind, described
from cudbound.basis.results import ConfidenceInterval, Outcome
from cudbound.intervals.method import Method
from cudbound.metrics.metric import MetricRows
from cudbound.records import Records

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


def _record(inputs: RecordingInputs, target: MetricRows, _: Records) -> dict[str, Any]:
    """Return the results of user-defined methods, or why they fail; all get the same random numbers."""
    sample, results = inputs.sample, dict[str, Any]()
    one_sided, level = target.alternative != "two-sided", target.level_per_interval
    level = 2.0 * level - 1.0 if one_sided else level
    for name, interval in inputs.user_functions.items():
        rng = deepcopy(inputs.streams["own_intervals"])
        try:
            # copies: what it fits or shuffles in place stays out of the other methods and of the caller's objects
            model, X, y = deepcopy((sample.estimator, sample.X, sample.y))
            numbers = interval(model, X, y, level, rng)
            if np.shape(numbers) != (3,):
                raise ValueError(
                    f"The method {name!r} must return an estimate and two limits. Got {numbers!r} instead."
                )
            estimate, low, high = numbers
            results[name] = float(estimate), float(low), float(high)
        except Exception as error:  # the rows of other methods do not depend on it
            results[name] = error
    return results


OWN_INTERVALS = RecordKind(
    "own_intervals",
    dict[str, Any],
    "its own fits",
    holder="a classifier, as in cudbound.compare_intervals",
    record=_record,
    per="target",
    whole_groups=True,
)


#: ``interval(model, X, y, level, rng)`` returns an estimate of the error and two limits, in [0, 1].
OwnInterval = Callable[[Any, Any, Any, float, np.random.Generator], tuple[float, float, float]]


@public_call
def own_method(name: str, interval: OwnInterval, *, title: str | None = None, **card: Any) -> Method:
    """Return a user-defined method, for use in `cudbound.compare_intervals` and in studies along with the others.

    If the function's name and docstring are description enough, pass the function itself instead of a method.

    Parameters
    ----------
    name : str
        Its name in the table.
    interval : callable
        ``interval(model, X, y, level, rng)`` returns an estimate of the error and both limits of a two-sided interval;
        `model`, `X` and `y` are copies of the fitted classifier and its rows, `level` is in (0, 1), and `rng` is a
        `numpy.random.Generator`. For a one-sided limit at level 0.95, the function is called with level 0.9.
    title : str or None, default=None
        One line; None takes the first line of the function's docstring, or the name. Further fields can be in the
        docstring as well, in paragraphs that begin with "Formula:", "Assumptions:", "Tendency:" or "Reference:".
    **card
        Further fields of `cudbound.intervals.Method`, such as ``tendency`` and ``reference``; set
        ``with_groups="kept"`` if the method is valid for rows in groups.

    Raises
    ------
    ParameterError
        If `name` is not a text, or `interval` does not take five arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, compare_intervals, own_method
    >>> def rule_of_three(model, X, y, level, rng):
    ...     return 0.0, 0.0, min(1.0, -np.log(1.0 - level) / len(y))
    >>> X = np.arange(20.0)[:, None]
    >>> y = X[:, 0] > 9.5
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> table = compare_intervals(clf, X, y, methods=[own_method("three", rule_of_three)], n_resamples=20, rng=0)
    >>> round(table["three"].confidence_interval.high, 2)
    0.15
    """
    if not isinstance(name, str) or not name.strip():
        raise ParameterError("name", "a text that is not empty", name)
    try:
        inspect.signature(interval).bind(*("model", "X", "y", "level", "rng"))
    except (TypeError, ValueError) as error:
        rule = "a function interval(model, X, y, level, rng) that returns an estimate and two limits"
        raise ParameterError("interval", rule, interval) from error

    def compute(records: Records, confidence_level: float) -> Outcome:
        result = records.require(OWN_INTERVALS)[name]
        if isinstance(result, Exception):
            raise result
        estimate, low, high = result
        if low > high:
            raise ValueError(
                f"The method {name!r} must return a lower limit that is not above the upper one. Got {low:g} and "
                f"{high:g} instead."
            )
        if not 0.0 <= estimate <= 1.0 and not math.isnan(estimate):
            raise ValueError(
                f"The method {name!r} must return an estimate in [0, 1], as an error is. Got {estimate:g} instead."
            )
        return Outcome(estimate, ConfidenceInterval(low, high))

    defaults: dict[str, Any] = {"title": name, "cost": "its own fits", "with_groups": "no"}
    defaults |= dict.fromkeys(("assumptions", "tendency", "reference"), "not stated")
    defaults |= {part: text for part, text in described(interval).items() if text} | card
    defaults["title"] = title or defaults["title"]
    return Method(
        name=name, needs=frozenset({OWN_INTERVALS}), compute=compute, user_function=interval, **defaults
    )
