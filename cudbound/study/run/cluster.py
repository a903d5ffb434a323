"""Run the batches of a study on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from itertools import islice
from typing import Any

from cudbound.basis.exceptions import StudyError
from cudbound.basis.hints import install_command

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
