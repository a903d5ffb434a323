"""Time taken in turns, and the table of the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from statistics import median
from typing import Any

from tabulate import tabulate


@dataclass(frozen=True)
class Row:
    """One comparison or one measured quantity; `aim` says what it should be."""

    what: str
    problem: str
    measured: str
    result: str
    aim: str = ""
    reached: bool | None = None
    unsolved: int = 0


def table(rows: Sequence[Row]) -> str:
    """Return the rows as one aligned table, without the count of unsolved draws."""
    words = {True: "yes", False: "NO", None: ""}
    shown = [[*astuple(row)[:5], words[row.reached]] for row in rows]
    return tabulate(shown, headers=[field.name for field in fields(Row)[:6]], disable_numparse=True)


def in_turns(sides: Mapping[str, Callable[[], Any]], repetitions: int) -> dict[str, float]:
    """Return the median seconds of each side; all are called once before, then in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side()
    for _ in range(repetitions):
        for name, side in sides.items():
            begun = time.perf_counter()
            side()
            seconds[name].append(time.perf_counter() - begun)
    return {name: median(values) for name, values in seconds.items()}


def milliseconds(seconds: float) -> str:
    """Format a duration with three significant digits."""
    return f"{1e3 * seconds:.3g} ms"
