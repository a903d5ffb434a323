"""A CUD result as the parts of a file, and the search problem of these parts on the data again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.audit.origin import Origin, saved_asked
from cudbound.audit.saved_result import (
    SavedBound,
    SavedLimits,
    SavedMetric,
    SavedResult,
    SavedSettings,
)
from cudbound.bound.joint import joint_problem
from cudbound.exceptions import SavedResultError
from cudbound.metrics.metric import MetricRows
from cudbound.problem.additive_model import AdditiveModel
from cudbound.problem.problem import Problem
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search
from cudbound.versions import versions

if TYPE_CHECKING:
    from cudbound.bound.cud_result import CudResult


def save_bound(results: Sequence[CudResult]) -> SavedBound:
    """Return what was proved about the draws of one result, or of several that hold together."""
    first = results[0]
    draws = first.draws if first.joint is None else first.joint.draws
    intervals = tuple(
        SavedLimits(SavedMetric.of(one.metric), one.estimate, one.q, *one.confidence_interval)
        for one in results
    )
    names = tuple(status.name.lower() for status in draws.status)
    return SavedBound(intervals, draws.lower, draws.upper, names, draws.witness)


def save_settings(
    origin: Origin,
    search: Search,
    confidence_level: float,
    localization: float,
    seed: int | None,
    polish: bool,
) -> SavedSettings:
    """Return the arguments that decide the numbers of a bound."""
    return SavedSettings(
        confidence_level,
        localization,
        seed,
        saved_asked(origin.asked),
        search.of,
        search.solver,
        polish,
        vars(search.limits),
    )


def save_result(result: CudResult) -> SavedResult:
    """Return the parts of a file for the result of `cudbound.cud_interval`.

    Raises
    ------
    SavedResultError
        If the result does not say where it comes from, or is one of several that hold together.
    """
    if result.origin is None or result.joint is not None:
        raise SavedResultError(
            "this result is a part of a table: save the table of cudbound.compare_intervals, or a result of "
            "cudbound.cud_interval"
        )
    seed = None if result.run is None else getattr(result.run, "seed", None)
    return SavedResult(
        versions(),
        result.origin.data,
        save_settings(
            result.origin,
            result.search,
            result.confidence_level,
            result.problem.localization,
            seed,
            result.polish is not None,
        ),
        result.problem.counts,
        result.origin.classifier(result.problem),
        (save_bound([result]),),
        None,
        None,
    )


def bound_problem(
    model: AdditiveModel, counts: NDArray[np.int32], seen: Sequence[MetricRows], localization: float
) -> Problem:
    """Return the problem whose draws a saved bound of these metrics is of."""
    if len(seen) > 1:
        return joint_problem(model, counts, seen, localization)
    return draws_problem(model, counts, localization, seen[0].score_weights(counts))
