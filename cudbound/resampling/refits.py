"""Refits on resampled training sets: in compiled batches, or one clone per draw, piece by piece."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.parallel import delayed
from threadpoolctl import ThreadpoolController, threadpool_limits

from cudbound.adapters import batched_refit, parts
from cudbound.basis.calls import OF_CALL, Kind, WarningsOfRefits, recorded, results_of, warn
from cudbound.basis.sample import Sample, as_table, copied, predicted_labels
from cudbound.estimators.batched.classifiers import BatchedRefit
from cudbound.resampling.failed_refits import FailedRefit, Failures, failed_refits_error

Outputs = NDArray[Any]
Seeds = NDArray[np.int64]

#: Maps counts of the training rows, shape (n_fits, n_samples), to the loss on each training row of the classifier
#: fitted to the resampled rows, same shape: whether it is misclassified, or the difference for two classifiers. If more
#: is kept for each row, the result has fields, see `cudbound.adapters.parts.RecordedOutputs`.
Refit = Callable[[NDArray[np.int32]], Outputs]

#: Outputs of some refits, with the field "loss", and those that failed, whose outputs are meaningless.
Piece = tuple[Outputs, Failures]

#: Yields these outputs piece by piece, for the counts and seeds of at least one fit.
Pieces = Callable[[NDArray[np.int32], Seeds], Generator[Piece, None, None]]

#: Clones fitted by one job, so that a progress bar moves and a worker is not called for every fit.
FITS_PER_JOB = 50
#: The libraries behind numpy and scipy; to look them up takes as long as many a batch.
LINEAR_ALGEBRA = ThreadpoolController()
#: Fits of one batch of linear algebra, so that a progress bar moves and Ctrl-C is noticed.
FITS_PER_BATCH = 2000


@dataclass(frozen=True)
class Refits:
    """How an estimator is refitted.

    Attributes
    ----------
    pieces : callable
        ``pieces(counts, seeds)`` yields the outputs of the refits, piece by piece in their order.
    batched : bool
        Whether they are made in batches, which also allow training sets of one class.
    """

    pieces: Pieces = field(repr=False)
    batched: bool

    def outputs(
        self,
        counts: NDArray[np.int32],
        rng: np.random.Generator,
        advance: Callable[[int], object] = lambda _: None,
        failed: Failures | None = None,
        *,
        scored: bool = False,
        each: str = "split",
    ) -> Outputs:
        """Return what is kept for each training row of the classifiers fitted to resampled rows.

        Parameters
        ----------
        counts : ndarray of int32, shape (n_fits, n_samples)
            How often each row occurs in each training set.
        rng : numpy.random.Generator
            Seeds ``random_state`` parameters that are None.
        advance : callable
            Called with the number of fits after each piece of work.
        failed : dict, default=None
            Set to the failed refits, by number; their outputs are meaningless. None raises an error.
        scored : bool, default=False
            Whether to return everything kept for each row, not only its loss.
        each : {"split", "draw"}, default="split"
            What a refit is fitted to, for the error.
        """
        if not len(counts):
            return np.zeros(counts.shape, dtype=bool)
        recorded_pieces: list[Piece] = []
        with closing(self.pieces(counts, rng.integers(2**31 - 1, size=len(counts)))) as pieces:
            for outputs, errors in pieces:
                advance(len(outputs))
                recorded_pieces.append((outputs if scored else outputs["loss"], errors))
        outputs, errors = _joined(recorded_pieces)
        if failed is not None:
            failed.clear()
            failed.update(errors)
        elif errors:
            raise failed_refits_error(errors, len(counts), each) from errors[min(errors)].cause
        return outputs


def refits_of(sample: Sample, n_jobs: int = 1, scoring: parts.RecordedOutputs = parts.LOSSES_ONLY) -> Refits:
    """Return how to refit the classifier of a sample.

    Estimators are refitted in batches if possible, except for fits whose result a rounding error could change.
    Otherwise a clone of the whole estimator is fitted for every draw: the steps of a `Pipeline` are refitted within the
    resampling. A training set of one class gives the constant classifier.

    Parameters
    ----------
    sample : Sample
        Its row weights enter every fit, which is then made by a clone. So is it if groups are passed to folds inside
        the estimator that keep them together.
    n_jobs : int
        Workers for clones, threads for batches.
    scoring : RecordedOutputs, default=RecordedOutputs()
        The outputs kept for each row in addition to its loss.

    Raises
    ------
    ValueError
        If the classifier cannot be fitted with the weights, or has folds of groups inside and there are none.
    """
    estimator, X, y = sample.estimator, sample.X, sample.y
    keywords = parts.fit_keywords(estimator, sample.sample_weight, sample.names_of_groups)
    batched = batched_refit(estimator, X, y, n_jobs=n_jobs) if not keywords else None
    fit_one = partial(_fit_each, estimator, as_table(X), np.asarray(y), keywords, scoring)
    pieces: Pieces = partial(_in_jobs, fit_one, n_jobs)
    if batched is not None:
        pieces = partial(_in_batches, batched, pieces, n_jobs, scoring)
    # a search takes many fits, and has folds of one class
    return Refits(pieces, batched is not None and not parts.unwrap(estimator).chosen_by)


def difference(a: Refits, b: Refits) -> Refits:
    """Return the refits whose losses are those of `a` minus those of `b`, -1, 0 or 1."""
    batched = a.batched and b.batched
    size = FITS_PER_BATCH if batched else FITS_PER_JOB

    def pieces(counts: NDArray[np.int32], seeds: Seeds) -> Generator[Piece, None, None]:
        for part in gen_batches(len(counts), size):
            (of_a, errors), (of_b, other_errors) = (
                _joined(refits.pieces(counts[part], seeds[part])) for refits in (a, b)
            )
            outputs = np.empty(of_a.shape, dtype=[("loss", np.int8)])
            outputs["loss"] = of_a["loss"].astype(np.int8) - of_b["loss"].astype(np.int8)
            yield outputs, other_errors | errors

    return Refits(pieces, batched)


def remembered(name: str, refits: Refits, batched: bool, advance: Callable[[int], object]) -> Refits:
    """Return refits of a learner that are computed once for the same counts and seeds, for several users.

    Parameters
    ----------
    name : str
        The learner, for errors.
    refits : Refits
    batched : bool
        Whether its users should treat all of them as made in batches.
    advance : callable
        Called with the number of completed fits.
    """
    pieces_by_key: dict[str, Piece] = {}

    def pieces(counts: NDArray[np.int32], seeds: Seeds) -> Generator[Piece, None, None]:
        key = str(joblib.hash((counts, seeds)))
        if key not in pieces_by_key:
            joined = []
            for outputs, failures in refits.pieces(counts, seeds):
                named = {
                    number: replace(failure, learner=failure.learner or name)
                    for number, failure in failures.items()
                }
                joined.append((outputs, named))
                advance(len(outputs))
            pieces_by_key[key] = _joined(joined)
        yield pieces_by_key[key]

    return Refits(pieces, batched)


def _joined(pieces: Iterable[Piece]) -> Piece:
    """Concatenate one or more pieces."""
    outputs_of_pieces: list[Outputs] = []
    failed: Failures = {}
    n_fits = 0
    for outputs, errors in pieces:
        outputs_of_pieces.append(outputs)
        failed |= {n_fits + fit: error for fit, error in errors.items()}
        n_fits += len(outputs)
    return np.concatenate(outputs_of_pieces), failed


def _in_batches(
    batched: BatchedRefit,
    one_by_one: Pieces,
    n_jobs: int,
    scoring: parts.RecordedOutputs,
    counts: NDArray[np.int32],
    seeds: Seeds,
) -> Generator[Piece, None, None]:
    for part in gen_batches(len(counts), FITS_PER_BATCH):
        errors: Failures = {}
        with LINEAR_ALGEBRA.limit(limits=n_jobs):
            losses, clear, scores = batched(counts[part].astype(np.float64))
        outputs = scoring.of_linear(losses, scores)
        if not clear.all():
            again = np.flatnonzero(~clear)
            outputs[again], failed = _joined(one_by_one(counts[part][again], seeds[part][again]))
            errors = {int(again[fit]): error for fit, error in failed.items()}
        if (collected := OF_CALL.get()) is not None:
            collected.n_refits += int(np.count_nonzero(clear))
        yield outputs, errors


def _in_jobs(
    fit_each: Callable[..., tuple[Piece, list[list[Kind]]]],
    n_jobs: int,
    counts: NDArray[np.int32],
    seeds: Seeds,
) -> Generator[Piece, None, None]:
    size = max(1, min(FITS_PER_JOB, -(-len(counts) // (4 * n_jobs))))
    # the first jobs are small, so that it is soon known how long all of them take
    small = (stop for stop in (1, 2, 4, 8, 16, 32) if stop < min(size, len(counts)))
    stops = sorted({0, *small, *range(size, len(counts), size), len(counts)})
    jobs = (delayed(fit_each)(counts[first:stop], seeds[first:stop]) for first, stop in pairwise(stops))
    results = results_of(n_jobs, jobs)
    of_call = OF_CALL.get()
    collected = of_call or WarningsOfRefits()
    try:
        for piece, warned in results:
            collected.add(warned)
            yield piece
        if of_call is None and collected.n_warned:  # outside of every call
            warn(collected.warning)
    finally:
        # joblib's advice is useless to those who stop on purpose
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            results.close()


def _settings(estimator: Any) -> dict[str, bool]:
    """Return settings of scikit-learn for refits: parameters and rows that the first fit has checked are valid.

    What a step makes of the rows of a draw need not be finite, a search may try invalid values, and what other classes
    check is unknown.
    """
    estimators = [part for part in parts.parameters_of(estimator) if hasattr(part, "get_params")]
    searches = any(hasattr(part, "estimator") and hasattr(part, "cv") for part in estimators)
    if searches or not all(type(part).__module__.startswith("sklearn.") for part in estimators):
        return {}
    makes_rows = any(hasattr(part, "transform") or hasattr(part, "steps") for part in estimators)
    return {"skip_parameter_validation": True} | ({} if makes_rows else {"assume_finite": True})


def _fit_each(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    keywords: dict[str, NDArray[Any]],
    scoring: parts.RecordedOutputs,
    counts: NDArray[np.int32],
    seeds: NDArray[np.int64],
) -> tuple[Piece, list[list[Kind]]]:
    """Return the outputs, and the warnings of each fit: those in another process would be lost."""
    outputs = scoring.empty(counts.shape)
    errors: Failures = {}
    warned: list[list[Kind]] = [[] for _ in counts]
    # with few rows, more threads are slower because they wait for each other
    with threadpool_limits(1), config_context(**_settings(estimator)):
        for fit, (row, seed) in enumerate(zip(counts, seeds, strict=True)):
            drawn = np.repeat(np.arange(row.size), row)
            if (y[drawn] == y[drawn[0]]).all():
                outputs["loss"][fit] = y != y[drawn[0]]  # most classifiers cannot be fitted to one class
                continue
            copy = parts.seeded_clone(estimator, int(seed))
            of_drawn = {name: values[drawn] for name, values in keywords.items()}
            try:
                with recorded() as warned[fit]:
                    copy.fit(_safe_indexing(X, drawn), y[drawn], **of_drawn)
                    # steps with copy=False write into the rows that they are given
                    outputs["loss"][fit] = predicted_labels(copy, copied(X), estimator.classes_) != y
                    for kind, values in scoring.of(copy, copied(X)).items() if scoring.kinds else ():
                        outputs[kind][fit] = values
            except Warning:  # the classifier has turned it into an error
                raise
            except Exception as error:
                failure = FailedRefit.of(error, copy)
                if errors:
                    error.with_traceback(None)  # it holds the rows and the clone
                errors[fit] = failure
    return (outputs, errors), warned
