"""Words for a paper: what was done, what came out, with which software, and what to cite."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from cudbound import (
    LeastSquaresClassifier,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
)
from cudbound.basis.rounding import format_proportion
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.report.bibliography import cited
from cudbound.report.description import Description

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.where(X[:, 0] + RNG.normal(size=30) > 0, "ill", "well")
CLF = LeastSquaresClassifier().fit(X, Y)
FEW = {"n_resamples": 40, "rng": 0}


@pytest.fixture(scope="module")
def table():
    return compare_intervals(CLF, X, Y, methods=["cud", "martin-beta"], **FEW)


def test_the_words_have_the_data_the_numbers_and_the_software(table):
    said = table.describe()
    n_well = int((Y == "well").sum())
    assert "The error of the classifier (LeastSquaresClassifier(" in said.methods
    assert (
        f"n = 30 cases, {n_well} events (class well) and {30 - n_well} non-events, with 2 features"
        in said.methods
    )
    assert (
        f"95% confidence intervals by: {METHODS['cud'].title} (cud); {METHODS['martin-beta'].title}"
        in said.methods
    )
    assert "40 resamples" in said.methods
    assert "of the classifier fitted to these data, on new cases from the same population" in said.methods
    for row in table:
        low, high = map(format_proportion, row.confidence_interval)
        estimate = format_proportion(row.estimate)
        found = f"{estimate} (95% confidence interval {low} to {high})"
        assert f"{row.method}: the error is estimated at {found}" in said.results
    python = platform.python_version()
    assert said.software.startswith(f"Computed with Python {python}, cudbound {version('cudbound')}, ")
    for name, package in (("NumPy", "numpy"), ("scikit-learn", "scikit-learn")):
        assert f"{name} {version(package)}" in said.software
    assert said.software.endswith("; seed 0.")
    assert [entry.partition(",")[0] for entry in said.citations] == [
        "@inproceedings{laber2008small",
        "@techreport{martin1996small",
        "@software{cudbound",
    ]
    assert str(said) == "\n\n".join([said.methods, said.results, said.software, said.bibtex])


def test_every_result_has_words(table):
    bound = cud_interval(CLF, X, Y, **FEW)
    one = performance_interval(CLF, X, Y, **FEW)
    compared = compare_learners([CLF, DummyClassifier()], X, Y, methods=["mcnemar"], rng=0)
    points = estimate_error(CLF, X, Y, methods=["resubstitution"], **FEW)
    for result in (bound, one, compared, points):
        said = result.describe()
        assert isinstance(said, Description)
        assert "n = 30 cases" in said.methods
        assert said.software.endswith("seed 0.")
        assert said._repr_html_().startswith("<p><b>")
    assert one.describe().results == one.sentence
    assert bound.describe().results == table.describe().results.partition(" martin-beta")[0]
    found = compared["mcnemar"]
    words = compared.describe()
    assert f"{DummyClassifier()}." in words.methods
    assert "p-value" in words.results
    assert f"error({found.a}) - error({found.b}) = {found.estimate:.3f}" in words.results
    assert "mcnemar1947note" in words.bibtex


def test_what_happened_is_not_left_out():
    low = compare_intervals(
        CLF, X, Y, methods=["cud", "martin-beta"], alternative="less", n_resamples=40, rng=None
    )
    assert "95% confidence limit: at most 0." in low.describe().results
    assert "(draws solved exactly as far as needed)" in low.describe().results
    assert low.describe().software.endswith("; no seed.")


@pytest.mark.parametrize("name", [*METHODS, *ESTIMATORS])
def test_every_method_cites_what_its_reference_names(name):
    """Every year in brackets behind a name belongs to an entry of the bibliography, and no other entry is cited."""
    reference = (METHODS.get(name) or ESTIMATORS[name]).reference
    years = set(re.findall(r"[a-z.]\.? \((\d{4})\)", reference))
    *entries, software = cited([reference])
    assert {re.search(r"^  year *= \{(\d+)\}", entry, re.MULTILINE)[1] for entry in entries} == years
    assert software.startswith("@software{cudbound,")
    for entry in entries:
        first = re.search(r"^  author *= \{(?:\{)?([\w-]+)", entry, re.MULTILINE)[1]
        assert first in reference


def test_sources_are_told_apart_by_all_names():
    found = cited(["Efron and Tibshirani (1997)", "Noma et al. (2021)"])
    keys = [entry.partition("{")[2].partition(",")[0] for entry in found]
    assert keys == ["efron1997improvements", "noma2021confidence", "cudbound"]
    assert len(cited(["Tibshirani (1997), Other and Wilson (1927), Stein (1981)"])) == 1
