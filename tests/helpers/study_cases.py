"""A study that takes milliseconds, with replicates that fail and warn, for the tests of store and runner."""

from __future__ import annotations

import json
import os
import signal
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cudbound import LeastSquaresClassifier
from cudbound.study.population import Cases, Truth
from cudbound.study.replicate import ExpectedError, IntervalRow, Key, ReplicateRow
from cudbound.study.scenario import Scenario, Study
from cudbound.study.store import KEY, Store


@dataclass(frozen=True)
class Shifted:
    """Two Gaussians; `breaks` of every hundred training sets raise an error."""

    shift: float = 1.0
    breaks: int = 0

    name = "shifted"
    title = "two Gaussians on a line"

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 2)) + self.shift * y[:, None]
        if rng.integers(0, 100) < self.breaks:
            raise ArithmeticError(f"no sample of {n}")
        warnings.warn("every sample says so", RuntimeWarning, stacklevel=2)
        return Cases(X, y, self._truth)

    def _truth(self, classifier: Any) -> Truth:
        return Truth(float(np.clip(classifier.coef_.ravel()[0], 0.0, 1.0)), 0.001)


def tiny_study(**changes: Any) -> Study:
    settings: dict[str, Any] = {
        "name": "tiny",
        "scenarios": (
            Scenario("near", Shifted(0.5), LeastSquaresClassifier),
            Scenario("broken", Shifted(1.0, breaks=20), LeastSquaresClassifier),
        ),
        "n_samples": (12, 20),
        "n_replicates": 15,
        "methods": ("langford-binomial", "cud"),
        "n_resamples": 10,
        "seed": 3,
    }
    return Study(**{**settings, **changes})


@dataclass(frozen=True)
class Interrupted(Shifted):
    """Ctrl-C comes while the third training set of the run is drawn, after two to try the learner; but only once."""

    drawn: list[int] = field(default_factory=list, repr=False)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        self.drawn.append(n)
        if len(self.drawn) == 5:
            raise KeyboardInterrupt
        return super().draw(n, rng)


@dataclass(frozen=True)
class Deadly(Shifted):
    """Kills the process that draws from it, unless it is the one that made it."""

    home: int = field(default_factory=os.getpid, repr=False)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        if os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().draw(n, rng)


@dataclass(frozen=True)
class DeadlyOnce(Deadly):
    """Kills the first worker that draws 20 cases; the file `marker` says which process it was."""

    marker: str = ""

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        if n == 20 and os.getpid() != self.home and not os.path.exists(self.marker):
            with open(self.marker, "w") as file:
                file.write(f"{os.getpid()}")
            os.kill(os.getpid(), signal.SIGKILL)
        return Shifted.draw(self, n, rng)


@dataclass(frozen=True)
class Unsendable(Shifted):
    """Holds what no process can send to another."""

    lock: Any = field(default_factory=threading.Lock, repr=False)


def dump(path: str | Path) -> list[tuple[object, ...]]:
    """Return all results of a store in the order of their keys, without times, to compare two stores.

    A failure is its last line, the error with its message: paths in a traceback differ between computers.
    """
    with Store.open(path) as store:
        stored = store._select(f"SELECT {KEY}, failure, results FROM replicates ORDER BY {KEY}")
    # a failure is its last line
    return [
        (*key, failure and failure.rstrip().splitlines()[-1], results) for *key, failure, results in stored
    ]


def stored(store: Store, key: Key) -> ReplicateRow:
    """Return a replicate of a store with its intervals in the order of the study's methods."""
    place = (key.scenario, key.n, key.replicate)
    ((failure, results, seconds),) = store._select(
        f"SELECT failure, results, seconds FROM replicates WHERE ({KEY}) = (?, ?, ?)", *place
    )
    methods = store.description["methods"]
    truth, truth_se, training_error, n_redrawn, _, intervals, expected = json.loads(results)
    rows = sorted((IntervalRow(*values) for values in intervals), key=lambda row: methods.index(row.method))
    further = tuple(ExpectedError(*values) for values in expected)
    return ReplicateRow(
        key, truth, truth_se, training_error, n_redrawn, failure, tuple(rows), seconds, further
    )
