"""
How well does the model rank patients, and are its risks right?
===============================================================

The AUC and the Brier score with intervals, and the pictures that belong to them, from one call.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import compare_intervals
from cudbound.plotting.risks import RocDisplay

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(1).permutation(y.size)[:120]
X, y = X[rows][:, [1, 4, 8, 9]], 1 - y[rows]  # 1: malignant
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)

table = compare_intervals(model, X, y, methods="two-center", metric=["auc", "brier"], n_resamples=300, rng=0)
print(table.to_text(style="paper"))
print(table.calibration)

# %%
# The curve of the training rows is too good. Out of bag, each row is judged by refits that left it out.

RocDisplay.from_table(table).plot()

# %%
# Observed shares of events against the risks, out of bag.

table.calibration.plot()
