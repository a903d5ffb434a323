"""Lists of columns, categories that nobody named, and what is done about missing cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_columns import TrainingData, read_training_data
from cudbound.inputs.data_file import CsvError, DataFile

ROWS = "id,age,sex,stage,bmi,died\n1,30,m,1,21.5,yes\n2,41,f,2,10,no\n3,52,f,3,5,yes\n4,63,m,3,7,no\n5,50,m,2,8,no\n"
GAPS = (
    "age,site,bmi,died\n30,north,21,yes\n,south,10,no\n52,,5,yes\n63,north,NA,no\n50,west,8,no\n44,west,9,yes\n"
    "47,north,n/a,no\n31,north,12,no\n"
)


def read(tmp_path: Path, text: str, **roles: Any) -> TrainingData:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    return read_training_data(DataFile(path, "died", "yes", **roles))


# --- lists of columns


@pytest.mark.parametrize(
    "roles",
    [
        {"features": ["age", "bmi"]},
        {"features": ["age", "bmi", "age"]},
        {"exclude": ["id", "sex", "stage"]},
        {"features": ["bmi", "sex", "age"], "categorical": ["sex"], "features_then": ["bmi", "sex=m", "age"]},
    ],
)
def test_features_are_named_or_left_out(tmp_path, roles):
    expected = roles.pop("features_then", ["age", "bmi"])
    assert list(read(tmp_path, ROWS, **roles).feature_names) == expected


def test_weights_are_numbers_and_no_feature(tmp_path):
    data = read(tmp_path, ROWS, weight="bmi", exclude=["id"], categorical=["sex"])
    assert data.feature_names == ("age", "sex=m", "stage")
    assert data.weights.tolist() == [21.5, 10.0, 5.0, 7.0, 8.0]
    assert read(tmp_path, ROWS, exclude=["id"], categorical=["sex"]).weights is None
    lacking = ROWS.replace(",2,8,", ",2,,")
    left = read(tmp_path, lacking, weight="bmi", exclude=["id"], categorical=["sex"], missing="drop")
    assert left.weights.tolist() == data.weights[:-1].tolist()
    with pytest.raises(CsvError, match="column 'bmi' lacks 1 value"):
        read(tmp_path, lacking, weight="bmi", exclude=["id"], categorical=["sex"], missing="median")


# --- categories that nobody named


def test_columns_of_text_become_categories_and_the_notes_name_them(tmp_path):
    data = read(tmp_path, ROWS, categorical=["auto"], exclude=["id"])
    assert data.feature_names == ("age", "sex=m", "stage", "bmi")
    assert data.notes == ("Categorical columns, found automatically: sex.",)


# --- missing cells


@pytest.mark.parametrize(("missing", "age"), [("median", 47.0), ("most-frequent", 30.0)])
@pytest.mark.parametrize("standardize", [False, True])
def test_values_are_filled_as_a_step_of_the_fit(tmp_path, missing, age, standardize):
    """Median of 30, 31, 44, 47, 50, 52, 63; of values that occur once each scikit-learn takes the smallest."""
    data = read(tmp_path, GAPS, categorical=["auto"], missing=missing)
    assert (data.missing, data.levels) == (missing, (1,))
    assert data.feature_names == ("age", "site", "bmi")
    recipe = ClassifierRecipe(missing=data.missing, levels=data.levels, standardize=standardize)
    pipeline = recipe().fit(data.X, data.y)
    # the categories first: south, west; then age and bmi
    filled = pipeline[0].transform(data.X)
    bmi = {"median": 9.5, "most-frequent": 5.0}[missing]
    np.testing.assert_array_equal(
        filled,
        [
            *([0, 0, 30, 21], [1, 0, age, 10], [0, 0, 52, 5], [0, 0, 63, bmi], [0, 1, 50, 8], [0, 1, 44, 9]),
            *([0, 0, 47, bmi], [0, 0, 31, 12]),
        ],
    )
    assert len(pipeline) == 2 + standardize
