"""Saved models of trusted types whose contents lie: one line, the exit code of a refused model, and nothing used."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from within_limits import within_limits

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.cli.inputs.model_arrays import COMPILED, TABLE
from cudbound.cli.inputs.model_file import load_model

N = 24
RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["age", "bmi"])
ILL = np.asarray(X["age"] + RNG.normal(size=N) > 0)
Y = np.where(ILL, "ill", "well")
HUGE = 2_000_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    X.assign(state=Y).to_csv(path / "data.csv", index=False)
    return path


def attempt(folder: Path, content: bytes):
    """Run the command on a saved model, under limits; return what it says if it refuses it, else None."""
    path = folder / "model.skops"
    path.write_bytes(content)
    with within_limits():
        result = invoke(
            *["interval", str(folder / "data.csv"), "--target", "state", "--positive", "ill", "--seed", "1"],
            *["--model", str(path), "--methods", "cud,kohavi-normal", "--resamples", "4", "--polish"],
        )
    assert result.exit_code in (0, 1, 3), result.output
    if result.exit_code in (0, 3):
        return None
    (line,) = [one for one in result.stderr.splitlines() if one.startswith("cudbound: error: ")]
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "MemoryError" not in line
    return line


def forged(estimator: Any, **state: Any) -> bytes:
    """Save a fitted estimator with other contents."""
    fitted = estimator.fit(X, Y)
    vars(fitted).update(state)
    return skops.io.dumps(fitted)


def support_vectors() -> SVC:
    return SVC(kernel="linear").fit(X, Y)


SIZE = len(support_vectors().support_)
LIES = [
    (SVC(kernel="linear"), {"_n_support": np.array([HUGE, SIZE - HUGE], np.int32)}, r"SVC._n_support with values"),
    (SVC(kernel="linear"), {"_n_support": np.array([-5, SIZE + 5], np.int32)}, r"SVC._n_support with values"),
    (SVC(kernel="linear"), {"_n_support": np.array([5, SIZE], np.int32)}, "SVC._n_support that does not add up"),
    (SVC(kernel="linear"), {"_n_support": np.array([SIZE], np.int32)}, "SVC._n_support of shape (1,)"),
    (SVC(kernel="linear"), {"_dual_coef_": support_vectors()._dual_coef_[:, :2]}, "SVC._dual_coef_ of shape (1, 2)"),
    (SVC(kernel="linear"), {"_intercept_": np.zeros(0)}, "SVC._intercept_ of shape (0,)"),
    (SVC(kernel="linear"), {"support_vectors_": np.zeros((SIZE, 1))}, "SVC.support_vectors_ of shape"),
    (SVC(kernel="linear"), {"_probA": np.zeros(1)}, "SVC._probA that does not fit to its parameter probability"),
    (SVC(kernel="linear"), {"_effective_probability": True}, "SVC._probA that does not fit"),
    (SVC(kernel="linear"), {"support_": np.full(SIZE, HUGE, np.int32)}, "SVC.support_ with rows"),
    (SVC(kernel="linear"), {"shape_fit_": 3}, "SVC.support_ with rows"),
    (SVC(kernel="linear"), {"_sparse": True}, "SVC._sparse with values"),
    (SVC(kernel="linear"), {"_gamma": np.inf}, "SVC._gamma with values"),
    (SVC(kernel="linear"), {"kernel": ["linear"]}, "a SVC that could not be fitted"),
    (SVC(), {"random_state": np.random.RandomState(0)}, "the state of a random number generator"),
    (RidgeClassifier(), {"coef_": np.full((1, 2), np.inf)}, "RidgeClassifier.coef_ with values"),
    (RidgeClassifier(), {"coef_": np.full((1, 2), np.nan)}, "RidgeClassifier.coef_ with values"),
    (RidgeClassifier(), {"coef_": "coef"}, "RidgeClassifier.coef_ that is a str"),
    (RidgeClassifier(), {"coef_": {}}, "RidgeClassifier.coef_ that is a dict"),
    (RidgeClassifier(), {"feature_names_in_": 5}, "RidgeClassifier.feature_names_in_ that are not one text"),
    (RidgeClassifier(), {"feature_names_in_": np.array(["age"], object)}, "that are not one text for each feature"),
    (RidgeClassifier(), {"n_features_in_": 10**12}, "RidgeClassifier.n_features_in_ that is no number from 1"),
    (RidgeClassifier(), {"n_features_in_": "2"}, "RidgeClassifier.n_features_in_ that is no number from 1"),
    (RidgeClassifier(), {"predict": 5}, "a RidgeClassifier with 'predict' in place of its own"),
    (RidgeClassifier(), {"_parameter_constraints": {}}, "with '_parameter_constraints' in place of its own"),
    (SVC(kernel="linear"), {"_impl": "epsilon_svr"}, "a SVC with '_impl' in place of its own"),
    *((SVC(), {name: None}, f"SVC.{name} that is missing") for name in COMPILED),
    (RidgeClassifier(), {"classes_": np.zeros((2, 2))}, "RidgeClassifier.classes_ of shape (2, 2)"),
    (RidgeClassifier(), {"classes_": np.array([[1], None], object)}, "RidgeClassifier.classes_ with values that are"),
    (SGDClassifier(), {"loss": {"hinge": 1}}, "a SGDClassifier that could not be fitted"),
    (SGDClassifier(), {"penalty": {"l2": 1}}, "a SGDClassifier that could not be fitted"),
    (ConvexLossClassifier(), {"loss": {"a": 1}}, "a ConvexLossClassifier that could not be fitted: its loss is none"),
    (ConvexLossClassifier(), {"penalty": {"a": 1}}, "a ConvexLossClassifier that could not be fitted: its penalty"),
    (ConvexLossClassifier(), {"penalty": -1.0}, "a ConvexLossClassifier that could not be fitted: its penalty"),
    (LeastSquaresClassifier(), {"coef_": np.zeros((1, 0, 2))}, "LeastSquaresClassifier.coef_ of shape (1, 0, 2)"),
    (LinearSVC(), {"intercept_": np.zeros(7)}, "LinearSVC.intercept_ of shape (7,)"),
    (LogisticRegression(), {"coef_": np.zeros((1, 2), "U3")}, "LogisticRegression.coef_ of shape (1, 2) and type <U3"),
    (KNeighborsClassifier(algorithm="brute"), {"_y": np.full(N, HUGE)}, "KNeighborsClassifier._y with values"),
    (KNeighborsClassifier(algorithm="brute"), {"classes_": np.array(["ill"])}, "_y with classes that it does not have"),
]  # fmt: skip


@pytest.mark.parametrize(("estimator", "state", "reason"), LIES, ids=map(str, range(len(LIES))))
def test_lying_contents_are_refused_before_they_are_used(folder, estimator, state, reason):
    line = attempt(folder, forged(estimator, **state))
    assert "--model: 'model.skops' is refused, since it holds " in line
    assert reason in line


def test_a_parameter_that_scikit_learn_lets_pass_is_refused_where_it_is_used(folder):
    line = attempt(folder, forged(RidgeClassifier(), alpha={"a": 1}))
    assert "--model: the saved model cannot be used, TypeError: " in line


def test_an_estimator_that_is_not_in_the_table_is_refused_unless_it_is_trusted(folder):
    from sklearn.cluster import KMeans

    content = skops.io.dumps(make_pipeline(KMeans(2, n_init=1, random_state=0), RidgeClassifier()).fit(X, Y))
    line = attempt(folder, content)
    assert "a KMeans, whose arrays this command cannot check; " in line
    assert "add --trust sklearn.cluster._kmeans.KMeans" in line
    assert (
        load_model(folder / "model.skops", ["sklearn.cluster._kmeans.KMeans"]).estimator.steps[0][0]
        == "kmeans"
    )


def schema_of(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {one: file.read(one) for one in file.namelist()}
    return json.loads(members.pop("schema.json")), members


def archive(schema: Any, members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in {"schema.json": json.dumps(schema).encode(), **members}.items():
            file.writestr(name, content)
    return packed.getvalue()


def node(kind: str, content: Any, name: int) -> dict[str, Any]:
    return {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": kind,
        "content": content,
        "__id__": name,
    }


def test_forty_levels_of_lists_that_hold_the_one_below_twice_are_refused(folder):
    schema, members = schema_of(forged(RidgeClassifier()))
    below = node("ListNode", [], 10**6)
    for level in range(1, 41):
        below = node("ListNode", [below, node("ListNode", [], below["__id__"])], 10**6 + level)
    schema["content"]["content"]["alpha"] = below
    assert "holds more than 1,000,000 objects, copies included" in attempt(folder, archive(schema, members))


def test_objects_nested_too_deep_are_refused(folder):
    schema, members = schema_of(forged(RidgeClassifier()))
    below = node("ListNode", [], 10**6)
    for level in range(1, 150):
        below = node("ListNode", [below], 10**6 + level)
    schema["content"]["content"]["alpha"] = below
    assert "nests objects deeper than 100 levels" in attempt(folder, archive(schema, members))


def npy(shape: tuple[int, ...], dtype: str, data: bytes = b"") -> bytes:
    """An array file whose header may say anything."""
    packed = io.BytesIO()
    np.lib.format.write_array_header_1_0(packed, {"shape": shape, "fortran_order": False, "descr": dtype})
    return packed.getvalue() + data


@pytest.mark.parametrize("dtype", ["<U0", "<f8", "|V0", "|S0"])
@pytest.mark.parametrize("shape", [(10**18,), (10**9, 10**9), (2**63 - 1,), (2**40,), (0,), ()], ids=str)
def test_headers_of_arrays_that_lie_are_refused(folder, dtype, shape):
    schema, members = schema_of(forged(RidgeClassifier()))
    place = schema["content"]["content"]["coef_"]["file"]
    assert attempt(folder, archive(schema, members | {place: npy(shape, dtype)})) is not None


def test_a_random_state_beyond_its_end_is_refused(folder):
    schema, members = schema_of(forged(SGDClassifier(), random_state=np.random.RandomState(0)))
    state = schema["content"]["content"]["random_state"]["content"]["content"]["state"]["content"]
    state["pos"]["content"] = str(2**30)
    assert "the state of a random number generator" in attempt(folder, archive(schema, members))


def test_the_table_knows_every_attribute_that_it_names():
    for estimator in (SVC(), SGDClassifier(), KNeighborsClassifier()):
        fitted = estimator.fit(X, Y)
        assert set(TABLE[type(fitted).__name__]) <= set(vars(fitted))


@pytest.mark.parametrize(
    ("estimator", "changes", "reason"),
    [
        (SGDClassifier(), {"max_iter": 2**31, "tol": None}, "its max_iter is 2147483648, and the most is 1,000,000"),
        (make_pipeline(PCA(1, iterated_power=10**12), RidgeClassifier()), {}, "its iterated_power is 1000000000000"),
        (BaggingClassifier(RidgeClassifier(), 2), {"n_estimators": 10**9}, "its n_estimators is 1000000000"),
        (GridSearchCV(RidgeClassifier(), {"alpha": [1.0]}), {"param_grid": {"max_iter": [10**9]}}, "tries a max_iter"),
        (GridSearchCV(SVC(), {"C": [1.0]}), {"param_grid": {"max_iter": [-1], "C": [1e9]}}, "tries a max_iter outside"),
        (
            GridSearchCV(RidgeClassifier(), {"alpha": [1.0]}),
            {"param_grid": [{name: list(range(200)) for name in ("alpha", "solver", "tol")}]},
            "it tries 8000000 candidates, and the most is 10,000",
        ),
        (
            GridSearchCV(RidgeClassifier(), {"alpha": [1.0]}),
            {"cv": RepeatedStratifiedKFold(n_repeats=10**9)},
            "its n_repeats is 1000000000",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_parameters_with_which_a_fit_does_not_end_are_refused(folder, estimator, changes, reason):
    assert reason in attempt(folder, forged(clone(estimator), **changes))


@pytest.mark.parametrize(
    "changes", [{"C": 1e300}, {"tol": 1e-300}, {"class_weight": {"ill": 1e9, "well": 1e9}}], ids=str
)
def test_a_support_vector_machine_is_refitted_in_a_limited_number_of_steps(folder, changes):
    (folder / "model.skops").write_bytes(forged(SVC(kernel="linear"), **changes))
    estimator = load_model(folder / "model.skops").estimator
    with within_limits(), pytest.warns(ConvergenceWarning, match="terminated early"):
        assert clone(estimator).fit(X, Y).n_iter_ == [1_000_000]


# --- anything at all in any attribute

ESTIMATORS = [
    SVC(kernel="linear"),
    SVC(),
    RidgeClassifier(),
    LogisticRegression(),
    LinearSVC(),
    SGDClassifier(random_state=0),
    LeastSquaresClassifier(),
    ConvexLossClassifier("logistic", penalty=0.1),
    make_pipeline(StandardScaler(), PCA(1), LogisticRegression()),
]
VALUES = st.one_of(
    st.sampled_from([None, True, 0, -1, 5, 2**31, 10**18, 0.5, np.inf, np.nan, "", "linear", [], [1], {}, ()]),
    st.builds(
        lambda shape, kind, value: np.full(shape, value).astype(kind),
        st.sampled_from([(), (0,), (1,), (2,), (1, 2), (2, 2), (1, 7), (7, 2), (1, 1, 1)]),
        st.sampled_from(["f8", "f4", "i4", "i8", "u1", "U2", "?"]),
        st.sampled_from([0, 1, -1, 100, 1e300]),
    ),
)  # fmt: skip
FITTED = [estimator.fit(X, Y) for estimator in ESTIMATORS]


def owners(estimator: Any) -> list[Any]:
    return [step for _, step in estimator.steps] if hasattr(estimator, "steps") else [estimator]


def forge_anything(folder, data):
    estimator = skops.io.loads(
        skops.io.dumps(data.draw(st.sampled_from(FITTED))),
        trusted=[
            f"{kind.__module__}.{kind.__name__}" for kind in (LeastSquaresClassifier, ConvexLossClassifier)
        ],
    )
    owner = data.draw(st.sampled_from(owners(estimator)))
    for name in data.draw(
        st.lists(st.sampled_from(sorted(vars(owner))), min_size=1, max_size=2, unique=True)
    ):
        vars(owner)[name] = data.draw(VALUES)
    try:
        content = skops.io.dumps(estimator)
    except Exception:  # not every object can be saved
        return
    attempt(folder, content)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_content_is_used_or_refused(folder, data):
    forge_anything(folder, data)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=1500, deadline=None)
@given(data=st.data())
def test_much_more_content_is_used_or_refused(folder, data):
    forge_anything(folder, data)
