"""The interface of an interval method, the code that all methods share, and user-defined methods."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import NO_OPTIONS, MethodCard, RecordKind, described
from cudbound.basis.results import (
    ComparisonResult,
    ConfidenceInterval,
    IntervalEstimate,
    Outcome,
    PointOutcome,
    TestOutcome,
)
from cudbound.basis.validation import check_choice
from cudbound.metrics.metric import MetricRows
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG
from cudbound.records import Records
from cudbound.records.records import check_records, count_fits, fields_of_row

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


R = TypeVar("R")
T = TypeVar("T")

#: Values whose range is at most this count as equal: they are sums of the same losses in a different order.
EQUAL = 1e-12


@dataclass(frozen=True)
class Pivot(PointOutcome):
    """A quantity (estimate - truth) / standard_error with a t or normal distribution.

    Attributes
    ----------
    estimate : float
        Mean loss, or mean difference of losses.
    standard_error : float
        Non-negative. At 0 the interval has zero width and the test does not reject.
    df : float
        Degrees of freedom of the t distribution, at least 1; infinity for the normal distribution.
    remarks, degenerate, estimand, details
        As in `cudbound.basis.results.PointOutcome`; `degenerate` gives the reason if the standard error is 0 or
        undefined.

    Examples
    --------
    >>> pivot = Pivot(0.25, 0.05, df=4)
    >>> interval = pivot.interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.111, 0.389)
    >>> round(pivot.pvalue(), 4)
    0.0075
    """

    standard_error: float
    df: float = math.inf

    def __post_init__(self) -> None:
        if abs(self.estimate) <= EQUAL:  # only rounding kept it from 0
            object.__setattr__(self, "estimate", 0.0)

    def outcome(self, confidence_level: float) -> Outcome:
        """Return the estimate and its interval."""
        interval = self.interval(confidence_level)
        return Outcome(raw_interval=interval, standard_error=self.standard_error, **self.common_fields())

    def test_outcome(self, confidence_level: float, alternative: str, null: float = 0.0) -> TestOutcome:
        """Return the test of truth = null, or of |truth| >= null for "equivalent", and the interval.

        Equivalence is tested by two one-sided tests. The statistic is that of the larger p-value; the interval, at
        ``2 * confidence_level - 1``, lies within (-null, null) if the p-value is below ``1 - confidence_level``.

        References
        ----------
        Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for
        assessing the equivalence of average bioavailability. J. Pharmacokinetics and Biopharmaceutics 15, 657-680.
        """
        tests = {"less": null, "greater": -null} if alternative == "equivalent" else {alternative: null}
        decisive = max(tests, key=lambda way: self.pvalue(tests[way], way))
        if alternative == "equivalent":
            interval = self.interval(2.0 * confidence_level - 1.0)
        else:
            interval = self.interval(confidence_level, alternative)
        return TestOutcome(
            statistic=self.statistic(tests[decisive]),
            pvalue=self.pvalue(tests[decisive], decisive),
            raw_interval=interval,
            standard_error=self.standard_error,
            **self.common_fields(),
        )

    def interval(self, confidence_level: float, alternative: str = "two-sided") -> ConfidenceInterval:
        """Return the raw limits.

        Parameters
        ----------
        confidence_level : float
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            As in `scipy.stats`: "less" gives an upper limit only, "greater" a lower one only.
        """
        level = 0.5 + confidence_level / 2 if alternative == "two-sided" else confidence_level
        reach = float(stdtrit(self.df, level)) * self.standard_error
        low = -math.inf if alternative == "less" else self.estimate - reach
        high = math.inf if alternative == "greater" else self.estimate + reach
        return ConfidenceInterval(low, high)

    def statistic(self, null: float = 0.0) -> float:
        """Return (estimate - null) / standard_error; infinite or 0 if the standard error is 0."""
        if self.standard_error == 0.0:
            return 0.0 if self.estimate == null else math.copysign(math.inf, self.estimate - null)
        return (self.estimate - null) / self.standard_error

    def pvalue(self, null: float = 0.0, alternative: str = "two-sided") -> float:
        """Return the p-value for truth = null; 1 if the standard error is 0 or undefined.

        Losses with zero variance do not show how the estimate varies, so the test never rejects.
        """
        if not self.standard_error > 0.0:
            return 1.0
        statistic = self.statistic(null)
        if alternative == "two-sided":
            return 2.0 * float(stdtr(self.df, -abs(statistic)))
        return float(stdtr(self.df, statistic if alternative == "less" else -statistic))


#: As in `scipy.stats`, for an error or for error(a) - error(b).
ALTERNATIVES = ("two-sided", "less", "greater")


@dataclass(frozen=True, kw_only=True)
class Method(MethodCard):
    """One interval method, or test, or both.

    Attributes
    ----------
    compute : callable or None
        ``compute(records, confidence_level, **options) -> Outcome``.
    one_sided : callable or None
        ``one_sided(records, confidence_level, alternative, **options) -> Outcome``, of which only one limit is used, at
        the full level. None uses the limits of `compute` at ``2 * confidence_level - 1``, which is correct if each tail
        has half of the error probability.
    pivot : callable or None
        ``pivot(records, **options) -> Pivot`` for methods that consist of an estimate, a standard error and a reference
        distribution. It gives the interval and the test; `compute` and `test` are then None.
    test : callable or None
        ``test(records, confidence_level, alternative, **options) -> TestOutcome`` for the hypothesis that two errors
        are equal, from recorded differences of losses.
    two_sided_only : bool
        Whether its test has no direction, so that only the alternative "two-sided" is allowed.
    user_function : callable or None
        The function of a user-defined method, which fits by itself, see `own_method`.
    """

    compute: Callable[..., Outcome] | None = field(default=None, repr=False)
    one_sided: Callable[..., Outcome] | None = field(default=None, repr=False)
    pivot: Callable[..., Pivot] | None = field(default=None, repr=False)
    test: Callable[..., TestOutcome] | None = field(default=None, repr=False)
    two_sided_only: bool = False
    user_function: Callable[..., tuple[float, float, float]] | None = field(default=None, repr=False)

    FUNCTIONS: ClassVar = ("compute", "pivot", "test")

    def __reduce__(self) -> Any:
        """Return the name of a method of this package, so that results pickle methods by name."""
        named = self.name, self.reads
        return (_of_this_package, named) if _of_this_package(*named) is self else super().__reduce__()

    @cached_property
    def gives_interval(self) -> bool:
        """Whether it is an interval for the error of one classifier or one learning algorithm."""
        return (self.compute is not None or self.pivot is not None) and not any(
            kind.name == "second" for kind in self.needs
        )

    @property
    def compares(self) -> bool:
        """Whether it tests the difference between two errors."""
        return self.test is not None or self.pivot is not None


def _of_this_package(name: str, reads: str) -> Method | None:
    from cudbound.intervals import METHODS

    method = METHODS.get(name)
    return None if method is None else method.reading(reads)


def of_record(
    kind: RecordKind[R], function: Callable[..., T], records: Records, *arguments: Any, **options: Any
) -> T:
    """Return what a function gives for the record of a kind; its docstring is the card of ``partial`` of this."""
    return function(records.require(kind), *arguments, **options)


def compute_interval(
    method: Method,
    records: Records,
    confidence_level: float,
    options: Mapping[str, Any] = NO_OPTIONS,
    *,
    alternative: str = "two-sided",
) -> IntervalEstimate:
    """Compute one row of the table from recorded losses.

    Parameters
    ----------
    method : Method
        From `cudbound.intervals.METHODS`.
    records : Records
        Must contain what ``method.needs`` names; "inner" may be absent, see `Records`. From scores the interval is for
        the AUC, from squared errors of probabilities for the Brier score.
    confidence_level : float
        In (0, 1).
    options : mapping, default={}
        Options of the method that differ from their defaults.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        As in `scipy.stats`: "less" gives only an upper limit, at the full level, "greater" only a lower limit. Options
        that divide the error probability between two tails then have no effect.

    Raises
    ------
    ValueError
        If a record is missing or contains differences of losses, an option is unknown or its value is not allowed, or
        the method only tests a difference.

    Notes
    -----
    If an interval is nan or has zero width after clipping to [0, 1], ``degenerate`` gives the reason.

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
    reading = method.reading(records.kind)
    if reading is None:
        raise ValueError(method.why_not_read([records.kind]))
    method = reading
    chosen = method.resolve_options(options)
    needs = method.needed(chosen)
    check_records(method, records, needs, of_one=method.gives_interval)
    outcome = _two_sided(method, records, confidence_level, chosen)
    reason = _why_degenerate(outcome)
    if alternative != "two-sided":
        outcome = _one_limit(method, records, confidence_level, alternative, chosen)
        reason = reason or _why_degenerate(outcome)
    shared = fields_of_row(method, records, needs, chosen, outcome)
    return IntervalEstimate.of(
        outcome,
        **shared,
        confidence_level=confidence_level,
        alternative=alternative,
        n_fits=count_fits(records, needs),
        degenerate=reason,
        center=outcome.center or (shared["tested"] and shared["tested"].center),
    )


def _two_sided(method: Method, records: Any, confidence_level: float, options: Mapping[str, Any]) -> Outcome:
    if method.compute is not None:
        return method.compute(records, confidence_level, **options)
    if method.pivot is not None:
        return method.pivot(records, **options).outcome(confidence_level)
    raise ValueError(
        f"{method.name} compares two classifiers and has no interval for the error of one; use compare_learners."
    )


def _one_limit(
    method: Method, records: Any, confidence_level: float, alternative: str, options: Mapping[str, Any]
) -> Outcome:
    """Return the outcome with one limit, at the full level; for levels below 1/2 the lower limit is the larger one."""
    if method.one_sided is not None:
        outcome = method.one_sided(records, confidence_level, alternative, **options)
    else:
        outcome = _two_sided(method, records, 2.0 * confidence_level - 1.0, options)
    limits = outcome.raw_interval
    low = -math.inf if alternative == "less" else limits.low
    high = math.inf if alternative == "greater" else limits.high
    return replace(outcome, raw_interval=ConfidenceInterval(low, high))


def _why_degenerate(outcome: Outcome | TestOutcome, lowest: float = 0.0) -> str | None:
    """Return why an outcome is undefined, or its interval not informative in [lowest, 1]; None if it is neither."""
    if math.isnan(outcome.estimate):
        return outcome.degenerate or NOTHING_OUT_OF_BAG
    interval = outcome.raw_interval
    low, high = interval.clipped(lowest, 1.0)
    if high > low:
        return None
    if interval.width > 0.0:
        if math.isinf(interval.width):
            return f"the limit is not within ({lowest:g}, 1)"
        return f"both raw limits lie outside [{lowest:g}, 1]"
    return outcome.degenerate or ("zero width" if interval.width <= 0.0 else "undefined limits")


#: Of a difference of errors; "equivalent": that it is between -null and null.
COMPARISON_ALTERNATIVES = (*ALTERNATIVES, "equivalent")
#: Why a difference has no limits.
NO_VARIANCE = "the differences do not vary"


def check_alternative(
    alternative: str, methods: Iterable[Method], null: float = 0.0, confidence_level: float = 0.95
) -> None:
    """Check an alternative and its margin.

    Raises
    ------
    ValueError
        If the alternative is unknown, or is directional and one of the methods is not; if the margin is outside (-1, 1)
        or not positive for "equivalent", or one of the methods can only test for a difference of 0.
    """
    check_choice("alternative", alternative, COMPARISON_ALTERNATIVES)
    methods = tuple(methods)
    undirected = [method.name for method in methods if method.two_sided_only]
    if alternative != "two-sided" and undirected:
        rule = f"'two-sided' for {', '.join(undirected)}, because the statistic has no sign"
        raise ParameterError("alternative", rule, alternative, " Name only the other methods.")
    if not isinstance(null, Real) or not -1.0 < float(null) < 1.0:
        raise ParameterError("null", "a number in the range (-1, 1)", null)
    if alternative == "equivalent" and not null > 0.0:
        rule = "above 0 for the alternative 'equivalent': the smallest difference that would matter"
        raise ParameterError("null", rule, null)
    if alternative == "equivalent" and not confidence_level > 0.5:
        rule = "above 0.5 for the alternative 'equivalent', because its interval has level 2 * confidence_level - 1"
        raise ParameterError("confidence_level", rule, confidence_level)
    fixed = [method.name for method in methods if method.pivot is None]
    if null != 0.0 and fixed:
        rule = f"0 for {', '.join(fixed)}, which can only test for equal errors"
        way_on = " Name only methods with a standard error, such as repeated-k-fold-t."
        raise ParameterError("null", rule, null, way_on)


def compute_comparison(
    method: Method,
    records: Records,
    confidence_level: float,
    alternative: str = "two-sided",
    options: Mapping[str, Any] = NO_OPTIONS,
    *,
    null: float = 0.0,
) -> ComparisonResult:
    """Test whether two errors are equal, and compute an interval for their difference, from recorded losses.

    Parameters
    ----------
    method : Method
        One that `compares`.
    records : Records
        Must hold what ``method.needs`` names: losses of the first minus losses of the second on matched splits, or, for
        "second_test_set", the losses of each on its own test set.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        "less": error(a) - error(b) < null, with an upper limit only; "greater": error(a) - error(b) > null, with a
        lower one; "equivalent": the difference is between -null and null, by two one-sided tests, with an interval at
        ``2 * confidence_level - 1``.
    options : mapping, default={}
        Options of the method that differ from their defaults.
    null : float, default=0.0
        Margin, in (-1, 1); with "less" and a positive one the test is of non-inferiority. Methods without a standard
        error allow only 0.

    Raises
    ------
    ValueError
        If the method does not compare, a record is missing, the alternative or an option is unknown, or a value is not
        allowed.

    Notes
    -----
    If losses without variance differ from the hypothesis, there is neither a statistic nor a limit: the p-value is 1
    and the limits are -1 and 1. For a p-value or limit that is nan, or an interval with zero width after clipping to
    [-1, 1], ``degenerate`` gives the reason. The p-value is then 1 or nan, except where a confidence set is empty or
    lies outside [-1, 1]: such a set excludes every difference, including 0.

    Examples
    --------
    >>> from cudbound.intervals.comparisons import MCNEMAR
    >>> from cudbound.records import Records, TestSetLosses
    >>> differences = [1] * 9 + [-1] * 2 + [0] * 39
    >>> row = compute_comparison(MCNEMAR, Records(test_set=TestSetLosses(differences, 50)), 0.95)
    >>> round(row.estimate, 2), round(row.pvalue, 4)
    (0.14, 0.0654)
    """
    if method.compares and method.reads != records.kind:
        raise ValueError(method.why_not_read([records.kind]))
    chosen = method.resolve_options(options)
    needs = method.needed(chosen)
    check_records(method, records, needs)
    check_alternative(alternative, [method] if method.compares else [], null, confidence_level)
    if method.test is not None:
        outcome = method.test(records, confidence_level, alternative, **chosen)
    elif method.pivot is not None:
        outcome = method.pivot(records, **chosen).test_outcome(confidence_level, alternative, null)
    else:
        raise ValueError(
            f"{method.name} is an interval for the error of one classifier, not a comparison; use compare_intervals."
        )
    outcome = _without_variance(outcome)
    reason = outcome.degenerate
    if any(map(math.isnan, (outcome.estimate, outcome.pvalue, outcome.statistic))):
        reason = reason or "undefined difference or test"
    # a record of differences has a fit of each of both behind every fit that it counts
    each = 1 if any(kind.name == "second_test_set" for kind in needs) else 2
    return ComparisonResult.of(
        outcome,
        **fields_of_row(method, records, needs, chosen, outcome),
        confidence_level=confidence_level,
        alternative=alternative,
        null=float(null),
        n_fits=each * (count_fits(records, needs) - 1),
        degenerate=reason or _why_degenerate(outcome, -1.0),
    )


def _without_variance(outcome: TestOutcome) -> TestOutcome:
    """Return an outcome of losses without variance as degenerate, without a statistic and limits that contradict it.

    Such a test rejects nothing; an infinite statistic and limits of zero width beside the hypothesis say the opposite.
    """
    if math.isinf(outcome.statistic) and outcome.pvalue == 1.0:
        no_limits = ConfidenceInterval(-math.inf, math.inf)
        outcome = replace(outcome, statistic=math.nan, raw_interval=no_limits, standard_error=0.0)
    if outcome.standard_error == 0.0:
        outcome = replace(outcome, degenerate=outcome.degenerate or NO_VARIANCE)
    return outcome


def holm_adjusted(pvalues: Sequence[float]) -> NDArray[np.float64]:
    """Return adjusted p-values: all hypotheses with values at or below a level can be rejected together.

    For any dependence between the tests, the probability of one or more false rejections is at most the level. An
    undefined p-value stays undefined and counts as a test.

    Parameters
    ----------
    pvalues : sequence of float
        In [0, 1], or nan.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(pvalues, dtype=float)
    order = np.argsort(values, kind="stable")  # nan comes last
    steps = np.minimum(1.0, (values.size - np.arange(values.size)) * values[order])
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def adjusted(by_pair: Sequence[Sequence[ComparisonResult]]) -> tuple[ComparisonResult, ...]:
    """Return the rows of all pairs by method, with p-values adjusted for the number of pairs if there are several."""
    if len(by_pair) == 1:
        return tuple(by_pair[0])
    return tuple(
        replace(row, adjusted_pvalue=pvalue)
        for same in zip(*by_pair, strict=True)
        for row, pvalue in zip(same, holm_adjusted([row.pvalue for row in same]).tolist(), strict=True)
    )


def _record_own(inputs: RecordingInputs, target: MetricRows, _: Records) -> dict[str, Any]:
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
    record=_record_own,
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
        if low > high or not (0.0 <= estimate <= 1.0 or math.isnan(estimate)):
            raise ValueError(
                f"The method {name!r} must return an estimate in [0, 1] and two limits, the lower one first. Got "
                f"{estimate:g}, {low:g} and {high:g} instead."
            )
        return Outcome(estimate, ConfidenceInterval(low, high))

    defaults: dict[str, Any] = {"title": name, "cost": "its own fits", "with_groups": "no"}
    defaults |= dict.fromkeys(("assumptions", "tendency", "reference"), "not stated")
    function = interval.func if isinstance(interval, partial) else interval
    defaults |= {part: text for part, text in described(function).items() if text} | card
    defaults["title"] = title or defaults["title"]
    return Method(
        name=name, needs=frozenset({OWN_INTERVALS}), compute=compute, user_function=interval, **defaults
    )
