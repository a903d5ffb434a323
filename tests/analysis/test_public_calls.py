"""What all public calls do: keywords that they do not have are answered, warnings point at the caller."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

import cudbound
from cudbound import (
    LeastSquaresClassifier,
    Problem,
    compare_intervals,
    compare_learners,
    cud_interval,
    interval_of,
    performance_interval,
    solve_draws,
)
from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import FewEventsWarning, SampleSizeWarning, UnscaledPenaltyWarning
from cudbound.bound.settings import Bound
from cudbound.records import SplitLosses
from cudbound.resampling.resampling import Resampling

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
LEVEL = "the level of the intervals is confidence_level, which is 1 - alpha"
RATE = "the rate alpha_n of the CUD bound is localization"
FUNCTIONS = [name for name in cudbound.__all__ if inspect.isfunction(getattr(cudbound, name))]


@public_call
def analyze(
    *,
    confidence_level=0.95,
    metric="error",
    event=None,
    methods="all",
    n_resamples=9,
    resampling=None,
    bound=None,
    rng=None,
    all_draws=False,
):
    """Has every parameter that a keyword of others may mean."""


@public_call
def nothing(*, limits=None):
    """Has none of them but one."""


@pytest.mark.parametrize("function", [cud_interval, compare_intervals])
def test_alpha_may_mean_the_level_or_the_rate(function):
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(TypeError) as raised:
        function(clf, X, Y, alpha=0.05)
    told = str(raised.value)
    assert told.startswith(
        f"{function.__name__}() got an unexpected keyword argument 'alpha': {LEVEL}; the rate alpha_n"
    )


def test_alpha_of_single_draws_is_the_rate():
    with pytest.raises(TypeError, match=rf"^Problem\.of\(\) got an .*'alpha': {RATE}$"):
        Problem.of(X, 2 * Y - 1, [1.0], np.ones((1, 8), dtype=int), alpha=0.05)
    problem = Problem.of(X, 2 * Y - 1, [1.0], np.ones((1, 8), dtype=int))
    with pytest.raises(
        TypeError, match=r"solve_draws\(\) got an .*'alpha': .* localization of Problem\.of\("
    ):
        solve_draws(problem, alpha=0.05)


def test_alpha_where_options_of_methods_are_taken():
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(TypeError, match=rf"performance_interval\(\) got an .*'alpha': {LEVEL}"):
        performance_interval(clf, X, Y, alpha=0.05)
    with pytest.raises(TypeError, match=rf"interval_of\(\) got an .*'alpha': {LEVEL}$"):
        interval_of(SplitLosses([0.2, 0.3, 0.4], 90, 10), "corrected-resampled-t", alpha=0.05)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["alpha"], "confidence_level, which is 1 - alpha; .* bound=Bound"),
        (["random_state", "seed"], "rng=0"),
        (["n_boot", "n_bootstrap", "n_bootstraps", "B"], "use n_resamples"),
        (["pos_label", "positive"], r"use event, the label of the event, such as event=\"ill\""),
        (["cv", "inner", "on_single_class", "sizes"], r"resampling=Resampling\({name}=\.\.\.\)"),
        (["localization", "polish"], r"bound=Bound\({name}=\.\.\.\)"),
        (["limits", "solver"], r"bound=Bound\(limits=SearchLimits\("),
        (["options", "fallback"], r"methods=\[\(\"cud\", {{\"fallback\": True}}\)\]"),
        (["progress"], r"cudbound\.set_config\(progress=\.\.\.\)"),
        (["search"], "all_draws=True"),
        (["sample_weight"], "weights of rows are for performance_interval"),
    ],
)
def test_keywords_that_people_bring_are_answered(names, hint):
    for name in names:
        with pytest.raises(
            TypeError, match=hint.replace("{name}", name).replace("{{", "{").replace("}}", "}")
        ):
            analyze(**{name: 1})


def test_nothing_is_hinted_at_that_the_function_lacks():
    for name in ("alpha", "seed", "n_boot", "pos_label", "cv", "polish", "options", "search"):
        with pytest.raises(TypeError) as raised:
            nothing(**{name: 1})
        assert str(raised.value).endswith(f"{name!r}: the arguments are limits.")
    with pytest.raises(TypeError, match=r"'solver': it is in limits=SearchLimits\(solver="):
        nothing(solver="cvxpy")


def test_a_slip_of_the_pen_is_named():
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(TypeError, match=r"argument 'n_resample': did you mean n_resamples\?"):
        cud_interval(clf, X, Y, n_resample=5)
    with pytest.raises(TypeError, match=r"argument 'xyz': the arguments are estimator, X, y, methods"):
        compare_intervals(clf, X, Y, xyz=5, methods="paper")


def test_settings_answer_as_functions_do():
    with pytest.raises(TypeError, match=rf"^Bound\(\) got an unexpected keyword argument 'alpha': {RATE}$"):
        Bound(alpha=0.05)
    with pytest.raises(TypeError, match=r"Resampling\(\) got .*'iner': did you mean inner\?"):
        Resampling(iner="oob")
    assert list(inspect.signature(Bound).parameters) == ["localization", "polish", "limits"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_answers_and_shows_its_own_signature(name):
    function = getattr(cudbound, name)
    shown = inspect.signature(function)
    assert shown == inspect.signature(inspect.unwrap(function))
    assert inspect.unwrap(function) is not function
    assert not {"others", "progress"} & set(shown.parameters) or name in ("set_config", "config_context")


@pytest.mark.parametrize("function", [cud_interval, compare_intervals, performance_interval])
def test_warnings_point_at_the_caller(function):
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.warns((SampleSizeWarning, FewEventsWarning)) as caught:
        function(clf, X, Y, metric="sensitivity", n_resamples=20, rng=0)
    assert {SampleSizeWarning, FewEventsWarning} <= {one.category for one in caught}
    assert {one.filename for one in caught} == {__file__}


def test_a_warning_points_at_the_outermost_call():
    X_unequal = np.column_stack([X.ravel(), 1000.0 * X.ravel() ** 2])
    with pytest.warns(UnscaledPenaltyWarning) as caught:
        compare_learners([RidgeClassifier(), "majority"], X_unequal, Y, methods="single-split-t", rng=0)
    assert {one.filename for one in caught if one.category is UnscaledPenaltyWarning} == {__file__}
