"""A table of intervals as the parts of a file, and the arguments that compute it again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.audit.origin import Origin, asked_again
from cudbound.audit.saved_result import SavedResult, SavedRow, SavedTable
from cudbound.bound.cud_result import CudResult
from cudbound.bound.saved_bounds import save_bound, save_settings
from cudbound.exceptions import SavedResultError
from cudbound.resampling import ResamplingSizes
from cudbound.results import IntervalEstimate
from cudbound.solve.limits import SearchLimits
from cudbound.solve.search import Search
from cudbound.versions import versions


@dataclass(frozen=True, eq=False)
class TableSource:
    """What a table of intervals comes from.

    Attributes
    ----------
    origin : Origin
    counts : ndarray of int32, shape (n_resamples, n_samples)
    search : Search
    rate : float
        Localization rate on the scale of the mean loss.
    seed : int or None
    results : tuple of tuple of CudResult
        Those that hold together side by side.
    arguments : mapping of str to object
        Those of `cudbound.compare_intervals`, by their names.
    """

    origin: Origin
    counts: NDArray[np.int32]
    search: Search
    rate: float
    seed: int | None
    results: tuple[tuple[CudResult, ...], ...]
    arguments: Mapping[str, Any]


class WithSource:
    """A result that is saved: pickled or copied it leaves out its source, which holds the rows of patients."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "source": None}


def save_table(rows: tuple[IntervalEstimate, ...], source: TableSource | None) -> SavedResult:
    """Return the parts of a file for a table.

    Raises
    ------
    SavedResultError
        If it is not known what the table comes from.
    """
    if source is None:
        raise SavedResultError(
            "it is not known what this table comes from, as after it was pickled or copied: save the one that "
            "cudbound.compare_intervals or cudbound.error_interval returned"
        )
    level, polish = float(source.arguments["confidence_level"]), bool(source.arguments["polish"])
    return SavedResult(
        versions(),
        source.origin.data,
        save_settings(source.origin, source.search, level, source.rate, source.seed, polish),
        source.counts,
        source.origin.classifier(source.results[0][0].problem) if source.results else None,
        tuple(save_bound(together) for together in source.results),
        _table(rows, source.arguments),
        None,
    )


def saved_row(row: IntervalEstimate) -> SavedRow:
    """Return the numbers of a row, None for those that could not be computed."""
    numbers = (None if math.isnan(value) else value for value in (row.estimate, row.low, row.high))
    return SavedRow(row.method, row.metric, *numbers)


def _table(rows: tuple[IntervalEstimate, ...], arguments: Mapping[str, Any]) -> SavedTable:
    methods, sizes, cv = (arguments[name] for name in ("methods", "sizes", "cv"))
    counted = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    given = {"cv": cv is not None and not counted, "test_set": arguments["test_set"] is not None}
    return SavedTable(
        methods=methods if isinstance(methods, str) else tuple(methods),
        alternative=arguments["alternative"],
        localization=arguments["localization"],
        inner=arguments["inner"],
        on_single_class=arguments["on_single_class"],
        options=arguments["options"] or {},
        sizes={} if sizes is None else vars(sizes),
        cv=int(cv) if counted else None,
        fallback=arguments["fallback"],
        given=tuple(name for name, is_given in given.items() if is_given),
        rows=tuple(map(saved_row, rows)),
    )


def arguments_again(saved: SavedResult) -> dict[str, Any]:
    """Return the arguments of `cudbound.compare_intervals` that compute a saved table again, but for the data.

    Raises
    ------
    ValueError
        If nobody can have passed such arguments.
    """
    table, settings = saved.table, saved.settings
    assert table is not None, "only a table is computed again"
    return {
        "methods": table.methods if isinstance(table.methods, str) else list(table.methods),
        "metric": asked_again(settings.asked, saved.data),
        "confidence_level": settings.confidence_level,
        "alternative": table.alternative,
        "n_resamples": len(saved.counts),
        "localization": table.localization,
        "inner": table.inner,
        "on_single_class": table.on_single_class,
        "options": table.options,
        "sizes": ResamplingSizes(**table.sizes),
        "cv": table.cv,
        "fallback": table.fallback,
        "polish": settings.polish,
        "solver": settings.solver,
        "rng": settings.seed,
        "limits": search_limits(settings.limits),
    }


def search_limits(saved: Mapping[str, float | None]) -> SearchLimits:
    """Return the limits of a search; numbers of nodes are whole again."""
    try:
        return SearchLimits(
            **{
                name: int(value) if value is not None and "nodes" in name and value < math.inf else value
                for name, value in saved.items()
            }
        )
    except TypeError as error:
        raise SavedResultError("'settings.limits' must have the fields of cudbound.SearchLimits") from error
