"""Kill a study on two workers, again and again, in three ways; a program, because it forks and watches processes.

    python killed_studies.py STORE N_KILLS N_TERMINATIONS N_WORKERS

It prints a line for each kill: what was killed, the replicates that the store then holds, and the seconds until no
process of the run was left; then the number of replicates of each scenario and size that the study has come to have.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from study_cases import Shifted, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.study import runner
from cudbound.study.population import Cases
from cudbound.study.scenario import Scenario, Study
from cudbound.study.store import Store

#: Seconds after which a process that is left is taken to stay.
PATIENCE = 600.0


@dataclass(frozen=True)
class Slow(Shifted):
    """Takes its time, so that a kill comes in the middle."""

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        time.sleep(0.01)
        return super().draw(n, rng)


def slow_study(n_replicates: int) -> Study:
    scenarios = (
        Scenario("near", Slow(0.5), LeastSquaresClassifier),
        Scenario("broken", Slow(1.0, breaks=20), LeastSquaresClassifier),
    )
    return tiny_study(scenarios=scenarios, n_replicates=n_replicates)


def count(path: str) -> int:
    try:
        with Store.open(path) as store:
            return len(store.finished())
    except StudyError:  # not there yet
        return 0


def processes(session: int) -> dict[int, str]:
    """Return the command lines of the processes of a session that have not ended."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, *numbers = (entry / "stat").read_text().rpartition(")")[2].split()
                line = (entry / "cmdline").read_text()
            except OSError:  # it has just ended
                continue
            if state not in "ZX" and int(numbers[2]) == session:
                found[int(entry.name)] = line
    return found


def workers(session: int) -> list[int]:
    found = processes(session).items()
    return [number for number, line in found if "loky" in line and "resource_tracker" not in line]


def wait_until_empty(session: int) -> float:
    begun = time.monotonic()
    while left := processes(session):
        assert time.monotonic() < begun + PATIENCE, f"left: {left}"
        time.sleep(0.02)
    return time.monotonic() - begun


def kill(path: str, n_replicates: int, what: str) -> float | None:
    """Run the study and kill it; return the seconds until it was gone, or None if it ended before."""
    enough = count(path) + random.randint(1, 20)
    child = os.fork()
    if not child:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            runner.run_study(slow_study(n_replicates), path, n_jobs=2)
            os._exit(0)
        except StudyError:
            os._exit(1)
    while count(path) < enough:
        time.sleep(0.005)
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return None
    time.sleep(random.uniform(0.0, 0.1))
    if what == "worker":
        for number in workers(child)[:1]:
            os.kill(number, signal.SIGKILL)
    else:
        os.kill(child, signal.SIGKILL if what == "kill" else signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return None
    expected = {"worker": 1 << 8, "kill": signal.SIGKILL, "termination": signal.SIGTERM}[what]
    assert status == expected, f"{what}: it ended with {status}"
    return wait_until_empty(child)


def main() -> None:
    path = sys.argv[1]
    runner.BATCH_SECONDS = 0.02  # many transactions, so that kills fall into some
    left = [
        what
        for what, n in zip(("kill", "termination", "worker"), sys.argv[2:], strict=True)
        for _ in range(int(n))
    ]
    random.shuffle(left)
    n_replicates = 40
    while left:
        seconds = kill(path, n_replicates, left[-1])
        if seconds is None:
            n_replicates *= 2  # a study may grow
        else:
            print(left.pop(), count(path), f"{seconds:.2f}", flush=True)
    print(n_replicates)


if __name__ == "__main__":
    main()
