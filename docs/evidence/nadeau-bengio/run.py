"""Tests for the difference between two learning algorithms, on the problems of Nadeau and Bengio (2003), section 5.

    python run.py run STORE --data-folder FOLDER      one file per problem in the folder STORE; resumes
    python run.py time --data-folder FOLDER           seconds per set, from two sets with another seed
    python run.py summary STORE OUTPUT                cells.csv and curves.csv in the folder OUTPUT

The losses of both algorithms are recorded here, and only their differences are handed to the package, by
`cudbound.from_records`: so two regressors can be compared, which no other call of the package takes. registration.md
has the rules. Nothing here changes once the first set has been drawn.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from cudbound import from_records
from cudbound.intervals.random_splits import HalfSplitLosses, ReplicateLosses
from cudbound.records import FoldLosses, HalvingLosses, RepeatedFoldLosses, SplitLosses

SEED = 20261126
#: Sets are run in so many rounds, so that a run that is stopped has about the same share of every problem.
ROUNDS = 50
LEVEL = 0.90
#: A problem with fewer sets is not published.
FEWEST_SETS = 100
#: J of the main part, M of the conservative Z, R of the pseudo-bootstrap, folds and partitions.
J, M, R, FOLDS, PARTITIONS = 15, 10, 15, 10, 10
#: The choices of J and M in the second and third part.
CHOICES_J, CHOICES_M = (5, 10, 15, 25), (5, 10, 20)
#: New cases on which the true difference of two fitted rules is found, anew in every set, for so many training sets.
N_NEW, N_TRUTHS = 3000, 3
#: Groups of the 16 features of the letters, from 0, and the factors w: squared differences count w, 1 and 1 / w times.
GROUPS = ((0, 2, 8, 15), (1, 3, 5, 6, 7, 9, 11, 13, 14), (4, 10, 12))
FACTORS = (1.0, 4.0, 8.0, 16.0, 24.0, 32.0)
#: Squared losses are divided by this, so that means are within the limits of a loss; tests do not depend on it.
SCALE = 10_000.0

Array = Any


# ---- problems: each gives the differences between the losses of two fits, first minus second ----


@dataclass(frozen=True)
class Sample:
    """The n rows of a set.

    Attributes
    ----------
    n : int
    differences : callable
        Maps the rows of a training set to the differences of the losses on all rows, shape (n_pairs, n).
    on_new : callable
        Maps them to the mean difference on cases that are not in the sample, shape (n_pairs,).
    """

    n: int
    differences: Callable[[Array], Array]
    on_new: Callable[[Array], Array]


def tree_of(X: Array, y: Array, rows: Array) -> Callable[[Array], Array]:
    """Return the predictions of a tree that splits nodes of at least 10 cases into parts of at least 5."""
    tree = DecisionTreeClassifier(min_samples_split=10, min_samples_leaf=5, random_state=0)
    tree.fit(X[rows], y[rows], check_input=False)
    classes, inner = tree.classes_, tree.tree_
    return lambda new: classes[inner.value[inner.apply(new), 0].argmax(axis=1)]


@dataclass(frozen=True)
class Gaussians:
    """A tree against least squares on two Gaussians at (0, 0) and (1, 1) with covariances I and a share of I."""

    n: int
    share: float

    def cases(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return features and labels 0 and 1 of n cases."""
        y = rng.integers(0, 2, n)
        X = rng.standard_normal((n, 2)) * np.where(y, math.sqrt(self.share), 1.0)[:, None] + y[:, None]
        return X.astype(np.float32), y

    def draw(self, rng: np.random.Generator) -> Sample:
        """Draw the rows of a set."""
        X, y = self.cases(self.n, rng)
        new_X, new_y = self.cases(N_NEW, rng)
        Z, new_Z = (np.column_stack([np.ones(len(part)), part]).astype(float) for part in (X, new_X))

        def fitted(rows: Array, cases: Array, design: Array, labels: Array) -> Array:
            tree = tree_of(X, y, rows)
            beta = np.linalg.lstsq(Z[rows], y[rows], rcond=None)[0]
            return (tree(cases) != labels).astype(float)[None] - ((design @ beta > 0.5) != labels)

        return Sample(
            self.n,
            lambda rows: fitted(rows, X, Z, y),
            lambda rows: fitted(rows, new_X, new_Z, new_y).mean(axis=1),
        )


@lru_cache(maxsize=1)
def letter_data(folder: Path) -> tuple[Array, Array]:
    """Return the 20,000 rows of features and the 26 letters as numbers."""
    with gzip.open(folder / "letter.csv.gz", "rt") as file:
        table = pd.read_csv(file)
    letters = table["lettr"].map(ord).to_numpy() - ord("A")
    return table.drop(columns=["lettr", "target"]).to_numpy(dtype=np.float32), letters


@dataclass(frozen=True)
class Letters:
    """A tree against the nearest neighbor in each of six distorted metrics on the letters, 26 classes."""

    n: int
    folder: Path

    def draw(self, rng: np.random.Generator) -> Sample:
        """Draw the rows of a set."""
        all_X, all_y = letter_data(self.folder)
        chosen = rng.choice(len(all_y), self.n + N_NEW, replace=False)
        X, y = all_X[chosen[: self.n]], all_y[chosen[: self.n]]
        new_X, new_y = all_X[chosen[self.n :]], all_y[chosen[self.n :]]
        metrics = np.ones((len(FACTORS), X.shape[1]), dtype=np.float32)
        for group, power in zip(GROUPS, (0.5, 0.0, -0.5), strict=True):
            metrics[:, group] = np.power(FACTORS, power)[:, None]

        def squares(cases: Array) -> Array:
            scaled = [(cases * metric, X * metric) for metric in metrics]
            return np.stack([(own**2).sum(axis=1) - 2.0 * one @ own.T for one, own in scaled])

        near = squares(X)

        def fitted(rows: Array, cases: Array, distances: Array, labels: Array) -> Array:
            neighbor = rows[distances[:, :, rows].argmin(axis=2)]
            return (tree_of(X, y, rows)(cases) != labels).astype(float)[None] - (y[neighbor] != labels)

        new = squares(new_X)
        return Sample(
            self.n,
            lambda rows: fitted(rows, X, near, y),
            lambda rows: fitted(rows, new_X, new, new_y).mean(axis=1),
        )


@dataclass(frozen=True)
class Regression:
    """The mean against least squares, squared loss: X ~ N(10, 1), Y ~ N(100 + slope X, variance)."""

    n: int
    slope: float
    variance: float

    def draw(self, rng: np.random.Generator) -> Sample:
        """Draw the rows of a set."""
        x = rng.normal(10.0, 1.0, self.n)
        y = 100.0 + self.slope * x + rng.normal(0.0, math.sqrt(self.variance), self.n)

        def fit(rows: Array) -> tuple[float, float, float]:
            mean_x, mean_y = float(x[rows].mean()), float(y[rows].mean())
            centered = x[rows] - mean_x
            return mean_x, mean_y, float(centered @ y[rows] / (centered @ centered))

        def differences(rows: Array) -> Array:
            mean_x, mean_y, slope = fit(rows)
            residual = y - mean_y
            return (residual**2 - (residual - slope * (x - mean_x)) ** 2)[None] / SCALE

        def on_new(rows: Array) -> Array:
            mean_x, mean_y, slope = fit(rows)
            off = 100.0 + 10.0 * self.slope - mean_y
            first = off**2 + self.slope**2
            second = (off - slope * (10.0 - mean_x)) ** 2 + (self.slope - slope) ** 2
            return np.array([first - second]) / SCALE

        return Sample(self.n, differences, on_new)


@dataclass(frozen=True)
class Problem:
    """A problem and its number of sets.

    Attributes
    ----------
    draw : callable
    sets : int
    choices : bool
        Whether the choices of J and M are studied on it.
    folds : bool
        Whether it has tests on folds, whose records hold losses 0 and 1 only.
    """

    draw: Callable[[np.random.Generator], Sample]
    sets: int
    choices: bool = True
    folds: bool = True


def problems(folder: Path) -> dict[str, Problem]:
    """Return all problems by name; n1 = n / 2 makes both algorithms of regressions 1 and 3 equally good."""
    return {
        "gaussians, I and I/2": Problem(Gaussians(200, 1 / 2).draw, 500),
        "gaussians, I and I/6": Problem(Gaussians(200, 1 / 6).draw, 500),
        "gaussians, I and I/2, n = 2000": Problem(Gaussians(2000, 1 / 2).draw, 200, choices=False),
        "gaussians, I and I/6, n = 2000": Problem(Gaussians(2000, 1 / 6).draw, 200, choices=False),
        "letters": Problem(Letters(300, folder).draw, 500),
        "regression 1, n = 200": Problem(Regression(200, 1.0, 97.0).draw, 1000, folds=False),
        "regression 2, n = 200": Problem(Regression(200, 2.0, 97.0).draw, 1000, folds=False),
        "regression 3, n = 2000": Problem(
            Regression(2000, 1.0, 997.0).draw, 1000, choices=False, folds=False
        ),
        "regression 4, n = 2000": Problem(
            Regression(2000, 2.0, 997.0).draw, 1000, choices=False, folds=False
        ),
    }


# ---- the records of a set, of all pairs at once ----


def splits_of(sample: Sample, rows: Array, n_train: int, sizes: list[int], rng: np.random.Generator) -> Array:
    """Fit to `n_train` rows, and return the mean difference on the next ones, for each size; (n_sizes, n_pairs)."""
    order = rng.permutation(rows)
    found = sample.differences(order[:n_train])
    return np.stack([found[:, order[n_train : n_train + size]].mean(axis=1) for size in sizes])


def means_of(one: Callable[[], Array], number: int) -> Array:
    """Call a function this number of times; the first axis of the result counts the calls."""
    return np.stack([one() for _ in range(number)])


def partition_of(sample: Sample, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the fold of each row, and the differences of all rows without their folds."""
    fold = rng.permutation(np.arange(sample.n) % FOLDS)
    fits = [sample.differences(np.flatnonzero(fold != number)) for number in range(FOLDS)]
    return fold, np.stack(fits)[fold, :, np.arange(sample.n)]


Tests = dict[str, tuple[str | tuple[str, dict[str, Any]], list[Any]]]


def recorded(sample: Sample, problem: Problem, rng: np.random.Generator) -> Callable[[int], Tests]:
    """Fit everything once, and return the tests of a pair: by name, the method of the package and its records."""
    n, rows, choices = sample.n, np.arange(sample.n), problem.choices
    half, tenth = n // 2, n // 10
    of_half = means_of(lambda: splits_of(sample, rows, half, [n - half, tenth], rng), J)
    of_most = means_of(
        lambda: splits_of(sample, rows, n - tenth, [tenth], rng), max(CHOICES_J) if choices else J
    )
    halvings = means_of(lambda: two_fold(sample, rng.permutation(rows), half), 5)

    def replicate() -> Array:
        drawn = rng.integers(0, n, n)
        return means_of(lambda: splits_of(sample, drawn, half, [n - half, tenth], rng), J).mean(axis=0)

    replicates = means_of(replicate, R)

    def inside_halves(number: int) -> Array:
        order = rng.permutation(rows)
        parts = order[:half], order[half : 2 * half]
        return means_of(
            lambda: np.stack([splits_of(sample, part, half - tenth, [tenth], rng) for part in parts]),
            max(CHOICES_J) if choices and number < M else J,
        )

    inside = [inside_halves(number) for number in range(max(CHOICES_M) if choices else M)]
    partitions = [partition_of(sample, rng) for _ in range(PARTITIONS if problem.folds else 0)]

    def halves(pair: int, n_splits: int, n_halvings: int) -> HalfSplitLosses:
        means = [fits[:n_splits, :, 0, pair].mean(axis=0) for fits in inside[:n_halvings]]
        return HalfSplitLosses(np.array(means), half - tenth, tenth, n_splits)

    def tests(pair: int) -> Tests:
        made: Tests = {}
        for number, (label, size) in enumerate({"n/2": n - half, "n/10": tenth}.items()):
            splits = SplitLosses(of_half[:, number, pair], half, size)
            drawn = ReplicateLosses(replicates[:, number, pair], half, size, J)
            for name in ("resampled-t", "corrected-resampled-t"):
                made[f"{name}, n/2 + {label}"] = name, [splits]
            for name in ("pseudo-bootstrap", "corrected-pseudo-bootstrap"):
                made[f"{name}, n/2 + {label}"] = name, [splits, drawn]
        made["conservative-z, n/2 + n/10"] = "conservative-z", [splits, halves(pair, J, M)]
        both = HalvingLosses(halvings[:, :, pair], half)
        made["5x2cv-t"], made["5x2cv-f"] = ("5x2cv-t", [both]), ("5x2cv-f", [both])
        if folds := [FoldLosses(losses[:, pair], fold) for fold, losses in partitions]:
            made["k-fold-t"] = "k-fold-t", folds[:1]
            made["grandvalet-bengio-t, rho = .7"] = ("grandvalet-bengio-t", {"rho": 0.7}), folds[:1]
            made["repeated-k-fold-t"] = "repeated-k-fold-t", [RepeatedFoldLosses(tuple(folds))]
        for n_splits in CHOICES_J if choices else (J,):
            most = SplitLosses(of_most[:n_splits, 0, pair], n - tenth, tenth)
            made[f"resampled-t, J = {n_splits}"] = "resampled-t", [most]
            made[f"corrected-resampled-t, J = {n_splits}"] = "corrected-resampled-t", [most]
            made[f"conservative-z, J = {n_splits}, M = {M}"] = (
                "conservative-z",
                [most, halves(pair, n_splits, M)],
            )
        most = SplitLosses(of_most[:J, 0, pair], n - tenth, tenth)
        for n_halvings in CHOICES_M if choices else ():
            made[f"conservative-z, J = {J}, M = {n_halvings}"] = (
                "conservative-z",
                [most, halves(pair, J, n_halvings)],
            )
        return made

    return tests


def two_fold(sample: Sample, order: Array, half: int) -> Array:
    """Return the mean difference on each half after training on the other, shape (2, n_pairs)."""
    first, second = order[:half], order[half : 2 * half]
    return np.stack(
        [
            sample.differences(first)[:, second].mean(axis=1),
            sample.differences(second)[:, first].mean(axis=1),
        ]
    )


def run_set(name: str, problem: Problem, number: int, seed: int) -> dict[str, Any]:
    """Draw a set; return the limits of every test for every pair, and true differences at both numbers of rows."""
    begun = time.process_time()
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    sample = problem.draw(rng)
    sizes = {"n/2": sample.n // 2, "9n/10": sample.n - sample.n // 10}
    truths = {
        label: means_of(lambda size=size: sample.on_new(rng.permutation(sample.n)[:size]), N_TRUTHS).mean(
            axis=0
        )
        for label, size in sizes.items()
    }
    tests = recorded(sample, problem, rng)
    return {
        "set": number,
        "truths": {label: [short(value) for value in values] for label, values in truths.items()},
        "tests": [
            {label: limits_of(*test) for label, test in tests(pair).items()}
            for pair in range(len(truths["n/2"]))
        ],
        "seconds": round(time.process_time() - begun, 3),
    }


def limits_of(method: str | tuple[str, dict[str, Any]], records: list[Any]) -> list[float | None]:
    """Return the limits of the differences that a test does not reject; None if it is undefined."""
    found = from_records(records, method, differences=True, confidence_level=LEVEL)
    raw = found.raw_interval
    if not (math.isfinite(raw.low) and raw.low < raw.high):
        return [None, None]
    return [short(raw.low), short(raw.high)]


def short(value: float) -> float:
    """Return a number with six significant digits."""
    return float(f"{value:.6g}")


# ---- the run ----


def stored(name: str, store: Path) -> list[dict[str, Any]]:
    """Return the sets of a problem that the store has, in their order."""
    path = store / f"{name.replace('/', ' by ')}.jsonl"
    rows = {row["set"]: row for row in map(json.loads, path.open())} if path.exists() else {}
    return [rows[number] for number in sorted(rows)]


def run(store: Path, folder: Path, seed: int) -> None:
    """Run the sets that the store does not have, round by round."""
    store.mkdir(exist_ok=True, parents=True)
    every = problems(folder)
    done = {name: {row["set"] for row in stored(name, store)} for name in every}
    for part in range(ROUNDS):
        for name, problem in every.items():
            first, last = list(pairwise(np.linspace(0, problem.sets, ROUNDS + 1).astype(int).tolist()))[part]
            with (store / f"{name.replace('/', ' by ')}.jsonl").open("a") as file, threadpool_limits(1):
                for number in range(first, last):
                    if number not in done[name]:
                        file.write(json.dumps(run_set(name, problem, number, seed)) + "\n")
                        file.flush()


def cells(store: Path) -> Iterator[tuple[dict[str, Any], float, Array]]:
    """Yield each problem, factor and test, with the true expected difference and the limits, shape (sets, 2)."""
    for name in problems(Path()):
        rows = stored(name, store)
        if len(rows) < FEWEST_SETS:
            continue
        for pair in range(len(rows[0]["tests"])):
            truth = {
                label: float(np.mean([row["truths"][label][pair] for row in rows]))
                for label in ("n/2", "9n/10")
            }
            for label in rows[0]["tests"][pair]:
                limits = np.array([row["tests"][pair][label] for row in rows], dtype=float)
                at = "n/2" if "n/2" in label or label.startswith("5x2") else "9n/10"
                factor = FACTORS[pair] if name == "letters" else None
                yield {"problem": name, "w": factor, "test": label}, truth[at], limits


def rejected(limits: Array, hypothesis: float) -> float:
    """Return the share of sets in which a test rejects a hypothesis; an undefined test rejects nothing."""
    return float(np.mean((hypothesis < limits[:, 0]) | (hypothesis > limits[:, 1])))


def summary(store: Path, output: Path) -> None:
    """Write the size and width of every test, and its shares of rejections against the hypothesized difference."""
    found = list(cells(store))
    if not found:
        raise SystemExit(f"no problem has {FEWEST_SETS} sets yet")
    output.mkdir(exist_ok=True, parents=True)
    units = {
        (key["problem"], key["w"]): float(np.nanmedian(limits[:, 1] - limits[:, 0]))
        for key, _, limits in found
        if key["test"] == "corrected-resampled-t, n/2 + n/2"
    }
    lines, curves = [], []
    for key, truth, limits in found:
        size = rejected(limits, truth)
        lines.append(
            key
            | {
                "sets": len(limits),
                "truth": truth,
                "size": size,
                "mcse": math.sqrt(size * (1.0 - size) / len(limits)),
                "rejects_equality": rejected(limits, 0.0),
                "width": float(np.nanmean(limits[:, 1] - limits[:, 0])),
                "undefined": int(np.isnan(limits[:, 0]).sum()),
            }
        )
        # the choices of J and M have no curves
        for units_off in np.linspace(-1.5, 1.5, 31) if "J = " not in key["test"] else ():
            shift = float(units_off) * units[key["problem"], key["w"]]
            curves.append(
                key | {"shift": shift, "widths": units_off, "rejected": rejected(limits, truth + shift)}
            )
    for name, lines_of in {"cells": lines, "curves": curves}.items():
        pd.DataFrame(lines_of).to_csv(output / f"{name}.csv", index=False, float_format="%.6g")


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "time", "summary"))
    parser.add_argument("store", nargs="?", type=Path, default=Path("store"))
    parser.add_argument("output", nargs="?", type=Path, default=Path(__file__).parent)
    parser.add_argument("--data-folder", type=Path, default=Path("data"))
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.command == "run":
        run(chosen.store, chosen.data_folder, chosen.seed)
    elif chosen.command == "summary":
        summary(chosen.store, chosen.output)
    else:
        for name, problem in problems(chosen.data_folder).items():
            with threadpool_limits(1):
                rows = [run_set(name, problem, number, 1) for number in (998, 999)]
            print(f"{name:32s} sets={problem.sets:5d} {rows[1]['seconds']:.3f} s", flush=True)


if __name__ == "__main__":
    main()
