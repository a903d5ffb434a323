"""What a witness is worth, against rational arithmetic, for problems of every kind that a result can have."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from cudbound import ConvexLossClassifier, LeastSquaresClassifier, cud_interval
from cudbound.problem.problem import Problem
from cudbound.saved.check_bounds import tolerances, witness_values

X = np.random.default_rng(3).normal(size=(24, 2)).round(1)
Y = X[:, 0] + np.random.default_rng(4).normal(size=24) > 0


def exactly(problem, draw, coef):
    """Squared loss alone, with integers: |sum of the weights of wrong rows| g(alpha (L(anchor) - L(coef)))."""
    rows = [[Fraction(entry) for entry in row] for row in problem.design.tolist()]
    counts = problem.counts[draw].tolist()
    n = len(rows)

    def score(beta, row):
        return sum(Fraction(b) * x for b, x in zip(beta, row, strict=True))

    def loss(beta):
        pairs = zip(rows, problem.labels.tolist(), counts, strict=True)
        return sum(count * (Fraction(label) - score(beta, row)) ** 2 for row, label, count in pairs) / n

    wrong = [
        Fraction(count - 1, n)
        for row, label, count in zip(rows, problem.labels, counts, strict=True)
        if (score(coef, row) >= 0) != (label > 0)
    ]
    g = 1 + Fraction(problem.localization) * (loss(problem.coef.tolist()) - loss(coef))
    return abs(sum(wrong)) * min(max(g, Fraction(0)), Fraction(1))


def test_values_are_those_of_rational_arithmetic():
    result = cud_interval(LeastSquaresClassifier().fit(X, Y), X, Y, n_resamples=30, rng=0)
    # elsewhere in the same cells or in others nearby, and beyond the reach of the draw
    witness = (
        result.draws.witness
        + np.random.default_rng(0).normal(size=(30, 3)) * np.linspace(0.0, 0.2, 30)[:, None]
    )
    values = witness_values(result.problem, witness)
    expected = [float(exactly(result.problem, draw, witness[draw].tolist())) for draw in range(30)]
    np.testing.assert_allclose(values, expected, rtol=0.0, atol=1e-13)
    assert len(set(expected)) > 10


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge", "hinge"])
def test_witnesses_of_the_solver_are_worth_their_bounds(loss):
    classifier = ConvexLossClassifier(loss=loss, penalty=0.01).fit(X, Y)
    result = cud_interval(classifier, X, Y, n_resamples=40, rng=1, all_draws=True)
    values = witness_values(result.problem, result.draws.witness)
    near = tolerances(result.problem)
    assert (values >= result.draws.lower - near).all()
    assert (values <= result.draws.upper + near).all()
    assert near.max() == pytest.approx(1e-9 if loss == "squared" else 1e-9 + 24e-7)


def test_a_row_without_a_side_proves_nothing():
    problem = Problem.of(
        [[1.0, 1.0], [1.0, -1.0], [0.0, 0.0]], [1, -1, -1], [0.0, 1.0], [[2, 0, 1]], localization=0.0
    )
    # the row (1, 1) is on the hyperplane; the row of zeros is always classified as +1, and its weight is 0
    assert math.isnan(witness_values(problem, np.array([[1.0, -1.0]]))[0])
    assert witness_values(problem, np.array([[0.0, 1.0]]))[0] == 0.0
    assert witness_values(problem, np.array([[0.0, -1.0]]))[0] == 0.0  # +1/3 and -1/3
    assert witness_values(problem, np.array([[1.0, 0.5]]))[0] == pytest.approx(1 / 3)
    assert math.isnan(witness_values(problem, np.array([[1e308, 1e308]]))[0])


def test_at_infinite_localization_g_is_a_step():
    problem = Problem.of([[1.0], [-1.0]], [1, 1], [0.0], [[2, 0]], localization=math.inf)
    # the loss of 0 is 1; that of 1.5 is (1 - 1.5)^2, that of 3 is 4
    assert witness_values(problem, np.array([[1.5]]))[0] == 0.5
    assert witness_values(problem, np.array([[3.0]]))[0] == 0.0
