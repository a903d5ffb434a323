"""Design files: what they mean, and one line for everything that can be wrong with them."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.study.design_file import read_design, template_text
from cudbound.study.scenario import describe, differences
from cudbound.study.worlds import WORLDS, Gaussians

SETTINGS = "n_samples = 30\nn_replicates = 2\n"
WORLD = '[[scenario]]\nworld = "gaussians"\n'


def read(folder: Path, text: str, **arguments):
    path = folder / "mine.toml"
    path.write_text(text)
    return read_design(path, **arguments)


# --- what a file means


def test_every_setting_and_key_reaches_the_study(tmp_path):
    study = read(
        tmp_path,
        """
name = "other"
seed = 7
n_samples = [20, 40]
n_replicates = 5
methods = ["kohavi-normal", "cud"]
n_resamples = 30
resampling.inner = "oob"
confidence_level = 0.9
localization = inf
options.kohavi-normal.form = "wilson"

[[scenario]]
name = "scaled"
world = "gaussians"
distance = 2.5
n_features = 6
n_signal = 2
classifier = "logistic"
standardize = true
components = 2
degree = 3
set = {C = 0.5, tol = 1e-8}
""",
    )
    assert (study.name, study.seed, study.n_samples, study.n_replicates) == ("other", 7, (20, 40), 5)
    assert study.methods == ("kohavi-normal", "cud")
    assert (study.n_resamples, study.resampling.inner, study.confidence_level) == (30, "oob", 0.9)
    assert study.localization == float("inf")
    assert study.options == {"kohavi-normal": {"form": "wilson"}}
    (scenario,) = study.scenarios
    assert scenario.population == Gaussians(distance=2.5, n_features=6, n_signal=2)
    steps = scenario.learners()[0]
    assert [type(step) for _, step in steps.steps] == [
        StandardScaler,
        PCA,
        PolynomialFeatures,
        LogisticRegression,
    ]
    assert (steps["pca"].n_components, steps["polynomialfeatures"].degree) == (2, 3)
    assert (steps["logisticregression"].C, steps["logisticregression"].tol) == (0.5, 1e-8)
    assert scenario.description == {
        "world": "gaussians",
        "distance": 2.5,
        "n_features": 6,
        "n_signal": 2,
        "positive_share": 0.5,
        "positive_sd": 1.0,
        "outlier_share": 0.0,
        "outlier_sd": 1.0,
        "subgroup_share": 0.0,
        "flip_rate": 0.0,
        "classifier": "logistic",
        "set": {"C": 0.5, "tol": 1e-8},
        "standardize": True,
        "components": 2,
        "degree": 3,
    }


def test_metric_and_rival_are_part_of_what_a_store_describes(tmp_path):
    of_metric = read(
        tmp_path, f'n_samples = 20\nn_replicates = 1\nmethods = "two-center"\n{WORLD}metric = "auc"\n'
    )
    of_rival = read(tmp_path, f'n_samples = 20\nn_replicates = 1\n{WORLD}rival = {{classifier = "tree"}}\n')
    assert describe(of_metric)["scenarios"]["gaussians"]["description"]["metric"] == ["auc"]
    assert describe(of_rival)["scenarios"]["gaussians"]["description"]["rival"]["classifier"] == "tree"


def test_metric_costs_and_prevalence_of_a_study_are_those_of_scenarios_without_their_own(tmp_path):
    own = '[[scenario]]\nname = "own"\nworld = "gaussians"\n'
    of_costs = read(
        tmp_path, f'{SETTINGS}metric = "cost"\ncosts = [0.2, 1.0]\n{WORLD}{own}costs = [1.0, 3.0]\n'
    )
    assert [(one.metric, one.costs) for one in of_costs.scenarios] == [
        (("cost",), (0.2, 1.0)),
        (("cost",), (1.0, 3.0)),
    ]
    of_values = read(tmp_path, f'{SETTINGS}prevalence = 0.3\n{WORLD}metric = "ppv"\n')
    assert of_values.scenarios[0].prevalence == 0.3


def test_a_method_without_an_interval_for_a_metric_is_found_before_a_run(tmp_path):
    text = f'n_samples = 20\nn_replicates = 1\nmethods = ["two-center", "bayle-cv"]\n{WORLD}metric = "auc"\n'
    with pytest.raises(ValueError, match=r"'gaussians': bayle-cv reads .* Use another one"):
        read(tmp_path, text)


# --- classifiers


def fitted_by_hand(X, y):
    """Scaling, two components and squares, each by its formula."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    axes = np.linalg.eigh(scaled.T @ scaled)[1][:, :-3:-1]
    one, other = (scaled @ axes).T
    design = np.column_stack([np.ones(len(X)), one, other, one**2, one * other, other**2])
    coef = np.linalg.solve(design.T @ design, design.T @ np.where(y == 1, 1.0, -1.0))
    return (design @ coef >= 0.0).astype(int)


def test_a_recipe_does_what_its_formula_says():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)) * [1.0, 20.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -2.0]
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    recipe = ClassifierRecipe(standardize=True, components=2, degree=2)
    np.testing.assert_array_equal(recipe().fit(X, y).predict(X), fitted_by_hand(X, y))


def test_tuned_values_are_chosen_by_cross_validation_of_all_steps(tmp_path):
    study = read(
        tmp_path,
        SETTINGS
        + WORLD
        + "classifier = 'ridge'\nstandardize = true\ntune = {alpha = [0.1, 10.0]}\nset = {tol = 1e-3}",
    )
    (scenario,) = study.scenarios
    search = scenario.learners()[0]
    by_hand = GridSearchCV(
        make_pipeline(StandardScaler(), RidgeClassifier(tol=1e-3)),
        {"ridgeclassifier__alpha": [0.1, 10.0]},
        cv=5,
    )
    X, y = (rng := np.random.default_rng(3)).normal(size=(30, 4)), np.arange(30) % 2
    X[:, 0] += y
    new = rng.normal(size=(50, 4))
    np.testing.assert_array_equal(search.fit(X, y).predict(new), by_hand.fit(X, y).predict(new))
    assert search.best_params_ == by_hand.best_params_
    assert scenario.description["tune"] == {"alpha": [0.1, 10.0]}
    assert pickle.loads(pickle.dumps(scenario.classifier)) == scenario.classifier


# --- real data


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """A folder of one data set, as its manifest says."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(5)
    lines = [f"{a:.3f},{b:.3f},{int(a + b > 0)},{int(a > 1)}" for a, b in rng.normal(size=(80, 2))]
    (folder / "toy.csv").write_text("\n".join(["a,b,target,target_high", *lines, ""]))
    entry = {
        "name": "toy",
        "title": "Toy",
        "file": "toy.csv",
        "sha256": hashlib.sha256((folder / "toy.csv").read_bytes()).hexdigest(),
        "feature_columns": ["a", "b"],
        "target_column": "target",
    }
    (folder / "MANIFEST.json").write_text(json.dumps({"datasets": [entry]}))
    return folder


TOY = SETTINGS + '[[scenario]]\ndata = "toy"\n'


def test_data_come_from_the_folder(tmp_path, data_folder, monkeypatch):
    study = read(tmp_path, TOY + 'device = "population"\n', data_folder=data_folder)
    (scenario,) = study.scenarios
    assert (scenario.name, scenario.population.device) == ("toy", "population")
    frame = pd.read_csv(data_folder / "toy.csv")
    np.testing.assert_array_equal(scenario.population.X, frame[["a", "b"]])
    np.testing.assert_array_equal(scenario.population.y, frame["target"])
    monkeypatch.setenv("CUDBOUND_DATA", str(data_folder))
    assert differences(describe(study), describe(read(tmp_path, TOY + 'device = "population"\n'))) == []


def test_a_csv_lies_beside_the_design(tmp_path, data_folder):
    text = (
        SETTINGS + '[[scenario]]\ncsv = "data/toy.csv"\ntarget = "target"\npositive = "0"\n'
        'exclude = ["target_high"]\ndevice = "population"\n'
    )
    (scenario,) = read(tmp_path, text).scenarios
    frame = pd.read_csv(data_folder / "toy.csv")
    assert scenario.name == "toy"
    np.testing.assert_array_equal(scenario.population.X, frame[["a", "b"]])
    np.testing.assert_array_equal(scenario.population.y, 1 - frame["target"])


# --- templates


@pytest.mark.parametrize(
    "name",
    [
        *("quick", "clinical", "where-intervals-break", "logistic-regression"),
        *("decision-trees", "random-forests", "sensitivity-specificity", "tuned-ridge"),
        *("schulz-kuempel", "schulz-kuempel-nested", "schulz-kuempel-brier", "schulz-kuempel-forests"),
        *("bates", "bates-high-dimensional", "intervals-of-others", "tuned-classifiers-of-others"),
        "tuned-classifiers-of-others-slow",
    ],
)
def test_simulated_templates_can_be_read(tmp_path, name):
    study = read(tmp_path, template_text(name), n_replicates=1)
    assert study.name == name
    assert all(scenario.description["world"] in WORLDS for scenario in study.scenarios)
