"""
How wrong is this classifier on new patients?
=============================================

One call gives the interval to report, with a sentence for the paper and a picture.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import performance_interval

# %%
# Fifty patients, and four of the thirty features.

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(1).permutation(y.size)[:50]
X, y = X[rows][:, [1, 4, 8, 9]], y[rows]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)

result = performance_interval(model, X, y, rng=0)
print(result)

# %%
# The dashed line is the error of always predicting the majority class. The interval includes it.

result.plot()
