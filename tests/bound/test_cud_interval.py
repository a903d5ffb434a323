"""The CUD result: quantile, interval, flags, reproducibility, and a coverage check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import enumerate_q
from sklearn.linear_model import RidgeClassifier
from worlds import world

from cudbound import Bound, CudResult, LeastSquaresClassifier, cud_interval
from cudbound.basis.exceptions import NotCertifiedWarning, NotMinimizerError, SolveInterrupted
from cudbound.problem.draws import Draws, draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve import search
from cudbound.solve.search import SearchLimits, solve_draws

Array = NDArray[np.float64]


def patients(n: int = 40, p: int = 2, signal: float = 1.0, seed: int = 0) -> tuple[Array, NDArray[np.str_]]:
    design, labels, _ = world(n, p + 1, signal, seed)
    return design[:, 1:], np.where(labels > 0, "yes", "no")


def result_for(X: Any, y: Any, **options: Any) -> CudResult:
    options = {"n_resamples": 100, "rng": 0, **options}
    return cud_interval(LeastSquaresClassifier().fit(X, y), X, y, **options)


def assert_same_result(one: CudResult, other: CudResult, *, but: tuple[str, ...] = ()) -> None:
    assert (one.estimate, one.q, one.confidence_level) == (other.estimate, other.q, other.confidence_level)
    for name in ("lower", "upper", "status", "nodes", "witness"):
        if name not in but:
            np.testing.assert_array_equal(getattr(one.draws, name), getattr(other.draws, name), err_msg=name)


# ---- from draws to interval --------------------------------------------------------------------------------------


def test_small_example_against_enumeration() -> None:
    # every step again: the counts of the seed, Q of each draw by enumeration, the quantile, the interval
    X, y = patients(n=9, p=1, signal=0.5, seed=3)
    result = result_for(X, y, n_resamples=40, rng=7, confidence_level=0.9)
    np.testing.assert_array_equal(result.problem.counts, draw_counts(9, 40, np.random.default_rng(7)))
    q = sorted(enumerate_q(result.problem, draw).q for draw in range(40))
    clf = LeastSquaresClassifier().fit(X, y)
    assert result.estimate == pytest.approx(np.mean(clf.predict(X) != y))
    assert result.q == pytest.approx(q[35], abs=1e-8)  # the 36th of 40 is the .9 quantile
    assert result.raw_interval.low == pytest.approx(result.estimate - q[35], abs=1e-8)
    assert result.raw_interval.high == pytest.approx(result.estimate + q[35], abs=1e-8)
    assert result.localization == 9.0


def test_quantile_is_an_order_statistic() -> None:
    X, y = patients()
    result = result_for(X, y, n_resamples=1000, confidence_level=0.95)
    of_all = np.sort(solve_draws(result.problem).upper)
    assert result.q == np.sort(result.draws.upper)[949] == of_all[949]
    assert result.at(confidence_level=0.05).q == of_all[49]
    assert result.at(confidence_level=0.9501).q == of_all[950]


def test_another_level_goes_on_from_what_is_proved() -> None:
    X, y = patients()
    result, of_all = result_for(X, y), result_for(X, y, all_draws=True)
    assert result.draws.nodes.sum() < of_all.draws.nodes.sum()
    assert not result.draws.certified.all()
    for level in (0.5, 0.8, 0.99):
        other = result.at(confidence_level=level)
        assert (other.q, other.q_lower) == (of_all.at(confidence_level=level).q,) * 2
        assert (other.draws.nodes >= result.draws.nodes).all()
        assert (other.draws.upper <= result.draws.upper).all()
        assert (other.draws.lower >= result.draws.lower).all()
        # back again nothing is left to do
        again = other.at(confidence_level=0.95)
        assert again.draws is other.draws
        assert again.q == result.q


def test_limits_are_kept_raw_and_clipped() -> None:
    X, y = patients(n=20, signal=3.0)
    result = result_for(X, y)
    assert result.estimate - result.q < 0.0
    assert result.raw_interval.low == result.estimate - result.q
    assert result.raw_interval.high == result.estimate + result.q
    assert result.confidence_interval.low == 0.0
    assert result.confidence_interval.high == result.raw_interval.high
    widest = replace(result, estimate=0.5, q=0.7)
    assert (widest.confidence_interval.low, widest.confidence_interval.high) == (0.0, 1.0)


# ---- flags -------------------------------------------------------------------------------------------------------


def test_draws_that_are_not_certified_enter_with_their_upper_bounds() -> None:
    X, y = patients(n=50, p=4, signal=0.0)
    exact = result_for(X, y)
    assert exact.certified
    assert exact.q_lower == exact.q
    with pytest.warns(NotCertifiedWarning, match=r"The half-width is between") as caught:
        limited = result_for(X, y, bound=Bound(nodes_per_draw=60, nodes=np.inf))
    left = int((~limited.draws.decided).sum())
    assert 5 < left < 100
    known = f"between {limited.q_lower:.3f} and {limited.q:.3f}"
    assert str(caught[0].message) == (
        f"The half-width is {known}; the larger value was used, which can only make the interval longer. "
        f"A limit stopped the search after {limited.draws.nodes.sum()} nodes, with {left} of 100 draws unsolved: to "
        "complete it, increase the limit that you set, or lift the default one by Bound(nodes=math.inf), or --bound "
        "nodes=inf; in Python, at(limits=...) of a result of cud_interval continues the search."
    )
    assert caught[0].message.half_width == (limited.q_lower, limited.q)
    assert caught[0].filename == __file__  # the warning points at the caller
    assert not limited.certified
    assert limited.q > exact.q
    assert limited.q_lower <= exact.q
    assert limited.q == np.sort(limited.draws.upper)[94]
    assert limited.row.remarks == (f"q of the mean loss {known}, upper value used",)
    assert f"half-width {limited.q:.3f}, 100 draws (q of the mean loss {known}, upper value used)" in str(
        limited
    )
    resumed = limited.at(limits=SearchLimits())
    assert resumed.certified
    assert (resumed.q, resumed.confidence_level) == (exact.q, exact.confidence_level)
    assert resumed.search.limits == SearchLimits()
    solved_before = limited.draws.certified
    np.testing.assert_array_equal(resumed.draws.nodes[solved_before], limited.draws.nodes[solved_before])
    assert resumed.at(limits=SearchLimits(nodes=0)).draws is resumed.draws  # nothing is left to search
    assert limited.at().q == limited.q


def test_ctrl_c_says_what_is_proved_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(problem: Problem, **options: Any) -> Draws:
        raise SolveInterrupted(solve_draws(problem, limits=SearchLimits(nodes_per_draw=0)))

    monkeypatch.setattr(search, "solve_draws", stop)
    said = r"^stopped with \d+ of 100 draws solved; the half-width is between 0\.\d+ and 0\.\d+$"
    with pytest.raises(KeyboardInterrupt, match=said) as caught:
        result_for(*patients())
    assert type(caught.value) is KeyboardInterrupt


# ---- arguments ---------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits() -> None:
    X, y = patients()
    one = result_for(X, y, rng=5)
    assert_same_result(one, result_for(X, y, rng=5))
    assert_same_result(one, result_for(X, y, rng=np.random.default_rng(5)))
    assert_same_result(one, result_for(X, y, rng=np.int64(5), n_jobs=2))
    other = result_for(X, y, rng=6)
    assert (one.problem.counts != other.problem.counts).any()


def test_another_training_set_is_noticed() -> None:
    X, y = patients()
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(NotMinimizerError, match="do not minimize the mean squared loss on these X and y"):
        cud_interval(clf, X[:-1], y[:-1])
    turned = np.where(y == "yes", "no", "yes")
    with pytest.raises(
        NotMinimizerError, match="If the classifier was fitted to other rows or with sample weights"
    ):
        cud_interval(clf, X, turned)


# ---- other classifiers -------------------------------------------------------------------------------------------


def test_polish_gives_the_interval_of_the_exact_minimizer() -> None:
    X, y = patients(n=30)
    exact = RidgeClassifier().fit(X, y)
    rough = RidgeClassifier().fit(X, y)
    rough.coef_ = rough.coef_ * 0.8
    with pytest.raises(
        NotMinimizerError,
        match=r"optimality residual .* or pass Bound\(polish=True\), see cudbound.Bound, for the interval",
    ):
        cud_interval(rough, X, y)
    expected = cud_interval(exact, X, y, n_resamples=50, rng=0)
    polished = cud_interval(rough, X, y, n_resamples=50, rng=0, bound=Bound(polish=True))
    np.testing.assert_allclose(polished.draws.upper, expected.draws.upper, atol=1e-9)
    assert polished.estimate == expected.estimate
    assert expected.polish is None
    report = polished.polish
    assert report is not None
    assert report.residual > 1e-3
    before = np.r_[rough.intercept_, np.ravel(rough.coef_)]
    after = np.r_[exact.intercept_, np.ravel(exact.coef_)]
    assert report.coef_change == pytest.approx(np.linalg.norm(after - before) / np.linalg.norm(before))
    scores = [clf.decision_function(X) for clf in (rough, exact)]
    assert report.score_change == pytest.approx(np.abs(scores[0] - scores[1]).max())
    assert report.n_changed_predictions == (rough.predict(X) != exact.predict(X)).sum()
    assert polished.row.remarks == ("half-width computed exactly", str(report))
    assert "for the error of the polished classifier; training error" in str(polished)
    assert polished.at(confidence_level=0.8).polish is report


def test_the_slow_solver_agrees() -> None:
    X, y = patients(n=12, p=1, signal=0.5)
    clf = RidgeClassifier(class_weight="balanced").fit(X, y)
    fast, slow = (
        cud_interval(clf, X, y, n_resamples=5, rng=0, all_draws=True, bound=Bound(solver=name))
        for name in ("native", "cvxpy")
    )
    np.testing.assert_allclose(fast.draws.upper, slow.draws.upper, atol=1e-6)
    with pytest.raises(
        ValueError, match=r"'solver' parameter must be one of \['cvxpy', 'native'\]\. Got 'ECOS'"
    ):
        cud_interval(clf, X, y, bound=Bound(solver="ECOS"))
