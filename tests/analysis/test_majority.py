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
NAME = "LeastSquaresClassifier"


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


def test_the_word_is_the_classifier():
    word = compare_learners({"ours": OURS, "other": "majority"}, *NOISE, rng=0)
    dummy = DummyClassifier(strategy="most_frequent")
    assert word.rows == compare_learners({"ours": OURS, "other": dummy}, *NOISE, rng=0).rows


def test_every_test_of_a_table_says_it_for_itself():
    table = compare_learners(
        [OURS, "majority"], *NOISE, methods=["corrected-resampled-t", "5x2cv-f", "mcnemar"], rng=0
    )
    assert all(REMARK.format(NAME) in row.remarks for row in table.rows)
    table = compare_learners([OURS, "majority"], *SIGNAL, methods=["5x2cv-f", "mcnemar"], rng=0)
    assert [row.pvalue < 0.05 for row in table.rows] == [True, True]
    assert not [row for row in table.rows if REMARK.format(NAME) in row.remarks]


def test_a_worse_classifier_does_not_beat_it():
    X, y = NOISE[0], np.repeat([0, 1], [4, 46])
    wrong = make_pipeline(StandardScaler(), LeastSquaresClassifier())
    found = compare_learners([wrong, "majority"], X, y, alternative="greater", rng=0).row
    assert REMARK.format("Pipeline") in found.remarks


def test_other_classifiers_get_no_remark():
    for other in (LeastSquaresClassifier(), DummyClassifier(strategy="uniform", random_state=0)):
        row = compare_learners([OURS, other], *NOISE, rng=0).row
        assert not [one for one in row.remarks if "majority" in one]
    row = compare_learners(["majority", "majority"], *NOISE, rng=0).row
    assert not [one for one in row.remarks if "beats" in one]


def test_it_is_one_of_several_learners():
    table = compare_learners([OURS, "majority", DummyClassifier()], *NOISE, reference="majority", rng=0)
    assert [(row.a, row.b) for row in table] == [(NAME, "majority"), ("DummyClassifier", "majority")]
    assert REMARK.format(NAME) in table[NAME, "majority"].remarks
    assert table[NAME, "majority"].remarks == compare_learners([OURS, "majority"], *NOISE, rng=0).row.remarks


def test_other_words_are_refused():
    with pytest.raises(
        ValueError, match=r"must be a classifier or the word 'majority'\. Got 'mayority' instead"
    ):
        compare_learners([OURS, "mayority"], *NOISE)
