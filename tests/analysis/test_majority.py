"""Comparisons with the learner that always says the majority class."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import LeastSquaresClassifier, compare_learners

REMARK = "no evidence that {} beats the majority class"
RNG = np.random.default_rng(4)
NOISE = RNG.normal(size=(50, 2)), np.repeat([0, 1], [22, 28])
SIGNAL = NOISE[0] + 4.0 * NOISE[1][:, None], NOISE[1]
OURS = LeastSquaresClassifier()


@pytest.mark.parametrize(
    "majority", ["majority", DummyClassifier(), make_pipeline(StandardScaler(), DummyClassifier())]
)
def test_noise_shows_no_evidence_and_a_signal_does(majority):
    named = {"ours": OURS, "other": majority}
    turned_round = {"other": majority, "ours": OURS}
    assert REMARK.format("ours") in compare_learners(named, *NOISE, rng=0).row.remarks
    assert REMARK.format("ours") in " ".join(str(compare_learners(turned_round, *NOISE, rng=0)).split())
    found = compare_learners(named, *SIGNAL, rng=0).row
    assert found.high < 0.0
    assert not [remark for remark in found.remarks if "majority" in remark]
    turned = compare_learners(turned_round, *SIGNAL, rng=0).row
    assert not [remark for remark in turned.remarks if "majority" in remark]


def test_a_worse_classifier_does_not_beat_it():
    X, y = NOISE[0], np.repeat([0, 1], [4, 46])
    wrong = make_pipeline(StandardScaler(), LeastSquaresClassifier())
    found = compare_learners([wrong, "majority"], X, y, alternative="greater", rng=0).row
    assert REMARK.format("Pipeline") in found.remarks
