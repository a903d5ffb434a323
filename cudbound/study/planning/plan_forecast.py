"""A forecast of the time of a plan, reported after its first samples."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from cudbound.basis.forecast import SECONDS_BEFORE_FORECAST, tell
from cudbound.study.run.replicate_rows import ReplicateRow

#: What makes a plan faster.
FASTER = ("a smaller n_replicates", "a smaller n_resamples")


class PlanForecast:
    """Warns once if samples will take long, as soon as the first few allow a forecast.

    A size without a sample so far is assumed to take as long per patient as the largest size with one.

    Parameters
    ----------
    sizes : sequence of int
    n_each : int
        Samples of each size.
    n_jobs : int
        Workers.
    clock : callable, default=time.monotonic
    """

    def __init__(
        self, sizes: Sequence[int], n_each: int, n_jobs: int, clock: Callable[[], float] = time.monotonic
    ):
        self._sizes, self._n_each, self._n_jobs, self._clock = sizes, n_each, n_jobs, clock
        self._seconds: dict[int, list[float]] = defaultdict(list)
        self._begun: float | None = None
        self._judged = False

    def __call__(self, rows: Iterable[ReplicateRow]) -> None:
        """Add the samples that have been analyzed."""
        if self._judged:
            return
        if self._begun is None:
            # the first sample also loads libraries
            self._begun = self._clock()
            return
        for row in rows:
            self._seconds[row.key.n].append(row.seconds)
        if self._clock() - self._begun < SECONDS_BEFORE_FORECAST:
            return
        self._judged = True
        known = {n: fmean(seconds) for n, seconds in self._seconds.items()}
        largest = max(known)
        total = self._n_each * sum(known.get(n, known[largest] * n / largest) for n in self._sizes)
        helps = (*(("n_jobs=-1",) if self._n_jobs == 1 else ()), *FASTER)
        tell(f"{self._n_each * len(self._sizes):,} samples", total / self._n_jobs, helps)
