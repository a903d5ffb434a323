"""Draw docs/pictures/uniformity.svg: ``python tests/helpers/uniformity.py docs/pictures/uniformity.svg``.

The limits of the centers of two-center where the signal is of the order of the chance, as propositions 1 and 2 of
docs/explanation/what_is_proved.md give them, and the same from simulated training sets: one feature of the values
-1, 0 and 1, least squares with an intercept, and a mean label that rises by slope / sqrt(n) per unit of the feature.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from cudbound.plotting.style import COLORS
from cudbound.point_estimates.bootstrap_632 import error_632_plus
from cudbound.study.populations.discrete_worlds import ThreePoint

Array = NDArray[np.float64]

FEATURE = np.array([-1.0, 0.0, 1.0])
DESIGN = np.column_stack([np.ones(3), FEATURE])
LEVEL = 0.95
#: Share of the cases at the middle value, in the picture.
MASS = 0.1
SLOPES = np.linspace(0.0, 6.0, 49)


@dataclass(frozen=True)
class Centers:
    """sqrt(n) times (center - error of the fitted classifier), and whether the trigger is met, per training set."""

    training: Array
    optimism_corrected: Array
    out_of_bag: Array
    error_632_plus: Array
    triggered: NDArray[np.bool_]

    def intervals(self) -> dict[str, tuple[Array, Array]]:
        """Return the lower and the upper center of each interval."""
        anchored = self.optimism_corrected
        smaller = np.minimum(anchored, self.error_632_plus)
        larger = np.maximum(anchored, self.error_632_plus)
        return {
            "E_o alone": (anchored, anchored),
            "E_o, and T below it": (np.minimum(anchored, self.training), anchored),
            "two-center, not capped": (
                np.minimum(smaller, (smaller + self.training) / 2),
                np.where(self.triggered, np.maximum(larger, self.out_of_bag), larger),
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


def constants(mass: float) -> tuple[Array, Array]:
    """Return w_j, the standard deviation of x_j'Z, and k_j = Cov(d_j, x_j'Z)."""
    leverage = 1.0 + FEATURE**2 / (1.0 - mass)  # x_j' (E XX')^-1 x_j
    return np.sqrt(leverage), 0.5 * shares_of(mass) * leverage


def limit_law(mass: float, slope: float, n_draws: int, rng: np.random.Generator) -> Centers:
    """Return draws from the limit: propositions 1 and 2, and the same argument for Err(1) and gamma."""
    shares, (width, covariance) = shares_of(mass), constants(mass)
    labels = rng.normal(size=(n_draws, 3)) * np.sqrt(shares)  # sqrt(n) (mean of Y 1{x_j} - its expectation)
    coef = np.array([0.0, slope]) + labels @ DESIGN / np.array([1.0, 1.0 - mass])
    standard = (coef @ DESIGN.T) / width
    sign = np.where(standard >= 0.0, 1.0, -1.0)
    drift = shares * (slope * FEATURE)
    training = -0.5 * (sign * labels).sum(axis=1)  # U = 0: every value is on the boundary
    density = np.exp(-(standard**2) / 2) / math.sqrt(2 * math.pi)
    optimism = training + (2 * covariance / width * density).sum(axis=1)
    mixed = 0.5 * ((sign - (2 * ndtr(standard) - 1)) * (labels + drift)).sum(axis=1)
    out_of_bag = optimism + mixed
    error = -0.5 * (sign * drift).sum(axis=1)
    gamma = -0.5 * labels.sum(axis=1) * (sign * shares).sum(axis=1) - error
    cut = np.minimum(out_of_bag, gamma)
    rate = np.where(cut > training, (cut - training) / np.where(gamma > training, gamma - training, 1.0), 0.0)
    weight = 0.632 / (1 - 0.368 * rate)
    return Centers(
        training,
        optimism,
        out_of_bag,
        (1 - weight) * training + weight * cut,
        is_triggered(training, out_of_bag, gamma),
    )


def is_triggered(training: Array, out_of_bag: Array, gamma: Array) -> NDArray[np.bool_]:
    """Return whether Err(1) is a further upper center; T < Err(1) / 3 cannot be where both are near 1/2."""
    half_way = (gamma > training) & (out_of_bag - training > 0.5 * (gamma - training))
    return half_way | ((gamma <= training) & (training < out_of_bag))


def simulated(
    mass: float, slope: float, n: int, n_sets: int, n_resamples: int, rng: np.random.Generator
) -> Centers:
    """Return the same from training sets of n rows and their bootstrap, by the definitions.

    Rows of one value and one label are alike, so the six counts are all that a training set or a draw is.
    """
    _, shares, positive = ThreePoint(mass, 0.0, slope / math.sqrt(n)).support
    cells = np.concatenate([shares * (1 - positive), shares * positive])
    counts = rng.multinomial(n, cells, size=n_sets)
    called = fit(counts)
    training, error = wrong(called, counts).sum(axis=1) / n, wrong(called, cells).sum(axis=1)
    optimism = np.zeros(n_sets)
    left_out, missed = np.zeros(counts.shape), np.zeros(counts.shape)
    for _ in range(n_resamples):
        drawn = rng.multinomial(n, counts / n)
        refit = fit(drawn)
        optimism += (wrong(refit, counts) - wrong(refit, drawn)).sum(axis=1) / n
        out = (1.0 - 1.0 / np.maximum(counts, 1)) ** drawn  # a row is out, given the draws of its like
        left_out += out
        missed += wrong(refit, out)
    out_of_bag = (counts * missed / left_out).sum(axis=1) / n
    p, q = counts[:, 3:].sum(axis=1) / n, (called * (counts[:, :3] + counts[:, 3:])).sum(axis=1) / n
    gamma = p * (1 - q) + (1 - p) * q
    plus = [
        error_632_plus(*one).estimate
        for one in zip(training.tolist(), out_of_bag.tolist(), gamma.tolist(), strict=True)
    ]
    corrected = training + optimism / n_resamples
    root = math.sqrt(n)
    return Centers(
        *(root * (center - error) for center in (training, corrected, out_of_bag, np.array(plus))),
        is_triggered(training, out_of_bag, gamma),
    )


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

    laws = [limit_law(MASS, slope, 400_000, np.random.default_rng(0)).coverage() for slope in SLOPES]
    with mpl.rc_context({"svg.hashsalt": "uniformity", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.0, 3.0), layout="constrained")
        axes = figure.subplots()
        for name, color, style in zip(laws[0], COLORS, ("-", "--", "-."), strict=False):
            axes.plot(SLOPES, [law[name] for law in laws], color=color, linestyle=style, label=name)
        axes.axhline(LEVEL, color="0.3", linewidth=0.8)
        axes.set_xlabel("slope times sqrt(n)")
        axes.set_ylabel("coverage in the limit")
        axes.set_ylim(0.9, 1.0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, ncols=3, loc="upper center", fontsize="medium")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
