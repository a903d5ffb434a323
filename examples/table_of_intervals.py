"""
How do seven intervals differ on the same data?
===============================================

All intervals of the CUD paper for a classifier on principal component scores: a pipeline, fitted to 60 real
cases.

The fitted scaler and axes are the fixed basis of the CUD bound. The other intervals refit the whole pipeline
on every draw. With ``inner="oob"`` that is one refit per draw instead of 51.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals, cud_interval

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(0).permutation(y.size)[:60]
X, y = X[rows], y[rows]

clf = make_pipeline(StandardScaler(), PCA(n_components=2), LeastSquaresClassifier()).fit(X, y)

result = cud_interval(clf, X, y, n_resamples=500, rng=0)
print(result)
print(result.at(confidence_level=0.8))

# %%
# A shorter interval is not better by itself: it may miss more often.

table = compare_intervals(
    clf, X, y, n_resamples=500, rng=0, methods="paper", resampling=Resampling(inner="oob")
)
print(table)
table.plot()
