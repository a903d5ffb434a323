"""Nested, bootstrap case and Austern and Zhou's cross-validation: formulas, and refits against loops."""

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
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from cudbound import LeastSquaresClassifier
from cudbound.intervals import compute_interval
from cudbound.intervals.bootstrap_cv import BCCVP, BCCVP_BR, RemovedCaseErrors, record_removed_cases
from cudbound.intervals.bootstrap_percentile import shifted_interval
from cudbound.intervals.cross_validation import (
    NESTED_CV,
    NestedLosses,
    ReplacementErrors,
    austern_zhou_pivot,
    draw_equal_folds,
    draw_replacements,
    measure_replacements,
    nested_cv_pivot,
    nested_training,
    record_nested,
    record_replacements,
    select_nested,
)
from cudbound.problem.draws import draw_counts
from cudbound.records import Records
from cudbound.resampling import Resampling

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
    pivot = nested_cv_pivot(NestedLosses(inner, outer, 10))
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
    assert nested_cv_pivot(NestedLosses(inner, outer, n)).estimate == pytest.approx(
        limit + slope / n, abs=1e-12
    )


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
    sizes = Resampling(n_folds=k, n_nested_repeats=repeats)
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


# ---- bootstrap case cross-validation: what is recorded, by real refits, and the intervals that read it ----


LEVELS = st.floats(0.5, 0.999)


def _record(clf, X, y, counts, policy="fit"):
    return record_removed_cases(
        task(refit_of(clf, X, y), y, policy=policy, seed=1), np.asarray(counts, dtype=np.int32)
    )


def _records(seed, n_resamples=80):
    rng = np.random.default_rng(seed)
    return Records.of(
        losses=rng.random(20) < 0.3,
        removed_cases=RemovedCaseErrors(rng.integers(0, 15, n_resamples) / 20, 0.3, 1000),
    )


# ---- what is recorded ----


@pytest.mark.parametrize("clf", [LeastSquaresClassifier(), LogisticRegression(C=0.5)])
def test_recorded_errors_against_one_fit_at_a_time(clf):
    X, y = signed_sample(12, 1)
    counts = draw_counts(12, 7, np.random.default_rng(2))
    record = _record(clf, X, y, counts)
    expected, n_fits = [], 0
    for row in counts:
        drawn = np.repeat(np.arange(12), row)
        wrong = 0
        for case in set(drawn.tolist()):
            rest = drawn[drawn != case]
            model = type(clf)(**clf.get_params()).fit(X[rest], y[rest])
            wrong += row[case] * (model.predict(X[[case]])[0] != y[case])
            n_fits += 1
        expected.append(wrong / 12)
    np.testing.assert_allclose(record.errors, expected, atol=1e-12)
    predicted = cross_val_predict(type(clf)(**clf.get_params()), X, y, cv=LeaveOneOut())
    assert record.leave_one_out == pytest.approx(np.mean(predicted != y), abs=1e-12)
    assert record.n_fits == n_fits + 12
    assert record.remarks == ()


@pytest.mark.parametrize("policy", ["fit", "redraw", "drop"])
def test_training_sets_of_one_class_are_fitted_and_counted(policy):
    X, _ = signed_sample(6, 5)
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    # of the two positive rows the first draw holds one and the second draw the other
    counts = np.array([[2, 0, 1, 1, 1, 1], [0, 3, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]])
    record = _record(LeastSquaresClassifier(), X, y, counts, policy)
    assert record.remarks == (
        "2 single-class training sets of bootstrap case cross-validation fitted as drawn",
    )
    # the positive row is then called negative: wrong as often as it was drawn
    assert record.errors[0] >= 2 / 6
    assert record.errors[1] >= 3 / 6


# ---- the intervals ----


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), level=LEVELS)
def test_bias_reduction_moves_the_percentiles_to_the_leave_one_out_error(seed, level):
    records = _records(seed)
    errors = records.of_methods["removed_cases"].errors
    tail = (1 - level) / 2
    plain = compute_interval(BCCVP, records, level)
    expected = np.quantile(errors, [tail, 1 - tail], method="inverted_cdf")
    if min(abs(80 * p - round(80 * p)) for p in (tail, 1 - tail)) > 1e-6:  # NumPy forgives no rounding
        assert plain.raw_interval == tuple(expected)
    moved = compute_interval(BCCVP_BR, records, level)
    assert plain.n_fits == moved.n_fits == 1001
    bias = errors.mean() - 0.3
    assert moved.raw_interval.low == pytest.approx(plain.raw_interval.low - bias)
    assert moved.raw_interval.high == pytest.approx(plain.raw_interval.high - bias)
    assert moved.raw_interval == shifted_interval(errors.tolist(), 0.3, level)
    assert moved.estimate == 0.3


# ---- the formula ----


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
    pivot = austern_zhou_pivot(ReplacementErrors(full, half, replaced, n, n))
    reach = stats.norm.ppf(0.5 + level / 2) * math.sqrt(total / 4)
    assert pivot.interval(level) == pytest.approx((full - reach, full + reach), abs=1e-9)


def test_variance_of_losses_that_ignore_the_training_set_has_the_factor_one_quarter():
    """Over all labellings of 8 rows with error .3 the mean of s^2 is n Var(CV) = .21."""
    design = draw_replacements(8, 4, np.random.default_rng(0))
    expected = variance = 0.0
    for number in range(2**8):
        losses = np.array([number >> row & 1 for row in range(8)], dtype=bool)
        weight = 0.3 ** losses.sum() * 0.7 ** (8 - losses.sum())
        found = measure_replacements(constant(losses), design)
        variance += weight * 8 * (found.full - 0.3) ** 2
        expected += weight * austern_zhou_pivot(found).details["s2"]
    assert variance == pytest.approx(0.21)
    assert expected == pytest.approx(0.21)


# ---- the refits ----


@pytest.mark.parametrize("n", [24, 25])
@pytest.mark.parametrize("estimator", [LeastSquaresClassifier(), GaussianNB()], ids=["batched", "cloned"])
def test_recorded_errors_are_those_of_a_loop_over_rows(estimator, n):
    X, labels = signed_sample(n)
    recorded = record_replacements(
        task(refit_of(estimator, X, labels), labels, Resampling(n_folds=3), seed=5)
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

    first, *others = design.versions
    second = [rows[place] for place, rows in enumerate(others)]
    assert len({*first, *second}) == 2 * (n // 2)
    assert recorded.full == pytest.approx(cross_validated(range(n), design.full_fold))
    assert recorded.half == pytest.approx(cross_validated(first, design.fold))
    for place in range(12):
        rows = first.copy()
        rows[place] = second[place]
        assert recorded.replaced[place] == pytest.approx(cross_validated(rows, design.fold))
    assert len(set(recorded.replaced)) > 1
    assert (recorded.n_samples, recorded.n_folds, recorded.remarks) == (n, 3, ())


def test_designs_with_one_class_are_drawn_again():
    labels = np.where(np.arange(20) < 6, 1.0, -1.0)
    for seed in range(20):
        refit = Seen()
        recorded = record_replacements(task(refit, labels, Resampling(n_folds=2), policy="redraw", seed=seed))
        positive = refit.training @ (labels > 0)
        if recorded.remarks:
            break
    assert recorded.remarks[0].startswith("training sets of cross-validation with replaced rows redrawn")
    assert positive.min() >= 1
