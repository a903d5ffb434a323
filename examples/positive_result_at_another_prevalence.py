"""
What is a positive result worth where the disease is rare?
==========================================================

The positive predictive value, with intervals at several prevalences, from one training set with 40% events.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from cudbound import Metrics, compare_intervals

rng = np.random.default_rng(2)
X = rng.normal(size=(100, 3))
y = (X[:, 0] + 0.6 * rng.normal(size=100) > 0.3).astype(int)
model = LogisticRegression().fit(X, y)

prevalences = [0.01, 0.05, 0.1, 0.2, 0.4]
limits = []
for prevalence in prevalences:
    value = Metrics("ppv", prevalence=prevalence)
    row = compare_intervals(model, X, y, methods="two-center", metric=value, n_resamples=200, rng=0)[
        "two-center"
    ]
    limits.append((row.low, row.estimate, row.high))
    print(f"prevalence {prevalence:.2f}: PPV {row.estimate:.2f} ({row.low:.2f} to {row.high:.2f})")

low, estimate, high = np.transpose(limits)
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.fill_between(prevalences, low, high, color="0.85")
ax.plot(prevalences, estimate, "k.-")
ax.set(xlabel="prevalence", ylabel="positive predictive value", ylim=(0, 1))
