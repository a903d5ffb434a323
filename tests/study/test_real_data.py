"""Real data as populations: folders checked against their manifest, both ways to draw, and the user's own sources."""

from __future__ import annotations

import gzip
import hashlib
import json
import math

import numpy as np
import pytest

from cudbound.study.population import RealData, World, load_data_set

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


def entry(name, file, content, features, design):
    return {
        "name": name,
        "title": name.capitalize(),
        "file": file,
        "feature_columns": features,
        "target_column": "target",
        "sha256": hashlib.sha256(content).hexdigest(),
        "design": design,
    }


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "sets"
    path.mkdir()
    ward, made = WARD.encode(), gzip.compress(MADE.encode(), mtime=0)
    (path / "ward.csv").write_bytes(ward)
    (path / "made.csv.gz").write_bytes(made)
    entries = [
        entry(
            "ward",
            "ward.csv",
            ward,
            ["age", "coma", "weight"],
            {"text_features": ["coma"], "complete_rows": 5, "design_columns": 3},
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"design": {}}, "ward.csv does not match MANIFEST.json: not plain numbers, but .*: column 'coma'"),
        ({"design": []}, "is not a manifest of data sets"),
        (
            {"target_column": "site"},
            r"does not match MANIFEST.json: site must be 0 or 1 on every row\. Got '2'",
        ),
        (
            {"target_column": "weight", "feature_columns": ["age"]},
            "the target 'weight' must have two classes; found '1.5'",
        ),
        ({"target_column": "weight"}, "column 'weight' is named in both --target and --features"),
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


# --- the user's own ------------------------------------------------------------------------------------------------


class Probit(World):
    name = "probit"
    n_features = 2

    def sample(self, n, rng):
        X = rng.standard_normal((n, 2))
        return X, (X[:, 0] + rng.standard_normal(n) > 0.0).astype(int)


class FirstFeature:
    def predict(self, X):
        return (X[:, 0] > 0.0).astype(int)


def test_a_world_of_the_user_is_judged_on_a_fixed_sample():
    population = Probit()
    drawn = population.draw(30, np.random.default_rng(1))
    assert np.array_equal(drawn.X, population.sample(30, np.random.default_rng(1))[0])
    truth = drawn.true_error(FirstFeature())
    # two standard normal scores of correlation sqrt(1/2) differ in sign with probability 1/4
    assert abs(truth.value - 0.25) < 4.5 * truth.standard_error
    assert truth.standard_error == pytest.approx(math.sqrt(truth.value * (1.0 - truth.value) / 50_000))
    assert Probit().true_error(FirstFeature()) == truth
    assert population.title == "probit"
