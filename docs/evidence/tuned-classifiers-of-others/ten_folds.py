"""The training sets of the design tuned-classifiers-of-others, tuned by 10-fold cross-validation: bbc-cv and bbc-f.

    python ten_folds.py run STORE            a store of a study; resumes
    python ten_folds.py summary STORE        ten_folds.csv in this folder

Not registered: added after the cells with 5 folds had been seen, because the authors of BBC-F take up to 10 folds.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV

from cudbound.study import Scenario, Study, run_study, summarize
from cudbound.study.worlds import Imbalanced, LogisticLabels

N_FOLDS = 10
COLUMNS = [
    *("scenario", "n", "method", "n_replicates", "coverage", "coverage_mcse"),
    *("truth_below", "truth_above", "width", "n_failed"),
]
# names, seed and draws are those of the design, so that the training sets are the same
STUDY = Study(
    "tuned by ten folds",
    (
        Scenario(
            "p = 20, logistic",
            LogisticLabels(n_features=20),
            GridSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=N_FOLDS),
        ),
        Scenario(
            "15 % of events, ridge",
            Imbalanced(positive_share=0.15, n_features=5, n_signal=2, distance=2.0),
            GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 10.0, 100.0, 1000.0]}, cv=N_FOLDS),
            n_samples=(100,),
        ),
    ),
    (50, 100),
    150,
    ("bbc-cv", "bbc-f"),
    n_resamples=100,
    seed=20261202,
)


def main(action: str, store: str) -> None:
    """Run the sets, or write what they show."""
    if action == "run":
        run_study(STUDY, store)
    else:
        cells = summarize(store).cells[COLUMNS]
        cells.to_csv(Path(__file__).with_suffix(".csv"), index=False, float_format="%.6g")


if __name__ == "__main__":
    main(*sys.argv[1:])
