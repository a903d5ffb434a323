"""Coverage and width of the seven intervals on data whose true error is known, in a small simulation.

Two Gaussian classes in the plane, n = 30, at three distances. ``python examples/pilot_coverage.py 400`` makes the
table in docs/method.md, in a few minutes; without a number it takes 5 samples a design, which says little.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import norm
from tabulate import tabulate

from cudbound import LeastSquaresClassifier, compare_intervals

N_SAMPLES, N_RESAMPLES = 30, 200
SHIFTS = {"strong overlap": 0.3, "moderate overlap": 0.8, "nearly separated": 2.0}


def true_error(clf: LeastSquaresClassifier, shift: float) -> float:
    """Error of a linear classifier where class y in {-1, +1} is normal around (shift y, 0) with unit variance."""
    slope, intercept = clf.coef_[0], clf.intercept_[0]
    reach = shift * slope[0]
    return float(norm.cdf(np.array([intercept - reach, -intercept - reach]) / np.linalg.norm(slope)).mean())


def simulate(shift: float, n_data_sets: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names of the methods, the share of intervals that hold the true error, and the mean width."""
    rng = np.random.default_rng(0)
    covered, widths = [], []
    while len(covered) < n_data_sets:
        y = rng.integers(2, size=N_SAMPLES)
        X = rng.normal(size=(N_SAMPLES, 2)) + shift * np.column_stack([2 * y - 1, np.zeros(N_SAMPLES)])
        if not 2 <= y.sum() <= N_SAMPLES - 2:
            continue
        clf = LeastSquaresClassifier().fit(X, y)
        error = true_error(clf, shift)
        table = compare_intervals(clf, X, y, n_resamples=N_RESAMPLES, rng=rng)
        intervals = [row.confidence_interval for row in table.rows]
        covered.append([interval.low <= error <= interval.high for interval in intervals])
        widths.append([interval.width for interval in intervals])
    return [row.method for row in table.rows], np.mean(covered, axis=0), np.mean(widths, axis=0)


n_data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 5
columns: dict[str, list[str]] = {}
for name, shift in SHIFTS.items():
    methods, coverage, width = simulate(shift, n_data_sets)
    columns.setdefault("method", methods)
    columns[name] = [f"{c:.3f} / {w:.2f}" for c, w in zip(coverage, width, strict=True)]
print(tabulate(columns, headers="keys", tablefmt="github"))
