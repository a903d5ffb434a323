"""Weights of rows at the shell, and what neither weights nor metrics can be had with: inner draws, influence values."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from cudbound import (
    LeastSquaresClassifier,
    Metrics,
    Resampling,
    compare_intervals,
    cud_interval,
)
from cudbound.cli.group import main

RNG = np.random.default_rng(11)
X = RNG.normal(size=(36, 2)).round(2)
Y = (X[:, 0] + RNG.normal(size=36) > 0.2).astype(int)
W = RNG.choice([0.5, 1.0, 3.0], size=36)
FEW = {"n_resamples": 20, "rng": 0}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "d.csv"
    rows = zip(X.tolist(), W.tolist(), Y.tolist(), strict=True)
    path.write_text("\n".join(["a,b,w,state", *(f"{a},{b},{w},{y}" for (a, b), w, y in rows)]) + "\n")
    return path


def command(path, *more):
    fixed = "--target state --positive 1 --seed 0 --resamples 20 --weight w --classifier least-squares"
    return CliRunner().invoke(main, ["interval", str(path), *fixed.split(), *more])


def test_the_majority_class_errs_by_the_weights(file):
    """A weighted error is held against a weighted share of the rarer class."""
    clf = LeastSquaresClassifier().fit(X, Y, sample_weight=W)
    rate = min(W[Y == 1].sum(), W[Y == 0].sum()) / W.sum()
    said = f"Always predicting the majority class would be wrong for {rate:.1%} of the training rows, by their weights"
    table = compare_intervals(clf, X, Y, methods=["two-center", "cud"], sample_weight=W, **FEW)
    assert table.run.base_rate == pytest.approx(rate) != pytest.approx(min(Y.mean(), 1 - Y.mean()))
    bound = cud_interval(clf, X, Y, sample_weight=W, **FEW)
    for text in (table.headline, str(bound)):
        assert said in text
    display = table.display()
    assert display.reference == pytest.approx(rate)
    assert display.reference_label == "always the majority\nclass: {}\nby weight"
    found = command(file, "--methods", "two-center,cud", "--format", "json")
    assert json.loads(found.stdout)["run"]["base_rate"] == pytest.approx(rate)
    assert said in " ".join(json.loads(found.stdout)["headline"])


# ---- inner draws ----


# ---- influence values ----


@pytest.mark.parametrize("method", ["bootstrap-632-normal", "bootstrap-632-plus-normal"])
def test_influence_values_are_those_of_rows_that_count_alike(method):
    clf = LeastSquaresClassifier().fit(X, Y)
    asked = {"methods": [method], "n_resamples": 60, "rng": 0}
    why = "its influence values require equally weighted rows, with the same number in each draw"
    refused = [
        compare_intervals(clf, X, Y, metric="balanced-error", **asked)[method],
        compare_intervals(clf, X, Y, metric=["error", "sensitivity"], **asked)[method, "sensitivity"],
    ]
    weighted = LeastSquaresClassifier().fit(X, Y, sample_weight=W)
    refused.append(compare_intervals(weighted, X, Y, sample_weight=W, **asked)[method])
    for row in refused:
        assert row.degenerate == why
        assert 0.0 < row.estimate < 1.0
    kept = [
        compare_intervals(clf, X, Y, metric="sensitivity", **asked)[method],
        compare_intervals(clf, X, Y, metric=Metrics("cost", costs={0: 1, 1: 4}), **asked)[method],
        compare_intervals(clf, X, Y, metric=["error", "sensitivity"], **asked)[method, "error"],
    ]
    assert [row.degenerate for row in kept] == [None] * 3
    assert kept[2] == compare_intervals(clf, X, Y, resampling=Resampling(inner="oob"), **asked)[method]
