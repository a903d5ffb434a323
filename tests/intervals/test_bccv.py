"""Bootstrap case cross-validation: what is recorded, by real refits, and the intervals that read it."""

from __future__ import annotations

import numpy as np
import pytest
from data import signed_sample
from direct_refits import refit_of, task
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_files import shared_vectors
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from cudbound import LeastSquaresClassifier
from cudbound.intervals import compute_interval
from cudbound.intervals.bccv import BCCVP, BCCVP_BR, RemovedCaseErrors, record_removed_cases
from cudbound.intervals.bootstrap_percentile import shifted_interval
from cudbound.problem.draws import draw_counts
from cudbound.records import Records

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


def test_worked_bootstrap_case_cross_validation():
    example = shared_vectors()["bccv"]
    inputs, value = example["inputs"], example["value"]
    X, y = np.array(inputs["x"])[:, None], np.array(inputs["y"])
    counts = [np.bincount(drawn, minlength=10) for drawn in inputs["bootstrap_indices"]]
    record = _record(LeastSquaresClassifier(), X, y, counts)
    np.testing.assert_allclose(record.errors, value["estimates"], atol=1e-12)
    assert record.leave_one_out == pytest.approx(value["loocv"], abs=1e-12)
    rows = [compute_interval(method, Records.of(removed_cases=record), 0.9) for method in (BCCVP, BCCVP_BR)]
    assert rows[0].estimate == pytest.approx(value["mean"], abs=1e-12)
    assert rows[1].estimate == pytest.approx(value["loocv"], abs=1e-12)
    assert rows[1].details["bias"] == pytest.approx(value["bias"], abs=1e-12)
    # of six values the percentiles at 5 % and 95 % are the smallest and the largest
    assert rows[0].raw_interval == pytest.approx((0.2, 0.7), abs=1e-12)
    assert rows[1].raw_interval == pytest.approx((0.2 - value["bias"], 0.7 - value["bias"]))


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
    with pytest.raises(
        ValueError, match="2 training sets of bootstrap case cross-validation had only one class"
    ):
        _record(LeastSquaresClassifier(), X, y, counts, "error")


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
