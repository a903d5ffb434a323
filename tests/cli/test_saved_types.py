"""Types in saved models beyond those that skops trusts: allowed one by one, and made harmless where they could harm."""

from __future__ import annotations

import json
import re
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import assert_error, invoke
from scipy.interpolate import BSpline
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.impute._iterative import IterativeImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cudbound import compare_intervals
from cudbound.cli.inputs.harmless_types import HARMLESS
from cudbound.cli.inputs.model_file import load_model
from cudbound.report.render import render_report

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
            (KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), ["bmi"]),
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


def test_every_type_that_is_allowed_is_needed():
    """But for those that only other versions, or other searches, write into a file."""
    found: set[str] = set()
    for estimator in ALLOWED:
        found |= set(
            skops.io.get_untrusted_types(data=skops.io.dumps(estimator.fit(FEATURES, ILL.astype(int))))
        )
    others = {"RepeatedKFold", "chi2", "_ImputerTriplet"}
    assert found <= HARMLESS
    assert {name.rpartition(".")[2] for name in HARMLESS - found} <= others


def test_a_search_gives_the_row_of_tuned_methods_that_python_gives():
    tuning = search().fit(FEATURES, WORDS)
    save(tuning)
    result = interval("--methods", "tuned", "--resamples", "40", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    expected = compare_intervals(tuning, FEATURES, WORDS, methods="tuned", n_resamples=40, rng=1)
    assert result.stdout == render_report(expected.report(), "csv") + "\n"


def test_tuned_methods_need_a_search():
    save(LogisticRegression().fit(FEATURES, WORDS))
    message = (
        "--methods: bbc-cv needs a fitted GridSearchCV or RandomizedSearchCV, saved with skops: name its file"
    )
    assert_error(interval("--methods", "tuned"), 2, message)
    plain = ["interval", "data.csv", "--target", "state", "--positive", "ill", "--methods", "tuned"]
    assert_error(invoke(*plain), 2, message)


# --- what a file could do with these types


def forged(estimator: Any, change) -> Path:
    """Save a fitted estimator as somebody would who wants it to do something else."""
    fitted = estimator.fit(FEATURES, WORDS)
    change(fitted)
    return save(fitted)


def spline_of(pipeline: Pipeline) -> BSpline:
    return pipeline[0].bsplines_[0]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("k", 50),
        ("k", -1),
        ("_t", np.array([0.0, 1.0])),
        ("_t", np.zeros(8)),
        ("_c", np.zeros((1, 1))),
        ("axis", 1),
    ],
)
def test_a_spline_whose_parts_do_not_fit_is_refused_before_its_compiled_code_reads_them(attribute, value):
    path = forged(
        make_pipeline(SplineTransformer(n_knots=3), LogisticRegression()),
        lambda fitted: setattr(spline_of(fitted), attribute, value),
    )
    with pytest.raises(ValueError, match=r"'model.skops' cannot be loaded, ValueError"):
        load_model(path)


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


def put(name: str, value: Any):
    return lambda fitted: setattr(fitted, name, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("param_grid", {"memory": ["folder"]}), "a search over 'memory', which is no parameter of a fit"),
        (put("param_grid", [{"C": [1.0]}, {"a__verbose": [9]}]), "a search over 'a__verbose'"),
        (lambda fitted: fitted.cv_results_.update(params=[{"x__memory": "f"}]), "a search over 'x__memory'"),
        (
            put("param_grid", {"step": [Pipeline([("a", "passthrough")], memory="folder")]}),
            "a search over 'step' with values that are not numbers or words",
        ),
        (put("scoring", make_scorer(np.sin)), "a search whose scoring is not the name of a score"),
        (put("refit", np.sin), "a search whose refit is neither true nor the name of a score"),
    ],
)
def test_a_search_that_would_do_more_than_try_numbers_and_words_is_refused(change, message):
    path = forged(search(), change)
    with pytest.raises(ValueError, match=re.escape(message)):
        load_model(path)


def test_a_pickle_in_place_of_an_array_is_not_read():
    """What is known of a type of numbers comes from an array, and arrays are read without pickles."""
    path = save(make_pipeline(SimpleImputer(), LogisticRegression()).fit(FEATURES, WORDS))
    with zipfile.ZipFile(path) as file:
        members = {one: file.read(one) for one in file.namelist()}
    schema = json.loads(members["schema.json"])
    for name in members:
        if name.endswith(".npy"):
            array = np.array([sys], dtype=object)
            with warnings.catch_warnings(), open("forged.npy", "wb") as out:
                np.lib.format.write_array_header_1_0(
                    out, {"descr": "|O", "fortran_order": False, "shape": array.shape}
                )
                out.write(b"cos\nsystem\n(S'touch stolen'\ntR.")
            members[name] = Path("forged.npy").read_bytes()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    assert "DTypeNode" in json.dumps(schema)
    with pytest.raises(ValueError, match="Object arrays cannot be loaded when allow_pickle=False"):
        load_model(path)
    assert not Path("stolen").exists()


# --- types that the user names


def test_a_type_that_is_named_is_loaded():
    tree = DecisionTreeClassifier(max_depth=1).fit(FEATURES, WORDS)
    save(tree)
    plain = ["--methods", "resampled-t", "--size", "n_splits=3", "--format", "csv"]
    result = interval(*plain, "--trust", "sklearn.tree._tree.Tree")
    assert result.exit_code == 0, result.stderr
    assert_error(interval(*plain), 1, "'sklearn.tree._tree.Tree'. It was not loaded")
    assert "name each with --trust TYPE" in interval(*plain).stderr


def test_naming_one_type_does_not_allow_another():
    save(
        make_pipeline(FunctionTransformer(np.sort), DecisionTreeClassifier(max_depth=1)).fit(FEATURES, WORDS)
    )
    result = interval("--trust", "sklearn.tree._tree.Tree")
    assert_error(result, 1, "holds types that are not known to be harmless: 'numpy.sort'. It was not loaded")


def test_kinds_of_node_that_can_call_anything_are_refused_whatever_is_named():
    path = save(RidgeClassifier().fit(FEATURES, WORDS))
    with zipfile.ZipFile(path) as file:
        members = {one: file.read(one) for one in file.namelist()}
    text = members["schema.json"].decode()
    members["schema.json"] = text.replace('"NdArrayNode"', '"OperatorFuncNode"', 1).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    assert_error(
        interval("--trust", "numpy.ndarray"), 1, "'numpy.ndarray (OperatorFuncNode)'. It was not loaded"
    )


def test_trust_without_a_file_is_refused():
    plain = ["interval", "data.csv", "--target", "state", "--positive", "ill", "--trust", "os.system"]
    assert_error(invoke(*plain), 2, "--trust is about the types in a file; name the file with --model.")
