"""Types in saved models beyond those that skops trusts, and parameters that are reset since a refit would use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import assert_error, invoke
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.impute._iterative import IterativeImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cudbound.cli.fitted import load_model

N = 30
RNG = np.random.default_rng(4)
FEATURES = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["age", "bmi"])
ILL = np.asarray(FEATURES["age"] + RNG.normal(size=N) > 0)
WORDS = np.where(ILL, "ill", "well")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FEATURES.assign(state=WORDS).to_csv("data.csv", index=False)
    return tmp_path


def save(estimator: Any) -> Path:
    skops.io.dump(estimator, "model.skops")
    return Path("model.skops")


def interval(*arguments: str):
    return invoke(
        *["interval", "data.csv", "--target", "state", "--positive", "ill", "--seed", "1"],
        *["--model", "model.skops", *arguments],
    )


def search(**changes: Any) -> GridSearchCV:
    return GridSearchCV(LogisticRegression(), **{"param_grid": {"C": [0.1, 1.0]}, "cv": 3, **changes})


ALLOWED = [
    make_pipeline(SimpleImputer(), LogisticRegression()),
    make_pipeline(IterativeImputer(max_iter=2, tol=1.0), LogisticRegression()),
    make_pipeline(SplineTransformer(n_knots=3), LogisticRegression()),
    make_pipeline(SelectKBest(k=1), LogisticRegression()),
    make_pipeline(
        make_column_transformer(
            (KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), ["bmi"]),
            remainder="passthrough",
        ),
        RidgeClassifier(),
    ),
    search(),
    search(cv=KFold(3), scoring="balanced_accuracy", param_grid={"C": np.logspace(-2, 2, 3)}),
    search(scoring=["accuracy", "roc_auc", "neg_log_loss", "f1", "neg_brier_score"], refit="accuracy"),
    RandomizedSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.1, 1.0], "svc__kernel": ["linear", "rbf"]},
        n_iter=2,
        cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        random_state=0,
    ),
]


@pytest.mark.parametrize("estimator", ALLOWED)
def test_what_is_allowed_predicts_as_what_was_saved(estimator):
    path = save(estimator.fit(FEATURES, ILL.astype(int)))
    assert skops.io.get_untrusted_types(file=path), "skops trusts it; nothing has to be allowed"
    loaded = load_model(path).estimator
    np.testing.assert_array_equal(loaded.predict(FEATURES), estimator.predict(FEATURES))


# --- what a file could do with these types


def forged(estimator: Any, change) -> Path:
    """Save a fitted estimator as somebody would who wants it to do something else."""
    fitted = estimator.fit(FEATURES, WORDS)
    change(fitted)
    return save(fitted)


@pytest.mark.parametrize("memory", ["estimator", "best"])
def test_no_part_of_a_search_keeps_a_folder_of_pickles_or_workers(memory, folder):
    def change(fitted):
        (fitted.estimator if memory == "estimator" else fitted.best_estimator_).memory = str(folder)
        fitted.n_jobs, fitted.verbose, fitted.pre_dispatch = 1000, 3, "print('run')"

    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    path = forged(GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=3), change)
    loaded = load_model(path).estimator
    assert (loaded.n_jobs, loaded.verbose, loaded.pre_dispatch) == (None, False, "2*n_jobs")
    assert loaded.estimator.memory is None
    assert loaded.best_estimator_.memory is None


@pytest.mark.parametrize(
    ("attribute", "value", "name"),
    [
        ("param_grid", {"memory": ["folder"]}, "memory"),
        ("param_grid", [{"C": [1.0]}, {"a__verbose": [9]}], "a__verbose"),
        ("cv_results_", {"params": [{"x__memory": "f"}]}, "x__memory"),
    ],
)
def test_a_search_that_would_set_a_folder_of_pickles_is_refused(attribute, value, name):
    path = forged(search(), lambda fitted: setattr(fitted, attribute, value))
    with pytest.raises(ValueError, match=f"it searches over '{name}', which is not a parameter of a fit"):
        load_model(path)


# --- types that the user names


def test_a_type_that_is_named_is_loaded():
    tree = DecisionTreeClassifier(max_depth=1).fit(FEATURES, WORDS)
    save(tree)
    plain = ["--methods", "resampled-t", "--resampling", "n_splits=3", "--format", "csv"]
    result = interval(*plain, "--trust", "sklearn.tree._tree.Tree")
    assert result.exit_code == 0, result.stderr
    assert_error(interval(*plain), 1, "'sklearn.tree._tree.Tree'. It was not loaded")
    assert "name each type with --trust TYPE" in interval(*plain).stderr


def test_naming_one_type_does_not_allow_another():
    save(
        make_pipeline(FunctionTransformer(np.sort), DecisionTreeClassifier(max_depth=1)).fit(FEATURES, WORDS)
    )
    result = interval("--trust", "sklearn.tree._tree.Tree")
    assert_error(
        result, 1, "contains types that are not known to be harmless: 'numpy.sort'. It was not loaded"
    )
