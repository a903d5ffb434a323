"""
How is another metric bounded by the low-level solver?
======================================================

A CUD interval for the sensitivity, from the solver with custom weights.

Sensitivity is one minus the error among the positives, an average of error indicators over the positives. The
bound applies with the weights w_i = phi_i / n_pos_b - 1 / n_pos on the positives and 0 on the negatives;
phi_i is how often case i was drawn, and n_pos_b how many positives the draw holds. Drawing within each class
keeps n_pos_b = n_pos, so every draw has positives, and the weights become (phi_i - 1) / n_pos.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from cudbound import LeastSquaresClassifier
from cudbound.adapters import to_additive_model
from cudbound.basis.proportions import quantile_rank
from cudbound.problem.draws import draw_counts
from cudbound.solve import Problem, solve_draws

N_RESAMPLES = 500

X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(1).permutation(y.size)[:80]
X, y = X[rows][:, [1, 4, 8, 9]], np.where(y[rows] == 0, "malignant", "benign")

clf = LeastSquaresClassifier().fit(X, y)
model = to_additive_model(clf, X, y)  # design rows, labels -1 and +1, coefficients
event = model.labels == (1.0 if clf.classes_[1] == "malignant" else -1.0)

rng = np.random.default_rng(0)
counts = np.zeros((N_RESAMPLES, y.size), dtype=np.int32)
for group in (event, ~event):
    counts[:, group] = draw_counts(int(group.sum()), N_RESAMPLES, rng)

n_pos = int(event.sum())
weights = np.where(event, counts / n_pos - 1.0 / n_pos, 0.0)
rank = quantile_rank(N_RESAMPLES, 0.95)  # draws are solved only as far as this quantile requires
problem = Problem.of(model.design, model.labels, model.coef, counts, weights=weights)
draws = solve_draws(problem, ranks=rank)

q_lower, q = draws.bracket(rank)
sensitivity = 1.0 - float(model.training_errors[event].mean())
low, high = max(sensitivity - q, 0.0), min(sensitivity + q, 1.0)
print(f"training sensitivity {sensitivity:.3f} on {n_pos} malignant tumors; q = {q:.3f}")
print(f"95% CUD interval [{low:.3f}, {high:.3f}]; quantile {'proved' if q_lower == q else 'not proved'}")
