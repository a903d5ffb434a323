"""
From a fitted pipeline to a figure
==================================

A tutorial for analysts: an interval, a table, a comparison and a figure from a fitted scikit-learn pipeline. It
takes about 15 minutes. The notebook is at the foot of the page.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import compare_intervals, compare_learners, performance_interval

# %%
# Data and model
# --------------
# Sixty patients and six features of a data set that comes with scikit-learn. Fit the model as you always do.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean concavity", "texture error", "area error"]]
y = y.map({0: "malignant", 1: "benign"})
rows = np.random.default_rng(0).permutation(len(y))[:60]
X, y = X.iloc[rows], y.iloc[rows]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)

# %%
# One interval
# ------------
# Pass the fitted pipeline and the rows that it was fitted to. The whole pipeline is refitted on every bootstrap draw.
# ``rng`` makes the result repeatable.

result = performance_interval(model, X, y, rng=0)
print(result)

# %%
# The limits are numbers, too.

low, high = result.confidence_interval
print(f"{result.estimate:.3f}, {low:.3f} to {high:.3f}")

# %%
# Other metrics
# -------------
# All metrics come from the same refits. Text labels need the event.


table = compare_intervals(
    model,
    X,
    y,
    methods="two-center",
    metric=["error", "sensitivity", "specificity", "auc"],
    event="malignant",
    rng=0,
)
print(table.to_text(style="paper"))

# %%
# A data frame has every number unrounded.

print(table.to_frame()[["metric", "estimate", "low", "high"]].round(3).to_string(index=False))

# %%
# The figure
# ----------
# ``plot()`` returns a display; ``save`` writes SVG, PNG or PDF.

table.plot()

# %%
# Is it better than something simpler?
# ------------------------------------
# A test against always predicting the majority class.

learners = {"six features": model, "majority": "majority"}
print(compare_learners(learners, X, y, rng=0))

# %%
# Words for the paper
# -------------------
# A methods paragraph, the results, the versions, and the references in BibTeX.

print(table.describe().methods)

# %%
# Next
# ----
# A search (``GridSearchCV``) can be passed like any other classifier. Several rows per patient need ``groups=``. A
# threshold belongs to the classifier: ``FixedThresholdClassifier``. The how-to guides have a page for each.
