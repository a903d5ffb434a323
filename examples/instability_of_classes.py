"""
Which patients would another training set classify differently?
===============================================================

The share of bootstrap refits that give a row another class, against the distance of its score from the
threshold.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import performance_interval

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(1).permutation(y.size)[:50]
X, y = X[rows][:, [1, 4, 8, 9]], y[rows]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)

found = performance_interval(model, X, y, n_resamples=500, rng=0).instability
print(found)

# %%
# Rows near the threshold change easily. A row far from it that often changes is a reason to worry.

found.plot()
