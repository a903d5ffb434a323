"""
Does the seed matter?
=====================

The same interval with ten seeds, from 100 and from 1000 bootstrap draws.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cudbound import performance_interval

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + rng.normal(size=60) > 0, "ill", "well")
model = LogisticRegression().fit(X, y)

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for position, n_resamples in enumerate((100, 1000)):
    frames = [
        performance_interval(model, X, y, n_resamples=n_resamples, rng=seed).to_frame() for seed in range(10)
    ]
    runs = pd.concat(frames)
    print(n_resamples, runs[["low", "high"]].agg(["min", "max"]).round(3).to_dict())
    at = position + np.linspace(-0.3, 0.3, len(runs))
    ax.vlines(at, runs["low"], runs["high"], color="0.4")
    ax.plot(at, runs["estimate"], "k.")
ax.set(xticks=[0, 1], xticklabels=["100 draws", "1000 draws"], ylabel="error", ylim=(0, None))

# %%
# More draws bring the upper limits together. The lower limits come from cross-validation here, and
# stay the same. More draws do not make the interval shorter.
