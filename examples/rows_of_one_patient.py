"""
What happens if rows of one patient count as patients?
======================================================

The interval can be too short. A small simulation: 20 patients with 2 to 6 rows each, with and without `groups=`.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from cudbound import LeastSquaresClassifier, performance_interval

rng = np.random.default_rng(0)


def patients(n: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, classes and patients: half of the variance of a feature is that of the patient."""
    patient = np.repeat(np.arange(n), rows)
    ill = (np.arange(n) % 2)[patient]
    X = np.sqrt(0.5) * (rng.normal(size=(n, 3))[patient] + rng.normal(size=(patient.size, 3)))
    X[:, 0] += 1.5 * ill
    return X, ill, patient


X_new, y_new, _ = patients(20_000, np.ones(20_000, dtype=int))
fig, axes = plt.subplots(1, 2, sharex=True, sharey=True, figsize=(8, 4), layout="constrained")
for ax, told in zip(axes, (False, True), strict=True):
    rng = np.random.default_rng(1)
    covered = 0
    for number in range(30):
        X, y, patient = patients(20, rng.integers(2, 7, size=20))
        clf = LeastSquaresClassifier().fit(X, y)
        truth = np.mean(clf.predict(X_new) != y_new)
        groups = patient if told else None
        low, high = performance_interval(clf, X, y, groups=groups, n_resamples=100, rng=0).confidence_interval
        hit = low <= truth <= high
        covered += hit
        ax.plot([low, high], [number, number], color="0.5" if hit else "black", linewidth=1 if hit else 2.5)
        ax.plot(truth, number, "k.")
    title = "with groups" if told else "without groups"
    ax.set(title=f"{title}: {covered} of 30 cover", xlabel="error on a new patient", yticks=[])
    print(f"{title}: {covered} of 30 intervals contain the true error")

# %%
# Dots: the true error of each classifier. Thick lines: intervals that miss it. Thirty data sets show the
# direction only; the coverage is in the evidence pages.
