"""Estimates of the AUC and the Brier score, and their numbers of cases, against worked numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from shared_files import WORKED_PROBABILITIES

from cudbound.intervals.corrected import auc_at
from cudbound.intervals.two_center import brier_size
from cudbound.metrics.views import squared_errors
from cudbound.point_estimates.auc import AucSize, auc_estimates
from cudbound.point_estimates.bootstrap_632 import (
    brier_variance,
    estimate_632_plus,
    out_of_bag_error,
)
from cudbound.records import BootstrapScores, ScoreRecords

WORKED = json.loads(WORKED_PROBABILITIES.read_text())
each_case = pytest.mark.parametrize("case", WORKED["cases"], ids=lambda case: case["name"])


def recorded(case, probabilities):
    event = np.asarray(case["y"]) == 1
    kind = "prob" if probabilities else "score"
    bootstrap = BootstrapScores(case["counts"], case[f"{kind}s"])
    both = (bootstrap.counts[:, event].sum(axis=1) > 0) & (bootstrap.counts[:, ~event].sum(axis=1) > 0)
    bootstrap = BootstrapScores(bootstrap.counts[both], bootstrap.scores[both])
    return ScoreRecords(event, case[kind], bootstrap, probabilities=probabilities)


@each_case
def test_aucs_equal_the_worked_numbers(case):
    records = recorded(case, probabilities=False)
    auc, sizes = auc_estimates(records), AucSize.of(records)
    numbers = {
        "resubstitution": auc.training,
        "oob": auc.out_of_bag,
        "plus": auc.plus,
        "at_632": auc_at(records, "632").estimate,
        "optimism_corrected": auc_at(records, "optimism").estimate,
        "v_delong": sizes.variance,
        "lower_size": sizes.at(case["auc"]["lower_center"]),
        "upper_size": sizes.at(case["auc"]["upper_center"]),
    }
    assert auc_at(records, "632-plus").estimate == auc.plus
    assert numbers == pytest.approx({name: case["auc"][name] for name in numbers}, abs=1e-9)


@each_case
def test_brier_scores_equal_the_worked_numbers(case):
    records = squared_errors(recorded(case, probabilities=True))
    variance, n = brier_variance(records), records.n_samples
    numbers = {
        "resubstitution": float(np.mean(records.losses)),
        "oob": out_of_bag_error(records),
        "plus": estimate_632_plus(records).estimate,
        "no_information": records.no_information,
        "variance": variance,
        "lower_size": brier_size(case["brier"]["lower_center"], variance, n),
        "upper_size": brier_size(case["brier"]["upper_center"], variance, n),
    }
    assert numbers == pytest.approx({name: case["brier"][name] for name in numbers}, abs=1e-9)


@pytest.mark.parametrize("one", WORKED["effective_size_auc"])
def test_number_of_cases_at_a_center_equals_the_worked_numbers(one):
    fewer = min(one["n1"], one["n0"])
    sizes = AucSize(one["n1"], one["n0"], fewer, one["v_delong"])
    assert sizes.at(one["c"]) == pytest.approx(one["expected"], abs=1e-9)
