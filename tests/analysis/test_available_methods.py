"""The frame of everything that is registered is complete, readable text, and agrees with what the methods do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_cases import SIZES, sample
from sklearn.model_selection import GridSearchCV

from cudbound import (
    LeastSquaresClassifier,
    available_methods,
    compare_intervals,
    compare_learners,
    estimate_error,
)
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS

COLUMNS = [
    "name",
    "gives",
    "title",
    "formula",
    "estimand",
    "groups",
    "needs",
    "reads",
    "assumptions",
    "tendency",
    "reference",
    "cost",
    "options",
    "with_groups",
]
FRAME = available_methods()
X, Y = sample(24)


def test_one_row_for_everything_registered():
    assert list(FRAME.columns) == COLUMNS
    assert FRAME["name"].tolist() == [*METHODS, *ESTIMATORS]
    assert FRAME["name"].is_unique


@pytest.mark.parametrize("row", list(FRAME.itertuples()), ids=FRAME["name"])
def test_the_word_works_where_the_frame_says(row):
    clf = LeastSquaresClassifier().fit(X, Y)
    if row.gives == "point estimate":
        assert estimate_error(clf, X, Y, methods=row.name, n_resamples=5, rng=0, resampling=SIZES).rows
        return
    if "tuned" in row.groups:
        clf = GridSearchCV(clf, {"fit_intercept": [True, False]}, cv=2).fit(X, Y)
    scores = row.reads.split(", ")[0] != "classes"
    if scores and "interval" in row.gives:
        with pytest.raises(ValueError, match=rf"{row.name} reads .* and not which rows are misclassified"):
            compare_intervals(clf, X, Y, methods=row.name)
    elif "interval" in row.gives:
        found = compare_intervals(
            clf,
            X,
            Y,
            methods=row.name,
            n_resamples=5,
            rng=0,
            resampling=replace(SIZES, inner=2),
        )
        assert str(found.rows[0].estimand).startswith(str(row.estimand))
    else:
        with pytest.raises(ValueError, match=rf"'{row.name}' compares two classifiers; use compare_learners"):
            compare_intervals(clf, X, Y, methods=row.name)
    if "comparison" in row.gives:
        settings = {"metric": "auc" if scores else "error", "n_resamples": 5, "rng": 0}
        found = compare_learners([clf, clf], X, Y, methods=row.name, resampling=SIZES, **settings)
        assert found.row.method == row.name
    else:
        with pytest.raises(ValueError, match=r"The 'methods' parameter must be 'all' or one of"):
            compare_learners([clf, clf], X, Y, methods=row.name)
