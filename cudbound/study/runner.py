"""Run a study on the cores of one computer or on a Dask cluster, and store the results."""

from __future__ import annotations

import math
import os
import pickle
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import cloudpickle
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from cudbound.basis.calls import begin_worker, current_progress, public_call
from cudbound.basis.exceptions import StudyError, StudyInterrupted, install_command
from cudbound.basis.validation import check_integer, check_limit, check_n_jobs
from cudbound.study.design_file import check_learners
from cudbound.study.replicate import ReplicateRow, Shard, alone, check_shard, replicates_of, run_replicate
from cudbound.study.scenario import Study, cells_of
from cudbound.study.store import Store, StudyStatus, store_error

#: Seconds of computation before a worker returns its results: the most that a kill can lose, and a thousand times the
#: cost of returning them.
BATCH_SECONDS = 0.5

#: Scenario and n.
_Cell = tuple[str, int]
_Rows = Generator[list[ReplicateRow], None, None]


@public_call
def run_study(
    study: Study,
    store_path: str | Path,
    *,
    n_jobs: int | None = 1,
    dask: str | None = None,
    shard: Shard | None = None,
    limit_minutes: float | None = None,
) -> StudyStatus:
    """Run all missing replicates of a study, or of one of its shards.

    Parameters
    ----------
    study : Study
        Its populations, classifiers and methods are sent to workers with cloudpickle, which also supports functions and
        classes defined in notebooks and scripts.
    store_path : str or path
        File for the results; created if missing. A store of the same study is resumed. Replicates, sizes and scenarios
        may be added; any other change that may alter results, and another version of this package, raise StudyError.
    n_jobs : int or None, default=1
        Worker processes; -1 for all cores. No effect on a cluster.
    dask : str or None, default=None
        Address of the scheduler of a Dask cluster, such as ``"tcp://host:8786"``, whose workers have this package. Its
        workers are used instead of processes of this computer.
    shard : (int, int) or None, default=None
        ``(i, n)`` runs the i-th of n shards, from 1: in every cell, the replicates i - 1, i - 1 + n, and so on. Run
        each shard in its own process, into its own store; `cudbound.study.store.merge_stores` merges the stores.
    limit_minutes : float or None, default=None
        Minutes after which workers receive no more batches; they finish what they have, at most two batches of half a
        second or one replicate each. The same call resumes from there.

    Returns
    -------
    StudyStatus
        Status of the whole study at the end.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    StudyError
        If a method needs a CUD bound and a learner cannot have one, which is checked before the first replicate. If the
        store cannot be used, see `Store.resume`, the disk is full, a worker was killed, a part of the study cannot be
        sent to workers or read by them, or a cluster does not respond, has no workers, has a worker with another
        version of this package, or is lost. The store keeps finished replicates.
    ImportError
        If `dask` is given and the package ``distributed`` is missing.
    StudyInterrupted
        On Ctrl-C. The store keeps finished replicates; the same call resumes from there.

    Notes
    -----
    Except for times, the final store depends only on the study and the shard: it is the same for any number and kind of
    workers, and any number of interruptions. Only this process writes. A kill at any moment loses at most the
    replicates that workers have not yet returned, about half a second each.

    Every worker uses one BLAS thread: more would compete with the other workers, and could round differently. Warnings
    of fits, repeated thousands of times, are not shown; those of this package are in the remarks of the rows. A failed
    replicate is a row with its traceback; see `cudbound.study.replay`.

    Examples
    --------
    >>> import tempfile
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.study import Cases, Scenario, Study, Truth
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
    workers = check_n_jobs(n_jobs)
    check_limit("limit_minutes", limit_minutes, whole=False)
    shard = check_shard(shard)
    check_learners(study)  # before there is a store, which would belong to this study
    end = math.inf if limit_minutes is None else time.monotonic() + 60.0 * limit_minutes
    with ExitStack() as stack:
        client = None if dask is None else stack.enter_context(connect_to_cluster(dask))
        store = stack.enter_context(Store.resume(store_path, study, shard))
        try:
            _fill(store, study, shard, workers, client, end)
        except KeyboardInterrupt:
            status = store.status()
            raise StudyInterrupted(str(store.path), status.n_done, status.n_total) from None
    with Store.open(store_path) as store:
        return store.status()


def run_in_memory(study: Study, *, n_jobs: int | None = 1) -> Store:
    """Run all replicates of a study into a store in memory; the caller closes it.

    Parameters and errors are those of `run_study`, except those about files. Ctrl-C stops it.
    """
    workers = check_n_jobs(n_jobs)
    check_learners(study)
    with ExitStack() as on_error:
        store = on_error.enter_context(Store.in_memory(study))
        _fill(store, study, None, workers, None, math.inf)
        on_error.pop_all()
    return store


def _fill(
    store: Store, study: Study, shard: Shard | None, n_jobs: int, client: Any | None, end: float
) -> None:
    """Run the missing replicates of a store, on a cluster if there is a client, until the time limit."""
    left, seconds = store.missing(shard), dict[_Cell, float]()
    n_total = sum(len(replicates_of(shard, n_each)) for n_each in study.cells.values())
    n_done = n_total - sum(map(len, left.values()))
    batches = _batches(study, left, seconds, end)
    if client is None and n_jobs == 1:
        batches_of_rows = _in_this_process(study, batches)
    else:
        packed = _pack(study)
        sent = ((packed[scenario], n, numbers) for (scenario, n), numbers in batches)
        batches_of_rows = (
            _in_processes(sent, n_jobs) if client is None else run_on_cluster(client, _run_in_worker, sent)
        )
    try:
        with current_progress().bar(
            total=n_total, initial=n_done, desc="replicates", unit="replicate", smoothing=0
        ) as bar:
            for rows in batches_of_rows:
                store.add(rows)
                bar.update(len(rows))
                seconds[rows[0].key.scenario, rows[0].key.n] = fmean(row.seconds for row in rows)
    except BrokenProcessPool as error:
        raise StudyError(
            "a worker was killed, perhaps for lack of memory; run the study again with fewer workers: it resumes from "
            "its store"
        ) from error
    finally:
        # joblib advises those who stop on purpose, after an error or Ctrl-C
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            batches_of_rows.close()


def _batches(
    study: Study, left: Mapping[_Cell, list[int]], seconds: Mapping[_Cell, float], end: float
) -> Iterator[tuple[_Cell, list[int]]]:
    """Yield the remaining work until the time limit; lazily, so that batch sizes follow the time per replicate.

    The cell with the smallest finished share is next, so that a run stopped early has about the same share of every
    cell.
    """
    n_each, begun = study.cells, dict.fromkeys(left, 0)
    while begun and time.monotonic() < end:
        cell = min(begun, key=lambda cell: left[cell][begun[cell]] / n_each[cell])
        size = max(1, int(BATCH_SECONDS / seconds[cell])) if seconds.get(cell) else 1
        batch = left[cell][begun[cell] : begun[cell] + size]
        begun[cell] += size
        if begun[cell] >= len(left[cell]):
            del begun[cell]
        yield cell, batch


def _in_this_process(study: Study, batches: Iterator[tuple[_Cell, list[int]]]) -> _Rows:
    scenarios = {scenario.name: scenario for scenario in study.scenarios}
    for (name, n), numbers in batches:
        with alone():
            rows = [run_replicate(study, scenarios[name], n, number) for number in numbers]
        yield rows


def _in_processes(sent: Iterator[tuple[bytes, int, list[int]]], n_jobs: int) -> _Rows:
    # Ctrl-C reaches the workers of a terminal too, and they would print where they were; this process ends them
    begun = {"initializer": begin_worker, "initargs": (os.getpid(),)}
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1, **begun):
        with _ctrl_c_held_back():  # the initializer comes late: a worker takes a second to start
            batches_of_rows = Parallel(return_as="generator_unordered", batch_size=1)(
                delayed(_run_in_worker)(*arguments) for arguments in sent
            )
        with closing(batches_of_rows):
            yield from batches_of_rows


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Handle Ctrl-C at the end; processes started here inherit ignoring it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pack(study: Study) -> dict[str, bytes]:
    """Pickle each scenario with everything needed to run it, including user-defined methods.

    This is done once, here, because otherwise only threads of joblib and Dask would detect what cannot be sent.
    """
    packed = {}
    for scenario in study.scenarios:
        try:
            packed[scenario.name] = cloudpickle.dumps(replace(study, scenarios=(scenario,)))
        except Exception as error:  # of any kind: classes of the user may say how they are written
            raise StudyError(
                f"scenario {scenario.name!r}: its population, its classifier or a method of the study cannot be sent "
                f"to worker processes ({type(error).__name__}: {error}); use one worker"
            ) from error
    return packed


@lru_cache(maxsize=100)
def _unpack(packed: bytes) -> Study:
    """Read the output of `_pack`, once per worker, so that cached values of a population serve later batches."""
    try:
        read: Study = pickle.loads(packed)
    except Exception as error:
        raise StudyError(
            "a worker cannot read a population, a classifier or a method of the study; define it in the main script or "
            f"in a module that workers can import ({type(error).__name__}: {error})"
        ) from error
    return read


def _run_in_worker(packed: bytes, n: int, numbers: list[int]) -> list[ReplicateRow]:
    _use_one_thread()
    study = _unpack(packed)
    (scenario,) = study.scenarios
    with warnings.catch_warnings(action="ignore"):
        return [run_replicate(study, scenario, n, number) for number in numbers]


@cache
def _use_one_thread() -> None:
    """Limit BLAS permanently: a cluster worker may run batches in threads, and none must undo it."""
    threadpool_limits(1)


@public_call
def replay(study: Study, store_path: str | Path, scenario: str, n: int, replicate: int) -> ReplicateRow:
    """Rerun one replicate of a stored study, such as a failed one.

    Parameters
    ----------
    study : Study
        The study of the store, with its populations and learners, or `cudbound.study.design_file.read_design` of
        its design file.
    store_path : str or path
    scenario : str
        Name of the scenario.
    n : int
        Size of the training set.
    replicate : int
        From 0. `StudyStatus.cells` has the first failed replicate of each cell.

    Returns
    -------
    ReplicateRow
        Equal to the stored results, given the same package versions and type of computer; nothing is stored.

    Raises
    ------
    StudyError
        If the store belongs to another study, or has no such scenario and size.
    ParameterError
        If `replicate` is not the number of a replicate of the study.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.study import Cases, Scenario, Study, Truth, replay, run_study
    >>> class Coin:
    ...     name, title = "coin", "labels without features"
    ...     def draw(self, n, rng):
    ...         return Cases(rng.normal(size=(n, 1)), rng.integers(0, 2, n), lambda classifier: Truth(0.5))
    >>> class Picky(LeastSquaresClassifier):
    ...     def fit(self, X, y):
    ...         if np.mean(y) < 0.4:
    ...             raise ValueError("too few cases of the second class")
    ...         return super().fit(X, y)
    >>> study = Study("quick", (Scenario("coin", Coin(), Picky),), (30,), 9, ("langford-binomial",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (cell,) = run_study(study, Path(folder) / "quick.sqlite").cells
    ...     again = replay(study, Path(folder) / "quick.sqlite", "coin", 30, cell.first_failure)
    >>> again.failure.splitlines()[-1].endswith(cell.reason)
    True
    """
    with Store.open(store_path) as store:
        store.check_study(study, "undo the change")
        cells = cells_of(store.description)
    if (scenario, n) not in cells:
        raise store_error(
            Path(store_path), f"it has no scenario {scenario!r} at n = {n}; choose one of {[*cells]}"
        )
    check_integer("replicate", replicate, 0, cells[scenario, n] - 1)
    chosen = next(candidate for candidate in study.scenarios if candidate.name == scenario)
    with alone():
        return run_replicate(study, chosen, n, replicate)


#: Seconds to wait for the scheduler of a cluster, and for its first worker.
CONNECT_SECONDS = 10


@contextmanager
def connect_to_cluster(address: str) -> Iterator[Any]:
    """Connect to the scheduler of a cluster with workers.

    Parameters
    ----------
    address : str
        Such as ``"tcp://host:8786"``.

    Yields
    ------
    distributed.Client

    Raises
    ------
    StudyError
        If no worker answers, or one has another version of this package.
    ImportError
        If the package ``distributed`` is missing.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "a Dask cluster needs the package 'distributed', which is not installed; get it with: "
            f"{install_command('dask')}"
        ) from error
    with ExitStack() as stack:
        try:
            client = stack.enter_context(Client(address, timeout=CONNECT_SECONDS))
            # has clusters that adapt start a worker
            client.submit(int, pure=False).result(timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise StudyError(
                f"dask: no worker of a scheduler at {address!r} responds; check the address, such as "
                f"'tcp://host:8786', and that the scheduler and a worker are running ({error})"
            ) from error
        check_workers(client)
        yield client


def check_workers(client: Any) -> None:
    """Raise for workers with another version of this package, whose results could differ."""
    here = version("cudbound")
    for worker, there in client.run(version, "cudbound", on_error="return").items():
        if there != here:
            raise StudyError(
                f"dask: all workers must have cudbound {here}, like this process. Worker {worker} has {there}; install "
                f"{here} there and restart that worker"
            )


def run_on_cluster(
    client: Any, function: Callable[..., Any], calls: Iterator[tuple[Any, ...]]
) -> Generator[Any, None, None]:
    """Yield the results of calls in the order of completion.

    Calls are evaluated when sent: every current worker of the cluster has one running and one waiting. joblib, used for
    other workers, would wait forever for a call that a cluster lost.

    Raises
    ------
    StudyError
        If the same call killed several workers, or the connection to the scheduler was lost.
    """
    from distributed import KilledWorker, as_completed
    from distributed.client import FutureCancelledError

    sent, n_workers = as_completed(loop=client.loop), 0
    try:
        while True:
            if sent.count() <= n_workers:
                n_workers = max(1, sum(client.ncores().values()))
                for arguments in islice(calls, 2 * n_workers - sent.count()):
                    sent.add(client.submit(function, *arguments, pure=False))
            if sent.is_empty():
                return
            yield next(sent).result()
    except (KilledWorker, FutureCancelledError, OSError) as error:
        raise StudyError(
            f"dask: workers or the connection to the scheduler were lost ({error}); the store keeps finished "
            "replicates: run the same study with the same store to resume, with larger workers if they were killed for "
            "lack of memory"
        ) from error
