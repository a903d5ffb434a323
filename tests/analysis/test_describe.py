"""Words for a paper: what was done, what came out, with which software, and what to cite."""

from __future__ import annotations

import re

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cudbound.adapters.parts import procedure_in_words
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.report.description import cited


@pytest.mark.parametrize("name", [*METHODS, *ESTIMATORS])
def test_every_method_cites_what_its_reference_names(name):
    """Every year in brackets behind a name belongs to an entry of the bibliography, and no other entry is cited."""
    reference = (METHODS.get(name) or ESTIMATORS[name]).reference
    years = set(re.findall(r"[a-z.]\.? \((\d{4})[ab]?\)", reference))
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
    first, second = (cited([f"Newcombe (1998{letter})"])[0] for letter in "ab")
    assert "single proportion" in first
    assert "difference" in second
    assert len(cited(["Tibshirani (1997), Other and Wilson (1927), Stein (1981)"])) == 1


def test_every_step_of_a_pipeline_is_said_in_words():
    coded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = ColumnTransformer([("a", SimpleImputer(), [0]), ("b", coded, [1])], remainder="passthrough")
    steps = (columns, StandardScaler(), SelectKBest(k=3), PCA(2), LogisticRegression())
    search = GridSearchCV(make_pipeline(*steps), {"logisticregression__C": [0.1, 1.0]}, cv=5)
    assert procedure_in_words(CalibratedClassifierCV(search)) == (
        "SimpleImputer (strategy = mean)",
        "SimpleImputer (strategy = most_frequent)",
        "OneHotEncoder",
        "StandardScaler",
        "SelectKBest (k = 3)",
        "PCA (n_components = 2)",
        "LogisticRegression with a ridge penalty",
        "tuning of C by 5-fold cross-validation, again in every fit",
        "CalibratedClassifierCV",
    )
