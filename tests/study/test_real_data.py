"""Real data as populations: folders checked against their manifest, both ways to draw, and the user's own sources."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re

import numpy as np
import pytest
from shared_files import PUBLISHED_SETS

from cudbound.inputs.data_file import CsvError, DataFile
from cudbound.study.populations.population import FunctionPopulation
from cudbound.study.populations.real_data import RealData, csv_population, load_data_set, read_manifest

WARD = """site,age,coma,died,weight,target,target_heavy
1,50,None,a,1.5,0,1
1,60,Deep,a,,1,0
2,70,Stupor,b,2.5,1,
2,80,None,b,3.5,0,0
1,,None,b,4.5,1,1
2,65,Stupor,b,6.5,1,
1,55,Stupor,a,5.5,0,1
"""
MADE = "a,b,target\n" + "".join(f"{i % 7},{i * 0.25},{int(i % 3 == 0)}\n" for i in range(700))


def entry(name, file, content, features, design, **more):
    return {
        "name": name,
        "title": name.capitalize(),
        "file": file,
        "feature_columns": features,
        "target_column": "target",
        "sha256": hashlib.sha256(content).hexdigest(),
        "design": design,
        **more,
    }


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "sets"
    path.mkdir()
    ward, made = WARD.encode(), gzip.compress(MADE.encode(), mtime=0)
    (path / "ward.csv").write_bytes(ward)
    (path / "made.csv.gz").write_bytes(made)
    heavy = {"column": "target_heavy", "features": ["age", "coma"]}
    other = {"column": "target", "features": "as feature_columns"}
    entries = [
        entry(
            "ward",
            "ward.csv",
            ward,
            ["age", "coma", "weight"],
            {"text_features": ["coma"], "complete_rows": 5, "design_columns": 3},
            alternative_targets=[heavy, other],
        ),
        entry("made", "made.csv.gz", made, ["a", "b"], {"complete_rows": 700, "design_columns": 2}),
    ]
    (path / "MANIFEST.json").write_text(json.dumps({"datasets": entries}))
    return path


class Fixed:
    """A classifier that predicts class 1 where the first feature is above a threshold."""

    def __init__(self, threshold):
        self.threshold = threshold

    def predict(self, X):
        return (X[:, 0] > self.threshold).astype(int)


def make(n=800, device="remainder"):
    """Features that name their row, so that a sample can be traced."""
    X = np.arange(n, dtype=float)[:, None]
    return RealData("rows", "rows", X, (np.arange(n) % 5 == 0).astype(int), device)


# --- folders -------------------------------------------------------------------------------------------------------


def test_complete_rows_of_a_file_with_text_become_features(folder):
    data = load_data_set("ward", folder)
    # "Deep" stands on an incomplete row only, so that the levels are None (reference) and Stupor
    assert data.feature_names == ("age", "coma=Stupor", "weight")
    assert data.X.tolist() == [
        [50.0, 0.0, 1.5],
        [70.0, 1.0, 2.5],
        [80.0, 0.0, 3.5],
        [65.0, 1.0, 6.5],
        [55.0, 1.0, 5.5],
    ]
    assert data.y.tolist() == [0, 1, 0, 1, 0]
    assert data.title == (
        "Ward (2 incomplete rows left out): 5 cases, 3 features; drawn without replacement, true error on the other "
        "cases, with standard error; too small to estimate coverage"
    )


def test_alternative_target_brings_its_own_features_and_rows(folder):
    data = load_data_set("ward", folder, target="target_heavy")
    assert data.feature_names == ("age", "coma=None", "coma=Stupor")
    assert data.y.tolist() == [1, 0, 0, 1]  # the row without age and those without target are left out
    assert data.title.startswith("Ward, target_heavy (3 incomplete rows left out): 4 cases")


def test_compressed_file_and_names(folder):
    assert tuple(read_manifest(folder)) == ("ward", "made")
    data = load_data_set("made", folder, device="population")
    assert data.X.shape == (700, 2)
    assert data.X[9].tolist() == [2.0, 2.25]
    assert data.y[:4].tolist() == [1, 0, 0, 1]
    assert (
        data.title
        == "Made: 700 cases, 2 features; drawn with replacement, true error exact on all cases"
        + ("; too small to estimate coverage")
    )


def test_folder_may_be_named_by_the_environment(folder, monkeypatch):
    monkeypatch.delenv("CUDBOUND_DATA", raising=False)
    with pytest.raises(ValueError, match=r"No folder of data sets was given\. Pass one .* set CUDBOUND_DATA"):
        load_data_set("made")
    monkeypatch.setenv("CUDBOUND_DATA", str(folder))
    assert load_data_set("made").n_cases == 700


def test_folder_that_does_not_exist(tmp_path):
    with pytest.raises(
        ValueError, match=r"cannot read .*nowhere.*: No such file or directory\. .*--data-folder"
    ):
        load_data_set("made", tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["{", "[]", '{"datasets": [{"title": "x"}]}', '{"datasets": 3}', "3"])
def test_manifest_that_is_none(tmp_path, text):
    (tmp_path / "MANIFEST.json").write_text(text)
    with pytest.raises(ValueError, match=r"MANIFEST.json: .*(Expecting|must be a table|is missing)"):
        read_manifest(tmp_path)


def test_manifest_that_lacks_a_checksum(folder):
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    del manifest["datasets"][1]["sha256"]
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"MANIFEST.json: data set 2: sha256 is missing"):
        read_manifest(folder)


def test_file_that_was_changed(folder):
    (folder / "ward.csv").write_text(WARD.replace("4.5", "4.6"))
    with pytest.raises(ValueError, match=r"ward.csv is not the file described in MANIFEST.json: its SHA-256"):
        load_data_set("ward", folder)
    assert load_data_set("made", folder).n_cases == 700


def test_file_that_is_missing(folder):
    (folder / "ward.csv").unlink()
    with pytest.raises(ValueError, match=r"cannot read .*ward\.csv: No such file"):
        load_data_set("ward", folder)


def test_unknown_names(folder):
    with pytest.raises(
        ValueError, match=r"'data' parameter must be one of \['made', 'ward'\]. Got 'wards'.* Did you"
    ):
        load_data_set("wards", folder)
    with pytest.raises(ValueError, match=r"'target' parameter must be one of \['target', 'target_heavy'\]"):
        load_data_set("ward", folder, target="weight")
    with pytest.raises(ValueError, match=r"'device' parameter must be one of \['population', 'remainder'\]"):
        load_data_set("ward", folder, device="all")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"design": {}}, "ward.csv does not match MANIFEST.json: not numeric: column 'coma'"),
        ({"design": []}, r"data set 1: design must be a table\. Got \[\]"),
        ({"feature_columns": 5}, r"data set 1: feature_columns must be a text\. Got 5"),
        (
            {"target_column": "site"},
            r"does not match MANIFEST.json: site must be 0 or 1 on every row\. Got '2'",
        ),
        (
            {"target_column": "weight", "feature_columns": ["age"]},
            "the target 'weight' must have two classes; it has 6 values",
        ),
        (
            {"target_column": "weight"},
            "column 'weight' is named in both --target and --features",
        ),
        (
            {"feature_columns": ["age", "height"]},
            "does not match MANIFEST.json: --features: no column 'height'",
        ),
    ],
)
def test_file_that_is_not_as_the_manifest_says(folder, change, message):
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    manifest["datasets"][0] |= change
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=message):
        load_data_set("ward", folder)


@pytest.mark.slow
def test_every_data_set_is_as_its_manifest_counts_it(folder):
    place = PUBLISHED_SETS if PUBLISHED_SETS.is_dir() else folder
    entries = json.loads((place / "MANIFEST.json").read_text())["datasets"]
    assert tuple(read_manifest(place)) == tuple(one["name"] for one in entries)
    for one in entries:
        data = load_data_set(one["name"], place)
        assert data.X.shape == (one["design"]["complete_rows"], one["design"]["design_columns"]), one["name"]
        if "class_counts" in one and one["rows_with_missing"] == 0:
            assert int(data.y.sum()) == one["class_counts"]["1"], one["name"]
        left_out = (
            f"({one['rows_with_missing']} incomplete rows left out)" if one.get("rows_with_missing") else ""
        )
        assert left_out in data.title
        drawn = data.draw(min(50, data.n_cases // 2), np.random.default_rng(0))
        assert drawn.X.shape[1] == len(data.feature_names)
        for other in one.get("alternative_targets", ()):
            counts = other.get("class_counts")
            alternative = load_data_set(one["name"], place, target=other["column"])
            if counts is not None and one["rows_with_missing"] == 0:
                assert np.bincount(alternative.y).tolist() == [counts["0"], counts["1"]], other["column"]


# --- drawing and truth ---------------------------------------------------------------------------------------------


def test_remainder_is_judged_on_exactly_the_other_cases():
    data = make()
    drawn = data.draw(60, np.random.default_rng(4))
    rows = drawn.X[:, 0].astype(int)
    assert len(set(rows.tolist())) == 60
    assert drawn.y.tolist() == [int(row % 5 == 0) for row in rows]
    truth = drawn.true_error(Fixed(300.0))
    others = sorted(set(range(800)) - set(rows.tolist()))
    wrong = [(row > 300) != (row % 5 == 0) for row in others]
    assert len(others) == 740
    assert truth.value == pytest.approx(sum(wrong) / 740, abs=1e-15)
    assert truth.standard_error == pytest.approx(math.sqrt(truth.value * (1 - truth.value) / 740))


def test_population_is_judged_on_all_cases():
    data = make(200, "population")
    drawn = data.draw(150, np.random.default_rng(4))
    assert len(np.unique(drawn.X)) < 150  # with replacement
    wrong = [(row > 70) != (row % 5 == 0) for row in range(200)]
    truth = drawn.true_error(Fixed(70.0))
    assert truth.value == pytest.approx(sum(wrong) / 200, abs=1e-15)
    assert truth.standard_error == 0.0


@pytest.mark.parametrize("device", ["remainder", "population"])
def test_every_case_is_drawn_equally_often(device):
    data = make(40, device)
    counts = np.zeros(40)
    rng = np.random.default_rng(6)
    for _ in range(2000):
        np.add.at(counts, data.draw(10, rng).X[:, 0].astype(int), 1)
    share = 10 / 40
    assert counts.sum() == 20_000
    # binomial, or a sum of multinomial counts, which varies more
    assert np.abs(counts / 2000 - share).max() < 4.5 * math.sqrt(share / 2000)


@pytest.mark.parametrize("device", ["remainder", "population"])
def test_same_random_numbers_give_the_same_sample(device):
    data = make(700, device)
    one, other = (data.draw(30, np.random.default_rng(8)) for _ in range(2))
    assert np.array_equal(one.X, other.X)
    assert one.true_error(Fixed(3.0)) == other.true_error(Fixed(3.0))


def test_mean_truth_of_many_remainders_is_the_error_on_all_cases():
    data = make(600)
    rng = np.random.default_rng(10)
    errors = [data.draw(100, rng).true_error(Fixed(300.0)).value for _ in range(400)]
    exact = np.mean([(row > 300) != (row % 5 == 0) for row in range(600)])
    assert abs(np.mean(errors) - exact) < 4.5 * np.std(errors, ddof=1) / math.sqrt(400)


def test_data_sets_that_are_too_small_say_so():
    assert make(550).fit_for_coverage(50)
    assert not make(549).fit_for_coverage(50)
    assert make(549).fit_for_coverage(49)
    assert make(5000, "population").fit_for_coverage(50)
    assert not make(4999, "population").fit_for_coverage(50)
    assert not make(550).title.endswith("too small to estimate coverage")
    assert make(549).title.endswith("too small to estimate coverage")


def test_sample_that_leaves_no_case_is_refused():
    with pytest.raises(
        ValueError, match=r"rows has 50 cases: a sample of 50 leaves none .* device = 'population'"
    ):
        make(50).draw(50, np.random.default_rng(0))
    assert make(50, "population").draw(50, np.random.default_rng(0)).y.shape == (50,)
    with pytest.raises(ValueError, match=r"'n' parameter must be an integer of at least 1\. Got 2\.5"):
        make().draw(2.5, np.random.default_rng(0))


def test_fingerprint_follows_the_values():
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
    one = RealData("a", "a", X, y).fingerprint
    assert re.fullmatch("[0-9a-f]{64}", one)
    assert RealData("b", "b", np.asfortranarray(X), y, "population").fingerprint == one
    assert RealData("a", "a", X + 1e-12, y).fingerprint != one
    assert RealData("a", "a", X, 1 - y).fingerprint != one
    assert RealData("a", "a", X[:, :1], y).fingerprint != one


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            np.zeros((3, 1)),
            np.array([0, 1]),
            r"X must have one row and y one label per case.*\(3, 1\) and \(2,\)",
        ),
        (np.zeros(3), np.array([0, 1, 1]), r"X at least one column. Got the shapes \(3,\)"),
        (np.zeros((2, 1)), np.array([1, 1]), r"y must contain both labels 0 and 1, and no others. Got \[1\]"),
        (
            np.zeros((2, 1)),
            np.array([1, 2]),
            r"y must contain both labels 0 and 1, and no others. Got \[1, 2\]",
        ),
    ],
)
def test_arrays_that_are_no_population(X, y, message):
    with pytest.raises(ValueError, match=message):
        RealData("bad", "bad", X, y)


# --- the user's own ------------------------------------------------------------------------------------------------


def probit(n, rng):
    X = rng.standard_normal((n, 2))
    return X, (X[:, 0] + rng.standard_normal(n) > 0.0).astype(int)


class FirstFeature:
    def predict(self, X):
        return (X[:, 0] > 0.0).astype(int)


def test_function_is_judged_on_a_fixed_sample():
    population = FunctionPopulation(probit, "probit")
    drawn = population.draw(30, np.random.default_rng(1))
    expected = probit(30, np.random.default_rng(1))
    assert np.array_equal(drawn.X, expected[0])
    assert np.array_equal(drawn.y, expected[1])
    truth = drawn.true_error(FirstFeature())
    # two standard normal scores of correlation sqrt(1/2) differ in sign with probability 1/4
    assert abs(truth.value - 0.25) < 4.5 * truth.standard_error
    assert truth.standard_error == pytest.approx(math.sqrt(truth.value * (1.0 - truth.value) / 50_000))
    assert FunctionPopulation(probit, "again").true_error(FirstFeature()) == truth
    assert population.title == "probit; true error on 50000 fixed cases"


def test_function_may_bring_its_exact_error():
    population = FunctionPopulation(probit, "probit", error=lambda classifier: 0.25)
    truth = population.draw(20, np.random.default_rng(1)).true_error(FirstFeature())
    assert (truth.value, truth.standard_error) == (0.25, 0.0)
    assert population.title == "probit; true error by a given function"
    with pytest.raises(ValueError, match=r"p: the error must be in \[0, 1\]. Got 25.0"):
        FunctionPopulation(probit, "p", error=lambda classifier: 25).true_error(FirstFeature())


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda n, rng: (np.zeros((3, 1)), np.zeros(3)),
            r"X of shape \(20, n_features\) .* Got \(3, 1\) and \(3,\)",
        ),
        (
            lambda n, rng: (np.full((n, 1), np.inf), np.zeros(n)),
            "must return finite features, and labels 0 and 1",
        ),
        (
            lambda n, rng: (np.zeros((n, 1)), np.full(n, -1)),
            "must return finite features, and labels 0 and 1",
        ),
    ],
)
def test_function_that_returns_something_else(function, message):
    with pytest.raises(ValueError, match=message):
        FunctionPopulation(function, "f").draw(20, np.random.default_rng(0))


def test_csv_file_is_read_as_the_command_reads_it(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("id;age;ward;state\n1;50;A;ill\n2;60;B;well\n3;70;A;ill\n4;65;C;well\n5;51;B;ill\n")
    data = csv_population(DataFile(path, "state", "ill", categorical=["ward"], exclude=["id"], delimiter=";"))
    assert data.name == "cases"
    assert data.feature_names == ("age", "ward=B", "ward=C")
    assert data.X[1].tolist() == [60.0, 1.0, 0.0]
    assert data.y.tolist() == [1, 0, 1, 0, 1]
    assert data.title.startswith("cases.csv, state = ill: 5 cases, 3 features; drawn without replacement")
    with pytest.raises(CsvError, match="no such file"):
        csv_population(DataFile(tmp_path / "none.csv", "state", "ill"))
