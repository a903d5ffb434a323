"""Studies of differences of two errors, and of what methods aim at that claim the error of a learning algorithm."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, compare_learners
from cudbound.resampling import Resampling
from cudbound.study import Scenario, Study
from cudbound.study.populations.worlds import WORLDS
from cudbound.study.run.replicate import run_replicate

GAUSSIANS = WORLDS["gaussians"]()
METHODS = ("corrected-resampled-t", "5x2cv-t", "k-fold-t", "mcnemar")
SIZES = Resampling(n_splits=4, test_fraction=0.25, n_folds=5)


# of scikit-learn's class, which worker processes can import
_stump = partial(DecisionTreeClassifier, max_depth=1, random_state=0)


def _study(**changes: object) -> Study:
    scenario = Scenario("line and stump", GAUSSIANS, LeastSquaresClassifier, rival=_stump)
    study = Study("compared", (scenario,), (24,), 6, METHODS, confidence_level=0.9, resampling=SIZES, seed=5)
    return replace(study, **changes)


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_a_replicate_is_the_comparison_of_its_sample():
    study = _study()
    (scenario,) = study.scenarios
    found = run_replicate(study, scenario, 24, 2)
    rng = study.rng("line and stump", 24, 2)
    drawn = GAUSSIANS.draw(24, rng)
    pair = [LeastSquaresClassifier().fit(drawn.X, drawn.y), _stump().fit(drawn.X, drawn.y)]
    table = compare_learners(
        pair,
        drawn.X,
        drawn.y,
        methods=METHODS,
        confidence_level=0.9,
        resampling=SIZES,
        rng=rng,
    )
    assert [row.pvalue for row in found.intervals] == [row.pvalue for row in table.rows]
    assert [row.low for row in found.intervals] == [row.confidence_interval.low for row in table.rows]
    assert [row.n_fits for row in found.intervals] == [8, 20, 10, 2]
    assert found.truth == drawn.true_error(pair[0]).value - drawn.true_error(pair[1]).value
    errors = [np.mean(one.predict(drawn.X) != drawn.y) for one in pair]
    assert found.training_error == errors[0] - errors[1]


def test_expected_error_of_one_algorithm_is_that_of_the_world():
    """Whatever is fitted to noise errs half of the time."""
    scenario = Scenario("noise", WORLDS["noise"](), LeastSquaresClassifier)
    study = Study("one", (scenario,), (20,), 3, ("resampled-t", "langford-binomial"), n_resamples=20)
    rows = [run_replicate(study, scenario, 20, number) for number in range(3)]
    assert [[(one.n_train, one.truth) for one in row.expected] for row in rows] == [[(18, 0.5)]] * 3


def test_rivals_in_some_scenarios_only_are_refused():
    (compared,) = _study().scenarios
    alone = Scenario("alone", GAUSSIANS, LeastSquaresClassifier)
    with pytest.raises(ValueError, match=r"must have a rival, or none\. Got 'alone' without one"):
        _study(scenarios=(compared, alone))
