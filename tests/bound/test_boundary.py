"""The adaptive interval: worked numbers, enumeration of all cells of the near points, and what must not matter."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_cases import PROPERTY
from numpy.typing import NDArray
from oracles import arrange, open_cells
from random_problems import KINDS, make, make_with_loss
from scipy.stats import binomtest, norm
from shared_files import shared_vectors
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC
from worlds import world

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.adapters import to_additive_model
from cudbound.basis.exceptions import NotCertifiedWarning, SolveInterrupted, UnsupportedEstimatorError
from cudbound.intervals import aci as adaptive
from cudbound.intervals import compute_interval
from cudbound.intervals.aci import (
    ACI,
    BoundaryDeviations,
    adaptive_interval,
    boundary_deviations,
    draw_scores,
    near_rate,
)
from cudbound.intervals.bootstrap_percentile import basic_interval
from cudbound.losses.surrogates import get_loss
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.records import Records
from cudbound.solve import CvxpyLoss
from cudbound.solve.limits import SearchLimits
from cudbound.solve.minimum import draws_problem
from cudbound.solve.native import minimize

Array = NDArray[np.float64]
Counts = NDArray[np.int32]
VECTORS = shared_vectors()
EXAMPLES = [f"aci_{number}" for number in range(4)]
CURVED = ("squared", "logistic", "exponential")
RATES = [0.0, 0.3, 2.0, 3.9, 15.0, np.inf]


def model_of(problem: Problem) -> AdditiveModel:
    """Return the model whose training set a problem is about."""
    return AdditiveModel(
        problem.design,
        problem.labels,
        problem.coef,
        problem.loss,
        np.array([-1, 1]),
        penalty=problem.penalty,
        l1_penalty=problem.l1_penalty,
        sample_weight=problem.sample_weight,
        offset=0.0 if problem.offset is None else float(problem.offset[0]),
    )


def fitted_model(n: int, p: int, signal: float, seed: int, *, intercept: bool = True) -> AdditiveModel:
    design, labels, coef = world(n, p, signal, seed, intercept=intercept)
    return AdditiveModel(design, labels, coef, get_loss("squared"), np.array([-1, 1]))


def example(name: str) -> tuple[AdditiveModel, Counts, dict[str, Any]]:
    entry = VECTORS[name]
    X, y = np.array(entry["inputs"]["x"])[:, None], np.array(entry["inputs"]["y"])
    counts = np.atleast_2d(np.array(entry["inputs"]["phi"], dtype=np.int32))
    return to_additive_model(LeastSquaresClassifier().fit(X, y), X, y), counts, entry["value"]


# ---- worked numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_draws(name: str) -> None:
    model, counts, value = example(name)
    drawn = draw_scores(draws_problem(model, counts))
    np.testing.assert_allclose(10 * drawn.scores[0] ** 2 / drawn.variances[0], value["T"], rtol=1e-9)
    assert np.flatnonzero(drawn.near(math.log(10))[0]).tolist() == value["near"]
    found = boundary_deviations(model, counts)
    assert found.upper[0] == pytest.approx(value["U"], abs=1e-12)
    assert found.lower[0] == pytest.approx(value["L"], abs=1e-12)
    assert (found.rate, found.n_near) == (math.log(10), len(value["near"]))
    assert (found.n_samples, found.n_fits, found.remarks) == (10, 1, ())


def test_worked_interval() -> None:
    model, counts, value = example("aci_interval")
    found = boundary_deviations(model, counts)
    assert model.training_error == value["train_error"]
    records = Records.of(losses=model.training_errors, boundary=found)
    row = compute_interval(ACI, records, 0.8)
    assert [row.raw_interval.low, row.raw_interval.high] == pytest.approx(value["raw"], abs=1e-12)
    assert sorted(found.upper)[5] == pytest.approx(value["u"], abs=1e-12)
    assert sorted(found.lower)[0] == pytest.approx(value["l"], abs=1e-12)
    assert (row.n_fits, str(row.estimand), row.degenerate) == (7, "conditional", None)
    assert row.details == {"rate": math.log(10), "n_near": found.n_near}
    centered = Records.of(losses=model.training_errors, boundary=boundary_deviations(model, counts, rate=0))
    raw = compute_interval(ACI, centered, 0.8).raw_interval
    assert [raw.low, raw.high] == pytest.approx(value["cpb"], abs=1e-12)


# ---- independent code --------------------------------------------------------------------------------------------


def plain_near(problem: Problem, draw: int, rate: float) -> NDArray[np.bool_]:
    """Near rows of a draw, written down row by row in the original coordinates."""
    n, design = problem.labels.size, problem.design
    found = minimize(problem.select([draw]))
    penalty = np.zeros(problem.coef.size) if problem.penalty is None else problem.penalty
    hessian = 2.0 * np.diag(penalty)
    gradients = []
    for i in range(n):
        for _ in range(problem.counts[draw, i]):
            score = problem.scores(found.coef[0])[i]
            c = 1.0 if problem.sample_weight is None else problem.sample_weight[i]
            loss = get_loss(problem.loss.name)
            curvature = loss.curvature(problem.labels[i], score)
            if curvature > 1e-8:  # else the row is separated
                hessian = hessian + c * curvature * np.outer(design[i], design[i]) / n
            gradients.append(c * loss.gradient(problem.labels[i], score) * design[i])
    spread = np.cov(np.array(gradients), rowvar=False, ddof=0).reshape(hessian.shape)
    inverse = np.linalg.pinv(hessian, rcond=1e-11, hermitian=True)
    near = []
    for row in design:
        score = row @ found.coef[0]
        seen = np.linalg.norm(row - hessian @ (inverse @ row)) <= 1e-6 * np.linalg.norm(row)
        near.append(
            not seen or abs(score) <= 1e-10 or n * score**2 / rate <= row @ inverse @ spread @ inverse @ row
        )
    return np.array(near)


def enumerated(problem: Problem, draw: int, near: NDArray[np.bool_]) -> tuple[float, float]:
    """Return U_b and L_b by a list of all open cells of the near rows."""
    n, coef = problem.labels.size, minimize(problem.select([draw])).coef[0]
    classes = np.where(problem.design @ coef >= -1e-10, 1.0, -1.0)
    weights = (problem.counts[draw] - 1.0) / math.sqrt(n)
    fixed = float((weights * (classes != problem.labels) * ~near).sum())
    arrangement = arrange(replace(problem, weights=np.tile(weights * near, (problem.n_draws, 1))), draw)
    patterns, _ = open_cells(arrangement.normals)
    scores = np.where(patterns > 0, arrangement.score_positive, arrangement.score_negative).sum(axis=1)
    total = fixed + arrangement.constant
    return total + float(scores.max(initial=-np.inf)), total + float(scores.min(initial=np.inf))


def assert_enumerated(problem: Problem, rate: float) -> None:
    found = boundary_deviations(model_of(problem), problem.counts, rate=rate)
    drawn = draw_scores(problem).near(rate)
    for draw in range(problem.n_draws):
        near = plain_near(problem, draw, rate)
        np.testing.assert_array_equal(drawn[draw], near)
        upper, lower = enumerated(problem, draw, near)
        assert found.upper[draw] == pytest.approx(upper, abs=1e-9)
        assert found.lower[draw] == pytest.approx(lower, abs=1e-9)


PLAIN = sorted(set(KINDS) - {"penalized", "ridge_with_fewer_rows"})


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("rate", [0.61, 5.3])
def test_least_squares_against_enumeration(kind: str, rate: float) -> None:
    for seed in range(4):
        assert_enumerated(replace(make(kind, seed), weights=None), rate)


@pytest.mark.parametrize("loss", CURVED)
@pytest.mark.parametrize("kind", ["general", "weak_labels", "penalized", "duplicates_opposite_labels"])
def test_other_losses_against_enumeration(kind: str, loss: str) -> None:
    for seed in range(4):
        problem = make_with_loss(kind, seed, loss, penalized=kind == "penalized" or seed % 2 == 0)
        assert_enumerated(replace(problem, weights=None), 3.1)


@pytest.mark.parametrize("loss", ["squared_hinge", "huber"])
def test_piecewise_losses_against_enumeration(loss: str) -> None:
    for seed in range(4):
        problem = make_with_loss("weak_labels", seed, loss, penalized=True)
        assert_enumerated(replace(problem, weights=None, penalty=np.full(problem.coef.size, 0.1)), 3.1)


def test_all_points_near_is_the_deviation_of_all_classifiers() -> None:
    for kind in ("general", "no_intercept", "binary_features"):
        problem = replace(make(kind, 11), weights=None)
        found = boundary_deviations(model_of(problem), problem.counts, rate=np.inf)
        everywhere = np.ones(problem.labels.size, dtype=bool)
        limits = [enumerated(problem, draw, everywhere) for draw in range(problem.n_draws)]
        np.testing.assert_allclose(found.upper, [upper for upper, _ in limits], atol=1e-9)
        np.testing.assert_allclose(found.lower, [lower for _, lower in limits], atol=1e-9)


def test_sandwich_covariance_is_that_of_the_refitted_scores() -> None:
    # what Sigma estimates: n times the variance over training sets, 400 of them, of the scores of fixed points
    n, points = 400, np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -2.0]])
    rng = np.random.default_rng(3)
    for loss, penalty in (("squared", None), ("logistic", [0.0, 0.05])):
        scores, variances = [], []
        for trial in range(400):
            x = rng.normal(size=n)
            labels = np.where(0.7 * x + rng.normal(size=n) * (1.0 + np.abs(x)) > 0.3, 1.0, -1.0)
            design = np.vstack([np.column_stack([np.ones(n), x]), points])
            problem = Problem.of(
                design,
                np.append(labels, np.ones(3)),
                np.zeros(2),
                [[1] * n + [0] * 3],
                loss=loss,
                penalty=penalty,
            )
            if trial < 20:
                drawn = draw_scores(problem)
                scores.append(drawn.scores[0, n:])
                variances.append(drawn.variances[0, n:])
            else:
                scores.append(points @ minimize(problem).coef[0])
        # n of a draw includes the three points; the relative error of a variance over 400 sets is 7 per cent
        assert np.mean(variances, axis=0) / (n + 3) == pytest.approx(np.var(scores, axis=0, ddof=1), rel=0.28)


# ---- what must and must not matter -------------------------------------------------------------------------------


@st.composite
def models(draw: st.DrawFn) -> tuple[AdditiveModel, Counts, np.random.Generator]:
    n, p = draw(st.integers(8, 30)), draw(st.integers(1, 4))
    intercept = draw(st.booleans()) and p > 1  # an intercept alone has scores of exactly 0
    seed = draw(st.integers(0, 10**6))
    model = fitted_model(n, p, draw(st.sampled_from([0.0, 0.7, 3.0])), seed, intercept=intercept)
    rng = np.random.default_rng([seed, 5])
    return model, draw_counts(n, 4, rng), rng


def assert_same(one: BoundaryDeviations, other: BoundaryDeviations) -> None:
    np.testing.assert_allclose(one.upper, other.upper, atol=1e-12)
    np.testing.assert_allclose(one.lower, other.lower, atol=1e-12)
    assert (one.n_near, one.remarks) == (other.n_near, other.remarks)


@PROPERTY
@given(models(), st.sampled_from([0.0, 1.7, 4.1]))
def test_what_must_not_matter(case: tuple[AdditiveModel, Counts, np.random.Generator], rate: float) -> None:
    model, counts, rng = case
    expected = boundary_deviations(model, counts, rate=rate)
    order = rng.permutation(model.labels.size)
    permuted = replace(model, design=model.design[order], labels=model.labels[order])
    assert_same(boundary_deviations(permuted, counts[:, order], rate=rate), expected)
    assert_same(boundary_deviations(model.reversed(), counts, rate=rate), expected)
    p = model.coef.size
    to_new = np.linalg.qr(rng.normal(size=(p, p)))[0] * np.exp(rng.normal(size=p))
    mapped = replace(model, design=model.design @ to_new, coef=np.linalg.solve(to_new, model.coef))
    assert_same(boundary_deviations(mapped, counts, rate=rate), expected)
    scaled = replace(model, design=100.0 * model.design, coef=model.coef / 100.0)
    assert_same(boundary_deviations(scaled, counts, rate=rate, n_jobs=2), expected)


@PROPERTY
@given(models())
def test_every_rate_contains_the_centered_percentile_bootstrap(
    case: tuple[AdditiveModel, Counts, np.random.Generator],
) -> None:
    model, counts, _ = case
    found = {rate: boundary_deviations(model, counts, rate=rate) for rate in RATES}
    np.testing.assert_array_equal(found[0.0].upper, found[0.0].lower)
    near = [found[rate].n_near for rate in RATES]
    assert near == sorted(near)
    for one in found.values():
        assert (one.upper >= one.lower).all()
        assert (one.upper >= found[0.0].upper - 1e-12).all()
        assert (one.lower <= found[0.0].lower + 1e-12).all()


def test_rate_zero_is_the_centered_percentile_bootstrap() -> None:
    model = fitted_model(40, 3, 0.7, 8)
    counts = draw_counts(40, 300, np.random.default_rng(2))
    on_draw, on_all = [], []
    for phi in counts:
        root = np.sqrt(phi)
        coef = np.linalg.lstsq(root[:, None] * model.design, root * model.labels, rcond=None)[0]
        wrong = (model.design @ coef >= 0) != (model.labels > 0)
        on_draw.append(phi @ wrong / 40)
        on_all.append(wrong.mean())
    found = boundary_deviations(model, counts, rate=0)
    deviations = np.array(on_draw) - np.array(on_all)
    np.testing.assert_allclose(found.upper, math.sqrt(40) * deviations, atol=1e-12)
    np.testing.assert_array_equal(found.upper, found.lower)
    # the interval is the basic bootstrap of replicates e + deviation
    interval = adaptive_interval(model.training_error, found.upper, found.lower, 40, 0.9)
    basic = basic_interval(model.training_error + deviations, model.training_error, 0.9)
    assert (interval.low, interval.high) == pytest.approx((basic.low, basic.high), abs=1e-12)


# ---- degenerate draws --------------------------------------------------------------------------------------------


def test_rows_of_zeros_are_positive_whoever_is_near() -> None:
    model = fitted_model(12, 2, 0.5, 1, intercept=False)
    zeros = replace(
        model, design=np.vstack([model.design, np.zeros((2, 2))]), labels=np.append(model.labels, [-1.0, 1.0])
    )
    counts = draw_counts(14, 30, np.random.default_rng(0))
    found = boundary_deviations(zeros, counts, rate=np.inf)
    assert found.n_near == 12
    shift = (counts[:, 12] - 1) / math.sqrt(14)  # the row of label -1 is wrong in every classification
    blank = counts.copy()
    blank[:, 12:] = 1
    without = boundary_deviations(zeros, blank, rate=np.inf)
    np.testing.assert_allclose(found.upper, without.upper + shift, atol=1e-12)
    np.testing.assert_allclose(found.lower, without.lower + shift, atol=1e-12)


def test_draws_of_one_class_and_of_few_rows_are_counted() -> None:
    model = fitted_model(10, 3, 0.7, 4)
    positive = np.flatnonzero(model.labels > 0)
    counts = np.zeros((3, 10), dtype=np.int32)
    counts[0, positive[0]] = 10  # one row: the scores of the others are not determined
    counts[1, positive[:4]] = [3, 3, 2, 2]  # one class: all scores are 1 and none varies
    counts[2] = 1
    drawn = draw_scores(draws_problem(model, counts))
    assert np.isfinite(drawn.variances[0]).sum() == 1
    assert drawn.near(5.0)[0].sum() == 9
    np.testing.assert_allclose(drawn.scores[1], 1.0)
    assert not drawn.near(5.0)[1].any()
    found = boundary_deviations(model, counts, rate=5.0)
    assert found.remarks == (
        "2 single-class draws",
        "1 draws with undetermined scores, those points counted as near",
    )
    assert found.upper[1] == found.lower[1]
    assert (found.upper[2], found.lower[2]) == (0.0, 0.0)


def test_separable_draws_of_a_vanishing_loss_take_all_points_as_near() -> None:
    model = replace(fitted_model(14, 2, 1.5, 3), loss=get_loss("logistic"))
    right = np.flatnonzero(model.training_errors == 0)
    separable = np.zeros((1, 14), dtype=np.int32)
    separable[0, right] = np.bincount(np.arange(14) % right.size, minlength=right.size)
    found = boundary_deviations(model, separable)
    assert found.n_near == 14
    assert found.remarks == ("1 draws with undetermined scores, those points counted as near",)
    assert_same(replace(found, remarks=()), boundary_deviations(model, separable, rate=np.inf))


def test_a_score_of_zero_is_near_whatever_its_variance() -> None:
    # both labels once on either side: beta_b = 0, so that all scores are 0
    design, labels = np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    model = AdditiveModel(design, labels, np.zeros(1), get_loss("squared"), np.array([0, 1]))
    counts = np.array([[2, 2, 0, 0], [1, 1, 1, 1]], dtype=np.int32)
    found = boundary_deviations(model, counts, rate=1e-6)
    assert found.n_near == 4
    # the points come in pairs of one row each: in the first draw either class of x errs on one copied row
    np.testing.assert_allclose(found.upper, [0.0, 0.0])
    np.testing.assert_allclose(found.lower, [0.0, 0.0])
    at_zero = boundary_deviations(model, counts, rate=0)
    # sign(0) = +1 errs on the two rows of label -1, both absent from the first draw
    np.testing.assert_allclose(at_zero.upper, [-1.0, 0.0])


def test_rows_of_a_draw_that_is_fitted_without_error() -> None:
    # the line through (-0.3, -1) and (0.9, 1) is 0 at 0.3, but for rounding, and no score varies
    x, labels = np.array([-0.3, 0.9, 0.3, 1.7]), np.array([-1.0, 1.0, -1.0, 1.0])
    model = AdditiveModel(
        np.column_stack([np.ones(4), x]), labels, np.array([-0.5, 1.0]), get_loss("squared"), np.array([0, 1])
    )
    drawn = draw_scores(draws_problem(model, np.array([[2, 2, 0, 0]], dtype=np.int32)))
    assert drawn.variances.max() < 1e-25
    assert drawn.near(1e-9).tolist() == [[False, False, True, False]]
    exact = replace(drawn, scores=np.array([[1e-15, -1e-3]]), variances=np.zeros((1, 2)))
    assert exact.near(4.0).tolist() == [[True, False]]


@pytest.mark.parametrize("seed", range(5, 9))
def test_a_direction_without_curvature_leaves_scores_undetermined(seed: int) -> None:
    # the third column is 1 for the last row alone: its coefficient grows without end, while the others overlap
    model = fitted_model(20, 2, 0.5, seed)
    design = np.column_stack([np.vstack([model.design, [1.0, 0.0]]), np.append(np.zeros(20), 1.0)])
    logistic = AdditiveModel(
        design, np.append(model.labels, 1.0), np.zeros(3), get_loss("logistic"), np.array([0, 1])
    )
    once = np.ones((1, 21), dtype=np.int32)
    drawn = draw_scores(draws_problem(logistic, once))
    assert np.flatnonzero(np.isinf(drawn.variances[0])).tolist() == [20]
    # the other rows vary as if it were not there
    alone = draw_scores(
        draws_problem(replace(model, loss=get_loss("logistic")), np.ones((1, 20), dtype=np.int32))
    )
    np.testing.assert_allclose(drawn.variances[0, :20] / 21, alone.variances[0] / 20, rtol=1e-6)
    found = boundary_deviations(logistic, once)
    assert found.remarks == ("1 draws with undetermined scores, those points counted as near",)


# ---- losses, arguments, limits -----------------------------------------------------------------------------------


def patients() -> tuple[Array, NDArray[np.bool_]]:
    design, labels, _ = world(40, 4, 0.6, 2)
    return design[:, 1:], labels > 0


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(alpha=3.0),
        RidgeClassifier(class_weight={False: 2.0, True: 0.5}),
        LogisticRegression(C=0.5, tol=1e-8),
        LinearSVC(tol=1e-8, max_iter=100_000),
        ConvexLossClassifier(loss="huber", penalty=0.01),
    ],
    ids=str,
)
def test_estimators_with_a_curved_loss(estimator: Any) -> None:
    X, y = patients()
    model = to_additive_model(estimator.fit(X, y), X, y)
    counts = draw_counts(40, 100, np.random.default_rng(1))
    found = boundary_deviations(model, counts)
    assert 0 < found.n_near < 40
    assert found.remarks == ()
    centered = boundary_deviations(model, counts, rate=0)
    assert (found.upper >= centered.upper).all()
    assert (found.lower <= centered.lower).all()


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(C=0.5, tol=1e-8), RidgeClassifier(alpha=3.0)], ids=str
)
def test_bootstrap_classifiers_are_those_of_scikit_learn(estimator: Any) -> None:
    X, y = patients()
    model = to_additive_model(estimator.fit(X, y), X, y)
    counts = draw_counts(40, 25, np.random.default_rng(1))
    wrong = []
    for phi in counts:
        rows = np.repeat(np.arange(40), phi)
        wrong.append(estimator.fit(X[rows], y[rows]).predict(X) != y)
    centered = boundary_deviations(model, counts, rate=0)
    np.testing.assert_allclose(centered.upper, ((counts - 1) * wrong).sum(axis=1) / math.sqrt(40), atol=1e-12)


def test_losses_without_curvature_are_refused_unless_none_is_needed() -> None:
    X, y = patients()
    hinge = to_additive_model(ConvexLossClassifier(loss="hinge", penalty=0.05).fit(X, y), X, y)
    counts = draw_counts(40, 20, np.random.default_rng(1))
    with pytest.raises(
        UnsupportedEstimatorError, match=r"curvature .* Got hinge instead\. .* use the rate 0"
    ):
        boundary_deviations(hinge, counts)
    centered = boundary_deviations(hinge, counts, rate=0)
    np.testing.assert_array_equal(centered.upper, centered.lower)
    lasso = replace(hinge, loss=get_loss("squared"), l1_penalty=np.full(hinge.coef.size, 0.1))
    with pytest.raises(UnsupportedEstimatorError, match="Got an l1 penalty instead"):
        boundary_deviations(lasso, counts, rate="loglog")
    written = replace(hinge, loss=CvxpyLoss("mine", lambda y, f: (y - f) ** 2))
    with pytest.raises(UnsupportedEstimatorError, match="Got mine instead"):
        boundary_deviations(written, counts)


def test_rates() -> None:
    assert near_rate("log", 50) == math.log(50)
    assert near_rate("loglog", 50) == math.log(math.log(50))
    assert (near_rate("loglog", 2), near_rate(0, 9), near_rate(np.inf, 9)) == (0.0, 0.0, math.inf)
    with pytest.raises(
        ValueError, match=r"'rate' parameter must be 'log', 'loglog' or a number of .* Got 'n'"
    ):
        near_rate("n", 50)
    for value in (-1.0, np.nan, None):
        with pytest.raises(ValueError, match=r"'rate' parameter must be a number in the range \[0, inf\]"):
            near_rate(value, 50)  # type: ignore[arg-type]  # None is no rate: that is the test


def test_searches_that_are_given_up_make_the_interval_longer() -> None:
    model = fitted_model(40, 4, 0.3, 6)
    counts = draw_counts(40, 30, np.random.default_rng(4))
    exact = boundary_deviations(model, counts)
    with pytest.warns(
        NotCertifiedWarning, match=r"The search was stopped in \d+ of 30 draws .* Increase nodes_per_draw"
    ) as caught:
        limited = boundary_deviations(model, counts, limits=SearchLimits(nodes_per_draw=0))
    n_open = caught[0].message.n_limited
    assert limited.remarks == (f"{n_open} of 30 draws not fully solved, bounds used",)
    assert (limited.upper >= exact.upper).all()
    assert (limited.lower <= exact.lower).all()
    assert (limited.upper > exact.upper).any()
    assert_same(boundary_deviations(model, counts, n_jobs=2, limits=SearchLimits(nodes_per_draw=None)), exact)


def test_interrupted_search(monkeypatch: pytest.MonkeyPatch) -> None:
    model, counts, _ = example("aci_0")

    def stop(problem: Problem, **_: Any) -> None:
        from cudbound.solve.solve_draws import solve_draws

        raise SolveInterrupted(solve_draws(problem))

    monkeypatch.setattr(adaptive, "solve_draws", stop)
    with pytest.raises(KeyboardInterrupt, match="stopped while searching the points near the boundary"):
        boundary_deviations(model, counts)


def test_counts_of_another_training_set_are_refused() -> None:
    model, counts, _ = example("aci_0")
    with pytest.raises(ValueError, match=r"'counts' must have shape \(n_draws, 10\)"):
        boundary_deviations(model, counts[:, 1:])


# ---- the interval from recorded deviations -----------------------------------------------------------------------


def test_interval_from_recorded_deviations() -> None:
    rng = np.random.default_rng(0)
    lower = rng.normal(size=200)
    boundary = BoundaryDeviations(lower + rng.random(200), lower, n_samples=25, n_fits=200)
    records = Records.of(losses=np.arange(25) < 5, boundary=boundary)
    rows = [compute_interval(ACI, records, level) for level in (0.5, 0.8, 0.95, 0.99)]
    for narrow, wide in itertools.pairwise(rows):
        assert wide.raw_interval.low <= narrow.raw_interval.low
        assert narrow.raw_interval.high <= wide.raw_interval.high
    row = rows[1]
    # the order statistics of ranks 180 and 20, each of its own deviations
    assert row.raw_interval.low == pytest.approx(0.2 - np.sort(boundary.upper)[179] / 5)
    assert row.raw_interval.high == pytest.approx(0.2 - np.sort(boundary.lower)[19] / 5)
    assert (row.estimate, row.n_fits, row.details) == (0.2, 201, {})


def test_deviations_that_do_not_vary() -> None:
    none = np.zeros(50)
    records = Records.of(losses=np.zeros(20), boundary=BoundaryDeviations(none, none, 20, 50))
    row = compute_interval(ACI, records, 0.9)
    assert row.raw_interval.width == 0.0
    assert row.degenerate is not None
    assert row.degenerate.startswith("the bootstrap deviations do not vary")
    # Clopper and Pearson at 0 errors of 20: 1 - 0.05^(1/20)


def test_separated_classes_give_an_interval_without_width() -> None:
    design = np.column_stack([np.ones(12), np.repeat([-1.0, 1.0], 6)])
    labels = np.repeat([-1.0, 1.0], 6)
    model = AdditiveModel(design, labels, np.array([0.0, 1.0]), get_loss("squared"), np.array([0, 1]))
    counts = draw_counts(12, 40, np.random.default_rng(0))
    found = boundary_deviations(model, counts)
    records = Records.of(losses=model.training_errors, boundary=found)
    row = compute_interval(ACI, records, 0.95)
    assert (row.estimate, row.raw_interval.width) == (0.0, 0.0)
    assert row.degenerate is not None


def test_records_that_do_not_fit() -> None:
    boundary = BoundaryDeviations(np.ones(3), np.zeros(3), n_samples=10, n_fits=3)
    with pytest.raises(
        ValueError,
        match=r"of one training set\. Got training_losses of 9 rows, BoundaryDeviations of 10 rows",
    ):
        compute_interval(ACI, Records.of(losses=np.zeros(9), boundary=boundary), 0.9)
    with pytest.raises(ValueError, match=r"aci needs suprema near the boundary, .* pass BoundaryDeviations"):
        compute_interval(ACI, Records(losses=np.zeros(9)), 0.9)
    with pytest.raises(ValueError, match=r"Got 1 above 0\."):
        BoundaryDeviations(np.zeros(2), np.array([0.0, 1.0]), 10, 2)
    with pytest.raises(ValueError, match=r"must have the same length\. Got 3 and 2 instead"):
        BoundaryDeviations(np.zeros(2), np.zeros(3), 10, 2)


# ---- coverage ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("n", "distance"), [(30, 0.6), (50, 1.0)])
def test_coverage_where_points_lie_near_the_boundary(n: int, distance: float) -> None:
    # two normal classes: the error of a line is known. At 30 rows the centered percentile bootstrap is liberal, as the
    # paper says of it; the adaptive interval keeps its level.
    rng = np.random.default_rng(1)
    covered = {"log": 0, 0: 0} if n == 30 else {"log": 0}
    trials = 200
    for _ in range(trials):
        labels = np.where(np.arange(n) < n // 2, -1.0, 1.0)
        x = rng.normal(size=n) + distance * labels
        model = to_additive_model(LeastSquaresClassifier().fit(x[:, None], labels), x[:, None], labels)
        b0, b1 = model.coef / abs(model.coef[1])
        error = (norm.cdf(-(b0 + b1 * distance)) + norm.cdf(b0 - b1 * distance)) / 2
        counts = draw_counts(n, 200, rng)
        for rate in covered:
            found = boundary_deviations(model, counts, rate=rate)
            records = Records.of(losses=model.training_errors, boundary=found)
            interval = compute_interval(ACI, records, 0.9).raw_interval
            covered[rate] += interval.low <= error <= interval.high
    assert binomtest(covered["log"], trials, 0.9, alternative="less").pvalue > 0.01
    if n == 30:
        assert binomtest(covered[0], trials, 0.9, alternative="less").pvalue < 0.01
