"""The cells of studies that a clinical report compares with: they are those of the studies."""

from __future__ import annotations

import csv
import math

import pytest
import studied_cells as made
from data import sample
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import LeastSquaresClassifier
from cudbound.clinical.report_results import (
    RECOMMENDED,
    cells_by_distance,
    family_of,
    studied_cells,
)
from cudbound.clinical.sections import outside_of


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
    monkeypatch.setattr("cudbound.clinical.report_results.studied_cells", lambda: cells)
    assert outside_of(family, *at) == outside
