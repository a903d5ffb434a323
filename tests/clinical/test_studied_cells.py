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
    OTHERS,
    RECOMMENDED,
    cells_by_distance,
    family_of,
    studied_cells,
)
from cudbound.clinical.sections import outside_of
from cudbound.report.sentences import STUDIED


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


def test_a_known_cell_of_the_paper():
    """From docs/evidence/paper2008: 0.982 0.444 for cud on gaussians at n = 30, whose mean true error is 0.243."""
    cell = row_of("paper2008", "gaussians", 30, "cud")
    assert (cell.p, cell.estimate, cell.sets) == (3, 0.243, 1000)
    assert (cell.coverage, cell.width) == (0.982, 0.444)


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


def test_what_is_far_is_named():
    def far_in(*at):
        return list(cells_by_distance("linear-svm", "langford-binomial", *at)["far_in"][cell.name])

    cell = cells_by_distance("linear-svm", "langford-binomial", 50, 4, 0.2).iloc[0]
    assert far_in(cell.n, cell.p, cell.estimate) == []
    assert far_in(2 * cell.n, 2 * cell.p, 2 * cell.estimate) == []  # a factor of 2 is not above it
    assert far_in(3 * cell.n, 3 * cell.p, cell.estimate) == ["n"]
    assert far_in(cell.n, 3 * cell.p, 0.0) == ["p/n", "estimate"]


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


def test_sizes_that_are_warned_of_have_no_cell():
    sizes = studied_cells()["n"]
    assert (sizes.min(), sizes.max()) == STUDIED


def test_every_interval_of_a_report_has_cells_for_common_classifiers():
    """A report on least squares or logistic regression has cells of every interval but the recommended one."""
    for family in ("least-squares", "logistic"):
        for method in ("cud", *OTHERS):
            assert len(cells_by_distance(family, method, 60, 4, 0.2)) >= 3, (family, method)


def test_earlier_cells_are_those_that_were_published():
    """Of the study of the paper: location-shifted at n = 30 on gaussians, 0.907 / 0.273."""
    cell = row_of("paper2008", "gaussians", 30, "location-shifted")
    assert (cell.coverage, cell.width) == (0.907, 0.273)
    with pytest.raises(KeyError):  # its first form is not today's
        row_of("paper2008", "gaussians", 30, "two-center")


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
