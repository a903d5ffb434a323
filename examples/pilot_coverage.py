"""
Does an interval cover as often as it claims?
=============================================

Coverage and width on data whose true error is known, in a small simulation: two Gaussian classes in the
plane, n = 30, at three distances.

``python examples/pilot_coverage.py 400`` takes a few minutes,
and ``python examples/pilot_coverage.py 400 conditional`` compares the intervals that aim at this classifier.
Without a number it takes 5 samples per design, too few to conclude anything.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from tabulate import tabulate

from cudbound import LeastSquaresClassifier, available_methods, compare_intervals

N_SAMPLES, N_RESAMPLES = 30, 200
SHIFTS = {"strong overlap": 0.3, "moderate overlap": 0.8, "nearly separated": 2.0}


def true_error(clf: LeastSquaresClassifier, shift: float) -> float:
    """Error of a linear classifier where class y in {-1, +1} is normal around (shift y, 0) with unit variance."""
    slope, intercept = clf.coef_[0], clf.intercept_[0]
    reach = shift * slope[0]
    return float(norm.cdf(np.array([intercept - reach, -intercept - reach]) / np.linalg.norm(slope)).mean())


def methods_of(group: str) -> list[str]:
    """Names of the methods of a group that aim at the error of the classifier fitted to all rows."""
    return [
        row.name
        for row in available_methods().itertuples(index=False)
        if group in row.groups.split(", ") and "interval" in row.gives and row.estimand == "conditional"
    ]


def simulate(shift: float, n_data_sets: int, methods: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of intervals that cover the true error, and the mean width, for every method."""
    rng = np.random.default_rng(0)
    covered, widths = [], []
    while len(covered) < n_data_sets:
        y = rng.integers(2, size=N_SAMPLES)
        X = rng.normal(size=(N_SAMPLES, 2)) + shift * np.column_stack([2 * y - 1, np.zeros(N_SAMPLES)])
        if not 2 <= y.sum() <= N_SAMPLES - 2:
            continue
        clf = LeastSquaresClassifier().fit(X, y)
        error = true_error(clf, shift)
        table = compare_intervals(clf, X, y, methods=methods, n_resamples=N_RESAMPLES, rng=rng)
        intervals = [row.confidence_interval for row in table.rows]
        covered.append([interval.low <= error <= interval.high for interval in intervals])
        widths.append([interval.width for interval in intervals])
    return np.mean(covered, axis=0), np.mean(widths, axis=0)


# sphinx-gallery runs scripts with the arguments of the builder
given = sys.argv[1:] if sys.argv[0].endswith("pilot_coverage.py") else []
n_data_sets = int(given[0]) if given else 5
names = methods_of(given[1] if len(given) > 1 else "paper")
columns = {"method": names}
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (name, shift), marker in zip(SHIFTS.items(), "osD", strict=True):
    coverage, width = simulate(shift, n_data_sets, names)
    columns[name] = [f"{c:.3f} / {w:.2f}" for c, w in zip(coverage, width, strict=True)]
    ax.plot(width, coverage, marker, label=name)
print(tabulate(columns, headers="keys", tablefmt="github"))
ax.axhline(0.95, color="0.5", linestyle="--")
ax.set(xlabel="mean width", ylabel="coverage")
ax.legend()
