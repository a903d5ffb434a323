"""Saved models: what is loaded, what is refused before anything of it can run, and how it meets the data."""

from __future__ import annotations

import io
import json
import os
import re
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
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from unwrapped import unwrapped

from cudbound import ConvexLossClassifier, LeastSquaresClassifier, cud_interval
from cudbound.cli.fitted import load_model
from cudbound.report.render import csv_text

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


def test_the_notes_name_the_file_and_the_steps(fake, folder):
    save(make_pipeline(StandardScaler(), RidgeClassifier()).fit(FEATURES, WORDS), "my model.skops")
    result = interval(model="my model.skops")
    line = (
        "Classifier: Pipeline(StandardScaler, RidgeClassifier) from the file my model.skops, as it was saved: "
        "standardization of features; least-squares classification with a ridge penalty (alpha = 1)."
    )
    assert f"\n{line}\n" in unwrapped(result.stdout)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (
            FixedThresholdClassifier(RidgeClassifier(), threshold=0.1, pos_label="ill"),
            "FixedThresholdClassifier(RidgeClassifier)",
        ),
        (
            Pipeline([("none", "passthrough"), ("last", RidgeClassifier())]),
            "Pipeline(passthrough, RidgeClassifier)",
        ),
    ],
)
def test_what_an_estimator_is_made_of_is_named(folder, estimator, words):
    path = save(estimator.fit(FEATURES, WORDS))
    assert load_model(path).description == f"{words} from the file model.skops, as it was saved"


def test_a_file_name_cannot_put_markup_or_control_characters_into_a_report(fake, folder):
    name = "<b>\\input{x}$|`[a](b)\x1b[2J\u202e.skops"
    save(ridge(WORDS), name)
    text, markdown, latex, document = (
        interval("--format", form, model=name).stdout for form in ("table", "markdown", "latex", "json")
    )
    for output in (text, markdown, latex, document):
        assert output.replace("\n", "").isprintable()
    assert "<b>" not in markdown
    assert "\\input{x}" not in latex
    assert json.loads(document)["run"]["classifiers"]["Classifier"].endswith(
        f"from the file {name}, as it was saved: least-squares classification with a ridge penalty (alpha = 1); "
        "features not standardized"
    )


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


def test_a_function_of_the_system_is_refused(fake, folder):
    save(make_pipeline(FunctionTransformer(np.sin), RidgeClassifier()).fit(FEATURES, WORDS))
    sin = re.compile(r'"sin",(\s+)"__module__": "numpy[\w.]*"')
    edit("model.skops", lambda schema: sin.sub(r'"system",\1"__module__": "os"', schema))
    result = interval()
    assert_error(result, 1, "contains types that are not known to be harmless: ")
    assert "'os.system'" in result.stderr


def test_trees_are_refused(fake, folder):
    from sklearn.tree import DecisionTreeClassifier

    save(DecisionTreeClassifier(max_depth=1).fit(FEATURES, WORDS))
    assert_error(interval(), 1, "'sklearn.tree._tree.Tree'")


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


def test_places_without_a_model(fake, folder):
    assert_error(interval(), 1, "'model.skops': No such file or directory; choose another file")
    Path("model.skops").mkdir()
    assert_error(interval(), 1, "'model.skops': Is a directory; choose another file")


def test_without_skops_the_error_says_how_to_get_it(fake, folder, monkeypatch):
    save(ridge(WORDS))
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert_error(interval(), 1, "get it with: pip install 'skops>=")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--classifier", "least-squares"], "--classifier"),
        (["--set", "C=1"], "--set"),
        (["--standardize"], "--standardize"),
    ],
)
def test_a_model_excludes_the_options_of_a_fit(fake, folder, arguments, option):
    save(ridge(WORDS))
    result = interval(*arguments)
    assert_error(result, 2, f"{option} and --model cannot be combined")
    assert "See 'cudbound interval --help'." in result.stderr


# --- how it meets the data


def test_columns_are_put_in_the_order_of_the_model(fake, folder):
    save(ridge(WORDS, FEATURES[["bmi", "age"]]))
    assert interval().exit_code == 0
    pd.testing.assert_frame_equal(fake.fitted[0].X, FEATURES[["bmi", "age"]])


def test_without_names_columns_are_taken_as_they_stand(fake, folder):
    save(ridge(WORDS, FEATURES.to_numpy()))
    assert interval().exit_code == 0
    np.testing.assert_array_equal(fake.fitted[0].X, FEATURES.to_numpy())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["age"], "missing none, unknown to the model 'bmi'; drop columns with --exclude COL"),
        (["age", "BMI"], "missing 'BMI', unknown to the model 'bmi'; drop columns"),
    ],
)
def test_other_columns_are_named(fake, folder, columns, message):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, len(columns))), columns=columns)
    save(ridge(WORDS, X))
    assert_error(interval(), 1, message)


def test_another_number_of_columns_is_said(fake, folder):
    save(ridge(WORDS, FEATURES[["age"]].to_numpy()))
    assert_error(interval(), 1, "was fitted to 1 features, 'data.csv' has 2: 'age', 'bmi'; drop columns")


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


@pytest.mark.parametrize(
    ("labels", "code"),
    [(ILL.astype(int), "1"), (ILL, "True"), (2 * ILL.astype(int) - 1, "1"), (ILL.astype(float), "1.0")],
)
def test_codes_in_place_of_words_are_read_with_1_for_the_event_and_the_notes_say_so(
    fake, folder, labels, code
):
    save(ridge(labels))
    result = interval()
    assert result.exit_code == 0, result.stderr
    assert fake.fitted[0].y.tolist() == labels.tolist()
    assert f"as it was saved, with class {code} as the event: least-squares" in unwrapped(result.stdout)


def test_codes_the_other_way_round_are_refused(fake, folder):
    save(ridge((~ILL).astype(int)))
    assert_error(interval(), 1, "so the codes are probably reversed: choose the other value with --positive")
    assert interval(positive="well").exit_code == 0
    assert fake.fitted[0].y.tolist() == (~ILL).astype(int).tolist()


def test_other_classes_are_named(fake, folder):
    save(ridge(np.where(ILL, "sick", "well")))
    assert_error(
        interval(),
        1,
        "was fitted to the classes 'sick', 'well', which are neither the values 'well', 'ill' of",
    )
    save(ridge(np.where(ILL, 3, 4)))
    assert_error(interval(), 1, "was fitted to the classes 3, 4")


def test_a_model_of_three_classes_or_not_fitted_is_refused(fake, folder):
    save(ridge(np.arange(N) % 3))
    assert_error(interval(), 1, "must have been fitted to exactly two classes")
    save(RidgeClassifier())
    assert_error(interval(), 1, "This RidgeClassifier instance is not fitted yet")


def test_a_model_whose_state_is_broken_is_refused(fake, folder):
    estimator = ridge(WORDS)
    estimator.coef_ = np.zeros((1, 5))
    save(estimator)
    assert_error(interval(), 1, "'model.skops' cannot classify the rows of 'data.csv', ValueError: ")


def test_a_model_fitted_to_other_rows_is_refused_in_words_of_the_command(folder):
    rng = np.random.default_rng(9)
    save(LeastSquaresClassifier().fit(pd.DataFrame(rng.normal(size=(N, 2)), columns=FEATURES.columns), WORDS))
    result = interval("--resamples", "5", "--methods", "cud")
    assert_error(result, 1, "a model from a file must have been fitted to the rows of FILE.csv")
    assert "add --polish" in result.stderr
    assert "polish=True" not in result.stderr
