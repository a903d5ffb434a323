"""The options that choose the classifier of the command: names, values, hints, and what is fitted in the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cli_fakes import Fake, assert_error, interval, invoke
from click.testing import Result
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from unwrapped import unwrapped

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.adapters.procedure import describe_classifier
from cudbound.basis.exceptions import (
    NoMinimizerError,
    NotMinimizerError,
    UnsupportedEstimatorError,
)
from cudbound.bound.cud_bound import Bound
from cudbound.cli.command import in_words_of_the_command
from cudbound.cli.fitted import fit
from cudbound.cli.input_options import choose_classifier
from cudbound.cli.interval import compute
from cudbound.inputs.classifier_recipe import CLASSIFIERS, make_classifier
from cudbound.inputs.csv_columns import TrainingData

CLASSES = {
    "least-squares": LeastSquaresClassifier,
    "ridge": RidgeClassifier,
    "logistic": LogisticRegression,
    "logistic-ml": LogisticRegression,
    "linear-svm": LinearSVC,
    "svm": SVC,
    "convex-loss": ConvexLossClassifier,
}


def sample(n: int = 30) -> TrainingData:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2)) * [1.0, 40.0] + [0.0, 500.0]
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int64)
    return TrainingData(X, y, ("a", "b"), "data.csv", "died = yes", ("no", "yes"))


def test_every_name_is_tested():
    assert list(CLASSES) == list(CLASSIFIERS)


@pytest.mark.parametrize("name", CLASSES)
def test_each_name_fits_its_class_on_standardized_features(fake: Fake, patients, name):
    arguments = ["--classifier", name, "--standardize"]
    if name == "convex-loss":
        arguments += ["--set", "penalty=0.1"]
    result = interval("--seed", "1", *arguments)
    assert result.exit_code == 0, result.stderr
    (fitted,) = fake.fitted
    assert isinstance(fitted.estimator, Pipeline)
    assert type(fitted.estimator[-1]) is CLASSES[name]
    np.testing.assert_allclose(fitted.estimator[:-1].transform(fitted.X).std(axis=0), 1.0)
    assert fitted.estimator.classes_.tolist() == [0, 1]
    assert "\nClassifier: standardization of features; " in unwrapped(result.stdout)


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("C=2", 2),
        ("C=1e-3", 0.001),
        ("C=inf", np.inf),
        ("fit_intercept=false", False),
        ("warm_start=True", True),
        ("class_weight=balanced", "balanced"),
        ("class_weight=none", None),
        (" solver = liblinear ", "liblinear"),
        ("random_state=3", 3),
    ],
)
def test_values(fake, patients, assignment, value):
    result = interval("--classifier", "logistic", "--set", assignment)
    assert result.exit_code == 0, result.stderr
    got = fake.fitted[0].estimator.get_params()[assignment.partition("=")[0].strip()]
    assert got == value
    assert type(got) is type(value)


def test_random_numbers_of_the_classifier_come_from_the_seed(fake, patients):
    for seed in ("5", "5", str(2**40 + 6)):
        assert interval("--classifier", "linear-svm", "--standardize", "--seed", seed).exit_code == 0
    first, again, large = (fitted.estimator[-1] for fitted in fake.fitted)
    assert first.random_state == again.random_state == 5
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert large.random_state == 6  # scikit-learn takes 32 bits
    assert "random_state" not in make_classifier("least-squares", (), seed=5).get_params()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--classifier", "lda"],
            "'lda' is not one of the classifiers here; they are least-squares, ridge, logistic, logistic-ml, "
            "linear-svm, svm, convex-loss. Fit any other scikit-learn classifier in Python, and give",
        ),
        (
            ["--classifier", "least-squares", "--set", "C=1"],
            "least-squares has no option 'C'; its options are fit_intercept.",
        ),
        (["--classifier", "ridge", "--set", "alhpa=1"], "ridge has no option 'alhpa'; did you mean alpha?"),
        (["--classifier", "ridge", "--set", "alpha"], "'alpha' is not of the form NAME=VALUE, such as C=0.5"),
        (
            ["--classifier", "logistic", "--set", "C=-1"],
            "The 'C' parameter of LogisticRegression must be a float in the range (0.0, inf]. Got -1 instead.",
        ),
        (
            ["--classifier", "linear-svm", "--set", "loss=hinge", "--set", "dual=false"],
            "The combination of penalty='l2' and loss='hinge' are not supported when dual=False",
        ),
        (
            ["--classifier", "logistic-ml", "--set", "C=1"],
            "logistic-ml has no penalty, and so no option 'C'; logistic has both.",
        ),
        (["--classifier", "svm", "--set", "verbose=true"], "'verbose' must stay off"),
        (["--classifier", "convex-loss", "--set", "loss=hing"], "'hing'"),
        (["--classifier", "ridge", "--set", "a\x1b[2J\n=1"], r"ridge has no option 'a\x1b[2J'"),
    ],
)
def test_wrong_options_are_found_before_columns_are_read(fake, patients, arguments, message, monkeypatch):
    monkeypatch.setattr("cudbound.inputs.csv_columns.read_training_data", None)
    result = interval(*arguments)
    assert_error(result, 2, message)
    assert "See 'cudbound interval --help'." in result.stderr
    assert fake.calls == []


def test_a_fit_that_does_not_converge_is_said_in_one_line_with_the_way_on():
    fitted = fit(choose_classifier("linear-svm", ["max_iter=1"]), sample(), seed=0)
    assert fitted.warnings == [
        "the classifier did not converge; standardize the features with --standardize, or allow more steps with the "
        "classifier's option max_iter=N",
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            NotMinimizerError("residual 0.1, allowed 1e-3.", "Pass polish=True."),
            "residual 0.1, allowed 1e-3; add --polish",
        ),
        (
            NoMinimizerError("No minimum.", "Pass a penalty."),
            "No minimum; choose a classifier with a penalty",
        ),
        (
            UnsupportedEstimatorError("Not known."),
            "Not known; choose another classifier, or drop the methods that need it",
        ),
    ],
)
def test_errors_of_the_package_get_advice_for_the_command(error, message):
    with pytest.raises(ValueError, match=message), in_words_of_the_command("a fit"):
        raise error


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The sample as the file that the command reads."""
    monkeypatch.chdir(tmp_path)
    rows = zip(sample().X.tolist(), sample().y, strict=True)
    lines = ["a,b,died", *(f"{a},{b},{('no', 'yes')[y]}" for (a, b), y in rows)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")


def real(*arguments: str) -> Result:
    fixed = ["interval", "data.csv", "--target", "died", "--positive", "yes", "--seed", "1", "--inner", "oob"]
    return invoke(*fixed, "--format", "csv", *arguments)


def test_maximum_likelihood_is_what_iterated_least_squares_finds(data):
    """By Newton's method as the textbooks write it, on features in units of very different size."""
    fitted = fit(choose_classifier("logistic-ml", []), sample(), seed=0)
    X, y = np.column_stack([np.ones(30), sample().X]), sample().y
    beta = np.zeros(3)
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-X @ beta))
        beta = beta + np.linalg.solve((X.T * (p * (1.0 - p))) @ X, X.T @ (y - p))
    found = np.append(fitted.estimator.intercept_, fitted.estimator.coef_)
    np.testing.assert_allclose(found, beta, rtol=1e-5)
    assert fitted.description == "logistic regression without a penalty"
    result = real(
        "--classifier", "logistic-ml", "--methods", "cud", "--resamples", "10"
    )  # it is the minimizer
    assert result.exit_code == 0, result.stderr


def uneven(ratio: float) -> TrainingData:
    """The sample with its second feature `ratio` times as variable as the first."""
    X = sample().X / sample().X.std(axis=0)
    return replace(sample(), X=X * [1.0, ratio])


@pytest.mark.parametrize(
    ("arguments", "ratio", "warns"),
    [
        (("logistic", []), 101.0, True),
        (("logistic", []), 99.0, False),
        (("logistic", [], True), 1e4, False),
        (("logistic-ml", []), 1e4, False),
        (("ridge", ["alpha=0"]), 1e4, False),
        (("ridge", []), 1e4, True),
        (("convex-loss", ["penalty=0.1"]), 1e4, True),
    ],
)
def test_a_penalty_on_features_of_very_different_size_is_remarked(arguments, ratio, warns):
    fitted = fit(choose_classifier(*arguments), uneven(ratio), seed=0)
    _, heard, _ = compute(fitted, 1, methods="cud", n_resamples=5, bound=Bound(polish=True))
    remarks = [one for one in [*fitted.warnings, *heard.messages] if "treats all features alike" in one]
    assert bool(remarks) == warns
    if warns:
        sizes = f"range from 1 to {ratio:.2g}"
        assert remarks[0].endswith(
            f"{sizes}: features with small standard deviations are penalized most; add --standardize"
        )


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (
            LinearSVC(penalty="l1", C=2.0),
            "linear support vector classification with a lasso penalty (C = 2); features not standardized",
        ),
        (
            RidgeClassifier(alpha=3, class_weight="balanced"),
            "least-squares classification with a ridge penalty (alpha = 3, class_weight = balanced); "
            "features not standardized",
        ),
        (
            make_pipeline(RobustScaler(), RidgeClassifierCV([2.0])),
            "RobustScaler; RidgeClassifierCV with a "
            "ridge penalty (alpha = 2), tuned by cross-validation in every fit",
        ),
        (
            SGDClassifier(penalty="elasticnet", alpha=0.01),
            "SGDClassifier with a ridge and lasso penalty (alpha = 0.01); features not standardized",
        ),
        (
            ConvexLossClassifier(penalty=[0.1, 0.2]),
            "linear classification by a convex loss (logistic) with a ridge penalty (penalty = one per "
            "coefficient); features not standardized",
        ),
        (
            make_pipeline(make_column_transformer((StandardScaler(), [0])), LeastSquaresClassifier()),
            "standardization of features; least-squares classification",
        ),
        (
            GridSearchCV(make_pipeline(StandardScaler(), SVC(kernel="linear")), {"svc__C": [0.5]}, cv=2),
            "standardization of features; linear-kernel support vector classification with a ridge penalty "
            "(C = 0.5); tuning of C by 2-fold cross-validation, again in every fit",
        ),
        (
            FixedThresholdClassifier(LogisticRegression(), threshold=0.4),
            "logistic regression with a ridge penalty (C = 1); classification at a fixed threshold (0.4); "
            "features not standardized",
        ),
        (DecisionTreeClassifier(max_depth=2, random_state=1), "a decision tree (max_depth = 2)"),
    ],
)
def test_a_classifier_in_words(estimator, words):
    X, y = sample().X, sample().y
    assert describe_classifier(estimator.fit((X - X.mean(axis=0)) / X.std(axis=0), y)) == words
