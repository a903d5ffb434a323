"""Losses of refits on bootstrap draws, and on bootstrap draws of those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.method_card import RecordKind
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, InnerErrors, no_information_error
from cudbound.records.losses import leave_one_out_bootstrap_error, ratio_or_nan
from cudbound.resampling.failed_refits import failed_refits_error
from cudbound.resampling.settings import TREATMENT, RefitContext, has_one_class, parted

#: Entries of the inner draws in memory at once, in a few arrays of 8 bytes per entry.
INNER_CHUNK_VALUES = 1_000_000

#: Share of bootstrap draws whose refits may fail. Beyond it, the remaining draws are too selective.
MAX_FAILED = 0.1
WITHOUT_COPIES = "refits without copies of rows, since the classifier splits its rows when it is fitted"


def record_bootstrap(
    context: RefitContext, counts: NDArray[np.int32], remarks: tuple[str, ...] = ()
) -> BootstrapLosses:
    """Fit every draw once and record its losses on all training points.

    Draws whose refits fail are left out and counted, up to `MAX_FAILED`. They are not redrawn, which would favor draws
    that are easy to fit.

    Parameters
    ----------
    context : RefitContext
        Its `failed` collects the refits that failed; if it is None, the first failure is raised.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The draws, from `usable_draws`.
    remarks : tuple of str
        The treatment of draws that could not be used as drawn.

    Raises
    ------
    FailedRefitsError
        If more refits fail.
    """
    losses, scores = parted(context.refit(counts))
    if context.failed:
        errors, n_draws = context.failed, len(counts)
        if len(errors) > MAX_FAILED * n_draws:
            limit = f", more than {MAX_FAILED:.0%}"
            error = failed_refits_error(errors, n_draws, "draw", limit)
            raise error from errors[min(errors)].cause
        kept = np.setdiff1d(np.arange(n_draws), list(errors))
        counts, losses = counts[kept], losses[kept]
        scores = {name: values[kept] for name, values in scores.items()}
        remarks = (*remarks, f"{len(errors)} of {n_draws} refits failed and were left out")
    no_information, positive = None, context.labels > 0
    if losses.dtype == bool and np.unique(context.labels).size == 2:  # and not differences of losses
        shares = (np.broadcast_to(positive, losses.shape), losses ^ positive)
        real, predicted = ((counts * share).sum(axis=1) / counts.sum(axis=1) for share in shares)
        no_information = no_information_error(real, predicted)
    uneven = bool((counts.sum(axis=1) != context.labels.size).any())
    return BootstrapLosses(counts, losses, remarks, no_information, uneven=uneven, **scores)


def usable_draws(inputs: Any, _: Any) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the draws to fit, and remarks on the others.

    They are the draws of the CUD bound, and those in their place that have the classes and, without inner draws, a row
    out of bag. It does not matter who reads them, so that no row of a table depends on the others.

    Raises
    ------
    ValueError
        If the policy is "drop" and no draw is left.
    """
    context, counts, need_out_of_bag = inputs.context(BOOTSTRAP), inputs.counts, inputs.n_inner is None
    remarks = []
    one_class = has_one_class(counts, context.labels)
    n_one_class = int(one_class.sum())
    if n_one_class and context.on_single_class == "drop":
        counts = counts[~one_class]
        if not len(counts):
            raise ValueError("Every bootstrap draw had only one class: none is left. Use more draws.")
    if n_one_class:
        remarks.append(f"{n_one_class} single-class draws {TREATMENT[context.on_single_class]}")

    # a class that every given draw holds may be one that a metric averages by itself
    of_class = [context.labels == label for label in np.unique(context.labels)]
    held = [rows for rows in of_class if counts[:, rows].any(axis=1).all()]
    if need_out_of_bag and (n_full := int((counts > 0).all(axis=1).sum())):
        remarks.append(f"{n_full} draws with no row out of bag redrawn")
    counts, again = counts.copy(), np.arange(len(counts))
    while True:
        drawn, usable = counts[again], np.ones(again.size, dtype=bool)
        for rows in held:
            usable &= drawn[:, rows].any(axis=1)
        if context.on_single_class != "fit":
            usable &= ~has_one_class(drawn, context.labels)
        if need_out_of_bag:
            usable &= (drawn == 0).any(axis=1)
        again = again[~usable]
        if not again.size:
            break
        counts[again] = draw_counts(context.labels.size, again.size, context.rng, context.groups)
    if not inputs.copies:
        return np.minimum(counts, 1), (*remarks, WITHOUT_COPIES)
    return counts, tuple(remarks)


def record_inner(context: RefitContext, counts: NDArray[np.int32], n_inner: int) -> InnerErrors:
    """Bootstrap every draw and record its leave-one-out bootstrap error.

    A draw is treated literally as a training set of n rows: copies of a point are separate rows, so one copy may be out
    of bag while another is in. This is the usual meaning of recomputing a statistic on a draw; here it makes Err(1) of
    a draw lower than that of the training set. The paper does not specify the resampling. With groups of rows, whole
    groups are drawn from those of the draw, and copies of a group are separate groups.

    Parameters
    ----------
    context : RefitContext
        Its generator gives the inner draws.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The outer draws.
    n_inner : int
        Inner draws per outer draw.
    """
    from sklearn.utils import gen_batches

    groups = context.units
    n_outer, n, size = *counts.shape, groups.n_groups
    draws, redraws = context.rng.spawn(2)
    step = max(1, INNER_CHUNK_VALUES // (n_inner * n))
    errors, optimism, n_one_class = [], [], 0
    for part in gen_batches(n_outer, step):
        outer = counts[part]
        drawn = outer[:, groups.first_rows].ravel()
        members = np.repeat(np.tile(np.arange(size), len(outer)), drawn).reshape(len(outer), size)
        places = (draws.random((len(outer), n_inner, size)) * size).astype(np.int32)
        inner = groups.spread(_count_places(np.take_along_axis(members[:, None, :], places, axis=2)))
        one_class = has_one_class(inner, context.labels) & ~has_one_class(outer, context.labels)[:, None]
        n_one_class += int(one_class.sum())
        if context.on_single_class == "redraw":
            again = np.argwhere(one_class)
            while len(again):
                fresh = (redraws.random((len(again), size)) * size).astype(np.int32)
                redrawn = groups.spread(
                    _count_places(np.take_along_axis(members[again[:, 0]], fresh, axis=1))
                )
                places[again[:, 0], again[:, 1]] = fresh
                inner[again[:, 0], again[:, 1]] = redrawn
                again = again[has_one_class(redrawn, context.labels)]
        losses = context.refit(np.ascontiguousarray(inner).reshape(-1, n)).reshape(inner.shape)
        # the share of each row in an outer draw minus that in an inner draw
        rows, rows_inner = outer.sum(axis=1)[:, None, None], inner.sum(axis=2, keepdims=True)
        gaps = (losses * (outer[:, None, :] / rows - inner / rows_inner)).sum(axis=2)
        kept = ~one_class if context.on_single_class == "drop" else np.ones_like(one_class)
        optimism.append(ratio_or_nan((gaps * kept).sum(axis=1), kept.sum(axis=1)))
        place_counts = _count_places(places)
        if context.on_single_class == "drop":
            place_counts[one_class] = 1  # a draw that leaves nothing out does not enter Err(1)
        of_members = losses if context.groups is None else groups.sum(losses)
        at_places = np.take_along_axis(of_members, members[:, None, :], axis=2)
        errors.append(leave_one_out_bootstrap_error(at_places, place_counts, groups.sizes[members]))
    remarks = (
        (f"{n_one_class} single-class inner draws {TREATMENT[context.on_single_class]}",)
        if n_one_class
        else ()
    )
    return InnerErrors(np.concatenate(errors), n_outer * n_inner, remarks, np.concatenate(optimism))


def _count_places(places: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Count how often each of 0..n-1 occurs along the last axis, of length n."""
    n = places.shape[-1]
    flat = places.reshape(-1, n) + np.arange(places.size // n)[:, None] * n
    return np.bincount(flat.ravel(), minlength=places.size).reshape(places.shape).astype(np.int32)


def _inner(inputs: Any, records_by_name: Mapping[str, Any]) -> InnerErrors | None:
    if inputs.n_inner is None:
        return None
    # those who read inner draws read the draws beside them
    return record_inner(inputs.context(INNER), records_by_name[BOOTSTRAP.name].counts, inputs.n_inner)


#: The draws that are refitted, for all records that read them.
USABLE_DRAWS = RecordKind(
    "usable_draws", holds=tuple, words="draws that can be fitted", record=usable_draws, whole_groups=True
)
BOOTSTRAP: RecordKind[BootstrapLosses] = RecordKind(
    "bootstrap",
    holds=BootstrapLosses,
    words="refits on bootstrap draws",
    record=lambda inputs, made: record_bootstrap(inputs.context(BOOTSTRAP), *made[USABLE_DRAWS.name]),
    n_fits=lambda inputs: len(inputs.counts),
    after=(USABLE_DRAWS,),
    whole_groups=True,
    scored=True,
    some_fail=True,
    of_every_metric=True,
    of_draws=True,
)
INNER = RecordKind(
    "inner",
    holds=InnerErrors,
    words="bootstrap draws of bootstrap draws",
    record=_inner,
    n_fits=lambda inputs: len(inputs.counts) * (inputs.n_inner or 0),
    after=(BOOTSTRAP,),
    whole_groups=True,
    of_every_metric=True,
    of_draws=True,
    optional=True,
)
