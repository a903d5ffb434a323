"""Run a study on the cores of one computer or on a Dask cluster, and keep what is done in its store."""

from __future__ import annotations

import ctypes
import heapq
import math
import os
import pickle
import signal
import time
import warnings
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import islice, takewhile
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import cloudpickle
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from cudbound.bars import Progress
from cudbound.exceptions import StudyError, StudyInterrupted
from cudbound.intervals import METHODS, Method
from cudbound.resampling.workers import begin_worker
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.design.trial import check_learners
from cudbound.study.run.cluster import connect, run_on_cluster
from cudbound.study.run.replicate import alone, run_replicate
from cudbound.study.run.rows import ReplicateRow
from cudbound.study.run.shards import Shard, check_shard, replicates_of
from cudbound.study.run.status import StudyStatus
from cudbound.study.run.store import Store
from cudbound.validation import check_choice, check_n_jobs, check_seconds

BACKENDS = ("processes", "threads")
#: Seconds that a worker computes before it hands over what it has: as much as a kill can lose, a thousand times more
#: than handing over costs.
BATCH_SECONDS = 0.5
#: Settings of memory by their numbers in glibc's malloc.h, and a unit.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, MIB = -1, -3, 2**20
#: Seconds to wait for the scheduler of a cluster, and for its first worker.
CONNECT_SECONDS = 10

#: What `_run_batch` is called with, and what `_run_in_worker` is.
_Batch = tuple[Study, Scenario, int, tuple[int, ...]]
_Sent = tuple[bytes, int, tuple[int, ...]]


def run_study(
    study: Study,
    store_path: str | Path,
    *,
    n_jobs: int | None = 1,
    backend: str = "processes",
    dask: str | None = None,
    shard: Shard | None = None,
    limit_minutes: float | None = None,
    progress: bool | None = None,
) -> StudyStatus:
    """Run all replicates of a study, or of a shard of it, that its store lacks.

    Parameters
    ----------
    study : Study
        For processes and clusters its populations, classifiers and methods are sent with cloudpickle, which takes
        functions and classes of notebooks and scripts too.
    store_path : str or path
        Where results go; made where there is none. A store of the same study is resumed. More replicates, sizes
        and scenarios than before may be asked for; any other change is refused.
    n_jobs : int or None, default=1
        Workers; -1 for all cores. A cluster has the workers that it has.
    backend : {"processes", "threads"}, default="processes"
        Threads share memory and start at once, but Python code runs in one at a time.
    dask : str or None, default=None
        Address of the scheduler of a Dask cluster, such as ``"tcp://host:8786"``, whose workers have this package;
        takes the place of `backend`.
    shard : (int, int) or None, default=None
        ``(i, n)`` runs the i-th of n shards, from 1 up: of every cell the replicates i - 1, i - 1 + n, and so on. Each
        of n processes runs one, into a store of its own; `cudbound.study.run.merge.merge_stores` joins the stores.
    limit_minutes : float or None, default=None
        Minutes after which no worker is given more; what workers have by then is finished, at most two batches of half
        a second or of one replicate each. The same call resumes from there.
    progress : bool or None, default=None
        Whether to show a bar over the replicates, with the time that they are likely to take. None shows it from two
        seconds on, on a terminal or in a notebook.

    Returns
    -------
    StudyStatus
        What the store holds of the whole study at the end.

    Raises
    ------
    ValueError
        If a parameter is out of range, or there are more shards than replicates.
    StudyError
        If a method needs a CUD bound and a learner cannot have one, which is tried before the first replicate. If the
        store cannot be used, see `Store.resume`, the disk is full, a worker was killed, something of the study
        cannot be sent to workers or read by them, or a cluster does not answer, has no worker, has one with another
        version of this package, or is lost. The store keeps what was done.
    ImportError
        If `dask` is given and the package ``distributed`` is missing.
    StudyInterrupted
        On Ctrl-C. The store keeps what was done; the same call resumes from there.

    Guarantee
    ---------
    What the store holds at the end depends on the study and the shard alone, but for times: it is the same for any
    number of workers, backend, and number of interruptions. Only this process writes. A kill at any moment loses at
    most the replicates that workers have not yet handed over, about half a second each.

    Notes
    -----
    Every worker computes with one thread of BLAS: more would compete with the other workers, and could round
    otherwise. Warnings of fits, the same ones thousands of times, are not shown; those of this package stand in the
    remarks of the rows. A replicate that fails is a row with its traceback; see `cudbound.replay`.

    Examples
    --------
    >>> import tempfile
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.study.populations.population import Cases, Truth
    >>> from cudbound.study.design.scenario import Scenario, Study
    >>> class Coin:
    ...     name, title = "coin", "labels without features"
    ...     def draw(self, n, rng):
    ...         return Cases(rng.normal(size=(n, 1)), rng.integers(0, 2, n), lambda classifier: Truth(0.5))
    >>> study = Study(
    ...     "quick", (Scenario("coin", Coin(), LeastSquaresClassifier),), (30,), 5, ("langford-binomial",)
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     status = run_study(study, Path(folder) / "quick.sqlite")
    >>> status.n_done, status.n_failed
    (5, 0)
    """
    shown = Progress.of(progress)
    workers = check_n_jobs(n_jobs)
    check_choice("backend", backend, BACKENDS)
    check_seconds("limit_minutes", limit_minutes)
    shard = check_shard(shard, max(study.cells.values()))
    check_learners(study)  # before there is a store, which would belong to this study
    end = math.inf if limit_minutes is None else time.monotonic() + 60.0 * limit_minutes
    with ExitStack() as stack:
        client = None if dask is None else stack.enter_context(connect(dask, CONNECT_SECONDS))
        store = stack.enter_context(Store.resume(store_path, study, shard))
        left = store.missing(shard)
        n_total = sum(len(replicates_of(shard, n_each)) for n_each in study.cells.values())
        pace = _Pace()
        bar = stack.enter_context(_bar(shown, n_total, left))
        try:
            batches = takewhile(lambda _: time.monotonic() < end, _batches(study, left, pace))
            if client is not None:
                found = run_on_cluster(client, _run_in_worker, _sent(batches, _pack(study)))
            elif workers == 1:
                found = _one_by_one(batches)
            elif backend == "threads":
                found = _in_threads(batches, workers)
            else:
                found = _in_processes(_sent(batches, _pack(study)), workers)
            stack.callback(_stop, found)
            for rows in found:
                store.add(rows)
                pace.learn(rows)
                bar.update(len(rows))
        except KeyboardInterrupt:
            status = store.status()
            raise StudyInterrupted(str(store.path), status.n_done, status.n_total) from None
        except BrokenProcessPool as error:
            raise StudyError(
                f"a worker was killed, perhaps for lack of memory; {str(store.path)!r} keeps what was done: run the "
                "same study with the same store and fewer workers to resume"
            ) from error
    with Store.open(store_path) as store:
        return store.status()


def run_in_memory(
    study: Study, *, n_jobs: int | None = 1, progress: bool | None = None
) -> list[ReplicateRow]:
    """Run all replicates of a study that is not kept, and return them in the order of their keys.

    `n_jobs` and `progress` are those of `run_study`, and so are the rows. Ctrl-C ends it.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    StudyError
        As for `run_study`, as far as there is no store.
    """
    shown, workers = Progress.of(progress), check_n_jobs(n_jobs)
    check_learners(study)
    left = {cell: list(range(n_each)) for cell, n_each in study.cells.items()}
    pace, kept = _Pace(), list[ReplicateRow]()
    with ExitStack() as stack:
        bar = stack.enter_context(_bar(shown, sum(map(len, left.values())), left))
        batches = _batches(study, left, pace)
        found = _one_by_one(batches) if workers == 1 else _in_processes(_sent(batches, _pack(study)), workers)
        stack.callback(_stop, found)
        try:
            for rows in found:
                kept += rows
                pace.learn(rows)
                bar.update(len(rows))
        except BrokenProcessPool as error:
            raise StudyError("a worker was killed, perhaps for lack of memory; use fewer workers") from error
    return sorted(kept, key=lambda row: row.key)


def _bar(
    shown: Progress, n_total: int, left: Mapping[tuple[str, int], list[int]]
) -> AbstractContextManager[Any]:
    """Return the bar over the replicates, some of which are done."""
    n_done = n_total - sum(map(len, left.values()))
    return shown.bar(total=n_total, initial=n_done, desc="replicates", unit="replicate", smoothing=0)


def _run_batch(
    study: Study, scenario: Scenario, n: int, replicates: tuple[int, ...], stop: Event | None = None
) -> list[ReplicateRow]:
    """Run the replicates that one worker was given; if `stop` is set in the meantime, only the first of them."""
    rows = []
    for replicate in replicates:
        if stop is not None and stop.is_set():
            break
        rows.append(run_replicate(study, scenario, n, replicate))
    return rows


@dataclass
class _Pace:
    """How long replicates of each cell take, learned while they come in."""

    seconds: dict[tuple[str, int], float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))

    def learn(self, rows: list[ReplicateRow]) -> None:
        for row in rows:
            self.seconds[row.key.scenario, row.key.n] += row.seconds
            self.counts[row.key.scenario, row.key.n] += 1

    def batch_size(self, scenario: str, n: int) -> int:
        """Return how many replicates fill a batch; one while that is unknown."""
        count, seconds = self.counts[scenario, n], self.seconds[scenario, n]
        return max(1, int(BATCH_SECONDS * count / seconds)) if seconds > 0.0 else 1


def _batches(study: Study, left: Mapping[tuple[str, int], list[int]], pace: _Pace) -> Iterator[_Batch]:
    """Yield what is left to do; lazily, so that sizes follow the pace.

    The cell of which the least share is done is next, so that a run that is stopped early has about the same share of
    the replicates of every cell.
    """
    scenarios = {scenario.name: scenario for scenario in study.scenarios}
    n_each = study.cells
    waiting = [
        (replicates[0] / n_each[cell], place, cell, iter(replicates))
        for place, (cell, replicates) in enumerate(left.items())
    ]
    heapq.heapify(waiting)
    while waiting:
        _, place, cell, numbers = heapq.heappop(waiting)
        batch = tuple(islice(numbers, pace.batch_size(*cell)))
        if batch:
            heapq.heappush(waiting, ((batch[-1] + 1) / n_each[cell], place, cell, numbers))
            yield study, scenarios[cell[0]], cell[1], batch


def _one_by_one(batches: Iterator[_Batch]) -> Generator[list[ReplicateRow], None, None]:
    for batch in batches:
        with alone():
            rows = _run_batch(*batch)
        yield rows


def _in_threads(batches: Iterator[_Batch], n_jobs: int) -> Generator[list[ReplicateRow], None, None]:
    stop, seats = Event(), Semaphore(n_jobs)

    def run(batch: _Batch) -> list[ReplicateRow]:
        with seats:
            return _run_batch(*batch, stop)

    # limits and filters belong to the whole process: set once here, since threads would undo each other's
    with alone(), parallel_config("threading", n_jobs=n_jobs):
        try:
            yield from Parallel(return_as="generator_unordered", batch_size=1)(
                delayed(run)(batch) for batch in batches
            )
        finally:
            # a thread that is still inside the solver when Python ends would take the whole process down
            stop.set()
            for _ in range(n_jobs):
                seats.acquire()


def _in_processes(sent: Iterator[_Sent], n_jobs: int) -> Generator[list[ReplicateRow], None, None]:
    # Ctrl-C reaches the workers of a terminal too, and they would print where they were; this process ends them
    begun = {"initializer": begin_worker, "initargs": (os.getpid(),)}
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1, **begun), ExitStack() as stack:
        with _ctrl_c_held_back():  # the initializer comes late: a worker takes a second to start
            found = Parallel(return_as="generator_unordered", batch_size=1)(
                delayed(_run_in_worker)(*batch) for batch in sent
            )
            stack.callback(_stop, found)
        yield from found


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Answer Ctrl-C at the end; processes that start here inherit that they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _sent(batches: Iterator[_Batch], packed: Mapping[str, bytes]) -> Iterator[_Sent]:
    """Yield batches as they are sent to other processes."""
    for _, scenario, n, replicates in batches:
        yield packed[scenario.name], n, replicates


def _pack(study: Study) -> dict[str, bytes]:
    """Write each scenario with what it takes to run it, the methods among them, since they may be the user's own.

    It is done once, here, because what cannot be sent would otherwise be found out by threads of joblib and Dask.
    """
    methods = tuple(METHODS[name] for name in study.methods)
    packed = {}
    for scenario in study.scenarios:
        try:
            packed[scenario.name] = cloudpickle.dumps((replace(study, scenarios=(scenario,)), methods))
        except Exception as error:  # of any kind: classes of the user may say how they are written
            raise StudyError(
                f"scenario {scenario.name!r}: its population, its classifier or a method of the study cannot be sent "
                f'to worker processes; use backend="threads" ({type(error).__name__}: {error})'
            ) from error
    return packed


@lru_cache(maxsize=100)
def _unpack(packed: bytes) -> tuple[Study, tuple[Method, ...]]:
    """Read what `_pack` wrote, once per worker, so that what a population has found out serves the next batch too."""
    try:
        read: tuple[Study, tuple[Method, ...]] = pickle.loads(packed)
    except Exception as error:
        raise StudyError(
            "a worker cannot read a population, a classifier or a method of the study; define it in the script itself "
            f"or in a module that workers can import ({type(error).__name__}: {error})"
        ) from error
    return read


def _run_in_worker(packed: bytes, n: int, replicates: tuple[int, ...]) -> list[ReplicateRow]:
    _settle_in()
    study, methods = _unpack(packed)
    (scenario,) = study.scenarios
    METHODS.update((method.name, method) for method in methods)
    with warnings.catch_warnings(action="ignore"):
        return _run_batch(study, scenario, n, replicates)


@cache
def _settle_in() -> None:
    """Prepare a worker for good: one that belongs to a cluster may run batches in threads, and none must undo it."""
    threadpool_limits(1)
    # Dask makes the C library of its workers give back memory as soon as it is free, and asking for it again, for
    # every array, takes two thirds as long as all computing; these are the most that glibc would come to by itself
    with suppress(AttributeError, OSError, TypeError):  # other C libraries have no such settings
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, 32 * MIB)
        mallopt(M_TRIM_THRESHOLD, 64 * MIB)


def _stop(found: Generator[list[ReplicateRow], None, None]) -> None:
    """Let go of batches that are not done; there are some after an error or Ctrl-C only."""
    # joblib's advice to those who stop on purpose
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        found.close()
