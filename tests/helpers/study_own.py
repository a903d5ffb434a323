"""A method, a population and a module such as users have, for the tests of studies in other processes.

They lie here because processes of a test can import this file and none that pytest has imported.
"""

from __future__ import annotations

import os
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from record_kinds import kinds
from scipy.stats import binomtest

from cudbound.basis.results import ConfidenceInterval, Estimand, Outcome
from cudbound.intervals import Method
from cudbound.study.population import N_TRUTH_CASES, World
from cudbound.study.store import Store


def exact_of_training(records: Any, confidence_level: float) -> Outcome:
    """The exact binomial interval, as if the training set were a test set."""
    losses = records.losses
    found = binomtest(int(losses.sum()), losses.size).proportion_ci(confidence_level)
    return Outcome(float(losses.mean()), ConfidenceInterval(found.low, found.high))


def wilson(model: Any, X: Any, y: Any, level: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Wilson's interval on the training error."""
    found = binomtest(int((model.predict(X) != y).sum()), len(y))
    return found.statistic, *found.proportion_ci(level, method="wilson")


OWN = Method(
    name="own",
    title="Exact binomial interval on the training error",
    estimand=Estimand("conditional"),
    needs=kinds({"losses"}),
    assumptions="the training set is a test set, which it is not",
    tendency="too low",
    reference="Clopper and Pearson (1934)",
    cost="0",
    compute=exact_of_training,
)


def limits(path: Path, method: str) -> dict[tuple[int, int], tuple[float, float]]:
    with Store.open(path) as opened:
        rows = opened.frames()[1].query("method == @method")
    return {(row.n, row.replicate): (row.low, row.high) for row in rows.itertuples()}


def exact_limits(path: Path) -> dict[tuple[int, int], tuple[float, float]]:
    """What `OWN` is to give, from the stored training errors."""
    with Store.open(path) as opened:
        found = {
            (row.n, row.replicate): binomtest(round(row.training_error * row.n), row.n).proportion_ci(0.95)
            for row in opened.frames()[0].itertuples()
        }
    return {key: (interval.low, interval.high) for key, interval in found.items()}


def module_of_the_user() -> Any:
    """A module that is in no file."""
    module = types.ModuleType("made_up")
    exec(
        "from cudbound import LeastSquaresClassifier\ndef make():\n    return LeastSquaresClassifier()",
        vars(module),
    )
    return module


@dataclass(frozen=True)
class Counted(World):
    """Draws cases, and notes in a file which process drew the many on which true errors are found."""

    notes: str = ""
    name = "counted"
    n_features = 2

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        if n == N_TRUTH_CASES:
            with open(self.notes, "a") as file:
                file.write(f"{os.getpid()}\n")
        X = rng.normal(size=(n, 2))
        return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)
