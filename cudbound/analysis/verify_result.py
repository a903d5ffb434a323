"""Verification of a saved result on its data: the fingerprint first, then witnesses, draws, limits and rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.adapters import additive_model
from cudbound.analysis.analyze import analyze, fitted_sample
from cudbound.analysis.question import Question
from cudbound.basis.calls import public_call, versions
from cudbound.basis.exceptions import CudboundWarning, StatedError
from cudbound.basis.sample import Sample
from cudbound.basis.validation import Features, Learner, Splits, check_n_jobs, check_rng
from cudbound.intervals import METHODS, Method, find_methods
from cudbound.metrics.metrics import draw_for_metrics, targets_of
from cudbound.problem.problem import AdditiveModel
from cudbound.resampling.settings import Streams
from cudbound.saved.check_bounds import check_interval, check_on_data
from cudbound.saved.saved_file import (
    Check,
    ResultVerification,
    SavedQuestion,
    SavedResult,
    SavedRow,
    read_saved,
)
from cudbound.solve.search import check_minimizer

#: Tolerance for numbers of a row with refits: half of the last printed digit. A refit may classify a row near the
#: boundary differently if the linear algebra adds in another order.
ROW = 5e-4


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
    same = data.fingerprint == saved.fingerprint and data.n_samples == saved.counts.shape[1]
    checks = [
        Check(
            "file",
            intact,
            "unchanged since it was written" if intact else "changed since it was written, or damaged",
        ),
        _check_data(saved, data.fingerprint, same, data.n_samples),
    ]
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


def _check_data(saved: SavedResult, fingerprint: str, same: bool, n: int) -> Check:
    """Compare the fingerprint of the data with that in the file."""
    if same:
        return Check("data", True, f"fingerprint {fingerprint[:12]}..., as in the file")
    was = saved.counts.shape[1]
    why = f"{n} rows, but {was} in the file: some were added, removed, or dropped for a missing cell"
    if n == was:
        why = f"{n} rows, as in the file, but a value, a label, a group or the order of rows differs"
    return Check(
        "data", False, f"{why}. Fingerprint {fingerprint[:12]}..., in the file {saved.fingerprint[:12]}..."
    )


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
