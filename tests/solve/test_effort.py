"""How much work a search may be: the default budget, and what is said of the end."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import surrogate_problem, world_problem

from cudbound import Bound, LeastSquaresClassifier, compare_intervals, cud_interval
from cudbound.basis.exceptions import NotCertifiedWarning
from cudbound.solve.limits import (
    DEFAULT_SECONDS,
    LEAST_NODES,
    SearchLimits,
    default_node_budget,
    nodes_within,
    seconds_per_node,
)


def test_larger_problems_get_fewer_nodes_of_the_same_time() -> None:
    small, large = (world_problem(n, p, 0.0, 0, n_draws=2) for n, p in ((30, 2), (300, 30)))
    logistic = surrogate_problem(50, 5, 0.0, 0, n_draws=2, loss="logistic", c=1.0)
    squared = world_problem(50, 5, 0.0, 0, n_draws=2)
    assert default_node_budget(small) > default_node_budget(large) > LEAST_NODES
    assert default_node_budget(squared) > 5 * default_node_budget(logistic) > 5 * LEAST_NODES
    for problem in (small, large, logistic, squared):
        taken = default_node_budget(problem) * seconds_per_node(problem)
        assert taken == pytest.approx(DEFAULT_SECONDS, rel=1e-3)
        assert nodes_within(DEFAULT_SECONDS, problem) == default_node_budget(problem)
    assert nodes_within(0.0, squared) == LEAST_NODES
    assert nodes_within(1e308, squared) < 2**63  # the quotient is infinite


def noise(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.normal(size=(n, p)), np.where(rng.random(n) < 0.5, 1, 0)


def test_the_default_call_ends_with_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudbound.solve.limits.DEFAULT_SECONDS", 0.004)
    X, y = noise(60, 6)
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(
        NotCertifiedWarning,
        match=r"The search stopped after \d+ nodes.*Bound\(nodes=math\.inf",
    ):
        result = cud_interval(clf, X, y, n_resamples=200, rng=0)
    assert result.q_lower < result.q
    with pytest.warns(NotCertifiedWarning):
        again = cud_interval(clf, X, y, n_resamples=200, rng=0, n_jobs=2)
    assert (again.q_lower, again.q) == (result.q_lower, result.q)
    with pytest.warns(NotCertifiedWarning):
        table = compare_intervals(clf, X, y, methods=["cud"], n_resamples=200, rng=0)
    assert table["cud"] == result.row
    # the ways out
    whole = result.at(limits=SearchLimits(nodes=np.inf))
    assert whole.certified
    assert (whole.draws.nodes >= result.draws.nodes).all()
    assert result.q_lower <= whole.q <= result.q
    assert cud_interval(clf, X, y, n_resamples=200, rng=0, bound=Bound(seconds=600.0)).q == whole.q
    assert cud_interval(clf, X, y, n_resamples=200, rng=0, all_draws=True).draws.certified.all()
