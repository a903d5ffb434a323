"""Resampling plans: every refit is made once and recorded as losses that all methods read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.groups import Groups
from cudbound.records import Records
from cudbound.records.split_losses import N_HALVINGS
from cudbound.resampling.bootstrap import record_bootstrap, record_inner, usable_draws
from cudbound.resampling.folds import (
    N_STRATIFIED_FOLDS,
    N_STRATIFIED_REPEATS,
    record_folds,
    record_leave_one_out,
    record_repeated_folds,
    record_stratified_folds,
)
from cudbound.resampling.nested import count_nested_fits, record_nested
from cudbound.resampling.refits import Refits, prepare_refits
from cudbound.resampling.removed_cases import record_removed_cases
from cudbound.resampling.replacements import count_replacement_fits, record_replacements
from cudbound.resampling.single_class import Policy, SingleClassError
from cudbound.resampling.sizes import ResamplingSizes
from cudbound.resampling.splits import (
    record_half_splits,
    record_halvings,
    record_replicates,
    record_splits,
    record_test_set,
)
from cudbound.resampling.splitters import Splits, record_cv
from cudbound.resampling.task import Task

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scheme:
    """One way of resampling that needs only refits.

    Attributes
    ----------
    record : callable
        ``record(task)`` makes the refits and returns the record.
    n_fits : callable
        ``n_fits(sizes, n_samples)``: how many refits it makes, for the progress bar.
    """

    record: Callable[[Task], Any]
    n_fits: Callable[[ResamplingSizes, int], int]


#: The schemes by the field of `Records` that they fill.
SCHEMES: dict[str, Scheme] = {
    "folds": Scheme(record_folds, lambda sizes, n: min(sizes.n_folds, n)),
    "repeated_folds": Scheme(record_repeated_folds, lambda sizes, n: sizes.n_repeats * min(sizes.n_folds, n)),
    "leave_one_out": Scheme(record_leave_one_out, lambda sizes, n: n),
    "splits": Scheme(record_splits, lambda sizes, n: sizes.n_splits),
    "half_splits": Scheme(record_half_splits, lambda sizes, n: 2 * sizes.n_halvings * sizes.n_splits),
    "replicates": Scheme(record_replicates, lambda sizes, n: sizes.n_replicates * sizes.n_splits),
    "halvings": Scheme(record_halvings, lambda sizes, n: 2 * N_HALVINGS),
    "test_set": Scheme(record_test_set, lambda sizes, n: 1),
    "nested": Scheme(record_nested, count_nested_fits),
    "replacements": Scheme(record_replacements, count_replacement_fits),
    "stratified_folds": Scheme(
        record_stratified_folds, lambda sizes, n: N_STRATIFIED_REPEATS * min(N_STRATIFIED_FOLDS, n)
    ),
}

#: Streams of random numbers, one per record, in the order in which they are spawned: append only. "cv" is for the
#: caller's splitter.
STREAMS = (
    "bootstrap",
    "inner",
    "folds",
    "cv",
    "removed_cases",
    "bolstered",
    *(name for name in SCHEMES if name not in ("folds", "stratified_folds")),
    "second_test_set",
    "learners",
    "tuned",
    "stratified_folds",
)

#: Streams whose numbers are not for records of this plan: "second_test_set" and "learners" are for comparisons,
#: "tuned" for the refits of a search.
ELSEWHERE = frozenset({"bolstered", "cv", "second_test_set", "learners", "tuned"})

#: Records that keep groups of rows together without a splitter: no rows are resampled, or whole groups are.
KEEP_GROUPS = frozenset(
    {
        *("losses", "bolstered", "bound", "signed_suprema", "design"),
        *("bootstrap", "inner", "removed_cases", "leave_one_out", "stratified_folds", "tuned"),
    }
)

#: Records that are made from the shared bootstrap draws, whether or not the draws themselves are fitted.
DRAWN = frozenset({"inner", "removed_cases"})


@dataclass(frozen=True)
class ResamplingPlan:
    """What has to be recorded for the requested methods.

    Attributes
    ----------
    needs : frozenset of str
        Names of fields of `Records`.
    n_inner : int or None
        Inner draws of each draw; None for the out-of-bag variant, which needs none and redraws the draws that leave
        nothing out.
    sizes : ResamplingSizes
    on_single_class : {"fit", "redraw", "drop", "error"} or None
        None: "fit" where refits are batched linear algebra, which can be fitted to one class, else "redraw".
    splits : Splits or None
        The caller's own splits; records that they can fill are not drawn.
    """

    needs: frozenset[str]
    n_inner: int | None = 50
    sizes: ResamplingSizes = field(default_factory=ResamplingSizes)
    on_single_class: Policy | None = None
    splits: Splits | None = None

    @property
    def made_by_splits(self) -> frozenset[str]:
        """The records that the caller's splits fill."""
        return frozenset() if self.splits is None else self.splits.fills & self.needs

    @property
    def streams(self) -> tuple[str, ...]:
        """The other records that take refits, in the order in which they are made."""
        wanted = self.needs - self.made_by_splits
        return tuple(name for name in STREAMS if name in wanted - ELSEWHERE)

    @property
    def refits_are_needed(self) -> bool:
        """Whether any record takes refits; the CUD bound and a new test set need none."""
        return bool(self.streams or self.made_by_splits)

    def n_fits(self, counts: NDArray[np.int32], groups: Groups | None = None) -> int:
        """Return the number of refits with these draws, for a progress bar; exact unless draws are drawn again."""
        n_resamples, n_samples = counts.shape
        sizes = (counts > 0).sum(axis=1)
        if groups is not None:
            n_samples, sizes = groups.n_groups, (counts[:, groups.first_rows] > 0).sum(axis=1)
        drawn = {
            "bootstrap": n_resamples,
            "inner": n_resamples * (self.n_inner or 0),
            "removed_cases": int(sizes[sizes > 1].sum()) + n_samples,
        }
        fits = sum(
            SCHEMES[name].n_fits(self.sizes, n_samples) if name in SCHEMES else drawn[name]
            for name in self.streams
        )
        return fits + (len(self.splits.test) if self.splits is not None and self.made_by_splits else 0)


def spawn_streams(rng: np.random.Generator) -> dict[str, np.random.Generator]:
    """Return a generator for each record, so that none depends on which others are made."""
    return dict(zip(STREAMS, rng.spawn(len(STREAMS)), strict=True))


@contextmanager
def kept_going(failed: dict[str, Exception] | None, need: str) -> Iterator[None]:
    """Note in `failed` why a record could not be made, so that the others can still be made; None raises.

    A single-class training set for which the caller requested an error always raises, and so does a warning that the
    caller has turned into an error.
    """
    try:
        yield
    except (SingleClassError, Warning):
        raise
    except Exception as error:
        if failed is None:
            raise
        failed[need] = error


def record_refits(
    plan: ResamplingPlan,
    refits: Refits,
    labels: Array,
    counts: NDArray[np.int32],
    *,
    streams: Mapping[str, np.random.Generator],
    advance: Callable[[int], object] = lambda _: None,
    failed: dict[str, Exception] | None = None,
    groups: Groups | None = None,
) -> dict[str, Any]:
    """Make the refits of a plan, each once.

    What is recorded for one need does not depend on the others: each has its own random numbers.

    Parameters
    ----------
    plan : ResamplingPlan
    refits : Refits
        From `prepare_refits`, or `difference` of two.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        Bootstrap draws.
    streams : mapping of str to numpy.random.Generator
        From `spawn_streams`.
    advance : callable
        Told the number of fits after each piece of work.
    failed : dict, default=None
        Filled with the exceptions of records that could not be made because the estimator cannot be fitted to such
        training sets or there are too few rows; None raises the first of them.
    groups : Groups, default=None
        Rows that belong together, as in `counts`; the needs must be among `KEEP_GROUPS` and those of `plan.splits`.

    Returns
    -------
    dict
        Fields of `Records`.
    """
    policy = plan.on_single_class or ("fit" if refits.batched else "redraw")
    # regardless of who reads the draws, so that no row depends on the others
    out_of_bag = plan.n_inner is None
    drawn = counts
    remarks: tuple[str, ...] = ()
    made: dict[str, Any] = {}

    def task_for(need: str) -> Task:
        draws, seeds = streams[need].spawn(2)
        errors: dict[int, Exception] | None = {} if need == "bootstrap" else None
        refit = refits.recorded(seeds, advance, errors)
        return Task(refit, labels, plan.sizes, policy, draws, groups, errors)

    drawing = task_for("bootstrap")
    if plan.needs & (DRAWN | {"bootstrap"}):
        with kept_going(failed, "bootstrap"):
            drawn, remarks = usable_draws(drawing, counts, need_out_of_bag=out_of_bag)
    for need in plan.streams:
        with kept_going(failed, need):
            if need in SCHEMES:
                made[need] = SCHEMES[need].record(task_for(need))
            elif failed and "bootstrap" in failed:
                raise failed["bootstrap"]
            elif need == "bootstrap":
                made[need] = record_bootstrap(drawing, drawn, remarks)
            elif need == "inner" and plan.n_inner is not None:
                # those who read inner draws read the draws beside them
                fitted = made["bootstrap"].counts if "bootstrap" in made else drawn
                made[need] = record_inner(task_for(need), fitted, plan.n_inner)
            elif need == "removed_cases":
                made[need] = record_removed_cases(task_for(need), drawn)
    if plan.splits is not None and plan.made_by_splits:
        refit = refits.recorded(streams["cv"].spawn(1)[0], advance)
        with kept_going(failed, "cv"):
            task = Task(refit, labels, plan.sizes, policy, streams["cv"], groups)
            made |= record_cv(task, plan.splits, plan.made_by_splits)
        if failed and "cv" in failed:
            failed |= dict.fromkeys(plan.made_by_splits, failed.pop("cv"))
    return made


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
    """Make the refits of a plan for one classifier, and also record its losses on the training set.

    Parameters
    ----------
    plan, labels, counts, advance
        As for `record_refits`.
    rng : numpy.random.Generator
        Parent of the streams of the records; its own state does not move.
    estimator : object
        Fitted scikit-learn classifier of two classes.
    X : array-like, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        Labels from ``estimator.classes_``.
    n_jobs : int, default=1
    """
    refits = prepare_refits(estimator, X, y, n_jobs=n_jobs)
    made = record_refits(plan, refits, labels, counts, streams=spawn_streams(rng), advance=advance)
    return replace(training_records(estimator, X, y, labels), **made)


def training_records(estimator: Any, X: Any, y: NDArray[Any], labels: Array) -> Records:
    """Return the losses of a fitted classifier on its training set; parameters as for `record_losses`."""
    predicted = estimator.predict(X)
    return Records(
        losses=np.asarray(predicted != y),
        predicted_positive=float((predicted == estimator.classes_[1]).mean()),
        positive=float((labels > 0.0).mean()),
    )
