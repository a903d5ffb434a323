"""The rows of a saved table, computed again from the seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cudbound.audit.saved_result import SavedResult
from cudbound.tables.compare_intervals import compare_intervals
from cudbound.tables.data_again import DataAgain
from cudbound.tables.saved_table import arguments_again, saved_row
from cudbound.tables.verification import Check
from cudbound.versions import versions

#: How far the numbers of a row that rests on refits may be apart: half of the last digit that is printed. A refit may
#: give a row close to the boundary another class where the linear algebra adds in another order.
ROW = 5e-4


def check_rows(saved: SavedResult, data: DataAgain, n_jobs: int | None, given: Mapping[str, Any]) -> Check:
    """Compute a table again."""
    table, settings = saved.table, saved.settings
    assert table is not None, "only a table has rows"
    timed = any(
        "seconds" in name and value not in (None, math.inf) for name, value in settings.limits.items()
    )
    reasons = {
        "without the classifier": data.estimator is None,
        "since no seed is known": settings.seed is None,
        "since the clock ended its searches": timed,
        **{f"without {name}, which a file cannot hold": given.get(name) is None for name in table.given},
    }
    for reason, holds in reasons.items():
        if holds:
            return Check("rows", None, f"not computed again, {reason}")
    try:
        arguments = arguments_again(saved) | {name: given[name] for name in table.given}
        found = compare_intervals(
            data.estimator,
            data.X,
            data.y,
            groups=data.groups,
            sample_weight=data.sample_weight,
            n_jobs=n_jobs,
            progress=False,
            **arguments,
        )
    except (ValueError, TypeError) as error:
        return Check("rows", False, f"they cannot be computed again: {error}")
    again = {(row.method, row.metric): saved_row(row) for row in found}
    for row in table.rows:
        other = again.get((row.method, row.metric))
        for name in ("estimate", "low", "high"):
            was, now = getattr(row, name), None if other is None else getattr(other, name)
            if (was is None) != (now is None) or (was is not None and not abs(was - now) <= ROW):
                text = f"{name} of {row.method}, {row.metric}: {_told(now)} here, {_told(was)} in the file"
                return Check("rows", False, f"{text}{_of_other_versions(saved)}")
    return Check("rows", True, f"{len(table.rows)} computed again from the seed, the same to {ROW:g}")


def _told(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


def _of_other_versions(saved: SavedResult) -> str:
    now = versions()
    others = [f"{name} {was}" for name, was in saved.versions.items() if now.get(name, was) != was]
    return f"; the file was made with {', '.join(others)}" if others else ""
