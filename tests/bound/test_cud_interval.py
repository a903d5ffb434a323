"""The CUD result: quantile, interval, flags, reproducibility, and a coverage check."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import enumerate_q
from scipy.stats import binomtest, norm
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn_versions import sparse_logistic
from worlds import world

from cudbound import Bound, CudResult, LeastSquaresClassifier, cud_interval
from cudbound.basis.exceptions import (
    NotCertifiedWarning,
    NotMinimizerError,
    SolveInterrupted,
    UnsupportedEstimatorError,
)
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.validation import JOBS_PER_CPU, check_n_jobs
from cudbound.problem.draws import Draws, SolveStatus, draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve import solve_draws as search
from cudbound.solve.limits import SearchLimits
from cudbound.solve.solve_draws import solve_draws

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


def test_another_level_is_searched_with_the_limits_of_the_first() -> None:
    X, y = patients(n=50, p=4, signal=0.0)
    with pytest.warns(NotCertifiedWarning):
        result = result_for(X, y, bound=Bound(nodes=200))
    with pytest.warns(NotCertifiedWarning, match=r"The half-width is between") as caught:
        other = result.at(confidence_level=0.5)
    assert caught[0].filename == __file__
    exact = result_for(X, y, confidence_level=0.5)
    assert other.q_lower <= exact.q <= other.q
    assert other.q_lower < other.q
    # the level that was searched already is not searched again
    assert result.at(confidence_level=0.95).draws is result.draws


def test_another_level_from_the_same_draws() -> None:
    X, y = patients()
    result = result_for(X, y, all_draws=True)
    levels = (0.01, 0.5, 0.8, 0.9, 0.99, 0.999)
    halves = []
    for level in levels:
        other = result.at(confidence_level=level)
        assert other.confidence_level == level
        assert other.draws is result.draws
        assert_same_result(other, result_for(X, y, confidence_level=level, all_draws=True))
        halves.append(other.q)
    assert halves == sorted(halves)
    assert len(set(halves)) > 3
    assert result.confidence_level == 0.95


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


def test_row_of_the_table() -> None:
    X, y = patients()
    result = result_for(X, y)
    row = result.row
    assert isinstance(row, IntervalEstimate)
    assert (row.method, str(row.estimand), row.n_fits) == ("cud", "conditional", 1)
    assert (row.estimate, row.raw_interval) == (result.estimate, result.raw_interval)
    assert row.confidence_level == 0.95
    assert row.remarks == ("draws solved exactly as far as needed",)
    assert result_for(X, y, all_draws=True).row.remarks == ("all draws solved exactly",)
    assert row.degenerate is None
    assert str(result.estimand) == "conditional"


def test_frames() -> None:
    X, y = patients()
    result = result_for(X, y)
    frame = result.to_frame()
    assert len(frame) == 1
    assert frame.loc[0, ["method", "estimate", "low", "high"]].tolist() == [
        "cud",
        result.estimate,
        result.confidence_interval.low,
        result.confidence_interval.high,
    ]
    assert not frame.loc[0, "degenerate"]
    result = result_for(X, y, all_draws=True)
    draws = result.draws.to_frame()
    assert draws.index.name == "draw"
    assert list(draws.columns) == ["lower", "upper", "status", "nodes", "witness_0", "witness_1", "witness_2"]
    np.testing.assert_array_equal(draws["upper"], result.draws.upper)
    assert set(draws["status"]) == {"optimal"}
    assert len(draws) == 100


def test_texts() -> None:
    X, y = patients()
    result = result_for(X, y)
    low, high = result.confidence_interval.low, result.confidence_interval.high
    assert str(result) == (
        f"CUD 95% interval [{low:.3f}, {high:.3f}] for the error of this classifier; training error "
        f"{result.estimate:.3f}, half-width {result.q:.3f}, 100 draws (draws solved exactly as far as needed)\n"
        "Always predicting the majority class would be wrong for 42.5% of the training rows; that is above the "
        "interval."
    )
    assert repr(result) == str(result)
    assert str(result.at(confidence_level=0.999)).startswith("CUD 99.9% interval")


# ---- flags -------------------------------------------------------------------------------------------------------


def separated() -> tuple[Array, Array]:
    """Return two clusters so far apart that no classifier near the fitted one errs on any row."""
    x = np.concatenate([np.linspace(-10.1, -9.9, 10), np.linspace(9.9, 10.1, 10)])
    return x[:, None], np.repeat([0, 1], 10)


def test_zero_width_is_flagged_and_kept() -> None:
    X, y = separated()
    result = result_for(X, y)
    assert (result.estimate, result.q) == (0.0, 0.0)
    assert (result.confidence_interval.low, result.confidence_interval.high) == (0.0, 0.0)
    assert result.degenerate is not None
    assert "Q = 0" in result.degenerate
    assert result.row.degenerate == result.degenerate
    assert result.certified
    assert "Q = 0" in str(result)
    assert result.to_frame().loc[0, "degenerate"]
    # the uniform deviation over all classifiers is not 0
    wide = result_for(X, y, bound=Bound(localization=0.0))
    assert wide.q > 0.0
    assert wide.degenerate is None


def test_draws_of_one_class_are_counted_and_named() -> None:
    X, y = patients(n=8, p=1, seed=2)
    y = np.array(["a", "a", *["b"] * 6])
    result = result_for(X, y, n_resamples=300)
    in_class = result.problem.counts[:, :2].sum(axis=1)
    expected = int(((in_class == 0) | (in_class == 8)).sum())
    assert 10 < expected < 60  # 10 % of the draws on average
    assert result.n_single_class_draws == expected
    assert f"{expected} single-class draws" in result.row.remarks
    assert f"{expected} single-class draws" in str(result)
    assert result.certified


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
        f"A limit stopped the search in {left} of 100 draws: increase it in bound=Bound(...); "
        "at(limits=...) of a result of cud_interval continues the search."
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


@pytest.mark.parametrize("n_limited", [0, 2])
def test_draws_that_rounding_left_open_get_advice_of_their_own(
    monkeypatch: pytest.MonkeyPatch, n_limited: int
) -> None:
    # such draws are too rare to find on demand: their status is put into solved ones
    solve = search.solve_draws

    def inaccurate(*arguments: Any, **options: Any) -> Draws:
        draws = solve(*arguments, **options)
        status = draws.status.copy()
        status[[4, 7, 8]] = SolveStatus.INACCURATE
        status[:n_limited] = [SolveStatus.NODE_LIMIT, SolveStatus.TIME_LIMIT][:n_limited]
        lower = np.where(draws.lower >= draws.bracket(95)[0], 0.0, draws.lower)
        return replace(draws, status=status, lower=lower)

    monkeypatch.setattr(search, "solve_draws", inaccurate)
    X, y = patients(n=20)
    with pytest.warns(NotCertifiedWarning, match=r"^The half-width is between") as caught:
        result = result_for(X, y, all_draws=True)
    (event,) = (one.message for one in caught if isinstance(one.message, NotCertifiedWarning))
    assert (event.n_limited, event.n_inaccurate) == (n_limited, 3)
    assert str(event).endswith(
        "Rounding left 3 draws unproved: rescale the features or look for an outlier; "
        "pickle result.problem.select(4) for a bug report."
    )
    assert ("A limit stopped the search in 2 of 100 draws: increase it in" in str(event)) == (n_limited > 0)
    assert ("limit" in str(event)) == (n_limited > 0)
    assert not result.certified
    assert (pickle.loads(pickle.dumps(result.problem.select(4))).counts == result.problem.counts[4]).all()


def test_results_are_compared_by_identity() -> None:
    # a comparison of the arrays in them has no truth value
    X, y = patients(n=20)
    result = result_for(X, y)
    assert result == result
    assert result != result_for(X, y)
    assert len({result, result.at(confidence_level=0.8)}) == 2


# ---- arguments ---------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits() -> None:
    X, y = patients()
    one = result_for(X, y, rng=5)
    assert_same_result(one, result_for(X, y, rng=5))
    assert_same_result(one, result_for(X, y, rng=np.random.default_rng(5)))
    assert_same_result(one, result_for(X, y, rng=np.int64(5), n_jobs=2))
    other = result_for(X, y, rng=6)
    assert (one.problem.counts != other.problem.counts).any()


def test_a_generator_goes_on_where_it_stands() -> None:
    X, y = patients()
    rng = np.random.default_rng(5)
    first, second = result_for(X, y, rng=rng), result_for(X, y, rng=rng)
    assert (first.problem.counts != second.problem.counts).any()


def test_no_seed_gives_fresh_draws() -> None:
    X, y = patients()
    counts = [result_for(X, y, rng=None, n_resamples=20).problem.counts for _ in range(2)]
    assert (counts[0] != counts[1]).any()


def test_the_first_draws_do_not_depend_on_how_many_follow() -> None:
    X, y = patients()
    short, long = (result_for(X, y, n_resamples=count, all_draws=True) for count in (10, 50))
    np.testing.assert_array_equal(short.draws.upper, long.draws.upper[:10])


def test_named_rates() -> None:
    X, y = patients(n=30)
    assert result_for(X, y, n_resamples=5).localization == 30.0
    literal, two = (Bound(localization=alpha) for alpha in ("paper-literal", 2))
    assert result_for(X, y, n_resamples=5, bound=literal).localization == 900.0
    assert result_for(X, y, n_resamples=5, bound=two).localization == 2.0
    bounds = [Bound(localization=alpha) for alpha in (0.0, 1.0, "n", "paper-literal", np.inf)]
    q = [result_for(X, y, bound=bound).q for bound in bounds]
    assert q == sorted(q, reverse=True)
    assert q[0] > q[-1]


LABELS: dict[str, Callable[[NDArray[np.bool_]], Any]] = {
    "strings": lambda high: np.where(high, "yes", "no"),
    "booleans": lambda high: high,
    "0 and 1": lambda high: high.astype(int),
    "-1 and 1": lambda high: np.where(high, 1.0, -1.0),
    "1 and 2 in a list": lambda high: (high + 1).tolist(),
    "objects": lambda high: np.where(high, "z", "a").astype(object),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type(kind: str) -> None:
    X, y = patients()
    high = y == "yes"
    assert_same_result(result_for(X, LABELS[kind](high)), result_for(X, high.astype(int)))


def test_exchanged_names_of_the_classes_change_nothing_but_rounding() -> None:
    X, y = patients()
    one, other = result_for(X, y), result_for(X, np.where(y == "yes", "a", "b"))
    assert one.estimate == other.estimate
    np.testing.assert_allclose(one.draws.upper, other.draws.upper, atol=1e-10)


def test_pipelines() -> None:
    X, y = patients(n=40)
    plain = result_for(X, y)
    scaled = make_pipeline(StandardScaler(), LeastSquaresClassifier()).fit(X, y)
    by_pipeline = cud_interval(scaled, X, y, n_resamples=100, rng=0)
    # a linear map of the design changes no Q
    assert by_pipeline.estimate == plain.estimate
    np.testing.assert_allclose(by_pipeline.draws.upper, plain.draws.upper, atol=1e-10)
    squares = make_pipeline(PolynomialFeatures(2, include_bias=False), LeastSquaresClassifier()).fit(X, y)
    larger = cud_interval(squares, X, y, n_resamples=100, rng=0)
    assert larger.problem.design.shape == (40, 6)
    assert larger.certified


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


def test_other_estimators_are_refused_by_name() -> None:
    X, y = patients()
    with pytest.raises(
        UnsupportedEstimatorError, match="DecisionTreeClassifier is not a known additive classifier"
    ):
        cud_interval(DecisionTreeClassifier().fit(X, y), X, y)


IN_BOUND = ("localization", "seconds")


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("confidence_level", 1.0, r"a float in the range \(0, 1\)"),
        ("confidence_level", 95, r"a float in the range \(0, 1\)"),
        ("confidence_level", "0.9", "a float"),
        ("n_resamples", 0, "an integer of at least 1"),
        ("n_resamples", 10.5, "an integer of at least 1"),
        ("localization", -1, "'n', 'paper-literal' or a number"),
        ("localization", "m", "'n', 'paper-literal' or a number"),
        ("localization", np.nan, "'n', 'paper-literal' or a number"),
        ("rng", -1, "a non-negative integer"),
        ("rng", 0.5, "a non-negative integer"),
        ("n_jobs", 0, "None or an integer other than 0"),
        ("seconds", -1, "non-negative or None"),
    ],
)
def test_errors_name_the_argument_the_rule_and_the_value(option: str, value: Any, rule: str) -> None:
    X, y = patients(n=20)
    given: dict[str, Any] = {option: value}
    with pytest.raises(
        ValueError, match=rf"'{option}' parameter must be {rule}.* Got {re.escape(repr(value))}( instead|$)"
    ):
        result_for(X, y, **({"bound": Bound(**given)} if option in IN_BOUND else given))


def test_any_number_of_workers_is_cut_to_what_the_machine_can_use() -> None:
    X, y = patients(n=20)
    assert_same_result(result_for(X, y, n_jobs=10**10), result_for(X, y))
    cores = joblib.cpu_count()
    assert check_n_jobs(10**10) == JOBS_PER_CPU * cores
    assert check_n_jobs(2) == 2
    assert (check_n_jobs(None), check_n_jobs(-1), check_n_jobs(-(10**10))) == (1, cores, 1)


def test_level_of_at_is_checked() -> None:
    X, y = patients(n=20)
    with pytest.raises(ValueError, match=r"'confidence_level' parameter must be .* Got 0 instead"):
        result_for(X, y).at(confidence_level=0)


# ---- other classifiers -------------------------------------------------------------------------------------------


def test_the_problem_is_that_of_the_model() -> None:
    X, y = patients(n=30)
    tight = LogisticRegression(C=0.5, class_weight={"yes": 3.0}, tol=1e-10, max_iter=10_000)
    clf = FixedThresholdClassifier(tight, threshold=0.7, response_method="predict_proba").fit(X, y)
    result = cud_interval(clf, X, y, n_resamples=20, rng=0)
    problem = result.problem
    assert problem.loss.name == "logistic"
    np.testing.assert_allclose(problem.penalty, [0.0, 1 / 30, 1 / 30])  # 1 / (2 C n)
    np.testing.assert_array_equal(problem.sample_weight, np.where(y == "yes", 3.0, 1.0))
    np.testing.assert_allclose(problem.offset, np.log(0.7 / 0.3))
    assert problem.l1_penalty is None
    assert result.certified
    assert result.estimate == pytest.approx(1.0 - clf.score(X, y))


def test_polish_gives_the_interval_of_the_exact_minimizer() -> None:
    X, y = patients(n=30)
    exact = RidgeClassifier().fit(X, y)
    rough = RidgeClassifier().fit(X, y)
    rough.coef_ = rough.coef_ * 0.8
    with pytest.raises(
        NotMinimizerError, match=r"optimality residual .* or pass bound=Bound\(polish=True\) for the interval"
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
    assert polished.row.remarks == ("draws solved exactly as far as needed", str(report))
    assert "for the error of the polished classifier; training error" in str(polished)
    assert polished.at(confidence_level=0.8).polish is report


def test_an_l1_penalty_by_the_slow_solver() -> None:
    X, y = patients(n=12, p=1)
    clf = sparse_logistic(1.0, solver="liblinear", tol=1e-10, max_iter=10_000).fit(X, y)
    result = cud_interval(clf, X, y, n_resamples=2, rng=0, bound=Bound(solver="cvxpy"))
    assert result.certified
    np.testing.assert_allclose(result.problem.l1_penalty, [1 / 12, 1 / 12])
    assert result.problem.penalty is None


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


# ---- coverage ----------------------------------------------------------------------------------------------------

N_DATA_SETS = 200


def two_gaussians(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return 30 rows of two classes N(-+m, I) in the plane, m = (0.64, 0), chosen independently with chance 1/2.

    The best error is Phi(-0.64) = .26.
    """
    y = np.where(rng.random(30) < 0.5, -1.0, 1.0)
    X = rng.standard_normal((30, 2)) + np.outer(y, [0.64, 0.0])
    return X, y


def true_error(clf: LeastSquaresClassifier) -> float:
    """Error of a linear rule on new cases: (Phi(-(m'w + b)/|w|) + Phi((-m'w + b)/|w|)) / 2."""
    w, b = clf.coef_[0], clf.intercept_[0]
    mean, length = 0.64 * w[0], np.linalg.norm(w)
    return float((norm.cdf(-(mean + b) / length) + norm.cdf((b - mean) / length)) / 2)


def test_true_error_of_a_linear_rule_by_simulation() -> None:
    rng = np.random.default_rng(1)
    clf = LeastSquaresClassifier().fit(*two_gaussians(rng))
    y = np.where(rng.random(400_000) < 0.5, -1.0, 1.0)
    X = rng.standard_normal((400_000, 2)) + np.outer(y, [0.64, 0.0])
    assert np.mean(clf.predict(X) != y) == pytest.approx(true_error(clf), abs=4 * 0.5 / np.sqrt(400_000))


@pytest.mark.slow
def test_coverage_of_the_error_of_the_fitted_classifier() -> None:
    # n = 30, p = 3 with the intercept, nominal level .95. Not a proof, a check that nothing is grossly wrong: the
    # exact binomial test must not reject a coverage of at least .95. It would notice intervals of half the width.
    covered = covered_by_half = 0
    for seed in range(N_DATA_SETS):
        X, y = two_gaussians(np.random.default_rng([20080709, seed]))
        clf = LeastSquaresClassifier().fit(X, y)
        result = cud_interval(clf, X, y, n_resamples=200, rng=seed)
        assert result.certified
        assert result.confidence_interval.width < 0.8
        truth = true_error(clf)
        covered += result.confidence_interval.low <= truth <= result.confidence_interval.high
        covered_by_half += abs(truth - result.estimate) <= result.q / 2
    assert binomtest(covered, N_DATA_SETS, 0.95, alternative="less").pvalue > 0.05, covered
    assert binomtest(covered_by_half, N_DATA_SETS, 0.95, alternative="less").pvalue < 1e-6, covered_by_half


@pytest.mark.parametrize(
    "classifier",
    [LeastSquaresClassifier(), RidgeClassifier(), LogisticRegression()],
    ids=["least squares", "ridge", "logistic"],
)
@pytest.mark.parametrize("seed", range(5))
def test_one_feature_in_two_units_counts_once(classifier: Any, seed: int) -> None:
    # standardized, the two columns differ by rounding errors of 1e-14, which are no further feature
    rng = np.random.default_rng(seed)
    celsius = rng.normal(36.9, 0.5, size=20).round(1)
    other = rng.normal(25.0, 4.0, size=20)
    y = celsius + 0.1 * other + rng.normal(size=20) > np.median(celsius + 0.1 * other)
    both = np.column_stack([celsius, celsius * 9 / 5 + 32, other])
    pipe = make_pipeline(StandardScaler(), classifier)
    result = cud_interval(pipe.fit(both, y), both, y, n_resamples=100, rng=0)
    assert result.certified
    if isinstance(classifier, LeastSquaresClassifier):
        once = np.column_stack([celsius, other])
        assert result.q == cud_interval(pipe.fit(once, y), once, y, n_resamples=100, rng=0).q
