"""Processes that may hang: each runs one job at a time, and is ended and begun anew if it does not answer."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

#: What ends a process, whatever it does, once its processor time is used up; Windows has no such signal.
SIGNAL = getattr(signal, "SIGPROF", 0)


@dataclass(frozen=True)
class Answer:
    """What became of a job: a result, or "hung" or "crashed"."""

    job: Any
    result: Any = None
    fault: str | None = None


class Watched:
    """A few processes, to be used in a ``with`` statement. `patience` is in seconds of processor time per job."""

    def __init__(self, processes: int = 1, patience: float = 20.0) -> None:
        self._workers = [_Worker() for _ in range(processes)]
        self._patience = patience

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def run(self, function: Callable[[Any], Any], jobs: Iterable[Any]) -> Iterator[Answer]:
        """Yield the answers to all jobs as they come; `function` is one of a module that processes can import."""
        waiting = iter(jobs)
        idle, busy = list(self._workers), []
        while True:
            for worker, job in zip(list(idle), waiting, strict=False):
                worker.begin(function, job, self._patience)
                idle.remove(worker)
                busy.append(worker)
            if not busy:
                return
            wait([worker.pipe for worker in busy], max(0.0, min(w.deadline for w in busy) - time.monotonic()))
            for worker in list(busy):
                answer = worker.answer()
                if answer is not None:
                    busy.remove(worker)
                    idle.append(worker)
                    yield answer


class _Worker:
    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, function: Callable[[Any], Any], job: Any, patience: float) -> None:
        self._job = job
        self.pipe.send((function, job, patience))
        assert self.pipe.recv() == "begun"  # what it takes to start and to import does not count
        self.deadline = time.monotonic() + 30.0 * patience  # for what waits, or on a system without timers

    def answer(self) -> Answer | None:
        if self.pipe.poll():
            try:
                return Answer(self._job, self.pipe.recv())
            except EOFError:
                self._process.join()
                fault = "hung" if SIGNAL and self._process.exitcode == -SIGNAL else "crashed"
        elif time.monotonic() < self.deadline:
            return None
        else:
            fault = "hung"
        self.end()
        self._start()
        return Answer(self._job, fault=fault)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection) -> None:
    while True:
        try:
            function, job, patience = pipe.recv()
        except EOFError:
            return
        pipe.send("begun")
        if SIGNAL:
            signal.setitimer(signal.ITIMER_PROF, patience)
        result = function(job)
        if SIGNAL:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        pipe.send(result)
