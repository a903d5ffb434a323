"""The adaptive interval: enumeration of all cells of the near points, and what must not matter."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_cases import PROPERTY
from numpy.typing import NDArray
from oracles import arrange, open_cells
from random_problems import KINDS, make, make_with_loss
from worlds import world

from cudbound.basis.exceptions import NotCertifiedWarning
from cudbound.intervals import compute_interval
from cudbound.intervals.bootstrap_percentile import basic_interval
from cudbound.intervals.laber_murphy import ACI, BoundaryDeviations, _whole, boundary_deviations, draw_scores
from cudbound.losses.surrogates import get_loss
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.records import Records
from cudbound.solve.native import minimize
from cudbound.solve.search import SearchLimits

Counts = NDArray[np.int32]
CURVED = ("squared", "logistic", "exponential")


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
    records = Records.of(losses=model.training_errors, boundary=found)
    interval = compute_interval(ACI, records, 0.9).raw_interval
    basic = basic_interval(model.training_error + deviations, model.training_error, 0.9)
    assert (interval.low, interval.high) == pytest.approx((basic.low, basic.high), abs=1e-12)


# ---- degenerate draws --------------------------------------------------------------------------------------------


def test_separable_draws_of_a_vanishing_loss_take_all_points_as_near() -> None:
    model = replace(fitted_model(14, 2, 1.5, 3), loss=get_loss("logistic"))
    right = np.flatnonzero(model.training_errors == 0)
    separable = np.zeros((1, 14), dtype=np.int32)
    separable[0, right] = np.bincount(np.arange(14) % right.size, minlength=right.size)
    found = boundary_deviations(model, separable)
    assert found.n_near == 14
    assert found.remarks == ("1 draws with undetermined scores, those points counted as near",)
    assert_same(replace(found, remarks=()), boundary_deviations(model, separable, rate=np.inf))


@pytest.mark.parametrize("seed", range(5, 9))
def test_a_direction_without_curvature_leaves_scores_undetermined(seed: int) -> None:
    # the third column is 1 for the last row alone: its coefficient grows without end, while the others overlap
    model = fitted_model(20, 2, 0.5, seed)
    design = np.column_stack([np.vstack([model.design, [1.0, 0.0]]), np.append(np.zeros(20), 1.0)])
    logistic = AdditiveModel(
        design, np.append(model.labels, 1.0), np.zeros(3), get_loss("logistic"), np.array([0, 1])
    )
    once = np.ones((1, 21), dtype=np.int32)
    drawn = draw_scores(logistic.problem(once))
    assert np.flatnonzero(np.isinf(drawn.variances[0])).tolist() == [20]
    # the other rows vary as if it were not there
    alone = draw_scores(replace(model, loss=get_loss("logistic")).training)
    np.testing.assert_allclose(drawn.variances[0, :20] / 21, alone.variances[0] / 20, rtol=1e-6)
    found = boundary_deviations(logistic, once)
    assert found.remarks == ("1 draws with undetermined scores, those points counted as near",)


# ---- losses, arguments, limits -----------------------------------------------------------------------------------


def test_a_whole_bound_that_rounding_lowered_stays_whole() -> None:
    assert _whole(np.array([3.0, 3.0 - 1e-9, 3.4])).tolist() == [3, 3, 3]


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


# ---- the interval from recorded deviations -----------------------------------------------------------------------


# Clopper and Pearson at 0 errors of 20: 1 - 0.05^(1/20)
