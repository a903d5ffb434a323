"""
How sure are we of sensitivity and specificity?
===============================================

With 24 events, less than one might hope. The limits are for new patients.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import Metrics, compare_intervals

X, y = load_breast_cancer(return_X_y=True)
label = np.where(y == 0, "malignant", "benign")
rows = np.random.default_rng(3).permutation(y.size)[:60]
X, label = X[rows][:, [1, 4, 8, 9]], label[rows]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, label)

both = Metrics(["sensitivity", "specificity"], joint=True)
table = compare_intervals(
    model, X, label, methods="two-center", metric=both, event="malignant", n_resamples=500, rng=0
)
print(table.to_text(style="paper"))

# %%
# Together the two intervals have the level 95%.

table.plot()
