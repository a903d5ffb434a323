"""Draw docs/pictures/uniformity.svg: ``python docs/made/uniformity.py docs/pictures/uniformity.svg``.

The limits of the centers of two-center where the signal is of the order of the chance, as propositions 1 and 2 of
docs/paper/index.md give them, and the same from simulated training sets: one feature of the values
-1, 0 and 1, least squares with an intercept, and a mean label that rises by slope / sqrt(n) per unit of the feature.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from cudbound.plotting.display import COLORS
from cudbound.point_estimates.bootstrap_632 import error_632_plus
from cudbound.study.worlds import ThreePoint

Array = NDArray[np.float64]

FEATURE = np.array([-1.0, 0.0, 1.0])
DESIGN = np.column_stack([np.ones(3), FEATURE])
LEVEL = 0.95
N_FOLDS, N_REPEATS = 10, 5
#: Share of the cases at the middle value, in the picture.
MASS = 0.1
SLOPES = np.linspace(0.0, 6.0, 31)


@dataclass(frozen=True)
class Centers:
    """sqrt(n) times (center - error of the fitted classifier), per training set."""

    training: Array
    cross_validated: Array
    out_of_bag: Array
    error_632_plus: Array

    def intervals(self) -> dict[str, tuple[Array, Array]]:
        """Return the lower and the upper center of each interval."""
        cv, plus = self.cross_validated, self.error_632_plus
        return {
            "cv alone": (cv, cv),
            ".632+ alone": (plus, plus),
            "two-center": (
                np.minimum(cv, plus),
                np.maximum(np.maximum(cv, plus), (cv + self.out_of_bag) / 2),
            ),
        }

    def coverage(self, level: float = LEVEL) -> dict[str, float]:
        """Return how often normal limits around the two ends of each interval hold the error."""
        half = 0.5 * float(ndtri(0.5 + level / 2))  # the error is near 1/2, and so is the standard deviation
        return {
            name: float(np.mean((low <= half) & (high >= -half)))
            for name, (low, high) in self.intervals().items()
        }


def shares_of(mass: float) -> Array:
    """Return the shares of the three values."""
    return np.array([(1 - mass) / 2, mass, (1 - mass) / 2])


def limit_law(mass: float, slope: float, n_draws: int, rng: np.random.Generator) -> Centers:
    """Return draws from the limit: propositions 1 and 2, and the same argument for Err(1) and gamma."""
    shares = shares_of(mass)
    labels = rng.normal(size=(n_draws, 3)) * np.sqrt(shares)  # sqrt(n) (mean of Y 1{x_j} - its expectation)
    drift = shares * (slope * FEATURE)
    # U = 0: every value is on the boundary. sqrt(n) b^ has the covariance (E XX')^-1
    inner = (labels + drift) @ DESIGN / np.array([1.0, 1.0 - mass]) @ DESIGN.T
    sign = np.where(inner >= 0.0, 1.0, -1.0)
    leverage = 1.0 + FEATURE**2 / (1.0 - mass)  # x_j' (E XX')^-1 x_j, the variance of x_j'Z
    standard = inner / np.sqrt(leverage)
    density = np.exp(-(standard**2) / 2) / math.sqrt(2 * math.pi)
    error = -0.5 * (sign * drift).sum(axis=1)
    training = -0.5 * (sign * labels).sum(axis=1)
    optimism = (shares * np.sqrt(leverage) * density).sum(axis=1)
    mixed = 0.5 * ((sign - (2 * ndtr(standard) - 1)) * (labels + drift)).sum(axis=1)
    out_of_bag = training + optimism + mixed
    gamma = -0.5 * labels.sum(axis=1) * (sign * shares).sum(axis=1) - error
    cut = np.minimum(out_of_bag, gamma)
    rate = np.where(cut > training, (cut - training) / np.where(gamma > training, gamma - training, 1.0), 0.0)
    weight = 0.632 / (1 - 0.368 * rate)
    partitions = [_cross_validated(shares, labels + drift, rng) for _ in range(N_REPEATS)]
    return Centers(
        training,
        np.mean(partitions, axis=0) - error,
        out_of_bag,
        (1 - weight) * training + weight * cut,
    )


def _cross_validated(shares: Array, labels: Array, rng: np.random.Generator) -> Array:
    """Return sqrt(n) (cv - 1/2) of one partition, of training sets with these sqrt(n) (mean of Y 1{x_j})."""
    normal = rng.normal(size=(len(labels), N_FOLDS, 3)) * np.sqrt(shares / N_FOLDS)
    normal -= normal.mean(axis=1, keepdims=True)  # the folds add up to the training set
    normal -= shares * normal.sum(axis=2, keepdims=True)  # and have equal shares of both classes
    rest = labels[:, None] - normal / (1.0 - 1.0 / N_FOLDS)
    inner = rest @ DESIGN / np.array([1.0, DESIGN[:, 1] ** 2 @ shares]) @ DESIGN.T
    sign = np.where(inner >= 0.0, 1.0, -1.0)
    return np.asarray(-0.5 * (sign * (labels[:, None] / N_FOLDS + normal)).sum(axis=(1, 2)))


def simulated(
    mass: float, slope: float, n: int, n_sets: int, n_resamples: int, rng: np.random.Generator
) -> Centers:
    """Return the same from training sets of n rows and their bootstrap, by the definitions."""
    world = ThreePoint(mass, 0.0, slope / math.sqrt(n))
    error, centers = estimated(world, n, n_sets, n_resamples, rng)
    return Centers(*(math.sqrt(n) * (center - error) for center in astuple(centers)))


def estimated(
    world: ThreePoint, n: int, n_sets: int, n_resamples: int, rng: np.random.Generator
) -> tuple[Array, Centers]:
    """Return the error of the classifier of each training set, and its centers, not moved and not multiplied.

    Rows of one value and one label are alike, so the six counts are all that a training set, a draw or a fold is.
    """
    _, shares, positive = world.support
    cells = np.concatenate([shares * (1 - positive), shares * positive])
    counts = rng.multinomial(n, cells, size=n_sets)
    called = fit(counts)
    training, error = wrong(called, counts).sum(axis=1) / n, wrong(called, cells).sum(axis=1)
    left_out, missed = np.zeros(counts.shape), np.zeros(counts.shape)
    for _ in range(n_resamples):
        drawn = rng.multinomial(n, counts / n)
        out = (1.0 - 1.0 / np.maximum(counts, 1)) ** drawn  # a row is out, given the draws of its like
        left_out += out
        missed += wrong(fit(drawn), out)
    out_of_bag = (counts * missed / left_out).sum(axis=1) / n
    cross_validated = sum(
        wrong(fit(counts - fold), fold).sum(axis=1) / (n * N_REPEATS)
        for _ in range(N_REPEATS)
        for fold in stratified_folds(counts, rng)
    )
    p, q = counts[:, 3:].sum(axis=1) / n, (called * (counts[:, :3] + counts[:, 3:])).sum(axis=1) / n
    gamma = p * (1 - q) + (1 - p) * q
    plus = [
        error_632_plus(*losses).estimate
        for losses in zip(training.tolist(), out_of_bag.tolist(), gamma.tolist(), strict=True)
    ]
    return error, Centers(training, np.asarray(cross_validated), out_of_bag, np.array(plus))


def stratified_folds(counts: NDArray[np.int64], rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield the six counts of each fold: both classes are dealt out to the folds, one after the other."""
    left = counts.copy()
    ends = np.cumsum(
        [np.zeros(len(counts), dtype=int), counts[:, :3].sum(axis=1), counts[:, 3:].sum(axis=1)], axis=0
    )
    for number in range(N_FOLDS):
        # of rows sorted by class, every tenth one from this number on
        sizes = np.diff((ends - number + N_FOLDS - 1) // N_FOLDS, axis=0)
        fold = np.empty_like(left)
        for size, first in zip(sizes, (0, 3), strict=True):
            low, middle, high = left[:, first : first + 3].T
            fold[:, first] = rng.hypergeometric(low, middle + high, size)
            fold[:, first + 1] = rng.hypergeometric(middle, high, size - fold[:, first])
            fold[:, first + 2] = size - fold[:, first] - fold[:, first + 1]
        left = left - fold
        yield fold
    assert not left.any()


def fit(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values least squares calls positive, from the counts of negatives and of positives."""
    negatives, positives = counts[..., :3], counts[..., 3:]
    rows, labels = negatives + positives, positives - negatives
    n, first, second = rows.sum(axis=-1), rows @ FEATURE, rows @ FEATURE**2
    mean, slope = labels.sum(axis=-1), labels @ FEATURE
    # the intercept and the slope, both times the determinant, which is positive
    coef = np.stack([second * mean - first * slope, n * slope - first * mean], axis=-1)
    return np.asarray(coef @ DESIGN.T >= 0.0)


def wrong(called: NDArray[np.bool_], masses: NDArray[np.generic]) -> Array:
    """Return what of each of the six masses is misclassified."""
    return np.concatenate([called, ~called], axis=-1) * masses


def draw(path: Path) -> None:
    """Draw the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    laws = [limit_law(MASS, slope, 50_000, np.random.default_rng(0)).coverage() for slope in SLOPES]
    with mpl.rc_context({"svg.hashsalt": "uniformity", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.0, 3.0), layout="constrained")
        axes = figure.subplots()
        for name, color, style in zip(laws[0], COLORS, ("-", "--", "-."), strict=False):
            axes.plot(SLOPES, [law[name] for law in laws], color=color, linestyle=style, label=name)
        axes.axhline(LEVEL, color="0.3", linewidth=0.8)
        axes.set_xlabel("slope times sqrt(n)")
        axes.set_ylabel("coverage in the limit")
        axes.set_ylim(0.84, 1.0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, ncols=3, loc="upper center", fontsize="medium")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
