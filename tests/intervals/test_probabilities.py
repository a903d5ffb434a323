"""The recommended intervals for the AUC and the Brier score against worked numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from shared_files import WORKED_PROBABILITIES

from cudbound.intervals import METHODS, compute_interval
from cudbound.metrics.score_views import squared_errors
from cudbound.point_estimates.two_center_auc import AucSize
from cudbound.records import BootstrapScores, ScoreRecords

WORKED = json.loads(WORKED_PROBABILITIES.read_text())
TWO_CENTER = METHODS["two-center"]


def recorded(case, probabilities):
    event = np.asarray(case["y"]) == 1
    kind = "prob" if probabilities else "score"
    bootstrap = BootstrapScores(case["counts"], case[f"{kind}s"])
    both = (bootstrap.counts[:, event].sum(axis=1) > 0) & (bootstrap.counts[:, ~event].sum(axis=1) > 0)
    bootstrap = BootstrapScores(bootstrap.counts[both], bootstrap.scores[both])
    return ScoreRecords(event, case[kind], bootstrap, probabilities=probabilities)


@pytest.mark.parametrize("case", WORKED["cases"], ids=lambda case: case["name"])
@pytest.mark.parametrize(("key", "level"), [("auc", 0.95), ("auc_90", 0.90)])
def test_auc_interval_equals_the_worked_numbers(case, key, level):
    known, records = case[key], recorded(case, probabilities=False)
    found = compute_interval(TWO_CENTER, records, level)
    limit = ((1.0 - level) / 2.0) ** (1.0 / records.n_fewer)
    assert found.low == pytest.approx(min(known["low"], limit), abs=1e-9)
    assert found.high == pytest.approx(known["high"], abs=1e-9)
    assert found.details["auc_632_plus"] == pytest.approx(known["estimate"], abs=1e-9)
    names = {
        "training_auc": "resubstitution",
        "auc_optimism_corrected": "optimism_corrected",
        "auc_out_of_bag": "oob",
        "auc_632_plus": "plus",
        "auc_632": "at_632",
        "lower_center": "lower_center",
        "upper_center": "upper_center",
        "variance_delong": "v_delong",
        "lower_size": "lower_size",
        "upper_size": "upper_size",
    }
    for ours, theirs in names.items():
        assert found.details[ours] == pytest.approx(known[theirs], abs=1e-9), ours


@pytest.mark.parametrize("case", WORKED["cases"], ids=lambda case: case["name"])
def test_brier_interval_equals_the_worked_numbers(case):
    known, records = case["brier"], squared_errors(recorded(case, probabilities=True))
    found = compute_interval(TWO_CENTER, records, case.get("level", 0.95))
    assert (found.low, found.high) == pytest.approx((known["low"], known["high"]), abs=1e-9)
    names = {
        "training_brier": "resubstitution",
        "brier_optimism_corrected": "optimism_corrected",
        "brier_out_of_bag": "oob",
        "brier_632_plus": "plus",
        "no_information": "no_information",
        "lower_center": "lower_center",
        "upper_center": "upper_center",
        "variance": "variance",
        "lower_size": "lower_size",
        "upper_size": "upper_size",
    }
    for ours, theirs in names.items():
        assert found.details[ours] == pytest.approx(known[theirs], abs=1e-9), ours


@pytest.mark.parametrize("one", WORKED["effective_size_auc"])
def test_number_of_cases_at_a_center_equals_the_worked_numbers(one):
    fewer = min(one["n1"], one["n0"])
    sizes = AucSize(one["n1"], one["n0"], fewer, one["v_delong"])
    assert sizes.at(one["c"]) == pytest.approx(one["expected"], abs=1e-9)
