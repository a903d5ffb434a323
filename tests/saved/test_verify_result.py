"""A saved result is checked on the data again, and what a witness is worth against rational arithmetic."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import (
    Bound,
    ConvexLossClassifier,
    LeastSquaresClassifier,
    Metrics,
    Resampling,
    compare_intervals,
    cud_interval,
    verify_result,
)
from cudbound.analysis.saved_file import read_saved
from cudbound.analysis.verify_result import tolerances, witness_values
from cudbound.basis.sample import fingerprint
from cudbound.metrics.metric import Metric
from cudbound.problem.problem import Problem

# ---- a saved result is checked on the data again ----


N = 30
X = np.random.default_rng(0).normal(size=(N, 2))
Y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=N) > 0, "ill", "well")
CLF = LeastSquaresClassifier().fit(X, Y)
GROUPS = np.arange(N) // 2
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2.0, size=N)
BOTH = Metrics(["sensitivity", "ppv"], event="ill", prevalence=0.1, joint=True)


def outcomes(verification):
    return {one.name: one.outcome for one in verification.checks}


def failed(verification):
    assert not verification.passed
    return [one.name for one in verification.checks if one.passed is False]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The file of one result, and of a table that has the same draws."""
    path = tmp_path_factory.mktemp("saved") / "result.json"
    cud_interval(CLF, X, Y, n_resamples=40, rng=5).save(path)
    return path.read_text()


@pytest.fixture
def changed(text, tmp_path):
    """Write the file with some values changed, and its checksum renewed, as who forges a file would."""

    def write(*changes, renew=True):
        found = json.loads(text)
        for place, value in changes:
            inner = found
            for name in place[:-1]:
                inner = inner[name]
            inner[place[-1]] = value(inner[place[-1]]) if callable(value) else value
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(found))
        if renew:
            path.write_text(read_saved(path)[0].to_text())
        return path

    return write


# --- what holds


def test_every_check_passes(changed):
    verification = verify_result(changed(), CLF, X, Y)
    assert verification.passed
    assert verification.complete
    assert list(outcomes(verification)) == [
        "file",
        "data",
        "draws",
        "classifier",
        "training value",
        "witnesses",
        "draws solved again",
        "half-width",
        "limits",
    ]
    assert "\n\ncud: error 0.167, 95% interval 0.000 to 0.367.\n" in str(verification)
    assert "The saved result is confirmed: 9 checks passed." in str(verification)
    assert verification.to_frame()["outcome"].eq("passed").all()


def test_the_file_has_no_row_of_the_data(text):
    """No feature value stands in it, rounded or not; the number of rows and the names of the labels do."""
    numbers = {f"{value:.4g}" for value in np.abs(X).ravel()}
    found = json.loads(text)
    bound = found["bounds"][0]
    stored = np.concatenate([bound["lower"], bound["upper"], *bound["witness"], found["coefficients"]])
    assert not numbers & {f"{abs(value):.4g}" for value in stored}
    assert np.array(found["counts"]).sum(axis=1).tolist() == [N] * 40  # as of every bootstrap draw


def logistic(**options):
    return LogisticRegression(tol=1e-6, **options)


CASES = {
    "penalty": (logistic(), {}),
    "class weights": (logistic(class_weight="balanced"), {}),
    "pipeline": (make_pipeline(StandardScaler(), logistic()), {}),
    "sensitivity": (CLF, {"metric": Metrics("sensitivity", event="ill")}),
    "cost": (CLF, {"metric": Metrics("cost", costs={"ill": 1, "well": 5})}),
    "own metric": (CLF, {"metric": Metrics(Metric("mixed", shares=(0.25, 0.75)), event="ill")}),
    "groups": (CLF, {"groups": GROUPS}),
    "weights": (logistic(), {"sample_weight": WEIGHTS}),
    "step": (CLF, {"bound": Bound(localization=math.inf)}),
    "polish": (LogisticRegression(tol=0.5), {"bound": Bound(polish=True)}),
    "bounds left open": (CLF, {"bound": Bound(nodes=0)}),
}


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("classifier", "arguments"), CASES.values(), ids=CASES)
def test_results_of_every_kind_hold(classifier, arguments, tmp_path):
    path = tmp_path / "result.json"
    fit_weights = {"sample_weight": WEIGHTS} if "sample_weight" in arguments else {}
    classifier.fit(X, Y, **fit_weights)
    cud_interval(classifier, X, Y, n_resamples=25, rng=1, **arguments).save(path)
    passed_again = {name: arguments[name] for name in ("groups", "sample_weight") if name in arguments}
    verification = verify_result(path, classifier, X, Y, **passed_again)
    assert set(outcomes(verification).values()) == {"passed"}


RARE = np.where(np.arange(N) < 27, "ill", "well")
TABLES = {
    "one-sided": (Y, {"methods": ["cud", "martin-beta"], "alternative": "less"}),
    "joint": (Y, {"methods": ["cud"], "metric": BOTH, "alternative": "greater"}),
    "joint with scores": (
        Y,
        {
            "methods": ["cud", "two-center"],
            "metric": Metrics(["error", "auc", "brier"], event="ill", joint=True),
            "n_resamples": 60,
        },
    ),
    "own metric": (Y, {"methods": ["cud"], "metric": Metrics(Metric("mixed", (0.25, 0.75)), event="ill")}),
    "cost": (Y, {"methods": ["cud"], "metric": Metrics("cost", costs={"ill": 1, "well": 5})}),
    "groups": (Y, {"methods": "recommended", "groups": GROUPS}),
    "weights": (Y, {"methods": ["cud", "two-center"], "sample_weight": WEIGHTS}),
    "test set": (Y, {"methods": ["test-set-wilson"], "new_cases": (X[:9] + 0.5, Y[:9])}),
    "draws of one class": (
        RARE,
        {"methods": ["cud", "bootstrap-percentile"], "resampling": Resampling(on_single_class="redraw")},
    ),
    "options": (
        Y,
        {
            "methods": [
                ("kohavi-normal", {"form": "wilson"}),
                ("grandvalet-bengio-t", {"rho": np.float32(0.25)}),
                "bootstrap-percentile",
                ("cud", Bound(nodes=math.inf)),
            ],
            "resampling": Resampling(n_folds=5, n_splits=4, inner="oob", cv=np.int64(4)),
            "n_resamples": np.int64(20),
        },
    ),
}


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
@pytest.mark.parametrize(("labels", "arguments"), TABLES.values(), ids=TABLES)
def test_tables_of_every_kind_hold(labels, arguments, tmp_path):
    path = tmp_path / "table.json"
    weights = {"sample_weight": WEIGHTS} if "sample_weight" in arguments else {}
    classifier = logistic().fit(X, labels, **weights)
    table = compare_intervals(classifier, X, labels, **{"n_resamples": 25, "rng": 7, **arguments})
    table.save(path)
    again = {name: arguments[name] for name in ("groups", "sample_weight", "new_cases") if name in arguments}
    verification = verify_result(path, classifier, X, labels, **again)
    assert set(outcomes(verification).values()) == {"passed"}
    assert len(verification.intervals) == len(table)
    saved, _ = read_saved(path)
    moved = dataclasses.replace(saved.rows[-1], low=saved.rows[-1].low + 0.01)
    path.write_text(dataclasses.replace(saved, rows=(*saved.rows[:-1], moved)).to_text())
    assert failed(verify_result(path, classifier, X, labels, **again)) == ["rows"]
    unknown = dataclasses.replace(moved, method="of nobody", estimate=math.inf, low=math.inf, high=math.inf)
    path.write_text(dataclasses.replace(saved, rows=(unknown,)).to_text())
    assert failed(verify_result(path, classifier, X, labels, **again)) == ["rows"]


def test_last_digits_of_another_machine_are_allowed(tmp_path):
    """As if its linear algebra had added in another order: steps of the pipeline and coefficients end elsewhere."""
    path = tmp_path / "result.json"
    classifier = make_pipeline(StandardScaler(), logistic()).fit(X, Y)
    cud_interval(classifier, X, Y, n_resamples=40, rng=0).save(path)
    scaler, final = (step for _, step in classifier.steps)
    scaler.mean_, scaler.scale_ = (np.nextafter(values, np.inf) for values in (scaler.mean_, scaler.scale_))
    final.coef_ = final.coef_ * (1.0 + 1e-7)
    found = verify_result(path, classifier, X, Y)
    assert set(outcomes(found).values()) == {"passed"}
    final.coef_ = final.coef_ * 1.5  # and this is another classifier
    assert failed(verify_result(path, classifier, X, Y)) == ["classifier"]


# --- what was changed


def test_another_row_another_label_and_another_order_are_found(changed):
    path = changed()
    moved = X.copy()
    moved[7, 1] += 1e-12
    swapped = Y.copy()
    swapped[4] = "ill" if Y[4] == "well" else "well"
    order = np.r_[1, 0, 2:N]
    for rows, labels in ((moved, Y), (X, swapped), (X[order], Y[order]), (X[:, ::-1], Y), (X[1:], Y[1:])):
        found = verify_result(path, CLF, rows, labels)
        assert failed(found) == ["data"]
        assert outcomes(found)["all else"] == "not checked"
        assert "witnesses" not in outcomes(found)
    found = verify_result(path, CLF, X, Y, groups=GROUPS)
    assert failed(found) == ["data"]
    assert "30 rows, as in the file, but a value, a label, a group" in found.checks[1].finding
    fewer = verify_result(path, CLF, X[1:], Y[1:]).checks[1].finding
    assert fewer.startswith(f"{N - 1} rows, but {N} in the file")
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert verify_result(path, CLF.fit(frame, Y), frame, Y.tolist()).passed
    CLF.fit(X, Y)


def test_a_forged_fingerprint_does_not_help(changed):
    """Somebody puts the fingerprint of changed data into the file: the numbers do not follow from them."""
    swapped = Y.copy()
    rows = np.flatnonzero(np.abs(X[:, 0]) > 1.0)[:6]
    swapped[rows] = np.where(Y[rows] == "ill", "well", "ill")
    path = changed((("fingerprint",), fingerprint(X, swapped == "well")))
    for classifier in (CLF, LeastSquaresClassifier().fit(X, swapped)):
        assert "classifier" in failed(verify_result(path, classifier, X, swapped))


#: What is changed in the file, and the checks that must fail although its checksum was renewed.
FORGED = {
    "a lower bound": (
        [(("bounds", 0, "lower", 3), lambda value: value + 0.01)],
        {"witnesses", "draws solved again"},
    ),
    "a witness": ([(("bounds", 0, "witness", 3), lambda value: [-one for one in value])], {"witnesses"}),
    "upper bounds": (
        [(("bounds", 0, "upper"), lambda values: [0.9 * one for one in values])],
        {"draws solved again", "half-width"},
    ),
    "all that depends on q": (
        [
            (("bounds", 0, "upper"), lambda values: [0.5 * one for one in values]),
            (("bounds", 0, "lower"), lambda values: [0.5 * one for one in values]),
            (("bounds", 0, "intervals", 0, "q"), lambda value: 0.5 * value),
        ],
        {"draws solved again", "limits"},
    ),
    "the half-width": ([(("bounds", 0, "intervals", 0, "q"), lambda value: value - 1e-15)], {"half-width"}),
    "a limit": ([(("bounds", 0, "intervals", 0, "high"), lambda value: value - 1e-9)], {"limits"}),
    "the estimate": (
        [(("bounds", 0, "intervals", 0, "estimate"), lambda value: value - 1 / N)],
        {"training value", "limits"},
    ),
    "the level": ([(("question", "confidence_level"), 0.5)], {"half-width"}),
    "a draw": ([(("counts", 2), lambda draw: draw[1:] + draw[:1])], {"draws"}),
    "the seed": ([(("question", "rng"), 6)], {"draws"}),
    "a coefficient": ([(("coefficients", 0), lambda value: value + 0.5)], {"classifier"}),
    "the localization": ([(("question", "bound", "localization"), 0.0)], {"draws solved again"}),
}


@pytest.mark.parametrize(("changes", "expected"), FORGED.values(), ids=FORGED)
def test_what_was_changed_is_found(changes, expected, changed):
    assert expected <= set(failed(verify_result(changed(*changes), CLF, X, Y)))
    found = failed(verify_result(changed(*changes, renew=False), CLF, X, Y))
    assert "file" in found


def test_upper_bounds_below_what_a_witness_is_worth_are_found(changed):
    for wrong in (lambda value: 0.5 * value, lambda value: -1.0, lambda value: float("nan")):
        result = verify_result(changed((("bounds", 0, "upper", 3), wrong)), CLF, X, Y)
        assert "witnesses" in failed(result)


@pytest.mark.parametrize("draw", [0, 9, 18, 27, 36, 39])
def test_every_draw_is_solved_again(changed, draw):
    both = ((("bounds", 0, side, draw), lambda value: value + 0.5) for side in ("lower", "upper"))
    assert "draws solved again" in failed(verify_result(changed(*both), CLF, X, Y))


def test_another_classifier_is_found(changed):
    assert "classifier" in failed(verify_result(changed(), logistic().fit(X, Y), X, Y))
    with pytest.raises(ValueError, match="is expecting 1 features"):
        verify_result(changed(), LeastSquaresClassifier().fit(X[:, :1], Y), X, Y)
    numbers = (Y == "ill").astype(int)
    other = LeastSquaresClassifier().fit(X, numbers)
    with pytest.raises(
        ValueError, match=r"labels that the classifier was fitted to, \[0, 1\]. Also got \['ill'"
    ):
        verify_result(changed(), other, X, Y)
    with pytest.raises(
        ValueError, match=r"'event' parameter must be one of the classes \[0, 1\]. Got 'well'"
    ):
        verify_result(changed(), other, X, numbers)


# ---- what a witness is worth ----


ROUNDED = np.random.default_rng(3).normal(size=(24, 2)).round(1)
NOISY = ROUNDED[:, 0] + np.random.default_rng(4).normal(size=24) > 0


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
    result = cud_interval(LeastSquaresClassifier().fit(ROUNDED, NOISY), ROUNDED, NOISY, n_resamples=30, rng=0)
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
    classifier = ConvexLossClassifier(loss=loss, penalty=0.01).fit(ROUNDED, NOISY)
    result = cud_interval(classifier, ROUNDED, NOISY, n_resamples=40, rng=1, all_draws=True)
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
