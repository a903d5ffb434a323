"""Cases by outcome, coefficients, and the studied cells that a clinical report compares with."""

from __future__ import annotations

import csv
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import studied_cells as made
from data import sample
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from cudbound import LeastSquaresClassifier
from cudbound.clinical.clinical_report import is_optimistic
from cudbound.clinical.report_results import RECOMMENDED, frame_of
from cudbound.clinical.sections import (
    cells_by_distance,
    coefficients_of,
    family_of,
    model,
    outside_of,
    participants,
    studied_cells,
)

# ---- cases by outcome against pandas ----


RNG = np.random.default_rng(5)
N = 60
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(60, 9, N).round(1),
        "crp": np.exp(RNG.normal(2, 1, N)).round(2),
        "sex": RNG.choice(["f", "m"], N),
        "stage": pd.Categorical(RNG.choice(["I", "II", "III"], N), ["I", "II", "III", "IV"]),
        "diabetes": RNG.random(N) < 0.3,
    }
)
DIED = FRAME["age"].to_numpy() + 6 * (FRAME["sex"] == "m").to_numpy() + RNG.normal(0, 9, N) > 63
NUMBERS = FRAME[["age", "crp"]]


def coded(numbers):
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    return make_column_transformer((numbers, ["age", "crp"]), (categories, ["sex", "stage", "diabetes"]))


def gaps(frame):
    frame = frame.copy()
    frame.loc[frame.index[1:4], "age"], frame.loc[frame.index[3:6], "sex"] = np.nan, None
    return frame


def model_of(clf, X, y=DIED, event=True, threshold=None):
    """The part of a report on the model, without the refits of a report."""
    clf.fit(X, y)
    sign = 1 if event else -1
    answers = SimpleNamespace(
        columns=frame_of(X, [f"x{k}" for k in range(X.shape[1])]),
        scores=None,
        risks=clf.predict_proba(X)[:, int(event)] if hasattr(clf, "predict_proba") else None,
        threshold=threshold,
        called=clf.predict(X) == event,
        analysis=SimpleNamespace(event_class=int(event)),
    )
    if hasattr(clf, "decision_function"):
        like = (lambda rows: rows) if hasattr(X, "columns") else pd.DataFrame.to_numpy
        answers.scores = lambda rows: sign * clf.decision_function(like(rows))
    return model(answers)


def sums(model, X):
    """The scores from the terms, as a reader would compute them."""
    total = np.full(len(X), model["intercept"])
    for term in model["terms"]:
        column, level = X[term["column"]], term["level"]
        if level is None:
            values = column.fillna(0.0)
        else:
            values = column.isna() if level == "missing" else column.astype(object).map(str) == level
        total += term["coefficient"] * values.to_numpy(float)
    return total


IMPUTED = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
LINEAR = {
    "plain": (LogisticRegression(), NUMBERS),
    "scores": (LinearSVC(), NUMBERS),
    "components": (make_pipeline(StandardScaler(), PCA(1), RidgeClassifier()), NUMBERS),
    "a linear kernel": (SVC(kernel="linear"), NUMBERS),
    "one-hot": (make_pipeline(coded(StandardScaler()), LogisticRegression()), FRAME),
    "imputed": (make_pipeline(coded(IMPUTED), LogisticRegression()), gaps(FRAME)),
    "a threshold": (FixedThresholdClassifier(LogisticRegression(), threshold=0.3), NUMBERS),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("event", [True, False])
def test_the_sum_of_terms_is_the_score(name, event):
    clf, X = LINEAR[name]
    section = model_of(clf, X, event=event)
    again = sums(section, X)
    expected = clf.decision_function(X) * (1 if event else -1)
    assert again == pytest.approx(expected, abs=1e-6)
    new = NUMBERS + 1.5 if X is NUMBERS else X.assign(age=X["age"] - 20)
    assert sums(section, new) == pytest.approx(clf.decision_function(new) * (1 if event else -1), abs=1e-6)
    is_log_odds = hasattr(clf, "predict_proba")
    assert section["is_log_odds"] == is_log_odds
    if is_log_odds:
        risks = clf.predict_proba(X)[:, int(event)]
        assert 1 / (1 + np.exp(-again)) == pytest.approx(risks, abs=1e-6)


def test_coefficients_are_those_of_scikit_learn():
    clf = LogisticRegression()
    section = model_of(clf, NUMBERS)
    assert [term["coefficient"] for term in section["terms"]] == pytest.approx(clf.coef_[0].tolist())
    assert section["intercept"] == pytest.approx(clf.intercept_[0])


@pytest.mark.parametrize(
    ("clf", "why"),
    [
        (RandomForestClassifier(5, random_state=0), "decision function"),
        (GradientBoostingClassifier(n_estimators=3, max_depth=1, random_state=0), "not a sum"),
        (SVC(), "not a sum"),
        (GaussianNB(), "decision function"),
    ],
)
def test_a_classifier_without_coefficients_says_why(clf, why):
    section = model_of(clf, NUMBERS)
    assert (section["terms"], section["intercept"]) == ([], None)
    assert why in section["why_none"]


def test_scores_without_coefficients_have_a_reason():
    def fails(rows):
        raise ValueError("an unseen pair of values")

    assert "(ValueError)" in coefficients_of(fails, FRAME)["why_none"]
    assert coefficients_of(fails, FRAME[[]])["why_none"].startswith("its columns have 0 numbers")
    wide = pd.DataFrame(np.zeros((2, 1_001)))
    assert (
        "1,001 numbers and levels, and 1 to 1,000 can be listed" in coefficients_of(fails, wide)["why_none"]
    )
    assert not coefficients_of(lambda rows: rows["age"], FRAME)["why_none"]


@pytest.mark.parametrize(
    ("error", "sensitivity", "expected"),
    [(0.1, 0.9, True), (0.1, 0.8, True), (0.3, 0.9, False), (0.2, 0.8, False), (None, None, False)],
)
def test_apparent_values_are_called_optimistic_where_they_are(error, sensitivity, expected):
    measures = [
        {"metric": "error", "apparent": error, "estimate": 0.2},
        {"metric": "sensitivity", "apparent": sensitivity, "estimate": 0.8},
    ]
    assert is_optimistic(measures) == expected


@pytest.mark.parametrize("sex", ["a copy", "another column"])
def test_coefficients_that_others_could_replace_are_called_so(sex):
    X = FRAME[["age", "sex"]].assign(copy=FRAME["sex"] == "m" if sex == "a copy" else FRAME["diabetes"])
    columns = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["sex", "copy"]), remainder="passthrough"
    )
    section = model_of(make_pipeline(columns, LeastSquaresClassifier()), X)
    assert section["is_unique"] == (sex != "a copy")


# --- cases by outcome


def test_cases_by_outcome_are_those_of_pandas():
    X = gaps(FRAME)
    features = {feature["name"]: feature for feature in participants(X, DIED, 0)["features"]}
    assert list(features) == list(FRAME)
    for name, rows in (("all", slice(None)), ("events", DIED), ("non_events", ~DIED)):
        quartiles = X["age"][rows].quantile([0.25, 0.5, 0.75]).tolist()
        assert features["age"]["quartiles"][name] == pytest.approx(quartiles, rel=1e-3)
        assert features["age"]["missing"][name] == X["age"][rows].isna().sum()
        counts = {level["level"]: level[name] for level in features["sex"]["levels"]}
        assert counts == X["sex"][rows].value_counts().to_dict()
    assert [level["level"] for level in features["stage"]["levels"]] == ["I", "II", "III"]
    assert [level["level"] for level in features["diabetes"]["levels"]] == ["False", "True"]


# ---- the cells of studies that a clinical report compares with ----


def row_of(study, scenario, n, method):
    return studied_cells().set_index(["study", "scenario", "n", "method"]).loc[(study, scenario, n, method)]


def test_the_table_is_that_of_the_studies():
    renew = "renew it with: python docs/made/studied_cells.py"
    assert made.PLACE.read_text() == made.table(), renew


def test_coverage_is_that_of_the_exported_cells():
    with (made.ROOT / "docs/evidence/several-classes/cells.csv").open(newline="") as file:
        lines = [one for one in csv.DictReader(file) if one["method"] != "two-center"]
    for line in lines:
        cell = row_of("several-classes", line["scenario"], int(line["n"]), line["method"])
        assert (cell.family, cell.p, cell.sets) == (line["classifier"], int(line["p"]), int(line["sets"]))
        assert (cell.coverage, cell.width) == (
            pytest.approx(float(line["coverage"]), abs=5e-5),
            pytest.approx(float(line["width"]), abs=5e-5),
        )


@pytest.mark.parametrize(("n", "p", "estimate"), [(40, 5, 0.25), (500, 2, 0.4), (20, 15, 0.0)])
def test_the_nearest_are_nearest(n, p, estimate):
    cells = cells_by_distance("least-squares", "langford-binomial", n, p, estimate)
    studied = studied_cells()
    assert len(cells) == len(studied.query("family == 'least-squares' and method == 'langford-binomial'"))
    distances = [
        abs(math.log(n) - math.log(cell.n))
        + abs(math.log(p / n) - math.log(cell.p / cell.n))
        + 10 * abs(estimate - cell.estimate)
        for cell in cells.itertuples()
    ]
    assert cells["distance"].tolist() == pytest.approx(distances)
    assert cells["distance"].is_monotonic_increasing


def test_families():
    X, y = sample(20)
    names = {
        "least-squares": LeastSquaresClassifier(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "ridge": RidgeClassifier(),
        "naive-bayes": GaussianNB(),
        "tuned ridge": GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 2.0]}, cv=2),
    }
    assert {name: family_of(one.fit(X, y)) for name, one in names.items()} == {name: name for name in names}
    assert family_of(names["logistic"], grouped=True) == "grouped logistic"
    assert {"least-squares", "logistic", "grouped logistic"} <= set(studied_cells()["family"])


@pytest.mark.parametrize(
    ("family", "at", "outside"),
    [
        ("logistic", (80, 21, 0.16), None),
        ("logistic", (150, 12, 0.25), None),
        ("logistic", (2000, 21, 0.16), {"n": (2000, 500), "p/n": (0.0105, 0.03)}),
        ("svm", (50, 3, 0.2), {}),
    ],
)
def test_data_are_outside_the_studies_if_no_cell_is_like_them(monkeypatch, family, at, outside):
    """As if two-center had been studied in the cells of langford-binomial.

    For 150 rows the nearest cell has 60, but a further one is within a factor of 2 in everything.
    """
    cells = studied_cells().query("method == 'langford-binomial'").assign(method=RECOMMENDED)
    monkeypatch.setattr("cudbound.clinical.sections.studied_cells", lambda: cells)
    assert outside_of(family, *at) == outside
