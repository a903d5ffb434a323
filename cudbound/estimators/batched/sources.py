"""All steps before a classifier, starting from the rows of the data: in batches, or one training set at a time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from cudbound.basis.calls import parallel
from cudbound.basis.sample import as_table, copied, count_rows, dense
from cudbound.basis.validation import Array
from cudbound.estimators.batched import steps as kinds
from cudbound.estimators.batched.classifiers import BatchedFit, Bools, Columns, Draws, Source, Step, beside
from cudbound.problem.problem import check_scale


def flatten(steps: Sequence[Any]) -> list[Any]:
    """Return the steps that do something, including those of nested pipelines."""
    flat: list[Any] = []
    for step in steps:
        if type(step) is Pipeline:
            flat += flatten([inner for _, inner in step.steps])
        elif step is not None and not (isinstance(step, str) and step == "passthrough"):
            flat.append(step)
    return flat


def prepare(steps: Sequence[Any], X: Any, follower: BatchedFit | Any) -> Source | None:
    """Return fitted steps for batches of fits, or None if they cannot be fitted in batches.

    Parameters
    ----------
    steps : sequence of object
        Fitted transformers, from `flatten`.
    X : array-like, shape (n_samples, n_features)
        The rows that they were fitted to.
    follower : BatchedFit or object
        What follows them: the classifier, or another step.
    """
    if steps and not fit_together([*steps, follower]):
        return None
    fixed = list(takewhile(kinds.is_fixed, steps))
    for step in fixed:
        X = step.transform(X)
    rest = list(steps[len(fixed) :])
    begun = _first_columns(rest, X, follower)
    if begun is None:
        return None
    start, n_used = begun
    batched_steps: list[Step] = []
    n_samples = count_rows(X)
    for step, after in pairwise([*rest[n_used:], follower]):
        batched = kinds.batched_step(step, after, n_samples)
        if batched is None:
            return None
        batched_steps.append(batched)
    return partial(_run, start, tuple(batched_steps)) if batched_steps else start


def _run(source: Source, steps: Sequence[Step], draws: Draws) -> tuple[Columns, Bools]:
    columns, clear = source(draws)
    for step in steps:
        columns, step_clear = step(columns, draws)
        clear = clear & step_clear
    return columns, clear


def fit_together(steps: Sequence[Any]) -> bool:
    """Whether every step has the same form of input in the batch as in scikit-learn."""
    left_out = turned = made_sparse = False
    for step in steps:
        final = hasattr(step, "ignores_constants")
        if made_sparse and not final:
            return False
        if (left_out or turned) and not final and type(step) not in kinds.INDIFFERENT:
            return False
        parts = branches(step)
        left_out |= any(type(part) in kinds.SELECTIVE for part in parts)
        turned = type(step) is PCA  # either direction of an axis will do
        may_be_sparse = any(getattr(part, "sparse_output", False) for part in parts)
        made_sparse |= may_be_sparse and not (type(step) is ColumnTransformer and step.sparse_threshold == 0)
    return True


def branches(step: Any) -> list[Any]:
    """Return the steps of all branches of a column transformer, or the step itself."""
    if type(step) is not ColumnTransformer:
        return [step]
    steps = flatten([branch for _, branch, _ in step.transformers_ if not isinstance(branch, str)])
    return [part for inner in steps for part in branches(inner)]


def _first_columns(steps: Sequence[Any], X: Any, follower: Any) -> tuple[Source, int] | None:
    """Return the first columns made from the data, and the number of steps that make them."""
    if steps and type(steps[0]) is ColumnTransformer:
        joined = _join(steps[0], X, steps[1] if len(steps) > 1 else follower)
        return None if joined is None else (joined, 1)
    if steps and kinds.encodes_in_batches(steps[0]):
        return kinds.one_hot(X, steps[0]), 1
    if len(steps) > 1 and kinds.encodes_in_batches(steps[1]) and kinds.fills_in_batches(steps[0]):
        if steps[0].strategy not in ("most_frequent", "constant"):
            return None
        words = np.asarray(X, dtype=object)
        fill_value = steps[0].statistics_[0] if steps[0].strategy == "constant" else None
        # a missing value differs from itself
        encoder = kinds.filled_one_hot(words, np.asarray(words != words, dtype=bool), fill_value, steps[1])
        return None if encoder is None else (encoder, 2)
    try:
        if steps:
            finite: Any = "allow-nan" if kinds.fills_in_batches(steps[0]) else True
            rows = validate_data(steps[0], X, dtype=FLOAT_DTYPES, reset=False, ensure_all_finite=finite)
            check_scale("X", np.nan_to_num(rows))
        else:
            rows = np.asarray(dense(X), dtype=np.float64)
    except (TypeError, ValueError):  # a sparse matrix, words, or numbers whose squares overflow
        return None
    if rows.dtype != np.float64:  # the first step computes in another precision
        return None
    columns = Columns(rows)
    return lambda draws: (columns, np.ones(len(draws.counts), dtype=bool)), 0


# ---- columns side by side ----


def _join(step: ColumnTransformer, X: Any, follower: Any) -> Source | None:
    selectors = (columns for *_, columns in step.transformers)
    if step.transformer_weights or any(
        callable(columns) and not isinstance(columns, make_column_selector) for columns in selectors
    ):
        return None
    parts: list[Source] = []
    for _, branch, columns in step.transformers_:
        if isinstance(branch, str) and branch == "drop":
            continue
        chosen = _safe_indexing(as_table(X), columns, axis=1)
        if len(chosen.shape) != 2:  # one column as a series of values, for steps that take texts
            return None
        if chosen.shape[1] == 0:
            continue
        part = prepare(flatten([branch]), chosen, follower)
        if part is None:
            return None
        parts.append(part)
    return partial(_beside, tuple(parts)) if parts else None


def _beside(sources: Sequence[Source], draws: Draws) -> tuple[Columns, Bools]:
    parts, clear = zip(*(source(draws) for source in sources), strict=True)
    return beside(parts, len(draws.counts)), np.logical_and.reduce(clear)


#: Fits of one job.
FITS_PER_JOB = 50


def _fit_each(steps: Pipeline, X: Any, y: NDArray[Any], n_columns: int, counts: Array) -> tuple[Array, Bools]:
    """Return the columns of all rows in each fit of a pipeline; one that fails or makes others is not clear."""
    rows = np.zeros((*counts.shape, n_columns))
    clear = np.zeros(len(counts), dtype=bool)
    for fit, row in enumerate(counts):
        drawn = np.repeat(np.arange(row.size), row.astype(np.intp))
        try:
            with warnings.catch_warnings(action="ignore"):
                fitted = clone(steps).fit(_safe_indexing(X, drawn), y[drawn])
                # steps with copy=False write into the rows that they are given
                transformed = dense(fitted.transform(copied(X)))
        except ValueError:  # the fit that is made alone says why
            continue
        clear[fit] = transformed.shape == rows[fit].shape and np.isfinite(transformed).all()
        if clear[fit]:
            rows[fit] = transformed
    return rows, clear


def fit_apart(steps: Sequence[Any], X: Any, y: Any, follower: BatchedFit, n_jobs: int) -> Source | None:
    """Return fitted steps for refits to one training set at a time, or None if these cannot be repeated.

    Parameters
    ----------
    steps : sequence of object
        Fitted transformers, from `flatten`.
    X, y : array-like
        The rows and labels that they were fitted to.
    follower : BatchedFit
        The classifier.
    n_jobs : int
        Processes.
    """
    rows = as_table(X)
    parts = [part for step in steps for part in branches(step)]
    # without one of these there is another reason why the steps are not fitted in batches
    if not any(type(part) in kinds.FITTED_APART for part in parts) or not fit_together([*steps, follower]):
        return None
    if not all(kinds.is_repeatable(part, len(rows)) for part in parts):
        return None
    transformed = copied(rows)
    for step in steps:
        transformed = step.transform(transformed)
    transformed = np.asarray(dense(transformed))
    try:
        check_scale("X", transformed)
    except ValueError:  # numbers whose squares overflow
        return None
    if transformed.dtype != np.float64:  # scikit-learn computes in another precision
        return None
    fit_each = partial(_fit_each, make_pipeline(*steps), rows, np.asarray(y), transformed.shape[1])

    def source(draws: Draws) -> tuple[Columns, Bools]:
        parts = gen_batches(len(draws.counts), FITS_PER_JOB)
        jobs = parallel(n_jobs)(delayed(fit_each)(draws.counts[part]) for part in parts)
        columns, clear = zip(*jobs, strict=True)
        return Columns(np.concatenate(columns)), np.concatenate(clear)

    return source
