"""More features than rows: every call says so, and an interval is then no evidence against the majority class."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier
from unwrapped import unwrapped

from cudbound import (
    clinical_report,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
)
from cudbound.basis.exceptions import ManyFeaturesWarning
from cudbound.cli.group import main

# noise: the error of any classifier is .5
X = np.random.default_rng(3).normal(size=(40, 120))
Y = np.repeat([0, 1], 20)
RIDGE = RidgeClassifier().fit(X, Y)
SMALL = {"n_resamples": 20, "rng": 0}


def with_warnings(call, *arguments, **options):
    """Return the result of a call, and its warnings of many features."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(*arguments, **options)
    many = [warning for warning in caught if issubclass(warning.category, ManyFeaturesWarning)]
    assert all(warning.filename == __file__ for warning in many)
    return result, [str(warning.message) for warning in many]


@pytest.mark.parametrize(
    "method", ["two-center", "cud", "bootstrap-percentile", "bayle-cv", "langford-binomial"]
)
def test_every_interval_warns_and_shows_no_better_classifier(method):
    for call in (performance_interval, compare_intervals):
        named = {"method": method} if call is performance_interval else {"methods": method}
        result, (message,) = with_warnings(call, RIDGE, X, Y, **named, **SMALL)
        assert message.startswith("The classifier has 120 features (rank of the design 40) for 40 rows.")
        assert "do not rely on intervals that use the training error, except two-center" in message
        assert message in unwrapped(str(result))
        assert "above the interval" not in unwrapped(str(result))


def test_other_calls_warn():
    result, (message,) = with_warnings(cud_interval, RIDGE, X, Y, **SMALL)
    assert message in str(result)
    assert "an interval below that is no evidence of a better classifier" in str(result)
    result, (message,) = with_warnings(estimate_error, RIDGE, X, Y, methods="bootstrap-632", **SMALL)
    assert "do not rely on estimates that use the training error" in message
    assert message in unwrapped(str(result))
    for metric in ("error", "auc"):
        learners = {"ridge": RIDGE, "tree": DecisionTreeClassifier(random_state=0), "majority": "majority"}
        result, messages = with_warnings(compare_learners, learners, X, Y, metric=metric, **SMALL)
        assert [text.partition(":")[0] for text in messages] == ["ridge", "tree"]
        assert all(text in unwrapped(str(result)) for text in messages)
    report, messages = with_warnings(clinical_report, RIDGE, X, Y, n_resamples=20, n_seeds=1, rng=0)
    assert messages
    assert "above the interval" not in report.to_html()


@pytest.mark.parametrize(
    ("classifier", "columns", "message"),
    [
        (make_pipeline(PolynomialFeatures(3), RidgeClassifier()), 5, "56 features (rank of the design 40)"),
        (make_pipeline(SelectKBest(k=4), LogisticRegression()), 120, "120 features for 40 rows"),
        (DecisionTreeClassifier(random_state=0), 120, "120 features for 40 rows"),
        (RidgeClassifier(), 30, "30 features (rank of the design 31)"),
        (DecisionTreeClassifier(random_state=0), 30, ""),
        (make_pipeline(PCA(4, random_state=0), LogisticRegression()), 120, ""),
        (LogisticRegression(), 5, ""),
    ],
    ids=["expanded", "selected", "tree", "many", "fewer", "components", "few"],
)
def test_the_features_that_the_classifier_chooses_among_are_counted(classifier, columns, message):
    part = X[:, :columns]
    _, messages = with_warnings(
        performance_interval, classifier.fit(part, Y), part, Y, method="bootstrap-percentile", **SMALL
    )
    assert len(messages) == bool(message)
    assert all(message in text for text in messages)


def test_groups_of_rows_and_sparse_rows_are_counted():
    groups = np.arange(40) // 4
    few = RidgeClassifier().fit(X[:, :8], Y)
    _, (message,) = with_warnings(
        performance_interval, few, X[:, :8], Y, groups=groups, method="cud", **SMALL
    )
    assert "8 features (rank of the design 9) for 10 groups of rows" in message
    sparse = csr_array(X)
    tree = DecisionTreeClassifier(random_state=0).fit(sparse, Y)
    assert with_warnings(performance_interval, tree, sparse, Y, method="bootstrap-percentile", **SMALL)[1]


def test_new_cases_are_evidence():
    result, messages = with_warnings(
        performance_interval, RIDGE, X, Y, method="test-set-wilson", test_set=(X + 1e-3, Y), **SMALL
    )
    assert messages == []
    assert "above the interval" in str(result)


def test_the_commands_warn(tmp_path):
    path = tmp_path / "noise.csv"
    pd.DataFrame(X).add_prefix("x").assign(ill=Y).to_csv(path, index=False)
    arguments = [str(path), "--target", "ill", "--positive", "1", "--resamples", "20", "--seed", "0"]
    for command in (
        ["interval", *arguments, "--classifier", "ridge", "--methods", "bootstrap-percentile"],
        ["compare-learners", *arguments, "--learners", "ridge,least-squares"],
    ):
        result = CliRunner().invoke(main, [*command, "--format", "json"])
        assert result.exit_code == 0, result.stderr
        assert "120 features (rank of the design 40) for 40 rows" in unwrapped(result.stderr)
        assert any("120 features" in caution for caution in json.loads(result.stdout)["run"]["cautions"])
