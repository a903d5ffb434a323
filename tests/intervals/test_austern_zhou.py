"""Austern and Zhou: the formula, and the refits with replaced rows against loops in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from data import signed_sample
from direct_refits import Seen, constant, refit_of, task
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shared_files import shared_vectors
from sklearn.naive_bayes import GaussianNB

from cudbound import LeastSquaresClassifier
from cudbound.intervals import compute_interval
from cudbound.intervals.austern_zhou import (
    AUSTERN_ZHOU,
    ReplacementErrors,
    austern_zhou_pivot,
    draw_replacements,
    measure_replacements,
    record_replacements,
)
from cudbound.records import Records
from cudbound.resampling import ResamplingSizes

# ---- the formula ----


@pytest.mark.parametrize(("factor", "key"), [("corrected", "corrected"), ("as-printed", "as_printed")])
def test_worked_example(factor, key):
    entry = shared_vectors()["austern_zhou"]
    inputs, value = entry["inputs"], entry["value"]
    found = ReplacementErrors(
        inputs["cv_full"], inputs["cv_half"], np.array(inputs["cv_half_replaced"]), inputs["n"], 10
    )
    row = compute_interval(
        AUSTERN_ZHOU, Records.of(replacements=found), 1 - inputs["delta"], {"factor": factor}
    )
    assert row.estimate == inputs["cv_full"]
    assert row.details["s2"] == pytest.approx(value[f"s2_{key}"], abs=entry["tol"])
    assert row.raw_interval == pytest.approx(value[f"interval_{key}"], abs=entry["tol"])
    assert str(row.estimand) == "expected(n1=18)"
    assert row.n_fits == 1 + 12 * 10


@settings(deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=20),
    st.floats(-1, 1),
    st.floats(-1, 1),
    st.floats(0.5, 0.999),
)
def test_formula_against_plain_python(replaced, full, half, level):
    n = 2 * len(replaced)
    total = sum((half - value) ** 2 for value in replaced)
    for factor, share in (("corrected", n / 4), ("as-printed", n / 2)):
        pivot = austern_zhou_pivot(full, half, replaced, n, n - 1, factor=factor)
        reach = stats.norm.ppf(0.5 + level / 2) * math.sqrt(share * total / n)
        assert pivot.interval(level) == pytest.approx((full - reach, full + reach), abs=1e-9)


def test_variance_of_losses_that_ignore_the_training_set_has_the_factor_one_quarter():
    """Over all labellings of 8 rows with error .3 the mean of s^2 is n Var(CV) = .21; with n/2 it is .42."""
    design = draw_replacements(8, 4, np.random.default_rng(0))
    expected = dict.fromkeys(("corrected", "as-printed"), 0.0)
    variance = 0.0
    for number in range(2**8):
        losses = np.array([number >> row & 1 for row in range(8)], dtype=bool)
        weight = 0.3 ** losses.sum() * 0.7 ** (8 - losses.sum())
        found = measure_replacements(constant(losses), design)
        variance += weight * 8 * (found.full - 0.3) ** 2
        for factor in expected:
            pivot = austern_zhou_pivot(found.full, found.half, found.replaced, 8, 6, factor=factor)
            expected[factor] += weight * pivot.details["s2"]
    assert variance == pytest.approx(0.21)
    assert expected["corrected"] == pytest.approx(0.21)
    assert expected["as-printed"] == pytest.approx(0.42)


# ---- the refits ----


@pytest.mark.parametrize("n", [24, 25])
@pytest.mark.parametrize("estimator", [LeastSquaresClassifier(), GaussianNB()], ids=["batched", "cloned"])
def test_recorded_errors_are_those_of_a_loop_over_rows(estimator, n):
    X, labels = signed_sample(n)
    recorded = record_replacements(
        task(refit_of(estimator, X, labels), labels, ResamplingSizes(n_folds=3), seed=5)
    )
    design = draw_replacements(n, 3, np.random.default_rng(5))

    def cross_validated(rows, fold):
        wrong = 0
        for number in range(3):
            training = [i for i, where in zip(rows, fold, strict=True) if where != number]
            tested = [i for i, where in zip(rows, fold, strict=True) if where == number]
            model = estimator.fit(X[training], labels[training])
            wrong += int((model.predict(X[tested]) != labels[tested]).sum())
        return wrong / len(rows)

    assert recorded.full == pytest.approx(cross_validated(range(n), design.full_fold))
    assert recorded.half == pytest.approx(cross_validated(design.first, design.fold))
    for place in range(12):
        rows = design.first.copy()
        rows[place] = design.second[place]
        assert recorded.replaced[place] == pytest.approx(cross_validated(rows, design.fold))
    assert len(set(recorded.replaced)) > 1
    assert (recorded.n_samples, recorded.n_folds, recorded.remarks) == (n, 3, ())


def test_designs_with_one_class_are_drawn_again():
    labels = np.where(np.arange(20) < 6, 1.0, -1.0)
    for seed in range(20):
        refit = Seen()
        recorded = record_replacements(
            task(refit, labels, ResamplingSizes(n_folds=2), policy="redraw", seed=seed)
        )
        positive = refit.training @ (labels > 0)
        if recorded.remarks:
            break
    assert recorded.remarks[0].startswith("training sets of cross-validation with replaced rows redrawn")
    assert positive.min() >= 1
