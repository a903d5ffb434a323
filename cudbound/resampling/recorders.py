"""The registry of recorders: how each record is made, after which others, and per what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cudbound.bound.boundary import boundary_deviations, boundary_limits
from cudbound.bound.cud_bound import CudBound, solve_bound, solve_joint_bounds
from cudbound.metrics.targets import Target
from cudbound.records import Records, TestSetLosses
from cudbound.records.split_losses import N_HALVINGS
from cudbound.resampling.bolstering import record_bolstered
from cudbound.resampling.bootstrap import record_bootstrap, record_inner, usable_draws
from cudbound.resampling.configurations import record_tuning, search_splits
from cudbound.resampling.folds import (
    N_STRATIFIED_FOLDS,
    N_STRATIFIED_REPEATS,
    record_folds,
    record_leave_one_out,
    record_repeated_folds,
    record_stratified_folds,
)
from cudbound.resampling.nested import count_nested_fits, record_nested
from cudbound.resampling.own_test_sets import record_own_test_sets
from cudbound.resampling.recording import Counts, Recording
from cudbound.resampling.removed_cases import record_removed_cases
from cudbound.resampling.replacements import count_replacement_fits, record_replacements
from cudbound.resampling.single_class import SingleClassError
from cudbound.resampling.splits import (
    record_half_folds,
    record_half_splits,
    record_halvings,
    record_replicates,
    record_splits,
    record_test_set,
)
from cudbound.resampling.splitters import record_cv
from cudbound.resampling.task import Task

#: Records by name, and what recorders share, such as the draws for refits.
Made = dict[str, Any]


@dataclass(frozen=True)
class Recorder:
    """How one record is made.

    Attributes
    ----------
    record : callable
        ``record(recording, made)`` returns the record; per family it is ``record(recording, target)``, with one of its
        targets; per target ``record(recording, target, records)``, with the records as the target uses them.
    n_fits : callable or None
        ``n_fits(recording)``: number of refits, for the progress bar; exact unless draws are redrawn. None without
        refits.
    after : tuple of str
        Records that must be made first.
    per : {"call", "family", "target"}
        The unit for which it is made once.
    keeps_groups : bool
        Whether it keeps groups of rows together without a splitter: no rows are resampled, or whole groups are.
    """

    record: Callable[..., Any]
    n_fits: Callable[[Recording], int] | None = None
    after: tuple[str, ...] = ()
    per: Literal["call", "family", "target"] = "call"
    keeps_groups: bool = False


def _from_task(need: str, record: Callable[[Task], Any], n_fits: Callable[..., int], **more: Any) -> Recorder:
    """Return the recorder of a record that needs only ``n_fits(sizes, n_units)`` refits."""
    return Recorder(
        lambda recording, _: record(recording.task(need)),
        lambda recording: n_fits(recording.sizes, recording.n_units),
        **more,
    )


def _usable(recording: Recording, _: Made) -> tuple[Counts, tuple[str, ...]]:
    # regardless of who reads the draws, so that no row depends on the others
    task, out_of_bag = recording.task("bootstrap"), recording.n_inner is None
    return usable_draws(task, recording.counts, need_out_of_bag=out_of_bag, copies=recording.copies)


def _inner(recording: Recording, made: Made) -> Any:
    if recording.n_inner is None:
        return None
    # those who read inner draws read the draws beside them
    return record_inner(recording.task("inner"), made["bootstrap"].counts, recording.n_inner)


def _count_removed(recording: Recording) -> int:
    groups, counts = recording.sample.groups, recording.counts
    sizes = ((counts if groups is None else counts[:, groups.first_rows]) > 0).sum(axis=1)
    return int(sizes[sizes > 1].sum()) + recording.n_units


def _cv(recording: Recording, _: Made) -> dict[str, Any]:
    assert recording.splits is not None
    return record_cv(recording.task("cv"), recording.splits, recording.fills)


def _bolstered(recording: Recording, _: Made) -> Any:
    sample = recording.sample
    return record_bolstered(recording.estimator, sample.X, sample.y, rng=recording.streams["bolstered"])


def _tuned(recording: Recording, _: Made) -> Any:
    sample, search = recording.sample, recording.estimator
    return record_tuning(
        search,
        sample.X,
        sample.y,
        recording.counts,
        search_splits(search, sample.X, sample.y, sample.names_of_groups, recording.streams["cv"]),
        rng=recording.streams["tuned"],
        n_jobs=recording.n_jobs,
        advance=recording.advance,
    )


def _count_tuned(recording: Recording) -> int:
    return int(recording.estimator.n_splits_) * len(recording.estimator.cv_results_["params"])


def _held_out(recording: Recording, _: Made) -> TestSetLosses:
    found = record_test_set(recording.task("test_set"))
    # the second class is the event unless the caller says otherwise
    return (
        found if recording.scoring.event_class or found.event is None else replace(found, event=~found.event)
    )


def _own_test_sets(recording: Recording, _: Made) -> tuple[TestSetLosses, TestSetLosses]:
    """Return the losses of two classifiers on separate test sets, which are not differences."""
    assert recording.refits_of_each is not None
    one, other = recording.refits_of_each
    draws, *seeds = recording.streams["second_test_set"].spawn(3)
    task = Task(one.recorded(seeds[0]), recording.sample.labels, recording.sizes, recording.policy, draws)
    return record_own_test_sets(task, other.recorded(seeds[1]))


def _boundary(recording: Recording, _: Made) -> Any:
    assert recording.model is not None
    return boundary_deviations(
        recording.model,
        recording.counts,
        rate=recording.sizes.aci_rate,
        n_jobs=recording.n_jobs,
        limits=boundary_limits(recording.bound.limits),
    )


def _bound(recording: Recording, target: Target) -> tuple[CudBound, ...]:
    """Return the bounds for the family of a target."""
    assert recording.model is not None
    family = target.bounded
    shared: dict[str, Any] = {
        "confidence_level": target.bounded_level,
        "localization": recording.localization,
        "search": recording.search,
    }
    if len(family) == 1:
        return (solve_bound(recording.model, recording.counts, metric_rows=family[0], **shared),)
    return solve_joint_bounds(recording.model, recording.counts, family, **shared)


def _own_intervals(recording: Recording, target: Target, _: Records) -> dict[str, Any]:
    """Return the results of user-defined methods, or why they fail; all get the same random numbers."""
    sample, found = recording.sample, dict[str, Any]()
    level = 2.0 * target.each_level - 1.0 if target.one_sided else target.each_level
    for name, interval in recording.own.items():
        rng = deepcopy(recording.streams["own_intervals"])
        try:
            given = interval(recording.estimator, sample.X, sample.y, level, rng)
            if np.shape(given) != (3,):
                raise ValueError(
                    f"The method {name!r} must return an estimate and two limits. Got {given!r} instead."
                )
            estimate, low, high = given
            found[name] = float(estimate), float(low), float(high)
        except Exception as error:  # the rows of other methods do not depend on it
            found[name] = error
    return found


#: Every recorder, by the field of `Records` that it fills or the name of a shared record, in the order of execution.
RECORDERS: dict[str, Recorder] = {
    "bound": Recorder(_bound, per="family", keeps_groups=True),
    "boundary": Recorder(_boundary),
    "usable_draws": Recorder(_usable, keeps_groups=True),
    "bootstrap": Recorder(
        lambda recording, made: record_bootstrap(recording.task("bootstrap"), *made["usable_draws"]),
        lambda recording: len(recording.counts),
        after=("usable_draws",),
        keeps_groups=True,
    ),
    "inner": Recorder(
        _inner,
        lambda recording: len(recording.counts) * (recording.n_inner or 0),
        after=("bootstrap",),
        keeps_groups=True,
    ),
    "folds": _from_task("folds", record_folds, lambda sizes, n: min(sizes.n_folds, n)),
    "removed_cases": Recorder(
        lambda recording, made: record_removed_cases(
            recording.task("removed_cases"), made["usable_draws"][0]
        ),
        _count_removed,
        after=("usable_draws",),
        keeps_groups=True,
    ),
    "bolstered": Recorder(_bolstered, keeps_groups=True),
    "repeated_folds": _from_task(
        "repeated_folds", record_repeated_folds, lambda sizes, n: sizes.n_repeats * min(sizes.n_folds, n)
    ),
    "leave_one_out": _from_task("leave_one_out", record_leave_one_out, lambda sizes, n: n, keeps_groups=True),
    "splits": _from_task("splits", record_splits, lambda sizes, n: sizes.n_splits),
    "half_splits": _from_task(
        "half_splits", record_half_splits, lambda sizes, n: 2 * sizes.n_halvings * sizes.n_splits
    ),
    "half_folds": _from_task(
        "half_folds",
        record_half_folds,
        lambda sizes, n: 2 * sizes.n_halvings * min(sizes.n_folds, n // 2),
    ),
    "replicates": _from_task(
        "replicates", record_replicates, lambda sizes, n: sizes.n_replicates * sizes.n_splits
    ),
    "halvings": _from_task("halvings", record_halvings, lambda sizes, n: 2 * N_HALVINGS),
    "test_set": Recorder(_held_out, lambda recording: 1),
    "second_test_set": Recorder(_own_test_sets),
    "nested": _from_task("nested", record_nested, count_nested_fits),
    "replacements": _from_task("replacements", record_replacements, count_replacement_fits),
    "stratified_folds": _from_task(
        "stratified_folds",
        record_stratified_folds,
        lambda sizes, n: N_STRATIFIED_REPEATS * min(N_STRATIFIED_FOLDS, n),
        keeps_groups=True,
    ),
    "cv": Recorder(_cv, lambda recording: 0 if recording.splits is None else len(recording.splits.test)),
    "tuned": Recorder(_tuned, _count_tuned, keeps_groups=True),
    "own_intervals": Recorder(_own_intervals, per="target", keeps_groups=True),
}
#: Ways to reduce the refits of a record; the refits of other records depend only on the rows.
FEWER = {
    **dict.fromkeys(("bootstrap", "removed_cases"), ("a smaller n_resamples",)),
    "inner": ('resampling=Resampling(inner="oob")', "a smaller n_resamples"),
    **dict.fromkeys(
        ("folds", "repeated_folds", "splits", "half_splits", "half_folds", "replicates", "nested"),
        ("smaller resampling=Resampling(sizes=...)",),
    ),
}
#: Records that come with the classifier, without resampling.
GIVEN = frozenset({"losses", "scores", "second", "design"})
#: Records that keep groups of rows together without a splitter.
KEEP_GROUPS = GIVEN | {name for name, one in RECORDERS.items() if one.keeps_groups}


def in_order(needs: Iterable[str], filled: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the recorders for records, and for those needed before them, in the order of the registry.

    Records `filled` by splits are made from these, by the recorder "cv".
    """
    wanted = {name for name in needs if name in RECORDERS}
    if wanted & filled:
        wanted = wanted - filled | {"cv"}
    # backwards, since what comes first may itself come after others
    for name in reversed(RECORDERS):
        if name in wanted:
            wanted |= set(RECORDERS[name].after)
    return tuple(name for name in RECORDERS if name in wanted)


def refits_for(needs: Iterable[str], filled: frozenset[str] = frozenset()) -> bool:
    """Whether one of the records needs refits of the classifier; the record of a search refits its configurations."""
    return any(RECORDERS[name].n_fits for name in in_order(needs, filled) if name != "tuned")


def _fits_of(needs: Iterable[str], recording: Recording) -> dict[str, int]:
    counts = {name: RECORDERS[name].n_fits for name in in_order(needs, recording.fills)}
    return {name: count(recording) for name, count in counts.items() if count is not None}


def count_fits_of(needs: Iterable[str], recording: Recording) -> int:
    """Return the number of refits for records, for a progress bar."""
    return sum(_fits_of(needs, recording).values())


def what_helps(needs: Iterable[str], recording: Recording) -> tuple[str, ...]:
    """Return ways to speed up refits, and to reduce those of the record with the most."""
    fits = _fits_of(needs, recording)
    most = max(fits, key=lambda name: fits[name], default="")
    return (*(("n_jobs=-1",) if recording.n_jobs == 1 else ()), *FEWER.get(most, ()))


@contextmanager
def kept_going(failed: dict[str, Exception] | None, need: str) -> Iterator[None]:
    """Store in `failed` why a record could not be made, so that the others can still be made; None raises.

    A single-class training set always raises if the caller requested an error, and so does a warning that the caller
    turned into an error.
    """
    try:
        yield
    except (SingleClassError, Warning):
        raise
    except Exception as error:
        if failed is None:
            raise
        failed[need] = error


def make_records(
    needs: Iterable[str],
    recording: Recording,
    given: Mapping[str, Any] | None = None,
    failed: dict[str, Exception] | None = None,
) -> Made:
    """Make the records of a call, each once; `cudbound.resampling.target_records` makes those of families and targets.

    A record does not depend on which others are made: each has its own random numbers.

    Parameters
    ----------
    needs : iterable of str
        Fields of `Records`; fields that the caller's splits can fill are made from these.
    recording : Recording
    given : mapping, default=None
        Existing records.
    failed : dict, default=None
        Filled with the exceptions of records that could not be made, because the estimator cannot be fitted to such
        training sets or there are too few rows; None raises the first exception.

    Returns
    -------
    dict
        Fields of `Records`, including the given ones.
    """
    made: Made = dict(given or {})
    wanted = frozenset(needs) - made.keys()
    for name in in_order(wanted, recording.fills):
        recorder = RECORDERS[name]
        if recorder.per != "call" or name in made:
            continue
        with kept_going(failed, name):
            for first in recorder.after:
                if failed and first in failed:
                    raise failed[first]
            found = recorder.record(recording, made)
            made |= {one: found[one] for one in wanted & found.keys()} if name == "cv" else {name: found}
    if failed and "cv" in failed:
        failed |= dict.fromkeys(recording.fills & wanted, failed.pop("cv"))
    for shared in filter(None, (made, failed)):
        shared.pop("usable_draws", None)
    return made
