"""
Can losses from other software be used?
=======================================

Intervals and a test from losses recorded by other software: here scikit-learn, but any source would do.

This package fits nothing here. A loss is 1 if a classifier is wrong. For a comparison it is the loss of the
first minus that of the second on the same row or split.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from cudbound import from_records
from cudbound.records import FoldLosses, SplitLosses

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(0).permutation(y.size)[:100]
X, y = X[rows], y[rows]
forest, tree = RandomForestClassifier(10, random_state=0), DecisionTreeClassifier(random_state=0)

# the result of a cross-validation: whether each row was misclassified, and in which fold it was
folds = KFold(10, shuffle=True, random_state=0)
wrong = (cross_val_predict(forest, X, y, cv=folds) != y).astype(int)
fold = np.empty(y.size, dtype=int)
for number, (_, test) in enumerate(folds.split(X)):
    fold[test] = number

for method in ("bayle-cv", "k-fold-t", "grandvalet-bengio-t"):
    row = from_records(FoldLosses(wrong, fold), method)
    limits = row.confidence_interval
    print(f"{method:22} {row.estimate:.3f}  {limits.low:.3f} to {limits.high:.3f}  {row.estimand}")

# the result of repeated random splits: one accuracy per split and classifier
splits = ShuffleSplit(15, test_size=10, random_state=0)
errors = [1 - cross_val_score(each, X, y, cv=splits) for each in (forest, tree)]
print()
print(
    from_records(
        SplitLosses(errors[0] - errors[1], n_train=90, n_test=10), "corrected-resampled-t", differences=True
    )
)
