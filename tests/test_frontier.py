"""Q at every localisation rate from a frontier, against worked numbers and the solver."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from cud_vectors import vector_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_files import shared_vectors

from cudbound.frontier import frontier_to_q
from cudbound.solve import solve_problem


def test_worked_frontier():
    example = shared_vectors()["cud_frontier_to_Q"]
    inputs = example["inputs"]
    scores, losses = np.transpose(inputs["frontier"])
    rates = [float(alpha) for alpha in inputs["alpha"]]
    found = frontier_to_q(scores, losses, inputs["loss_of_fhat"], rates)
    np.testing.assert_allclose(found, example["value"]["Q"], atol=1e-12)


@pytest.mark.parametrize("name", ["cud_A_0", "cud_duplicates", "cud_sens"])
def test_the_frontier_agrees_with_the_solver_at_every_rate(name):
    problem, _, expected = vector_problem(name)
    scores, losses = np.transpose(expected["frontier"])
    rates = [0.0, 0.3, 1.0, 4.0, 20.0, 300.0, math.inf]
    found = frontier_to_q(scores, losses, expected["loss_of_fhat"], rates)
    for alpha, q in zip(rates, found, strict=True):
        assert solve_problem(replace(problem, alpha=alpha)).upper[0] == pytest.approx(q, abs=1e-6)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 2)), min_size=1, max_size=8),
    st.floats(0, 2),
    st.lists(st.floats(0, 1e6), min_size=2, max_size=6),
)
def test_q_falls_with_the_rate(points, anchor, rates):
    scores, losses = np.transpose(points)
    q = frontier_to_q(scores, losses, anchor, [*sorted(rates), math.inf])
    assert (np.diff(q) <= 1e-12).all()
    assert frontier_to_q(scores, losses, anchor, 0.0) == max(scores)


def test_what_is_no_frontier_is_refused():
    with pytest.raises(
        ValueError, match=r"the same length and at least one value\. Got shapes \(2,\) and \(1,\)"
    ):
        frontier_to_q([0.1, 0.2], [0.5], 0.5, 1.0)
    with pytest.raises(ValueError, match="'scores' must be finite and non-negative"):
        frontier_to_q([-0.1], [0.5], 0.5, 1.0)
    with pytest.raises(ValueError, match=r"'alpha' parameter must be a number in the range \[0, inf\]"):
        frontier_to_q([0.1], [0.5], 0.5, -1.0)
