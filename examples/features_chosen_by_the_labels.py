"""
What does it cost to choose features on the same data?
======================================================

Fifty columns of pure noise: every classifier is wrong half of the time. Chosen beforehand, the four
"best" columns look good. Chosen inside the pipeline, the interval contains the true error.
"""

from __future__ import annotations

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from cudbound import performance_interval

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 50)), rng.integers(2, size=60)

chosen = SelectKBest(k=4).fit_transform(X, y)
beforehand = performance_interval(LogisticRegression().fit(chosen, y), chosen, y, n_resamples=300, rng=0)
inside = make_pipeline(SelectKBest(k=4), LogisticRegression()).fit(X, y)
honest = performance_interval(inside, X, y, n_resamples=300, rng=0)

for name, result in (("chosen beforehand", beforehand), ("chosen inside", honest)):
    low, high = result.confidence_interval
    print(f"{name:18} {result.estimate:.3f} ({low:.3f} to {high:.3f}); the true error is 0.5")

# %%
# Nothing can see a choice that was made before the call. Put it into the pipeline.

honest.plot()
