"""Nested cross-validation: the formula, and its refits against loops in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from data import signed_sample
from direct_refits import refit_of, task
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_files import shared_vectors
from sklearn.naive_bayes import GaussianNB

from cudbound import LeastSquaresClassifier
from cudbound.intervals import compute_interval
from cudbound.intervals.nested_cv import (
    NESTED_CV,
    NestedLosses,
    draw_equal_folds,
    nested_cv_pivot,
    nested_training,
    record_nested,
    select_nested,
)
from cudbound.records import Records
from cudbound.resampling import ResamplingSizes

# ---- the formula ----


def test_worked_example_with_real_refits():
    entry = shared_vectors()["ncv_paper"]
    inputs, value = entry["inputs"], entry["value"]
    X, labels = np.array(inputs["x"])[:, None], np.array(inputs["y"])
    folds = np.arange(10).reshape(2, 5).T  # fold i mod 5
    losses = refit_of(LeastSquaresClassifier(), X, labels)(nested_training(folds, 10))
    inner, outer = (part[None] for part in select_nested(losses, folds))
    a = (inner.mean(axis=2) - outer.mean(axis=2)) ** 2
    assert a[0] == pytest.approx(value["a"], abs=entry["tol"])
    assert outer[0].var(axis=1, ddof=1) / 2 == pytest.approx(value["b"], abs=entry["tol"])
    row = compute_interval(NESTED_CV, Records.of(nested=NestedLosses(inner, outer, 10)), 1 - inputs["delta"])
    assert (str(row.estimand), row.n_fits) == ("conditional", 1 + 5 + 10)
    assert row.details == pytest.approx(
        {
            "inner_error": value["err_ncv"],
            "outer_error": value["err_cv"],
            "bias": value["bias"],
            "mse": value["mse"],
        },
        abs=entry["tol"],
    )
    assert row.estimate == pytest.approx(value["estimate"], abs=entry["tol"])
    assert row.raw_interval == pytest.approx(value["interval"], abs=entry["tol"])
    pivot = nested_cv_pivot(inner, outer, 10)
    assert pivot.standard_error == pytest.approx(value["se"], abs=entry["tol"])
    assert inner.std(ddof=1) == pytest.approx(value["sd_in"], abs=entry["tol"])
    assert value["se_low"] < pivot.standard_error == pytest.approx(value["se_up"], abs=entry["tol"])


@settings(deadline=None)
@given(limit=st.floats(0, 0.4), slope=st.floats(0, 0.5), k=st.integers(3, 10), m=st.integers(2, 5))
def test_linear_correction_is_exact_for_an_error_that_is_linear_in_one_over_n(limit, slope, k, m):
    """Losses equal to their expectation a + c/n1 at the n1 rows that their classifier is fitted to."""
    n = k * m
    inner = np.full((1, k, (k - 1) * m), limit + slope / (n - 2 * m))
    outer = np.full((1, k, m), limit + slope / (n - m))
    assert nested_cv_pivot(inner, outer, n).estimate == pytest.approx(limit + slope / n, abs=1e-12)


def test_estimate_outside_the_unit_interval_is_remarked():
    """The inner error is far above the outer one, so that the correction takes too much off."""
    inner, outer = np.zeros((1, 5, 8)), np.zeros((1, 5, 2))
    inner[:, :, :4] = 1.0
    row = compute_interval(NESTED_CV, Records.of(nested=NestedLosses(inner, outer, 10)), 0.95)
    assert row.estimate == pytest.approx(0.5 - 1.6 * 0.5)
    assert row.remarks == ("the bias-corrected estimate is outside [0, 1]",)
    short = compute_interval(NESTED_CV, Records.of(nested=NestedLosses(inner, outer, 10)), 0.05)
    assert short.degenerate == "both raw limits lie outside [0, 1]"


# ---- the refits ----


@pytest.mark.parametrize("estimator", [LeastSquaresClassifier(), GaussianNB()], ids=["batched", "cloned"])
def test_recorded_losses_are_those_of_a_loop_over_folds(estimator):
    X, labels = signed_sample(23)
    n, k, repeats = labels.size, 4, 3
    sizes = ResamplingSizes(n_folds=k, n_nested_repeats=repeats)
    recorded = record_nested(task(refit_of(estimator, X, labels), labels, sizes, seed=7))
    assert recorded.inner.shape == (repeats, k, (k - 1) * 5)
    assert recorded.outer.shape == (repeats, k, 5)
    assert recorded.n_samples == n
    assert recorded.remarks == ("3 rows left out of every repetition of nested cross-validation",)

    def losses(training, tested):
        model = estimator.fit(X[training], labels[training])
        return [bool(one) for one in model.predict(X[tested]) != labels[tested]]

    rng = np.random.default_rng(7)
    for repeat in range(repeats):
        folds = draw_equal_folds(n, k, rng)
        for outer in range(k):
            others = [fold for fold in range(k) if fold != outer]
            training = [i for fold in others for i in folds[fold]]
            assert recorded.outer[repeat, outer].tolist() == losses(training, folds[outer])
            expected = []
            for tested in others:
                within = [i for fold in others if fold != tested for i in folds[fold]]
                expected += losses(within, folds[tested])
            assert recorded.inner[repeat, outer].tolist() == expected
