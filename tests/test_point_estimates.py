"""Point estimates of the error: worked numbers, sentences in plain Python, a peer, and the contract over all."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from shared_files import shared_vectors

from cudbound.point_estimates import ESTIMATORS, compute_estimate
from cudbound.point_estimates.bolstered import BolsteredLosses
from cudbound.point_estimates.bootstrap_632 import error_632_plus, error_lv1o, pooled_bootstrap_error
from cudbound.records import (
    BootstrapLosses,
    FoldLosses,
    HalvingLosses,
    Records,
    RepeatedFoldLosses,
    TestSetLosses,
)
from cudbound.records.losses import leave_one_out_bootstrap_error, no_information_error

VECTORS = shared_vectors()
PROPORTIONS = st.floats(0.0, 1.0)


def _records(seed=0, n=12, differences=False):
    """Records of everything that a point estimator reads, drawn at random."""
    rng = np.random.default_rng(seed)

    def losses(*shape):
        drawn = rng.integers(0, 2, shape)
        return drawn - rng.integers(0, 2, shape) if differences else drawn.astype(bool)

    counts = rng.multinomial(n, np.full(n, 1 / n), size=20).astype(np.int32)
    thirds = tuple(FoldLosses(losses(n), rng.permutation(np.arange(n) % 3)) for _ in range(4))
    return Records.of(
        losses=losses(n),
        no_information=0.5,
        bootstrap=BootstrapLosses(counts, losses(20, n)),
        folds=FoldLosses(losses(n), np.arange(n) % 5),
        repeated_folds=RepeatedFoldLosses(thirds),
        leave_one_out=FoldLosses(losses(n), np.arange(n)),
        test_set=TestSetLosses(losses(7), n_train=n - 7),
        halvings=HalvingLosses(rng.random((5, 2)), n_train=n // 2),
        bolstered=BolsteredLosses(rng.random(n), losses(n).astype(bool)),
    )


# ---- worked numbers ----


def test_worked_632_plus():
    inputs, value = VECTORS["632plus_overfit"]["inputs"], VECTORS["632plus_overfit"]["value"]
    result = error_632_plus(inputs["resub"], inputs["err1"], inputs["gamma"])
    assert result.leave_one_out_bootstrap == value["err1_prime"]
    assert result.overfitting == pytest.approx(value["R"], abs=1e-12)
    assert result.weight == pytest.approx(value["weight"], abs=1e-12)
    assert result.estimate == pytest.approx(value["value"], abs=1e-12)


# ---- sentences in plain Python ----


def _plain_bootstrap(losses, counts):
    """Err(1) and e0 as sentences: collect the losses of each point over the draws without it."""
    n_draws, n = counts.shape
    out = [[float(losses[b, i]) for b in range(n_draws) if counts[b, i] == 0] for i in range(n)]
    means = [statistics.fmean(values) for values in out if values]
    pooled = [value for values in out for value in values]
    return statistics.fmean(means), statistics.fmean(pooled)


@pytest.mark.parametrize("differences", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_every_mean_against_plain_python(seed, differences):
    records = _records(seed, differences=differences)
    bootstrap = records.bootstrap
    err1, e0 = _plain_bootstrap(bootstrap.losses, bootstrap.counts)
    training = statistics.fmean(map(float, records.losses))
    expected = {
        "resubstitution": training,
        "holdout": statistics.fmean(map(float, records.test_set.losses)),
        "k-fold": statistics.fmean(map(float, records.folds.losses)),
        "repeated-k-fold": statistics.fmean(
            float(loss) for one in records.repeated_folds.partitions for loss in one.losses
        ),
        "leave-one-out": statistics.fmean(map(float, records.leave_one_out.losses)),
        "leave-one-out-bootstrap": err1,
        "bootstrap-pooled": e0,
        "bootstrap-632": 0.368 * training + 0.632 * err1,
    }
    for name, value in expected.items():
        assert compute_estimate(ESTIMATORS[name], records).estimate == pytest.approx(value, abs=1e-12), name


@settings(deadline=None)
@given(
    hnp.arrays(bool, st.integers(1, 30)).flatmap(
        lambda labels: st.tuples(st.just(labels), hnp.arrays(bool, labels.shape))
    )
)
def test_no_information_error_is_the_mean_loss_over_all_pairs(pair):
    labels, predicted = pair
    pairs = [bool(label) != bool(answer) for label in labels for answer in predicted]
    assert no_information_error(labels.mean(), predicted.mean()) == pytest.approx(statistics.fmean(pairs))


# ---- properties ----


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 15), st.integers(1, 10))
def test_bootstrap_errors_do_not_depend_on_the_order_of_rows_and_draws(seed, n, n_resamples):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    losses = rng.integers(0, 2, (n_resamples, n))
    order = np.ix_(rng.permutation(n_resamples), rng.permutation(n))
    for function in (leave_one_out_bootstrap_error, pooled_bootstrap_error):
        expected = function(losses, counts)
        np.testing.assert_allclose(function(losses[order], counts[order]), expected, atol=1e-12)
        # the errors of a classifier and of its opposite are complements
        np.testing.assert_allclose(function(1 - losses, counts), 1 - expected, atol=1e-12)
        # stacked draws are estimated one by one
        stacked = function(np.stack([losses, 1 - losses]), np.stack([counts, counts]))
        np.testing.assert_allclose(stacked, [expected, 1 - expected], atol=1e-12)


@settings(deadline=None)
@given(PROPORTIONS, PROPORTIONS, PROPORTIONS)
def test_lv1o_is_the_median_of_the_three(leave_one_out, b632, two_fold):
    assert error_lv1o(leave_one_out, b632, two_fold) == sorted((leave_one_out, b632, two_fold))[1]


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3], [4, 3, 3], [5, 1]])
def test_mean_training_size_is_the_mean_over_the_folds(sizes):
    folds = FoldLosses.from_blocks([np.zeros(size) for size in sizes])
    n = sum(sizes)
    assert folds.n_train == pytest.approx(statistics.fmean(n - size for size in sizes))
