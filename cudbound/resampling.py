"""Resampling plans: every refit is made once and recorded as 0/1 losses that all interval methods read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from cudbound.bootstrap import draw_counts
from cudbound.point_estimates import leave_one_out_bootstrap_error
from cudbound.records import BootstrapLosses, FoldLosses, InnerErrors, Records
from cudbound.refits import Refit, choose_refit

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Policy = Literal["fit", "redraw", "drop", "error"]

POLICIES = ("fit", "redraw", "drop", "error")

#: Entries of the inner draws that are held at once; a few arrays of 8 bytes an entry live at a time.
INNER_CHUNK_VALUES = 1_000_000


def _has_one_class(counts: NDArray[np.int32], labels: Array) -> Bools:
    positive = counts @ (labels > 0.0).astype(np.int64)
    return np.asarray((positive == 0) | (positive == counts.sum(axis=-1)))


def _refuse_one_class(what: str, n_affected: int) -> ValueError:
    return ValueError(
        f"{n_affected} {what} held one class only, and on_single_class='error' was asked for. "
        "Pass on_single_class='redraw' or 'drop' to go on without them, or 'fit' if the classifier can be "
        "fitted to one class."
    )


def record_bootstrap(
    refit: Refit,
    labels: Array,
    counts: NDArray[np.int32],
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
    need_out_of_bag: bool = False,
) -> BootstrapLosses:
    """Fit every draw once and record its losses on all training points.

    Parameters
    ----------
    refit : callable
        From `choose_refit`.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The draws, shared with the CUD bound.
    on_single_class : {"fit", "redraw", "drop", "error"}
        What is done with draws that hold one class only.
    rng : numpy.random.Generator
        For draws that are drawn again.
    need_out_of_bag : bool, default=False
        Whether draws that hold every point are drawn again too.

    Raises
    ------
    ValueError
        If a draw holds one class and the policy is "error", or if it is "drop" and no draw is left.
    """
    remarks = []
    one_class = _has_one_class(counts, labels)
    n_one_class = int(one_class.sum())
    if n_one_class and on_single_class == "error":
        raise _refuse_one_class("bootstrap draws", n_one_class)
    if n_one_class and on_single_class == "drop":
        counts = counts[~one_class]
        if not len(counts):
            raise ValueError("Every bootstrap draw held one class only: none is left. Raise n_resamples.")
    if n_one_class:
        remarks.append(f"{n_one_class} single-class draws {_DONE[on_single_class]}")

    def unusable(candidates: NDArray[np.int32]) -> Bools:
        bad = np.zeros(len(candidates), dtype=bool)
        if on_single_class != "fit":
            bad |= _has_one_class(candidates, labels)
        if need_out_of_bag:
            bad |= (candidates > 0).all(axis=1)
        return bad

    again = np.flatnonzero(unusable(counts))
    if need_out_of_bag and (n_full := int((counts > 0).all(axis=1).sum())):
        remarks.append(f"{n_full} draws with nothing out of bag redrawn")
    if again.size:
        counts = counts.copy()
    while again.size:
        counts[again] = draw_counts(labels.size, again.size, rng)
        again = again[unusable(counts[again])]
    return BootstrapLosses(counts=counts, losses=refit(counts), remarks=tuple(remarks))


_DONE = {"fit": "fitted as they fell", "redraw": "redrawn", "drop": "dropped"}


def record_inner(
    refit: Refit,
    labels: Array,
    counts: NDArray[np.int32],
    n_inner: int,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> InnerErrors:
    """Bootstrap every draw again and record its leave-one-out bootstrap error.

    A draw is taken literally as a training set of n rows: copies of one point are rows of their own, so a
    copy may be out of bag while another is in. Recomputing a statistic on a draw means this; here it makes
    Err(1) of a draw lower than that of the training set. The paper leaves the resampling open.

    Parameters
    ----------
    refit, labels, on_single_class, rng
        As in `record_bootstrap`; `rng` gives the inner draws too.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The outer draws.
    n_inner : int
        Inner draws of each outer draw.
    """
    n_outer, n = counts.shape
    draws, redraws = rng.spawn(2)
    step = max(1, INNER_CHUNK_VALUES // (n_inner * n))
    errors, n_one_class = [], 0
    for start in range(0, n_outer, step):
        outer = counts[start : start + step]
        rows = np.repeat(np.tile(np.arange(n), len(outer)), outer.ravel()).reshape(len(outer), n)
        places = (draws.random((len(outer), n_inner, n)) * n).astype(np.int32)
        inner = _count_places(np.take_along_axis(rows[:, None, :], places, axis=2))
        one_class = _has_one_class(inner, labels) & ~_has_one_class(outer, labels)[:, None]
        n_one_class += int(one_class.sum())
        if one_class.any() and on_single_class == "error":
            raise _refuse_one_class("inner bootstrap draws", int(one_class.sum()))
        if on_single_class == "redraw":
            again = np.argwhere(one_class)
            while len(again):
                fresh = (redraws.random((len(again), n)) * n).astype(np.int32)
                drawn = _count_places(np.take_along_axis(rows[again[:, 0]], fresh, axis=1))
                places[again[:, 0], again[:, 1]] = fresh
                inner[again[:, 0], again[:, 1]] = drawn
                again = again[_has_one_class(drawn, labels)]
        losses = refit(inner.reshape(-1, n)).reshape(inner.shape)
        place_counts = _count_places(places)
        if on_single_class == "drop":
            place_counts[one_class] = 1  # a draw that leaves nothing out does not enter Err(1)
        errors.append(
            leave_one_out_bootstrap_error(np.take_along_axis(losses, rows[:, None, :], axis=2), place_counts)
        )
    remarks = (f"{n_one_class} single-class inner draws {_DONE[on_single_class]}",) if n_one_class else ()
    return InnerErrors(np.concatenate(errors), n_outer * n_inner, remarks)


def _count_places(places: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Count how often each of 0..n-1 stands in the last axis, of length n."""
    n = places.shape[-1]
    flat = places.reshape(-1, n) + np.arange(places.size // n)[:, None] * n
    return np.bincount(flat.ravel(), minlength=places.size).reshape(places.shape).astype(np.int32)


def record_folds(
    refit: Refit,
    labels: Array,
    *,
    n_folds: int = 10,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> FoldLosses:
    """Record cross-validated losses on shuffled folds; with fewer rows than folds every row is a fold.

    Folds that leave one class only to train on are fitted as they are under the policy "fit"; under "redraw"
    and "drop" the rows are shuffled again, since a fold without a classifier would leave points without a
    loss.

    Parameters
    ----------
    refit, labels, on_single_class, rng
        As in `record_bootstrap`; `rng` shuffles the rows.
    n_folds : int, default=10

    Raises
    ------
    ValueError
        If a training part holds one class and the policy is "error".
    """
    n = labels.size
    n_folds = min(n_folds, n)
    n_shuffles = 0
    while True:
        splitter = KFold(n_folds, shuffle=True, random_state=int(rng.integers(2**32 - 1)))
        fold = np.empty(n, dtype=np.int64)
        for number, (_, test) in enumerate(splitter.split(labels)):
            fold[test] = number
        training = (fold != np.arange(n_folds)[:, None]).astype(np.int32)
        n_one_class = int(_has_one_class(training, labels).sum())
        if n_one_class and on_single_class == "error":
            raise _refuse_one_class("cross-validation training sets", n_one_class)
        if not n_one_class or on_single_class == "fit":
            break
        n_shuffles += 1
    remarks = []
    if n_one_class:
        remarks.append(f"{n_one_class} single-class cross-validation training sets fitted as they fell")
    if n_shuffles:
        remarks.append(f"folds shuffled again {n_shuffles} times to keep both classes in training")
    if n_folds == n:
        remarks.append(f"{n} folds of one row")
    return FoldLosses(refit(training)[fold, np.arange(n)], n_folds, tuple(remarks))


@dataclass(frozen=True)
class ResamplingPlan:
    """What has to be recorded for the methods that were asked for.

    Attributes
    ----------
    needs : frozenset of str
        Out of "bootstrap", "inner" and "folds".
    n_inner : int or None
        Inner draws of each draw; None for the out-of-bag variant, which needs none.
    n_folds : int
        Folds of cross-validation.
    on_single_class : {"fit", "redraw", "drop", "error"} or None
        None: "fit" where refits are batched linear algebra, which can be fitted to one class, else "redraw".
    """

    needs: frozenset[str]
    n_inner: int | None = 50
    n_folds: int = 10
    on_single_class: Policy | None = None

    def n_fits(self, n_resamples: int, n_samples: int) -> int:
        """Return the number of refits, for a progress bar; exact unless draws are dropped."""
        cost = {
            "bootstrap": n_resamples,
            "inner": n_resamples * (self.n_inner or 0),
            "folds": min(self.n_folds, n_samples),
        }
        return sum(cost.get(need, 0) for need in self.needs)


def record_losses(
    plan: ResamplingPlan,
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    labels: Array,
    counts: NDArray[np.int32],
    *,
    rng: np.random.Generator,
    n_jobs: int = 1,
    advance: Callable[[int], object] = lambda _: None,
) -> Records:
    """Make the refits of a plan, each once, and record their losses.

    What is recorded for one need does not depend on the others: each has random numbers of its own.

    Parameters
    ----------
    plan : ResamplingPlan
    estimator : object
        Fitted scikit-learn classifier of two classes.
    X : array-like, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        In the words of ``estimator.classes_``.
    labels : ndarray of float, shape (n_samples,)
        The same as -1.0 and +1.0.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        Bootstrap draws.
    rng : numpy.random.Generator
        Parent of the streams of folds, inner draws and replaced draws; its own state does not move.
    n_jobs : int, default=1
    advance : callable
        Told the number of fits after each piece of work.
    """
    streams = dict(zip(("bootstrap", "inner", "folds"), rng.spawn(3), strict=True))
    records = Records(losses=np.asarray(estimator.predict(X) != y))
    for need, stream in streams.items():
        if need not in plan.needs and not (need == "bootstrap" and "inner" in plan.needs):
            continue
        draws, seeds = stream.spawn(2)
        refit, batched = choose_refit(estimator, X, y, seeds, n_jobs=n_jobs, advance=advance)
        policy = plan.on_single_class or ("fit" if batched else "redraw")
        if need == "bootstrap":
            out_of_bag = plan.n_inner is None and "inner" in plan.needs
            bootstrap = record_bootstrap(
                refit, labels, counts, on_single_class=policy, rng=draws, need_out_of_bag=out_of_bag
            )
            records = replace(records, bootstrap=bootstrap)
        elif need == "folds":
            folds = record_folds(refit, labels, n_folds=plan.n_folds, on_single_class=policy, rng=draws)
            records = replace(records, folds=folds)
        elif plan.n_inner is not None and records.bootstrap is not None:
            inner = record_inner(
                refit, labels, records.bootstrap.counts, plan.n_inner, on_single_class=policy, rng=draws
            )
            records = replace(records, inner=inner)
    return records
