"""Words for a paper: what was done, what came out, with which software, and what to cite."""

from __future__ import annotations

import platform
import re
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from cudbound import (
    LeastSquaresClassifier,
    Metrics,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
)
from cudbound.adapters.procedure import procedure_in_words
from cudbound.basis.rounding import format_proportion
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.report.description import Description, cited

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
    assert "The classifier was fitted by least-squares classification." in said.methods
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
    named = (
        "LeastSquaresClassifier (least-squares classification); "
        "DummyClassifier (the majority class for every case)."
    )
    assert f"The errors of these classifiers were compared: {named}" in words.methods
    assert "()" not in words.methods
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
        "replacement of missing values by the mean",
        "replacement of missing values by the most frequent value",
        "coding of categories as indicator variables",
        "standardization of features",
        "selection of 3 features by a univariate test",
        "principal component analysis with 2 components",
        "logistic regression with a ridge penalty",
        "tuning of C by 5-fold cross-validation, again in every fit",
        "CalibratedClassifierCV",
    )


@pytest.mark.parametrize(
    ("classifier", "words"),
    [
        (LinearSVC(), "linear support vector classification with a ridge penalty (C = 1)"),
        (LinearDiscriminantAnalysis(), "linear discriminant analysis"),
        (LeastSquaresClassifier(), "least-squares classification"),
        (RandomForestClassifier(), "a random forest of 100 trees"),
        (KNeighborsClassifier(), "5-nearest-neighbors classification"),
        (GradientBoostingClassifier(), "gradient boosting"),
        (GaussianNB(), "naive Bayes classification"),
        (BernoulliNB(), "BernoulliNB"),
    ],
)
def test_every_classifier_has_words(classifier, words):
    assert procedure_in_words(classifier) == procedure_in_words(classifier.fit(X > 0, Y)) == (words,)


def test_the_paragraph_says_which_steps_are_repeated():
    clf = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    repeated = (
        "which every refit repeated: standardization of features; logistic regression with a ridge penalty"
    )
    kept = "The CUD bound keeps the steps before the classifier as fitted to all cases."
    for method, uses_the_bound in (("two-center", False), ("cud", True)):
        said = compare_intervals(clf, X, Y, methods=method, **FEW).describe().methods
        assert (repeated in said) == (method != "cud")  # which refits nothing
        assert "by these steps" in said
        assert (kept in said) == uses_the_bound


def test_several_metrics_are_one_sentence():
    asked = {"metric": Metrics(["sensitivity", "specificity"], event="ill"), "methods": "two-center", **FEW}
    said = compare_intervals(CLF, X, Y, **asked).describe()
    assert re.match(
        r"two-center: sensitivity 0\.\d\d \(.* to .*\), specificity 0\.\d\d \(.* to .*\)", said.results
    )
    assert "cross_validated" not in str(said)


def test_percent_holds_everywhere():
    compared = compare_learners([CLF, DummyClassifier()], X, Y, methods=["mcnemar"], rng=0)
    points = estimate_error(CLF, X, Y, methods=["resubstitution"], **FEW)
    one = performance_interval(CLF, X, Y, **FEW)
    for result in (one, compared, points, cud_interval(CLF, X, Y, **FEW)):
        assert re.search(r"\b0\.\d", result.describe().results)
        said = result.describe(percent=True).results.partition("statistic")[0]
        assert re.search(r"\d\.\d%", said)
        assert not re.search(r"\b0\.\d+(?!\d*%)", said)
    both = {"metric": Metrics(["sensitivity", "cost"], "ill", {"ill": 2.0, "well": 1.0}), **FEW}
    found = compare_intervals(CLF, X, Y, methods="two-center", **both).describe(percent=True).results
    assert re.search(r"sensitivity \d+% \(\d+% to \d+%\)", found)


def test_numbers_of_a_method_are_told_in_words(table):
    row = replace(table["cud"], details={"out_of_bag": 0.05, "n_tested": 100.0}, remarks=())
    assert row.all_remarks() == "out-of-bag estimate = 0.05, n tested = 100"
