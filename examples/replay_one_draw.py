"""
Is the solver right about this draw?
====================================

Take the hardest draw of a run, pickle it, load it, solve it alone, and check the answer by hand.
"""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np

from cudbound import LeastSquaresClassifier, cud_interval
from cudbound.problem.draws import SolveStatus, draw_counts
from cudbound.solve import solve_draws

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 4))
y = rng.integers(2, size=50)  # labels unrelated to X: the hard case for the solver
clf = LeastSquaresClassifier().fit(X, y)
result = cud_interval(clf, X, y, n_resamples=200, rng=7, all_draws=True)

draw = int(result.draws.nodes.argmax())
print(f"draw {draw} took {result.draws.nodes[draw]} nodes, the median is {np.median(result.draws.nodes):.0f}")

# the counts of any one draw follow from the seed and its number
counts = draw_counts(50, draw + 1, np.random.default_rng(7))[draw]
assert (counts == result.problem.counts[draw]).all()

file = pickle.dumps(result.problem.select(draw))  # holds the training data: be careful about sharing it
problem = pickle.loads(file)
alone = solve_draws(problem)
print(f"alone: {SolveStatus(alone.status[0]).name}, Q between {alone.lower[0]:.6f} and {alone.upper[0]:.6f}")
assert alone.upper[0] == result.draws.upper[draw]

# The witness lies in the cell that attains Q; its own value can be a little lower, if the cell's infimum is
# not attained.
witness = alone.witness[0]
errors = np.where(problem.design @ witness >= 0.0, 1.0, -1.0) != problem.labels
score = float(problem.score_weights(0) @ errors)
excess = problem.mean_loss(0, witness) - problem.mean_loss(0, problem.coef)
value = abs(score) * float(np.clip(1.0 - problem.localization * excess, 0.0, 1.0))
print(f"by hand: score {score:+.4f}, excess loss {excess:+.6f}, value {value:.6f}")
assert alone.lower[0] - 1e-6 <= value <= alone.upper[0]

# %%
# Most draws are easy. The hardest one takes many times the nodes of the median.

fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.hist(result.draws.nodes, bins=40, color="0.6")
ax.set(xlabel="nodes of the search tree", ylabel="draws")
