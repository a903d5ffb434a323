"""
How does the threshold trade sensitivity for specificity?
=========================================================

Three thresholds that were fixed beforehand, each a rule with intervals of its own.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from cudbound import compare_intervals

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = (X[:, 0] + rng.normal(size=80) > 0.5).astype(int)
both = ["sensitivity", "specificity"]

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for position, threshold in enumerate((0.2, 0.35, 0.5)):
    rule = FixedThresholdClassifier(LogisticRegression(), threshold=threshold).fit(X, y)
    table = compare_intervals(rule, X, y, methods="two-center", metric=both, n_resamples=200, rng=0)
    for name, marker, shift in (("sensitivity", "o", -0.08), ("specificity", "s", 0.08)):
        row = table["two-center", name]
        print(f"{threshold:.2f}  {name}  {row.estimate:.2f} ({row.low:.2f} to {row.high:.2f})")
        ax.plot([position + shift] * 2, [row.low, row.high], color="0.4")
        ax.plot(position + shift, row.estimate, marker, color="black", label=name if position == 0 else None)
ax.set(xticks=range(3), xticklabels=[0.2, 0.35, 0.5], xlabel="threshold", ylabel="share", ylim=(0, 1))
ax.legend()

# %%
# A threshold that is picked from this picture was chosen on the data: use ``TunedThresholdClassifierCV`` then.
