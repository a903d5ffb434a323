"""Verification of a saved result on its data: the fingerprint first, then witnesses, draws, limits and rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.adapters import additive_model
from cudbound.analysis.analyze import analyze, fitted_sample
from cudbound.analysis.question import Question
from cudbound.analysis.saved_file import (
    Check,
    ResultVerification,
    SavedBound,
    SavedQuestion,
    SavedResult,
    SavedRow,
    read_saved,
)
from cudbound.basis.calls import public_call, versions
from cudbound.basis.exceptions import CudboundWarning, StatedError
from cudbound.basis.proportions import inverted_cdf_quantile
from cudbound.basis.results import ConfidenceInterval
from cudbound.basis.sample import Sample
from cudbound.basis.validation import (
    Array,
    Features,
    Learner,
    Splits,
    check_localization,
    check_n_jobs,
    check_rng,
)
from cudbound.bound.cud_bound import joint_problem, search_joint
from cudbound.intervals import METHODS, Method, find_methods
from cudbound.metrics.metric import MetricRows
from cudbound.metrics.metrics import draw_for_metrics, targets_of
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.resampling.settings import Streams
from cudbound.solve.search import Search, SearchLimits, check_minimizer, node_budget, solve_draws

#: Tolerance for numbers of a row with refits: half of the last printed digit. A refit may classify a row near the
#: boundary differently if the linear algebra adds in another order.
ROW = 5e-4
#: A score closer to 0 than this share of the sum of its absolute terms has no sign: it is rounding.
ROUNDING = 1e-15
#: How far bounds of a draw may be from those computed on another machine, times the largest weighted deviation that the
#: draw allows, or 1: sums of weights and, for squared loss, of losses.
TOLERANCE = 1e-9
#: For the other losses in addition, times the localization rate: how far their minima are known.
LOSS_TOLERANCE = 1e-7
#: Where g is a step, at localization = infinity: the loss of the witness may be above that L of the fitted coefficients
#: by this times max(1, L).
STEP = 1e-9
#: How far estimates may be apart: sums of a few hundred terms, in whatever order a machine adds them.
ESTIMATE = 1e-12


@public_call
def verify_result(
    path: str | Path,
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    cv: Splits | None = None,
    new_cases: tuple[Features, ArrayLike] | None = None,
    n_jobs: int | None = 1,
) -> ResultVerification:
    """Check a file written by ``save`` on the data of the result.

    The procedure:

    1. compare the checksum of the file with its contents, and the fingerprint of the data with that in the file;
    2. draw the bootstrap samples from the seed again, and compare them with those in the file;
    3. check that the coefficients in the file minimize the loss on these data, and their training error;
    4. compute the value of every draw's witness, without the solver; it proves the lower bound;
    5. solve the draws, and compare the bounds;
    6. compute the quantile of the draws in the file, and the limits from it;
    7. recompute the rows of a table from the seed, and compare them.

    If the data differ, all steps that need them are left out. Nothing in the file is executed.

    Parameters
    ----------
    path : str or Path
        Path of the file.
    estimator : object
        The fitted classifier, or the same classifier refitted to these data; one that is not fitted is fitted to them.
        If the fit is random, a refit needs the same number as ``random_state``.
    X : array-like, shape (n_samples, n_features)
        The rows that the classifier was fitted to, in the same order.
    y : array-like, shape (n_samples,)
        Their labels.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, as passed originally.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Row weights, as passed originally.
    cv, new_cases : default=None
        As passed to `cudbound.compare_intervals`, unless it was a number: the file cannot contain it.
    n_jobs : int or None, default=1
        Workers; -1 for all cores.

    Returns
    -------
    ResultVerification
        ``passed``, ``complete``, ``checks``; prints as a table, followed by the verified intervals.

    Raises
    ------
    SavedResultError
        If the file is not a saved result; the message names the field.
    OSError
        If it cannot be read.
    ValueError
        If an argument is out of range, or the labels differ from those in the file.

    Notes
    -----
    Compared exactly: the fingerprint, the draws in the file, the half-width as their quantile, and the limits, which
    are one sum and one difference. To 1e-9 (with losses other than squared loss 1e-7 times the localization rate in
    addition), times the largest weighted deviation if that is above 1: bounds, since another machine may add in another
    order. To 5e-4: rows based on refits.

    The checksum detects accidental changes and damage. After a deliberate change it can be renewed; the check then only
    detects contradictions with the data. A weakened bound contradicts nothing.

    References
    ----------
    Laber and Murphy (2008), sections 3.1 and 4.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, cud_interval, verify_result
    >>> X = np.random.default_rng(0).normal(size=(30, 1))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=30) > 0
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> result = cud_interval(clf, X, y, n_resamples=50, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/result.json")
    ...     verify_result(f"{folder}/result.json", clf, X, y).passed
    True
    """
    jobs = check_n_jobs(n_jobs)
    saved, intact = read_saved(path)
    streams = Streams(check_rng(saved.question.rng))
    data = fitted_sample(estimator, X, y, streams, groups, sample_weight, several=True)
    metrics = saved.question.metric.resolve(data.classes.tolist())
    data = replace(data, event_class=metrics.event_class(data.classes.tolist()))
    change = "unchanged since it was written" if intact else "changed since it was written, or damaged"
    checks = [Check("file", intact, change), _check_data(saved, data)]
    same = checks[1].passed
    level = saved.question.confidence_level
    targets = targets_of(metrics, data.events, data.sample_weight, level, saved.question.alternative)
    # what the result says was said when it was computed
    with warnings.catch_warnings(action="ignore", category=CudboundWarning):
        if same:
            again = np.random.default_rng(saved.question.rng)
            size = saved.question.n_resamples
            checks.append(_check_draws(saved, draw_for_metrics(metrics, targets, data, size, again)[0]))
        if same and saved.bounds:
            check, model = _check_classifier(saved, data)
            checks.append(check)
            if model is not None:
                for bound in saved.bounds:
                    checks += check_on_data(bound, saved, model, data, jobs)
        levels = {target.metric.name: target.cud_level for target in targets}
        for bound in saved.bounds:
            checks += check_interval(bound, levels.get(bound.intervals[0].metric.name, level))
        if same and saved.rows:
            checks.append(
                _check_rows(saved, data.estimator, (X, y, groups, sample_weight), cv, new_cases, jobs)
            )
    if not same:
        checks.append(Check("all else", None, "left out, because the data differ"))
    result = ResultVerification(tuple(checks))
    verified = result.passed and (not saved.rows or checks[-1].passed)
    return replace(result, intervals=_in_words(saved)) if verified else result


def _check_data(saved: SavedResult, data: Sample) -> Check:
    """Compare the fingerprint of the data with that in the file."""
    here, n, was = f"fingerprint {data.fingerprint[:12]}...", data.n_samples, saved.counts.shape[1]
    if n != was:
        why = f"{n} rows, but {was} in the file: some were added, removed, or dropped for a missing cell"
    elif data.fingerprint == saved.fingerprint:
        return Check("data", True, f"{here}, as in the file")
    else:
        why = f"{n} rows, as in the file, but a value, a label, a group or the order of rows differs"
    return Check("data", False, f"{why}; {here}, in the file {saved.fingerprint[:12]}...")


def _check_draws(saved: SavedResult, counts: NDArray[np.int32]) -> Check:
    """Compare the draws from the seed with those in the file."""
    seed, size = saved.question.rng, len(counts)
    if seed is None:
        return Check("draws", None, f"the seed of the {size} draws is unknown")
    if np.array_equal(counts, saved.counts):
        return Check("draws", True, f"{size} draws are exactly those of seed {seed}")
    text = f"these are not the {size} draws of seed {seed}{_of_other_versions(saved)}"
    return Check("draws", None if saved.versions.get("numpy") != versions()["numpy"] else False, text)


def _of_other_versions(saved: SavedResult) -> str:
    """Return the versions that made the file, if they differ from those here; else nothing."""
    others = [f"{name} {was}" for name, was in saved.versions.items() if versions().get(name) != was]
    return f"; the file was made with {', '.join(others)}" if others else ""


def _check_classifier(saved: SavedResult, sample: Sample) -> tuple[Check, AdditiveModel | None]:
    """Check that the coefficients in the file minimize the loss; return the classifier with them, or None."""
    coef = saved.coefficients
    assert coef is not None, "a file with bounds has the coefficients that their witnesses are compared with"
    try:
        model = additive_model(sample, polish=saved.question.bound.polish)
        if coef.shape != model.coef.shape:
            text = f"it has {model.coef.size} coefficients, but the file has {coef.size}"
            return Check("classifier", False, text), None
        model = replace(model, coef=coef)
        check_minimizer(model)
    except (StatedError, ValueError) as error:
        return Check("classifier", False, error.fact if isinstance(error, StatedError) else str(error)), None
    text = f"its coefficients minimize the {model.loss.name} loss on these data"
    return Check("classifier", True, text), model


def _check_rows(
    saved: SavedResult, estimator: Any, data: tuple[Any, Any, Any, Any], cv: Any, new_cases: Any, n_jobs: int
) -> Check:
    """Recompute the rows of a table; `data`, `cv` and `new_cases` are not in the file."""
    question, limits = saved.question, saved.question.bound
    passed_again = {"cv": cv, "new_cases": new_cases}
    timed = limits.seconds not in (None, math.inf)
    user_methods = sorted(set(question.methods) - METHODS.keys())
    reasons = {
        f"because a file cannot contain user-defined methods: {', '.join(user_methods)}": bool(user_methods),
        "because the seed is unknown": question.rng is None,
        "because a time limit stopped its searches": timed,
        **{
            f"without {name}, which a file cannot contain": passed_again[name] is None
            for name in question.passed_again
        },
    }
    for reason, holds in reasons.items():
        if holds:
            return Check("rows", None, f"not recomputed, {reason}")
    if "cv" not in question.passed_again:
        cv = question.resampling.cv
    try:
        question_again = _question(question, cv, n_jobs)
        rows = analyze(question_again, estimator, *data, new_cases=new_cases, several=True).rows()
    except (ValueError, TypeError) as error:
        return Check("rows", False, f"they cannot be recomputed: {error}")
    again = {(row.method, row.metric): (row.estimate, row.low, row.high) for row in rows}
    for row in saved.rows:
        was, now = (row.estimate, row.low, row.high), again.get((row.method, row.metric), ())
        if not now or not np.allclose(np.array(was, float), now, rtol=0.0, atol=ROW, equal_nan=True):
            numbers = [" ".join(f"{value:.6g}" for value in values) for values in (now, was)]
            text = f"{row.method}, {row.metric}: {numbers[0] or 'no row'} here, {numbers[1]} in the file"
            return Check("rows", False, f"{text}{_of_other_versions(saved)}")
    return Check("rows", True, f"{len(saved.rows)} recomputed from the seed, equal to within {ROW:g}")


def _question(saved: SavedQuestion, cv: Any, n_jobs: int) -> Question[Method]:
    """Return the question in a file."""
    methods = find_methods(list(saved.methods))
    for method in methods:
        method.resolve_options(saved.options.get(method.name, {}))
    return Question.of(
        replace(methods, options=saved.options, named=frozenset(saved.named)),
        metric=saved.metric,
        confidence_level=saved.confidence_level,
        alternative=saved.alternative,
        n_resamples=saved.n_resamples,
        resampling=replace(saved.resampling, cv=cv),
        bound=saved.bound,
        rng=saved.rng,
        n_jobs=n_jobs,
    )


def _in_words(saved: SavedResult) -> tuple[str, ...]:
    """Yield one line per interval in the file."""
    of_bounds = (
        SavedRow("cud", interval.metric.name, interval.estimate, interval.low, interval.high)
        for bound in saved.bounds
        for interval in bound.intervals
    )
    level = f"{100 * saved.question.confidence_level:g}%"
    return tuple(
        f"{row.method}: {row.metric} {row.estimate:.3f}, {level} interval {row.low:.3f} to {row.high:.3f}."
        for row in saved.rows or of_bounds
        if not math.isnan(row.low)
    )


# ---- the bounds ----


@np.errstate(over="ignore", invalid="ignore")  # of coefficients without measure nothing is known
def witness_values(problem: Problem, witness: Array) -> Array:
    r"""Return the lower bound on Q from the witness of each draw, shape (n_draws,).

    For coefficients :math:`\beta` and the weights :math:`w` of a draw it is
    :math:`|\sum_i w_i 1\{\mathrm{sign}(x_i'\beta) \ne y_i\}| \, g(\alpha (L_b(\hat\beta) - L_b(\beta)))`, with
    :math:`g(u) = \mathrm{clip}(1 + u, 0, 1)`; nan if a row with a weight has no side.

    Parameters
    ----------
    problem : Problem
    witness : ndarray of float, shape (n_draws, n_coefficients)

    References
    ----------
    Laber and Murphy (2008), sections 3.1 and 4.
    """
    scores = witness @ problem.design.T
    terms = np.abs(witness) @ np.abs(problem.design).T
    wrong = np.where(scores >= 0.0, 1.0, -1.0) != problem.labels  # rows of zeros are always +1
    sideless = (np.abs(scores) <= ROUNDING * terms) & problem.design.any(axis=1)
    values = np.empty(problem.n_draws)
    for draw in range(problem.n_draws):
        weights = problem.score_weights(draw)
        if (sideless[draw] & (weights != 0.0)).any():
            values[draw] = math.nan
        else:
            values[draw] = abs(float(weights @ wrong[draw])) * _share(problem, draw, witness[draw])
    return values


def tolerances(problem: Problem) -> Array:
    """Return how far the bounds of each draw may differ from those of another machine, shape (n_draws,)."""
    weights = np.array([problem.score_weights(draw) for draw in range(problem.n_draws)])
    scale = np.maximum(weights.clip(min=0.0).sum(axis=1), -weights.clip(max=0.0).sum(axis=1))
    exact = problem.loss.name == "squared" or math.isinf(problem.localization)
    return np.asarray(
        np.maximum(1.0, scale) * (TOLERANCE + (0.0 if exact else LOSS_TOLERANCE * problem.localization))
    )


def _share(problem: Problem, draw: int, coef: Array) -> float:
    """Return g at the coefficients."""
    if problem.localization == 0.0:
        return 1.0
    anchor, loss = problem.mean_loss(draw, problem.coef), problem.mean_loss(draw, coef)
    if math.isinf(problem.localization):
        return float(loss <= anchor + STEP * max(1.0, anchor))
    return float(np.clip(1.0 + problem.localization * (anchor - loss), 0.0, 1.0))


def check_on_data(
    bound: SavedBound,
    saved: SavedResult,
    model: AdditiveModel,
    sample: Sample,
    n_jobs: int | None,
) -> Iterator[Check]:
    """Check a bound on the data."""
    question = saved.question
    metric_rows = [
        MetricRows(interval.metric, sample.events, sample.sample_weight) for interval in bound.intervals
    ]
    rate = check_localization(question.bound.localization, sample.n_samples)
    if len(metric_rows) > 1:
        problem = joint_problem(model, saved.counts, metric_rows, rate)
    else:
        problem = model.problem(saved.counts, rate, metric_rows[0].score_weights(saved.counts))
    yield _check_estimate(bound, metric_rows, model.training_errors)
    yield _check_witnesses(bound, problem)
    yield _check_solved(bound, problem, question, n_jobs)


def _check_estimate(bound: SavedBound, metric_rows: list[MetricRows], wrong: NDArray[np.bool_]) -> Check:
    """Recompute the metrics of the classifier on its training set."""
    name = f"training value{_of(bound)}"
    for rows, interval in zip(metric_rows, bound.intervals, strict=True):
        value = rows.value(wrong)
        if not abs(value - interval.estimate) <= ESTIMATE * max(1.0, interval.metric.scale):
            return Check(name, False, f"it is {value:.6g}, but the file has {interval.estimate:.6g}")
    values = ", ".join(f"{interval.estimate:.6g}" for interval in bound.intervals)
    return Check(name, True, f"the classifier has {values} on these rows, as in the file")


def _check_witnesses(bound: SavedBound, problem: Problem) -> Check:
    """Compare the bounds of every draw with the value of its witness: no lower bound above, no upper bound below."""
    name, lower = f"witnesses{_of(bound)}", bound.lower
    values, near = witness_values(problem, bound.witness), tolerances(problem)
    # an unknown value proves nothing but 0
    below = ~(lower - np.nan_to_num(values, nan=0.0) <= near)
    above = ~(np.fmax(values, lower) <= bound.upper + near)
    for side, failed, limit in (("below", below, lower), ("above", above, bound.upper)):
        if failed.any():
            draw, which = int(failed.argmax()), "lower" if side == "below" else "upper"
            text = (
                f"{failed.sum()} of {lower.size} witnesses are {side} their {which} bounds; draw {draw} has "
                f"{limit[draw]:.6g}, but its witness has the value {values[draw]:.6g}"
            )
            return Check(name, False, text)
    return Check(name, True, f"{lower.size} lower bounds follow from their witnesses, to {near.max():.1g}")


def _check_solved(bound: SavedBound, problem: Problem, question: SavedQuestion, n_jobs: int | None) -> Check:
    """Solve draws again and compare the bounds: both must allow the same Q."""
    name = f"draws solved again{_of(bound)}"
    limits = SearchLimits(solver=question.bound.solver, nodes=node_budget(problem))
    # first as far as the quantile requires, so that the nodes are spent where they decide
    search = Search(n_jobs=n_jobs, limits=limits)
    previous = search_joint(problem, len(bound.intervals), question.confidence_level, search)
    draws = solve_draws(problem, n_jobs=n_jobs, limits=limits, previous=previous)
    near, size = tolerances(problem), problem.n_draws
    apart = ~((bound.lower <= draws.upper + near) & (bound.upper >= draws.lower - near))
    if apart.any():
        draw = int(apart.argmax())
        text = (
            f"{apart.sum()} of {size} disagree; draw {draw} has Q from {bound.lower[draw]:.6g} to "
            f"{bound.upper[draw]:.6g} in the file, and from {draws.lower[draw]:.6g} to {draws.upper[draw]:.6g} here"
        )
        return Check(name, False, text)
    n_open = int((~draws.certified).sum())
    left = f"; {n_open} of them only up to bounds" if n_open else ""
    return Check(name, True, f"{size} solved here, all within their bounds in the file{left}")


def check_interval(bound: SavedBound, confidence_level: float) -> Iterator[Check]:
    """Recompute the quantile of the upper bounds and the limits, and compare them exactly."""
    intervals = bound.intervals
    largest = bound.upper.reshape(len(intervals), -1).max(axis=0)
    q = inverted_cdf_quantile(largest, confidence_level)
    name, wrong = f"half-width{_of(bound)}", ""
    for interval in intervals:
        expected = interval.metric.scale * q if len(intervals) > 1 else q
        if interval.q != expected:
            wrong = f"the file has {interval.q!r}, but the quantile of its draws is {expected!r}"
    yield Check(name, not wrong, wrong or f"q = {q:.6g} is exactly the quantile of the draws")
    wrong = ""
    for interval in reversed(intervals):
        raw = ConfidenceInterval(interval.estimate - interval.q, interval.estimate + interval.q)
        limits = raw.clipped(*interval.metric.limits())
        if limits != (interval.low, interval.high):
            written = f"{interval.low!r} to {interval.high!r}"
            wrong = f"the file has {written}, but they are {limits.low!r} to {limits.high!r}"
    text = ", ".join(f"{interval.low:.6g} to {interval.high:.6g}" for interval in intervals)
    text = f"{text} are exactly estimate and half-width"
    yield Check(f"limits{_of(bound)}", not wrong, wrong or text)


def _of(bound: SavedBound) -> str:
    """Return the metrics of a bound, for the names of checks; empty for the error."""
    names = [interval.metric.name for interval in bound.intervals]
    return "" if names == ["error"] else f" of {' and '.join(names)}"
