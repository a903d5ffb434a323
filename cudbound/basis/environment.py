"""The versions of the software that results depend on, and worker processes that end with their parent process."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import threading
import time
from collections.abc import Generator, Iterable
from functools import cache
from importlib.metadata import version
from typing import Any

#: Packages whose versions belong to a result, by the names of their distributions.
PACKAGES = ("cudbound", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of `PACKAGES`.

    Examples
    --------
    >>> list(versions())
    ['python', 'cudbound', 'numpy', 'scipy', 'scikit-learn']
    """
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


#: Seconds between two checks whether the parent still exists.
LOOK_SECONDS = 0.5


def parallel(n_jobs: int, **options: Any) -> Any:
    """Return scikit-learn's ``Parallel``, which gives workers the settings of `sklearn.set_config`.

    Its workers end with this process; `options` are those of ``Parallel``, which needs ``delayed`` of
    `sklearn.utils.parallel`.
    """
    from sklearn.utils.parallel import Parallel  # versions are read without scikit-learn

    return Parallel(n_jobs=n_jobs, initializer=end_with, initargs=(os.getpid(),), **options)


def results_of(n_jobs: int, jobs: Iterable[Any]) -> Generator[Any, None, None]:
    """Yield the results of jobs in their order, each as soon as it is there if the backend of joblib can do so."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        yield from parallel(n_jobs, return_as="generator")(jobs)
    else:  # such as "multiprocessing"
        yield from parallel(n_jobs)(jobs)


def begin_worker(parent: int) -> None:
    """Prepare a child process of `parent`: it ignores Ctrl-C, which the parent handles, and ends with the parent.

    A killed parent sends no message: its workers would finish their work and wait minutes for more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


@cache
def end_with(parent: int) -> None:
    """End this process soon after its parent, or now if that has ended; nothing in processes that others started.

    Windows keeps the number of an ended parent; there, workers end when they return their results.
    """
    starter = multiprocessing.parent_process()
    if starter is not None and starter.pid == parent:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)  # not by an exception, which would wait for what the worker does
