"""
Exact branch-and-bound solver of the CUD bound; use it through cudbound.solve.solve_draws.
"""

from collections.abc import Callable
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Status(enum.IntEnum):
    """How the search of one draw ended."""

    OPTIMAL = 0

    NODE_LIMIT = 1

    TIME_LIMIT = 2

    INTERRUPTED = 3

    INACCURATE = 4

    DECIDED = 5

class Side(enum.Enum):
    """Which sign of the deviation counts."""

    BOTH = 0

    POSITIVE = 1

    NEGATIVE = 2

class Draws:
    """Results of all draws; row d belongs to draw d."""

    @property
    def lower(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def upper(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def status(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
        """Members of Status."""

    @property
    def nodes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    @property
    def witness(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """Shape (n_draws, n_features)."""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""

class Raw:
    """The arrays of a problem in the caller's coordinates; see draws.hpp."""

    def __init__(self, design: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], anchor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], penalty: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, map: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], exact: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], error: float) -> None: ...

class Problem:
    """The arrays of all draws' problems; see draws.hpp."""

    def __init__(self, design: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], anchor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, draw_scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, penalty: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, anchor_penalty: float, l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: str, alpha: float, raw: Raw | None) -> None: ...

def solve_draws(problem: Problem, side: Side, node_limit: int, time_limit: float, total_node_limit: int, total_time_limit: float, ranks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], known: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, threads: int, progress: Callable[[int], None] | None) -> Draws:
    """
    Solve all draws, or as much of them as the quantiles at these ranks need.
    """

def loss_at(loss: str, margin: float) -> tuple[float, float, float]:
    """A loss and its first two derivatives in the margin."""

def minimize(problem: Problem) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')]]:
    """
    Minimizers of the loss of each draw, whether it has one, and whether it was found.
    """

def fit_all(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], penalty: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, loss: str, intercept: bool, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')]]:
    """
    Scores of all rows by each fit, their doubts, and which fits were found; see fits.hpp.
    """
