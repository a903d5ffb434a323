"""One replicate: its results and their text in a store; a sample, fits, the true error or metrics, all intervals."""

from __future__ import annotations

import json
import math
import re
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from cudbound.adapters.parts import RecordedOutputs, seeded_fit, splits_rows
from cudbound.analysis.compare_learners import compare_learners
from cudbound.analysis.performance_interval import compare_intervals
from cudbound.basis.calls import HIDDEN, shared
from cudbound.basis.exceptions import CudboundWarning, ParameterError
from cudbound.basis.results import ComparisonResult, Estimand, IntervalEstimate
from cudbound.basis.sample import Sample
from cudbound.basis.validation import Array, check_integer
from cudbound.bound.cud_bound import Bound
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metrics import NET_BENEFIT, PREDICTIVE, RATIOS, Metrics
from cudbound.metrics.predictive import VALUES, likelihood_ratio
from cudbound.point_estimates.auc import hanley_mcneil_size, order_codes, weighted_auc
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.resampling.refits import refits_of
from cudbound.study import population as populations
from cudbound.study.population import Cases, Truth
from cudbound.study.scenario import Scenario, Study

if TYPE_CHECKING:
    import pandas as pd

#: A traceback up to the error at its end: the last call in it, and the indented lines that show its code.
CALLS = re.compile(r'.*^  File "[^\n]*", line \d+[^\n]*\n(?: [^\n]*\n)*', re.DOTALL | re.MULTILINE)
#: Types of the columns of a frame: texts are objects, with None if missing; missing numbers are nan.
_DTYPES: dict[str, Any] = {"str": object, "int": np.int64, "float": np.float64}
#: The number of a shard, from 1, and the number of shards.
Shard = tuple[int, int]


@dataclass(frozen=True, order=True)
class Key:
    """The key of a replicate."""

    scenario: str
    n: int
    replicate: int


@dataclass(frozen=True)
class IntervalRow:
    """The result of one method on one replicate.

    Attributes
    ----------
    method, estimand : str
    estimate, low, high, raw_low, raw_high : float or None
        Limits clipped to [0, 1], and raw; None without limits.
    n_fits : int
    degenerate : str or None
        Why the interval is not informative, or None.
    remarks : str
    standard_error : float or None
        The method's own standard error of the estimate, if any.
    pvalue : float or None
        For the hypothesis that two learning algorithms have equal errors; None for a single one.
    details : str or None
        Further numbers of the method by name, as a JSON object with null for values that are not finite; or None.
    """

    method: str
    estimand: str
    estimate: float | None
    low: float | None
    high: float | None
    raw_low: float | None
    raw_high: float | None
    n_fits: int
    degenerate: str | None
    remarks: str
    standard_error: float | None = None
    pvalue: float | None = None
    details: str | None = None


@dataclass(frozen=True)
class ExpectedError:
    """The true error of a classifier fitted to `n_train` further cases, for methods that aim at its mean.

    Attributes
    ----------
    n_train : int
    truth, truth_se : float
        Error on the population, and its standard error.
    """

    n_train: int
    truth: float
    truth_se: float


@dataclass(frozen=True)
class ReplicateRow:
    """One replicate with its intervals.

    Attributes
    ----------
    key : Key
    truth, truth_se : float or None
        Error of the fitted classifier on the population, or the error of the first minus that of the second, and its
        standard error; None after a failure.
    training_error : float or None
        For the classifier, or the difference of two.
    n_redrawn : int
        Samples redrawn because a class had fewer than two cases.
    failure : str or None
        Traceback of the error that stopped the replicate; its intervals are then missing.
    intervals : tuple of IntervalRow
    seconds : float
        Wall-clock time; kept separate from the results, which are exactly reproducible.
    expected : tuple of ExpectedError
        One per size in the estimands "expected(n1=...)" of the intervals, ascending; failed fits are left out.
    """

    key: Key
    truth: float | None
    truth_se: float | None
    training_error: float | None
    n_redrawn: int
    failure: str | None
    intervals: tuple[IntervalRow, ...]
    seconds: float = field(compare=False)
    expected: tuple[ExpectedError, ...] = ()


def reason(failure: str) -> str:
    r"""Return the error at the end of a traceback, with its complete message, in one line.

    Examples
    --------
    >>> reason('Traceback:\n  File "f", line 3\n    fit()\nValueError: all fits failed:\n  no convergence\n')
    'ValueError: all fits failed: no convergence'
    """
    return " ".join(CALLS.sub("", failure, count=1).split()).removeprefix("cudbound.basis.exceptions.")


def results_of(row: ReplicateRow, seed: str) -> str:
    """Return everything but key, failure and time of a replicate as a text, the same for any order of the methods."""
    intervals, expected = (
        sorted(tuple(vars(part).values()) for part in parts) for parts in (row.intervals, row.expected)
    )
    numbers = (row.truth, row.truth_se, row.training_error, row.n_redrawn)
    return json.dumps([*numbers, seed, intervals, expected], default=lambda number: number.item())


def frames_of(
    stored: Iterable[tuple[str, int, int, str | None, str, float]],
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the replicates, the intervals and the expected errors of keys, failures, results and seconds.

    Columns are the fields of `Key` and of `ReplicateRow`, `IntervalRow` and `ExpectedError`; a replicate also has its
    seed, as a line of Python.
    """
    replicates, intervals, expected = [], [], []
    for scenario, n, replicate, failure, results, seconds in stored:
        *numbers, seed, of_methods, of_sizes = json.loads(results)
        key = intern(scenario), n, replicate
        replicates.append((*key, *numbers, failure, seconds, seed))
        # one object for texts that are equal: a frame is then a tenth of the size
        intervals += [(*key, intern(method), intern(aim), *values) for method, aim, *values in of_methods]
        expected += [(*key, *values) for values in of_sizes]
    return (
        _frame(replicates, ReplicateRow, "seed"),
        _frame(intervals, IntervalRow),
        _frame(expected, ExpectedError),
    )


def _frame(rows: list[Any], row_class: type, *further: str) -> pd.DataFrame:
    import pandas as pd

    named = {
        entry.name: str(entry.type).removesuffix(" | None")
        for part in (Key, row_class)
        for entry in fields(part)
    }
    types = {name: _DTYPES[kind] for name, kind in named.items() if kind in _DTYPES} | dict.fromkeys(
        further, object
    )
    return pd.DataFrame(rows, columns=list(types), dtype=object).astype(types)


def read_shard(text: str) -> Shard:
    """Parse a shard such as "3/8".

    Raises
    ------
    ValueError
        If the text is not a shard.

    Examples
    --------
    >>> read_shard("3/8")
    (3, 8)
    """
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{text!r} is not a shard such as 3/8, the third of eight.")
    return int(match[1]), int(match[2])


def check_shard(shard: Any) -> Shard | None:
    """Return a shard of a study; None means the whole study.

    Raises
    ------
    ValueError
        If it is not a pair of integers, or out of range.
    """
    if shard is None:
        return None
    try:
        number, n_shards = shard
        check_integer("shard", number, 1, check_integer("shard", n_shards, 1))
    except (TypeError, ValueError) as error:
        raise ParameterError("shard", "a pair (i, n) of integers with 1 <= i <= n, or None", shard) from error
    return number, n_shards


def replicates_of(shard: Shard | None, n_replicates: int) -> range:
    """Return the replicate numbers of a shard in every cell; None has all.

    Examples
    --------
    >>> list(replicates_of((3, 8), 20))
    [2, 10, 18]
    """
    number, n_shards = (1, 1) if shard is None else shard
    return range(number - 1, n_replicates, n_shards)


#: Cases for the true value of a metric; for a class with a tenth of them, the standard error is at most .0036.
N_METRIC_CASES = 200_000


@shared(HIDDEN)
def run_replicate(study: Study, scenario: Scenario, n: int, replicate: int) -> ReplicateRow:
    """Run one replicate. Exceptions become a row with the traceback.

    Notes
    -----
    Except for times, the row depends only on the study's settings, the scenario, n and the replicate number.
    """
    begun = time.perf_counter()
    key, n_redrawn = Key(scenario.name, n, replicate), 0
    try:
        rng = study.rng(scenario.name, n, replicate)
        drawn, n_redrawn = populations.draw_both_classes(scenario.population, n, rng)
        with naming_the_step(scenario.learners()[0], "the classifier"):
            fitted = _fit(scenario, drawn.X, drawn.y, study.seed_of_fits(scenario.name, n, replicate))
            truths = _truths(scenario, fitted, drawn)
        truth = truths[0] if len(truths) == 1 else Truth(0.0, max(each.standard_error for each in truths))
        # what warnings say stands in the remarks of the rows
        with warnings.catch_warnings(action="ignore", category=CudboundWarning):
            rows = _intervals(study, scenario, fitted, drawn, truths, rng)
        # several metrics together have no expected value
        estimands = (Estimand.read(row.estimand) for row in rows if len(truths) == 1)
        sizes = {size for estimand in estimands if (size := estimand.n_train_rows) is not None}
        batched = bool(sizes) and all(refits_of(Sample.of(each, drawn.X, drawn.y)).batched for each in fitted)
        errors = (_expected_error(study, scenario, key, size, batched) for size in sorted(sizes))
        expected = tuple(error for error in errors if error is not None)
        wrong = _difference([float(np.mean(each.predict(drawn.X) != drawn.y)) for each in fitted])
    except Exception:  # a failing replicate is data
        seconds = time.perf_counter() - begun
        return ReplicateRow(key, None, None, None, n_redrawn, traceback.format_exc(), (), seconds)
    seconds = time.perf_counter() - begun
    return ReplicateRow(
        key, truth.value, truth.standard_error, wrong, n_redrawn, None, rows, seconds, expected
    )


@contextmanager
def alone() -> Iterator[None]:
    """One thread of BLAS, and no warnings."""
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        yield


def _fit(scenario: Scenario, X: Any, y: Any, seed: int) -> list[Any]:
    """Fit the classifier, and its rival, if any; cases of one class give the constant classifier.

    The seed replaces every ``random_state`` that is None, and is removed afterwards: refits have their own seeds.
    """
    if len(np.unique(y)) == 1:
        return [DummyClassifier().fit(X, y) for _ in scenario.learners()]
    return [seeded_fit(learner, X, y, seed) for learner in scenario.learners()]


def _difference(values: list[float]) -> float:
    """Return the error of the classifier, or that of the first classifier minus that of its rival."""
    return values[0] - sum(values[1:])


def _truths(scenario: Scenario, fitted: list[Any], drawn: Cases) -> tuple[Truth, ...]:
    """Return the true error of the fitted classifier, or its true metrics."""
    if scenario.metric == ("error",):
        return (_true_error(scenario, fitted, drawn),)
    return true_metrics(scenario.population, fitted[0], scenario.metrics)


def _true_error(scenario: Scenario, fitted: list[Any], drawn: Cases) -> Truth:
    truths = [drawn.true_error(classifier) for classifier in fitted]
    # errors of rivals may be found on the same cases: this standard error is then too large if they err on the same
    truth = Truth(
        _difference([each.value for each in truths]), math.hypot(*(each.standard_error for each in truths))
    )
    if not (math.isfinite(truth.value) and math.isfinite(truth.standard_error)):
        raise ValueError(f"The true error of {scenario.population.name} must be finite. Got {truth} instead.")
    return truth


def _expected_error(
    study: Study, scenario: Scenario, key: Key, n_train: int, batched: bool
) -> ExpectedError | None:
    """Find the error, or the metric, of a fit to a further sample; its mean over replicates is the expected error.

    The training set is part of a sample of n cases, as those of the methods are. If it has one class, it is treated in
    the same way: batched refits give the constant classifier, otherwise another set is drawn. None if there is none.
    """
    rng = study.rng(key.scenario, key.n, key.replicate, n_train)
    seed = study.seed_of_fits(key.scenario, key.n, key.replicate, n_train)
    with suppress(Exception):  # judged by the further samples that there are, whose number the report shows
        for _ in range(populations.MAX_DRAWS):
            drawn, _ = populations.draw_both_classes(scenario.population, key.n, rng)
            X, y = (_safe_indexing(rows, slice(n_train)) for rows in (drawn.X, drawn.y))
            if batched or len(np.unique(y)) == 2:
                (truth,) = _truths(scenario, _fit(scenario, X, y, seed), drawn)
                return ExpectedError(n_train, truth.value, truth.standard_error)
    return None


def _intervals(
    study: Study,
    scenario: Scenario,
    fitted: list[Any],
    drawn: Cases,
    truths: Sequence[Truth],
    rng: np.random.Generator,
) -> tuple[IntervalRow, ...]:
    bound = Bound(localization=study.localization)
    settings: dict[str, Any] = {
        "methods": [
            (method, bound if method.settings else study.options.get(method.name, {}))
            for method in study.find_methods()
        ],
        "confidence_level": study.confidence_level,
    }
    if scenario.groups:
        settings["groups"] = drawn.groups
    rows: Sequence[IntervalEstimate | ComparisonResult]
    if study.compares:
        settings["resampling"] = study.resampling
        rows = compare_learners(fitted, drawn.X, drawn.y, **settings, rng=rng).rows
    else:
        (only,) = fitted
        inner = study.resampling.inner
        if scenario.metric != ("error",):
            # of inner draws no other metric can be read, whatever scenarios of the error in the same study take
            settings["metric"], inner = scenario.metrics, "oob"
        if splits_rows(only):
            inner = "oob"  # refits without copies of rows have no inner draws
        rows = compare_intervals(
            only,
            drawn.X,
            drawn.y,
            **settings,
            n_resamples=study.n_resamples if scenario.n_resamples is None else scenario.n_resamples,
            resampling=replace(study.resampling, inner=inner),
            rng=rng,
        ).rows
        if len(truths) > 1:
            return joint_rows(rows, truths)
    return tuple(_row(row) for row in rows)


def _row(row: IntervalEstimate | ComparisonResult) -> IntervalRow:
    """Return the stored part of a row; only comparisons have a p-value."""
    names = [entry.name for entry in fields(IntervalRow) if hasattr(row, entry.name)]
    return IntervalRow(**{name: _stored(getattr(row, name)) for name in names})


def _stored(value: Any) -> Any:
    """Convert a value for a store: remarks and details to one text each, undefined values to None."""
    if isinstance(value, Mapping):
        numbers = {name: float(number) if math.isfinite(number) else None for name, number in value.items()}
        return json.dumps(numbers) if numbers else None
    if isinstance(value, tuple):
        return "; ".join(value)
    if isinstance(value, Estimand):
        return str(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def true_metrics(population: Any, classifier: Any, metrics: Metrics) -> tuple[Truth, ...]:
    """Return the metrics of a fitted classifier of the classes 0 and 1 on a fixed large sample of a world.

    If a population has ``all_cases``, these are used instead. The prevalence "sample" is that of the large sample.

    Parameters
    ----------
    population : Population
    classifier : fitted scikit-learn classifier
    metrics : Metrics

    Raises
    ------
    ValueError
        If a predictive value is requested for a classifier that never predicts its class.
    """
    resolved = metrics.resolve()
    # an AUC and a Brier score rest on all cases, and not on those of one class or of one prediction
    X, event = _cases(population, N_METRIC_CASES if "classes" in metrics.kinds else populations.N_TRUTH_CASES)
    called = np.asarray(classifier.predict(X) == 1)
    truths = {
        metric.name: _linear_metric(_metric_rows(population, metric), called != event)
        if metric.reads == "classes"
        else _of_scores(metric, RecordedOutputs((metric.reads,)).of(classifier, X)[metric.reads], event)
        for metric in dict.fromkeys(
            (*resolved.linear, *((SENSITIVITY, SPECIFICITY) if resolved.among(RATIOS) else ()))
        )
    }
    prevalence = resolved.prevalence if isinstance(resolved.prevalence, float) else float(np.mean(event))
    for name in resolved.among(RATIOS):
        value = likelihood_ratio(name, truths["sensitivity"].value, truths["specificity"].value)
        if math.isnan(value):
            raise ValueError(f"The {name} is not defined for a classifier that never makes this prediction.")
        truths[name] = Truth(value)
    if NET_BENEFIT in truths and not isinstance(resolved.prevalence, float):
        cost = truths[NET_BENEFIT]
        truths[NET_BENEFIT] = Truth(cost.value + prevalence, cost.standard_error)
    for name in resolved.among(PREDICTIVE):
        # the standard error is that of a share of the cases that are called so
        n_called = int(np.count_nonzero(called == (name == "ppv")))
        if n_called == 0:
            raise ValueError(f"The {name} is not defined for a classifier that never makes this prediction.")
        value = VALUES[name](truths["sensitivity"].value, truths["specificity"].value, prevalence)
        truths[name] = Truth(value, math.sqrt(value * (1.0 - value) / n_called))
    return tuple(truths[name] for name in resolved.names)


def _linear_metric(rows: MetricRows, wrong: NDArray[np.bool_]) -> Truth:
    loss = min(max(rows.mean_loss(wrong), 0.0), 1.0)  # rounding may pass the ends
    error = rows.metric.scale * math.sqrt(loss * (1.0 - loss) / rows.n_effective)
    return Truth(rows.metric.from_loss(loss), error)


def _of_scores(metric: Metric, scores: Array, event: NDArray[np.bool_]) -> Truth:
    """Return the AUC of scores, or the Brier score of probabilities."""
    if metric.reads == "probabilities":
        errors = (event - scores) ** 2
        return Truth(float(errors.mean()), float(errors.std() / math.sqrt(errors.size)))
    auc = float(weighted_auc(order_codes(scores[None]), event, np.ones(event.size))[0])
    n_cases = hanley_mcneil_size(auc, int(event.sum()), int((~event).sum()))
    return Truth(auc, math.sqrt(auc * (1.0 - auc) / n_cases))


def _cases(population: Any, n_cases: int) -> tuple[Any, NDArray[np.bool_]]:
    all_cases = getattr(population, "all_cases", None)
    X, y = populations.fixed_cases(population, n_cases) if all_cases is None else all_cases
    return X, np.asarray(y == 1)


@lru_cache(maxsize=8)
def _metric_rows(population: Any, metric: Metric) -> MetricRows:
    return MetricRows(metric, _cases(population, N_METRIC_CASES)[1])


def joint_rows(rows: Sequence[IntervalEstimate], truths: Sequence[Truth]) -> tuple[IntervalRow, ...]:
    """Return one row per method, which covers 0 if all its intervals cover their true values.

    Its lower limit is the largest distance of a true value outside its interval, negative if all are inside; its width
    is the mean width of the intervals.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
        Rows of all methods for the first metric, then for the second, and so on.
    truths : sequence of Truth
        One per metric.
    """
    n_methods = len(rows) // len(truths)
    joint = []
    for number, first in enumerate(rows[:n_methods]):
        of_method = rows[number::n_methods]
        outside = [
            max(row.low - truth.value, truth.value - row.high)
            for row, truth in zip(of_method, truths, strict=True)
        ]
        is_given = all(map(math.isfinite, outside))
        low = max(outside) if is_given else None
        high = None if low is None else low + float(np.mean([row.width for row in of_method]))
        reason = next((row.degenerate for row in of_method if row.degenerate), None)
        joint.append(
            IntervalRow(
                first.method, str(first.estimand), None, low, high, low, high, first.n_fits, reason, "joint"
            )
        )
    return tuple(joint)
