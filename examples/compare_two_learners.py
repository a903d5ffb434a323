"""
Do two learning algorithms differ in their error?
=================================================

Three methods on 150 real cases, and how far the answer depends on rho. Decide which of them to report
before you look at the table.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import compare_learners

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(0).permutation(y.size)[:150]
X, y = X[rows], y[rows]

linear = make_pipeline(StandardScaler(), LogisticRegression())
neighbors = KNeighborsClassifier(1)  # not standardized, so that the areas dominate the distances

methods = ["repeated-k-fold-t", "grandvalet-bengio-t", "mcnemar"]
learners = {"logistic": linear, "neighbors": neighbors}
table = compare_learners(learners, X, y, methods=methods, rng=0)
print(table)

# %%
# The difference is significant at the 5% level for every rho below the threshold, and for none from there on.

threshold = table["grandvalet-bengio-t"].details["rho_threshold"]
print(f"rho_threshold {threshold:.2f}")

# %%
# Each side of 0 is labeled with the learner it favors.

table.plot()
