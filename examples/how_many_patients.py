"""
How many patients does the study need?
======================================

The half-width of the interval against the number of patients, from a pilot of 60.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from cudbound import plan_sample_size

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + rng.normal(size=60) > 0, "ill", "well")

plan = plan_sample_size(
    LogisticRegression(), X, y, n_samples=[30, 60, 90, 120, 160], n_replicates=20, n_resamples=100, rng=0
)
print(plan)

# %%
# Plan by the line that 80% of the studies keep to, and not by the mean.

plan.plot()
