# ruff: noqa: E501 - a table of cells, one per line
"""Tests for the difference between two learners with exactly equal expected errors: size and width.

    python compare.py run STORE       one file per cell in the folder STORE; resumes
    python compare.py time            seconds per set, from three sets with other seeds
    python compare.py summary STORE   cells.csv on standard output

registration.md has the rules. Nothing here changes once the first set has been drawn, except that the package no longer
estimates rho on halves: the rows of "rho = half" in the cells are from the version that was registered.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit
from threadpoolctl import threadpool_limits

from cudbound import LeastSquaresClassifier, Resampling
from cudbound.basis.sample import Sample
from cudbound.intervals import METHODS
from cudbound.intervals.method import compute_comparison
from cudbound.intervals.random_splits import HALF_SPLITS
from cudbound.records import Records, SplitLosses
from cudbound.resampling.folds import REPEATED_FOLDS
from cudbound.resampling.make_records import RecordingInputs, make_records
from cudbound.resampling.refits import Refits, difference
from cudbound.resampling.settings import Streams
from cudbound.resampling.splits import SPLITS

SEED = 20261203
#: Sets are run in so many rounds, so that a run that is stopped has about the same share of every cell.
ROUNDS = 20
#: Sets of each cell for the methods that take hundreds of fits more; the others have all.
SETS_OF_COSTLY = 100
SIZES = Resampling(n_nested_repeats=5)
LEVEL = 0.95
#: The corrected t of one partition into ten folds, with mean and variance averaged over ten partitions.
PROPOSED = "repeated-k-fold-t"
#: The test that was the default; widths are over its mean width.
BEFORE = "corrected-resampled-t"

Array = Any
#: Maps counts of the rows, shape (n_fits, n), features and labels -1 or 1 to predictions of the rows, -1 or 1.
Learner = Callable[[Array, Array, Array], Array]


# ---- learners, fitted to many training sets at once ----


def scores_of(counts: Array, X: Array, y: Array, penalty: float = 1e-6) -> Array:
    """Return the scores of least squares with an intercept; `X` is (n, p), or (n_fits, n, p)."""
    n_train = counts.sum(axis=1)
    weights = counts / n_train[:, None]
    if X.ndim == 2:
        X = np.broadcast_to(X, (len(counts), *X.shape))
    center = np.einsum("mn,mnp->mp", weights, X)
    Z = X - center[:, None]
    weighed = Z * weights[:, :, None]
    gram = np.matmul(weighed.transpose(0, 2, 1), Z) + penalty * np.eye(X.shape[2])
    mean = weights @ y
    slope = np.linalg.solve(gram, np.matmul(weighed.transpose(0, 2, 1), (y - mean[:, None])[:, :, None]))
    return mean[:, None] + np.matmul(Z, slope)[:, :, 0]


def signs(scores: Array) -> Array:
    """Return the predicted classes."""
    return np.where(scores > 0.0, 1, -1)


def least_squares(counts: Array, X: Array, y: Array) -> Array:
    """Predict by least squares."""
    return signs(scores_of(counts, X, y))


def most_correlated(counts: Array, X: Array, y: Array, k: int) -> Array:
    """Return the k features of each fit with the largest correlation with the label, largest first."""
    weights = counts / counts.sum(axis=1, keepdims=True)
    mean, mean_y = weights @ X, weights @ y
    variance = weights @ X**2 - mean**2
    covariance = weights @ (X * y[:, None]) - mean * mean_y[:, None]
    return np.argsort(-(covariance**2) / np.maximum(variance, 1e-12), axis=1, kind="stable")[:, :k]


def selected(k: int) -> Learner:
    """Return least squares on the k features with the largest correlation."""

    def predict(counts: Array, X: Array, y: Array) -> Array:
        chosen = most_correlated(counts, X, y, k)
        return signs(scores_of(counts, X.T[chosen].transpose(0, 2, 1), y))

    return predict


def tuned_selection(choices: tuple[int, ...] = (1, 3, 8), n_folds: int = 5) -> Learner:
    """Return least squares on the k best features, with k by cross-validation; the folds take turns over the rows."""

    def predict(counts: Array, X: Array, y: Array) -> Array:
        turn = np.arange(len(y)) % n_folds
        wrong = np.zeros((len(counts), len(choices)))
        for fold in range(n_folds):
            tested = turn == fold
            training = np.where(tested, 0, counts)
            best = most_correlated(training, X, y, choices[-1])
            for number, k in enumerate(choices):
                scores = scores_of(training, X.T[best[:, :k]].transpose(0, 2, 1), y)
                wrong[:, number] += ((signs(scores) != y) * counts)[:, tested].sum(axis=1)
        best, chosen = most_correlated(counts, X, y, choices[-1]), wrong.argmin(axis=1)
        predicted = np.empty(counts.shape, dtype=int)
        for number, k in enumerate(choices):
            part = chosen == number
            if part.any():
                of_best = X.T[best[part, :k]].transpose(0, 2, 1)
                predicted[part] = signs(scores_of(counts[part], of_best, y))
        return predicted

    return predict


def tuned_ridge(counts: Array, X: Array, y: Array) -> Array:
    """Predict by ridge regression of the label, with the penalty by leave-one-out squared error."""
    n_train = counts.sum(axis=1)
    weights = counts / n_train[:, None]
    center, mean = weights @ X, weights @ y
    Z = X - center[:, None]
    weighed = Z * weights[:, :, None]
    values, vectors = np.linalg.eigh(np.matmul(weighed.transpose(0, 2, 1), Z))
    rotated = np.matmul(Z, vectors)
    target = np.matmul((rotated * weights[:, :, None]).transpose(0, 2, 1), (y - mean[:, None])[:, :, None])[
        :, :, 0
    ]
    best, scores = np.full(len(counts), np.inf), np.zeros(counts.shape)
    for penalty in 10.0 ** np.arange(-3, 2):
        shrunk = 1.0 / (np.maximum(values, 0.0) + penalty)
        fitted = mean[:, None] + np.matmul(rotated, (shrunk * target)[:, :, None])[:, :, 0]
        leverage = (np.matmul(rotated**2, shrunk[:, :, None])[:, :, 0] + 1.0) / n_train[:, None]
        loss = (weights * ((y - fitted) / np.maximum(1.0 - leverage, 1e-6)) ** 2).sum(axis=1)
        better = loss < best
        best[better], scores[better] = loss[better], fitted[better]
    return signs(scores)


def logistic(counts: Array, X: Array, y: Array, penalty: float = 1.0, n_steps: int = 6) -> Array:
    """Predict by logistic regression with a ridge penalty, as of scikit-learn at C = 1."""
    Z = np.column_stack([np.ones(len(y)), X])
    p = Z.shape[1]
    products = (Z[:, :, None] * Z[:, None, :]).reshape(len(y), p * p)
    ridge = np.diag([1e-8, *[penalty] * (p - 1)])
    beta = np.zeros((len(counts), p))
    for _ in range(n_steps):
        share = 1.0 / (1.0 + np.exp(-np.clip(beta @ Z.T, -30.0, 30.0)))
        gradient = (counts * ((y > 0) - share)) @ Z - beta @ ridge
        curvature = ((counts * share * (1.0 - share)) @ products).reshape(-1, p, p) + ridge + 1e-9 * np.eye(p)
        beta = beta + np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    return signs(beta @ Z.T)


def tree(depth: int) -> Learner:
    """Return a classification tree of limited depth that splits by the Gini index."""

    def grow(counts: Array, order: Array, ranks: Array, y: Array, depth: int) -> Array:
        n_fits, (n, p) = len(counts), order.shape
        positive = counts @ (y > 0)
        total = counts.sum(axis=1)
        leaf = np.where(2 * positive > total, 1, -1)
        predicted = np.broadcast_to(leaf[:, None], counts.shape)
        if depth == 0:
            return predicted
        below = np.cumsum(counts[:, order], axis=1)
        below_positive = np.cumsum((counts * (y > 0))[:, order], axis=1)
        above, above_positive = total[:, None, None] - below, positive[:, None, None] - below_positive
        with np.errstate(divide="ignore", invalid="ignore"):
            gini = (
                below_positive * (below - below_positive) / below
                + above_positive * (above - above_positive) / above
            )
        gini = np.where((below > 0) & (above > 0), gini, np.inf).reshape(n_fits, n * p)
        best = gini.argmin(axis=1)
        possible = np.isfinite(gini[np.arange(n_fits), best]) & (positive > 0) & (positive < total)
        place, feature = np.divmod(best, p)
        left = place[:, None] >= ranks[:, feature].T
        sides = [grow(np.where(side, counts, 0), order, ranks, y, depth - 1) for side in (left, ~left)]
        return np.where(possible[:, None], np.where(left, *sides), predicted)

    def predict(counts: Array, X: Array, y: Array) -> Array:
        order = np.argsort(X, axis=0, kind="stable")
        return grow(counts, order, np.argsort(order, axis=0), y, depth)

    return predict


def nearest(counts: Array, X: Array, y: Array) -> Array:
    """Predict the class of the nearest training row."""
    squares = (X**2).sum(axis=1)
    order = np.argsort(squares[:, None] + squares - 2.0 * X @ X.T, axis=1, kind="stable")
    first = (counts > 0)[:, order].argmax(axis=2)
    return y[order[np.arange(len(y)), first]].astype(int)


# ---- cells ----


@dataclass(frozen=True)
class Cell:
    """Two learners, each on the shared features and its own block; the blocks are exchangeable unless `other` is set.

    Attributes
    ----------
    name : str
    learner : callable
    n, block, shared : int
        Rows; features of a block; features that both see.
    signal, distance : int, float
        Features of a block that differ between the classes, and by how much.
    of_shared : float
        How much each shared feature differs.
    common : float
        Correlation between feature j of one block and feature j of the other, given the class.
    other_distance : float or None
        `distance` of the second block, for a true difference.
    other : callable or None
        The second learner; it then sees the first block.
    events : float
        Share of the rarer class.
    fresh : bool
        Whether it was not among the cells on which the proposed test was chosen.
    sets : int
    """

    name: str
    learner: Learner
    n: int
    block: int
    shared: int = 0
    signal: int = 1
    distance: float = 1.0
    of_shared: float = 1.0
    common: float = 0.0
    other_distance: float | None = None
    other: Learner | None = None
    events: float = 0.5
    fresh: bool = False
    sets: int = 1000

    @property
    def equal(self) -> bool:
        """Whether both learners have the same expected error for every number of rows."""
        return self.other is None and self.other_distance is None

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return the labels and what either learner sees."""
        y = rng.choice([-1.0, 1.0], self.n, p=[1.0 - self.events, self.events])
        noise, *own = rng.standard_normal((3, self.n, self.block))
        shared = rng.standard_normal((self.n, self.shared)) + self.of_shared * y[:, None] / 2.0
        blocks = [math.sqrt(self.common) * noise + math.sqrt(1.0 - self.common) * one for one in own]
        second = self.distance if self.other_distance is None else self.other_distance
        for one, distance in zip(blocks, (self.distance, second), strict=True):
            one[:, : self.signal] += distance * y[:, None] / 2.0
        first, other = (np.column_stack([shared, one]) for one in blocks)
        return y, first, first if self.other else other


# fmt: off
CELLS = [
    Cell("3 selected of 30", selected(3), 60, 30, signal=2),
    Cell("3 selected of 30, noise", selected(3), 60, 30, signal=0),
    Cell("3 selected of 30, n = 200", selected(3), 200, 30, signal=2, distance=0.6),
    Cell("5 selected of 100", selected(5), 100, 100, signal=4, distance=0.8),
    Cell("2 selected of 20, correlated blocks", selected(2), 40, 20, signal=2, common=0.7),
    Cell("4 selected of 2 shared and 30", selected(4), 100, 30, shared=2, signal=2, distance=0.7),
    Cell("number selected is tuned", tuned_selection(), 60, 15, signal=2),
    Cell("tuned ridge, 40 features", tuned_ridge, 60, 40, signal=5, distance=0.7),
    Cell("tree of depth 3", tree(3), 100, 4, signal=2, distance=1.2),
    Cell("tree of depth 2, 1 shared", tree(2), 60, 6, shared=1, signal=2),
    Cell("nearest neighbor", nearest, 60, 3, signal=2),
    Cell("least squares", least_squares, 40, 5, signal=2),
    Cell("number selected is tuned, noise", tuned_selection(), 100, 10, signal=0, fresh=True),
    Cell("3 selected of 20, 30 % events", selected(3), 80, 20, signal=2, events=0.3, fresh=True),
    Cell("nearest neighbor, 10 features", nearest, 150, 10, signal=3, fresh=True),
    Cell("tree of depth 2, correlated blocks", tree(2), 150, 4, signal=2, common=0.8, fresh=True),
    Cell("least squares, 15 and 3 shared", least_squares, 60, 15, shared=3, signal=3, distance=0.8, fresh=True),
    # a true difference
    Cell("power: logistic, shared feature", logistic, 200, 3, shared=2, signal=1, distance=1.0, other_distance=0.0, sets=300),
    Cell("power: 3 selected of 30", selected(3), 60, 30, signal=2, distance=1.3, other_distance=0.6, sets=300),
    Cell("power: least squares", least_squares, 40, 5, signal=2, distance=1.5, other_distance=0.8, sets=300),
    Cell("power: least squares and tree", least_squares, 100, 4, signal=3, distance=0.9, other=tree(3), sets=300),
]
# fmt: on


# ---- one set ----


def refits_of(learner: Learner, X: Array, y: Array) -> Refits:
    """Return the learner as the package refits classifiers in batches."""

    def pieces(counts: Array, _: Array) -> Any:
        for start in range(0, len(counts), 400):
            part = counts[start : start + 400].astype(float)
            one_class = np.abs(part @ y) == part.sum(axis=1)
            predicted = learner(part, X, y)
            constant = np.sign(part @ y)[:, None]
            outputs = np.empty(part.shape, dtype=[("loss", bool)])
            outputs["loss"] = np.where(one_class[:, None], constant, predicted) != y
            yield outputs, {}

    return Refits(pieces, True)


#: Methods with all sets, by the name in the results: name and options; the costly ones follow.
COMPARED: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        name: (name, {})
        for name in ("corrected-resampled-t", "resampled-t", "conservative-z", "k-fold-t", "bayle-cv")
    },
    **{f"grandvalet-bengio-t, rho = {rho}": ("grandvalet-bengio-t", {"rho": rho}) for rho in (0.5, 0.6, 0.7)},
    "bayle-cv, within folds": ("bayle-cv", {"variance": "within-fold"}),
    **{
        f"5x2cv-t, {way}": ("5x2cv-t", {"repair": way})
        for way in ("none", "drop-first-split", "average-numerator")
    },
    "5x2cv-f": ("5x2cv-f", {}),
    **{name: (name, {}) for name in ("single-split-t", "mcnemar", "independent-test-sets")},
}
COSTLY: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {})
    for name in ("pseudo-bootstrap", "corrected-pseudo-bootstrap", "nested-cv", "austern-zhou")
}


def recording_of(cell: Cell, rng: np.random.Generator) -> RecordingInputs:
    """Return the differences between the losses of both learners on a new training set, and of each."""
    y, first, second = cell.draw(rng)
    both = refits_of(cell.learner, first, y), refits_of(cell.other or cell.learner, second, y)
    return RecordingInputs(
        sample=Sample.of(LeastSquaresClassifier().fit(first[:, :1], y), first[:, :1], y),
        counts=np.zeros((0, cell.n), dtype=np.int32),
        streams=Streams(rng),
        given_refits=difference(*both),
        refits_of_each=both,
        resampling=SIZES,
    )


def run_set(cell: Cell, number: int, seed: int = SEED) -> dict[str, Any]:
    """Draw one training set and compute estimate, half-width and p-value of all methods."""
    begun = time.process_time()
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode()), number])
    compared = COMPARED | (COSTLY if number < SETS_OF_COSTLY else {})
    recording = recording_of(cell, rng)
    needs = frozenset().union(*(METHODS[name].needed(options) for name, options in compared.values()))
    made = make_records(needs | {REPEATED_FOLDS}, recording)
    own = dict(zip(("test_set", "second_test_set"), made.pop("second_test_set"), strict=True))
    records = Records.of(**made)
    row: dict[str, Any] = {"set": number, "tests": {}}
    for label, (name, options) in compared.items():
        used = Records(**own) if name == "independent-test-sets" else records
        row["tests"][label] = numbers(compute_comparison(METHODS[name], used, LEVEL, options=options))
    more = replace(recording, resampling=replace(SIZES, n_splits=50), streams=Streams(rng))
    larger = replace(
        recording,
        resampling=replace(SIZES, test_fraction=0.2),
        streams=Streams(rng),
    )
    repeated = np.concatenate([one.means for one in records.repeated_folds.partitions])
    size = cell.n / 10
    for label, splits in {
        "corrected-resampled-t, 50 splits": make_records({SPLITS}, more)["splits"],
        "corrected-resampled-t, a fifth tested": make_records({SPLITS}, larger)["splits"],
        "corrected-resampled-t, ten times ten folds": SplitLosses(repeated, cell.n - size, size),
    }.items():
        found = compute_comparison(METHODS["corrected-resampled-t"], Records(splits=splits), LEVEL)
        row["tests"][label] = numbers(found)
    row["moments"] = moments(records)
    row["tests"] |= of_partitions(row["moments"])
    return row | {"seconds": round(time.process_time() - begun, 3)}


def numbers(found: Any) -> list[float | None]:
    """Return the estimate, half the width of the interval without clipping, and the p-value."""
    half = (found.raw_interval.high - found.raw_interval.low) / 2.0
    return rounded(found.estimate, half, found.pvalue)


def rounded(*values: float) -> list[float | None]:
    """Return numbers for the store; None for what is not finite."""
    return [round(float(one), 6) if math.isfinite(one) else None for one in values]


def of_partitions(found: dict[str, float]) -> dict[str, list[float | None]]:
    """Return the test on the means over ten partitions into ten folds that is proposed."""
    k, n_partitions = SIZES.n_folds, SIZES.n_repeats
    corrected = math.sqrt(found["folds_variance"] * (1.0 / k + 1.0 / (k - 1.0)))
    return {PROPOSED: test(found["folds"], corrected, n_partitions * (k - 1))}


def test(estimate: float, standard_error: float, df: float) -> list[float | None]:
    """Return estimate, half-width and p-value of a t test, which rejects nothing without a standard error."""
    pvalue = 2.0 * float(stdtr(df, -abs(estimate) / standard_error)) if standard_error > 0.0 else 1.0
    return rounded(estimate, float(stdtrit(df, 0.5 + LEVEL / 2)) * standard_error, pvalue)


def moments(records: Records) -> dict[str, float]:
    """Return the moments of splits and folds, from which tests can be made afterwards."""
    partitions = records.repeated_folds.partitions
    found = {
        "splits": records.splits.means.mean(),
        "splits_variance": records.splits.means.var(ddof=1),
        "halves_variance": np.square(np.subtract(*records.require(HALF_SPLITS).means.T)).mean() / 2.0,
        "folds": np.mean([one.means.mean() for one in partitions]),
        "folds_variance": np.mean([one.means.var(ddof=1) for one in partitions]),
    }
    return {name: float(f"{value:.6g}") for name, value in found.items()}


# ---- the run ----


def path_of(cell: Cell, store: Path) -> Path:
    """Return the file of a cell."""
    return store / f"{cell.name.replace(':', '').replace('%', 'percent')}.jsonl"


def stored(cell: Cell, store: Path) -> dict[int, dict[str, Any]]:
    """Return the sets of a cell that the store has."""
    path = path_of(cell, store)
    rows = [json.loads(line) for line in path.open()] if path.exists() else []
    return {row["set"]: row for row in rows}


def run(store: Path, seed: int) -> None:
    """Run the sets that the store does not have, round by round."""
    store.mkdir(exist_ok=True)
    done = {cell.name: stored(cell, store).keys() for cell in CELLS}
    for part in range(ROUNDS):
        for cell in CELLS:
            first, last = pairwise_ends(cell.sets)[part]
            with path_of(cell, store).open("a") as file, threadpool_limits(1):
                for number in range(first, last):
                    if number not in done[cell.name]:
                        file.write(json.dumps(run_set(cell, number, seed)) + "\n")


def pairwise_ends(sets: int) -> list[tuple[int, int]]:
    """Return the first set of each round, and that of the next."""
    return list(pairwise(np.linspace(0, sets, ROUNDS + 1).astype(int).tolist()))


def summary(store: Path) -> None:
    """Print one line per cell and method: share of rejections, and mean width over that of the default before."""
    writer = csv.writer(sys.stdout)
    writer.writerow(
        [
            "cell",
            "n",
            "equal",
            "fresh",
            "method",
            "sets",
            "rejected",
            "limit",
            "keeps_level",
            "width",
            "undefined",
        ]
    )
    for cell in CELLS:
        rows = stored(cell, store).values()
        labels = dict.fromkeys(label for row in rows for label in row["tests"])
        for label in labels:
            both = [(row["tests"][label], row["tests"][BEFORE]) for row in rows if label in row["tests"]]
            size = float(np.mean([0.0 if test[2] is None else test[2] < 1.0 - LEVEL for test, _ in both]))
            limit = 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / len(both))
            # limits are cut at -1 and 1, which also stand for those that are undefined
            width = np.mean(
                [[1.0 if one[1] is None else min(one[1], 1.0) for one in pair] for pair in both], axis=0
            )
            missing = sum(test[1] is None for test, _ in both)
            keeps = size <= limit if cell.equal else ""
            writer.writerow(
                [
                    cell.name,
                    cell.n,
                    cell.equal,
                    cell.fresh,
                    label,
                    len(both),
                    f"{size:.4f}",
                    f"{limit:.4f}",
                    keeps,
                    f"{width[0] / width[1]:.4f}",
                    missing,
                ]
            )


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "time", "summary"))
    parser.add_argument("store", nargs="?", type=Path, default=Path("store"))
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.command == "run":
        run(asked.store, asked.seed)
    elif asked.command == "summary":
        summary(asked.store)
    else:
        for cell in CELLS:
            with threadpool_limits(1):
                seconds = np.median(
                    [run_set(cell, number, SEED + 1)["seconds"] for number in (997, 998, 999)]
                )
            print(f"{cell.name:40s} n={cell.n:4d} sets={cell.sets:5d} {seconds:.3f} s", flush=True)


if __name__ == "__main__":
    main()
