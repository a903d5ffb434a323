"""Saved models: what is loaded, what is refused before anything of it can run, and how it meets the data."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import Fake, assert_error, invoke
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.impute._iterative import IterativeImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cudbound import ConvexLossClassifier, LeastSquaresClassifier, cud_interval
from cudbound.cli.fitted import load_model
from cudbound.report.render import csv_text

# ---- saved models ----


pytestmark = pytest.mark.usefixtures("folder")

N = 30
RNG = np.random.default_rng(4)
FEATURES = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["age", "bmi"])
ILL = np.asarray(FEATURES["age"] + RNG.normal(size=N) > 0)
WORDS = np.where(ILL, "ill", "well")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The training set as a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    write(WORDS)
    return tmp_path


def write(labels: Any, features: pd.DataFrame = FEATURES) -> None:
    features.assign(state=labels).to_csv("data.csv", index=False)


def save(estimator: Any, name: str = "model.skops") -> Path:
    skops.io.dump(estimator, name)
    return Path(name)


def interval(*arguments: str, positive: str = "ill", model: str = "model.skops"):
    return invoke(
        *["interval", "data.csv", "--target", "state", "--positive", positive, "--seed", "1"],
        *["--model", model, *arguments],
    )


def ridge(y: Any, X: Any = FEATURES) -> RidgeClassifier:
    return RidgeClassifier().fit(X, y)


# --- what is loaded


def test_a_saved_model_gives_the_interval_that_python_gives(folder):
    estimator = make_pipeline(StandardScaler(), LeastSquaresClassifier()).fit(FEATURES, WORDS)
    save(estimator)
    result = interval("--methods", "cud", "--resamples", "50", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    expected = cud_interval(estimator, FEATURES, WORDS, n_resamples=50, rng=1)
    assert result.stdout.splitlines()[1] == csv_text(expected.to_frame()).splitlines()[1]


def test_the_model_is_not_fitted_again(fake: Fake, folder):
    estimator = ridge(WORDS)
    estimator.coef_ = estimator.coef_ * 3.0
    save(estimator)
    assert interval().exit_code == 0
    np.testing.assert_array_equal(fake.fitted[0].estimator.coef_, estimator.coef_)


@pytest.mark.parametrize(
    "estimator",
    [
        LeastSquaresClassifier(),
        ConvexLossClassifier("hinge", penalty=0.1),
        ConvexLossClassifier("logistic", basis=StandardScaler()),
        LogisticRegression(class_weight={"ill": 2.0, "well": 1.0}),
        make_pipeline(StandardScaler(), PCA(1), LogisticRegression()),
        make_pipeline(
            make_column_transformer((StandardScaler(), ["bmi"]), remainder="passthrough"), RidgeClassifier()
        ),
    ],
)
def test_what_is_loaded_predicts_as_what_was_saved(fake, folder, estimator):
    estimator.fit(FEATURES, WORDS)
    save(estimator)
    result = interval()
    assert result.exit_code == 0, result.stderr
    (fitted,) = fake.fitted
    assert list(fitted.X.columns) == ["age", "bmi"]
    assert fitted.y.tolist() == WORDS.tolist()
    np.testing.assert_array_equal(fitted.estimator.predict(FEATURES), estimator.predict(FEATURES))


def test_a_file_of_another_version_of_scikit_learn_is_used_with_a_warning(fake, folder):
    save(ridge(WORDS))
    edit("model.skops", lambda schema: schema.replace(r'"\"1.', r'"\"0.'))
    fake.warnings = ()
    (fitted_warning,) = load_model(Path("model.skops")).warnings
    assert "'model.skops' was saved with scikit-learn 0." in fitted_warning
    assert "if this model differs between the two, the numbers are wrong" in fitted_warning


def edit(name: str, change) -> None:
    """Change the schema of a saved model and leave its arrays."""
    with zipfile.ZipFile(name) as file:
        members = {one: file.read(one) for one in file.namelist()}
    members["schema.json"] = change(members["schema.json"].decode()).encode()
    with zipfile.ZipFile(name, "w") as file:
        for one, content in members.items():
            file.writestr(one, content)


# --- what is refused


class Payload:
    """Its pickle runs a command when it is loaded."""

    def __reduce__(self):
        return os.system, ("touch stolen",)


@pytest.mark.parametrize("name", ["model.pkl", "model.skops"])
@pytest.mark.parametrize("compress", [0, ("xz", 3)])
def test_a_pickle_is_refused_and_nothing_in_it_runs(fake, folder, name, compress):
    joblib.dump(Payload(), name, compress=compress)
    result = interval(model=name)
    assert_error(result, 1, "would run any code in it, so the file was not opened")
    assert "skops.io.dump, or let the command fit one with --classifier" in result.stderr
    assert fake.calls == []
    assert not Path("stolen").exists()
    joblib.load(name)
    assert Path("stolen").exists(), "the payload would have run"


class Stranger(RidgeClassifier):
    """A type that nobody knows; its mere construction would leave a trace."""

    def __setstate__(self, state):
        os.system("touch stolen")
        super().__setstate__(state)


def test_unknown_types_are_listed_and_nothing_is_loaded(fake, folder, monkeypatch):
    module = type(sys)("strangers")
    module.Stranger = Stranger
    monkeypatch.setitem(sys.modules, "strangers", module)
    monkeypatch.setattr(Stranger, "__module__", "strangers")
    save(make_pipeline(StandardScaler(), Stranger()).fit(FEATURES, WORDS))
    result = interval()
    assert_error(
        result, 1, "'model.skops' contains types that are not known to be harmless: 'strangers.Stranger'."
    )
    assert "It was not loaded, because loading could run code." in result.stderr
    assert "Let the command fit a classifier with --classifier" in result.stderr
    assert fake.calls == []
    assert not Path("stolen").exists()
    skops.io.load("model.skops", trusted=["strangers.Stranger"])
    assert Path("stolen").exists(), "the type would have run"


def zipped(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("_json", ".json"), text)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'model.skops' is not a skops file"),
        (b"age,bmi\n1,2\n", "'model.skops' is not a skops file"),
        (zipped(other="x"), "'model.skops' cannot be loaded, KeyError"),
        (zipped(schema_json="{"), "'model.skops' cannot be loaded, JSONDecodeError"),
        (
            skops.io.dumps(LinearRegression().fit(FEATURES, ILL)),
            "'model.skops' contains a LinearRegression, which is not a classifier",
        ),
        (skops.io.dumps([1, 2]), "'model.skops' contains a list, which is not a classifier"),
    ],
    ids=["nothing", "a table", "no schema", "half a schema", "a regression", "a list of numbers"],
)
def test_what_is_no_model_is_refused(fake, folder, content, message):
    Path("model.skops").write_bytes(content)
    assert_error(interval(), 1, message)
    assert fake.calls == []


# --- how it meets the data


def test_columns_are_put_in_the_order_of_the_model(fake, folder):
    save(ridge(WORDS, FEATURES[["bmi", "age"]]))
    assert interval().exit_code == 0
    pd.testing.assert_frame_equal(fake.fitted[0].X, FEATURES[["bmi", "age"]])


@pytest.mark.parametrize(
    ("labels", "in_file", "positive"),
    [
        (WORDS, WORDS, "ill"),
        (WORDS, WORDS, "well"),
        (ILL.astype(int), ILL.astype(int), "1"),
        (ILL.astype(int), ILL.astype(int), "0"),
        (ILL.astype(float), [f"{x}.0" for x in ILL.astype(int)], "1"),
        (2 * ILL.astype(int) - 1, 2 * ILL.astype(int) - 1, "1"),
        (ILL, ILL, "True"),
        (ILL, [str(x).lower() for x in ILL], "true"),
        (ILL.astype(int).astype(str), ILL.astype(int), "1"),
        (np.where(ILL, 2, 1), np.where(ILL, 2, 1), "2"),
    ],
)
def test_classes_in_the_words_of_the_file(fake, folder, labels, in_file, positive):
    write(in_file)
    save(ridge(labels))
    result = interval(positive=positive)
    assert result.exit_code == 0, result.stderr
    (fitted,) = fake.fitted
    assert fitted.y.tolist() == np.asarray(labels).tolist()
    assert "as the event" not in result.stdout


def test_a_model_fitted_to_other_rows_is_refused_in_words_of_the_command(folder):
    rng = np.random.default_rng(9)
    save(LeastSquaresClassifier().fit(pd.DataFrame(rng.normal(size=(N, 2)), columns=FEATURES.columns), WORDS))
    result = interval("--resamples", "5", "--methods", "cud")
    assert_error(result, 1, "a model from a file must have been fitted to the rows of FILE.csv")
    assert "add --bound polish=true" in result.stderr
    assert "polish=True" not in result.stderr


# ---- types in saved models beyond those that skops trusts ----


def search(**changes: Any) -> GridSearchCV:
    return GridSearchCV(LogisticRegression(), **{"param_grid": {"C": [0.1, 1.0]}, "cv": 3, **changes})


ALLOWED = [
    make_pipeline(SimpleImputer(), LogisticRegression()),
    make_pipeline(IterativeImputer(max_iter=2, tol=1.0), LogisticRegression()),
    make_pipeline(SplineTransformer(n_knots=3), LogisticRegression()),
    make_pipeline(SelectKBest(k=1), LogisticRegression()),
    make_pipeline(
        make_column_transformer(
            (KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), ["bmi"]), remainder="passthrough"
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
