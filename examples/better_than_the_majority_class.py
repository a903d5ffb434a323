"""
Which of four learners beats the majority class?
================================================

Several learners against one reference, on the same splits, with p-values adjusted for their number.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, compare_learners

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(5).permutation(y.size)[:60]
X, y = X[rows][:, [8, 9, 11]], y[rows]  # three weak features

learners = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "least squares": LeastSquaresClassifier(),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=0),
    "majority": "majority",
}
pairs = compare_learners(learners, X, y, reference="majority", rng=0)
print(pairs)

# %%
# The limits hold for all pairs at once.

pairs.plot()
