"""The options that choose the classifier of the command: names, values, hints, and what is fitted in the end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cli_fakes import Fake, assert_error, interval, invoke
from click.testing import Result
from data import unwrapped
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.basis.exceptions import SlowRefitsWarning
from cudbound.cli.command import in_words_of_the_command
from cudbound.cli.fitted import fit
from cudbound.inputs.classifier_recipe import CLASSIFIERS, ClassifierRecipe, make_classifier
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
    assert "\nClassifier: StandardScaler; " in unwrapped(result.stdout)


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


@pytest.mark.parametrize("option", ["C=inf", "C=1e20", "tol=1e-300"])
def test_options_by_which_libsvm_never_ends_are_refused(fake, patients, option):
    assert_error(interval("--classifier", "svm", "--set", option), 2, "does not converge on a small example")


def test_a_fit_that_does_not_converge_is_said_in_one_line_with_the_way_on():
    fitted = fit(ClassifierRecipe("linear-svm", (("max_iter", 1),)), sample(), seed=0)
    assert fitted.warnings == [
        "the classifier did not converge; standardize the features with --standardize, or allow more steps with the "
        "classifier's option max_iter=N"
    ]


def test_long_refits_are_announced_with_options_that_the_command_has(capsys):
    with in_words_of_the_command("some of the refits"):
        warnings.warn(SlowRefitsWarning("9 refits will take about 1 hour"), stacklevel=1)
    said = capsys.readouterr().err
    assert said == (
        "cudbound: 9 refits will take about 1 hour. What makes refits faster or fewer: --jobs -1, a smaller "
        "--resamples, or smaller numbers in --resampling.\n"
    )


@pytest.mark.parametrize("asked", [("--recommend",), ()])
def test_a_fit_of_the_command_that_stopped_early_is_not_asked_whether_it_is_of_other_rows(data, asked):
    result = real("--classifier", "logistic", "--set", "max_iter=1", "--resamples", "10", *asked)
    assert result.exit_code == 0, result.stderr
    assert "the classifier did not converge" in result.stderr
    assert "no CUD bound" not in result.stderr
    assert "other rows" not in result.stderr
    refused = real(
        "--classifier", "logistic", "--set", "max_iter=1", "--resamples", "10", "--methods", "cud,two-center"
    )
    assert_error(refused, 1, "do not minimize the mean logistic loss")


def test_the_penalty_of_unequal_features_is_that_of_the_classifier(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [(f"{1000 * a:.0f}", f"{b:.2f}", "yes" if a > b else "no") for a, b in rng.normal(size=(30, 2))]
    rows[0] = ("", *rows[0][1:])
    (tmp_path / "data.csv").write_text("\n".join(map(",".join, [("a", "b", "died"), *rows])) + "\n")
    result = real("--missing", "median", "--resamples", "10")
    assert "warning: the penalty of LogisticRegression treats all features alike" in result.stderr


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The sample as the file that the command reads."""
    monkeypatch.chdir(tmp_path)
    rows = zip(sample().X.tolist(), sample().y, strict=True)
    lines = ["a,b,died", *(f"{a},{b},{('no', 'yes')[y]}" for (a, b), y in rows)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")


def real(*arguments: str) -> Result:
    fixed = [
        "interval",
        "data.csv",
        "--target",
        "died",
        "--positive",
        "yes",
        "--seed",
        "1",
        "--resampling",
        "inner=oob",
    ]
    return invoke(*fixed, "--format", "csv", *arguments)


@pytest.mark.parametrize(("methods", "is_bound"), [("cud,two-center", True), ("two-center", False)])
def test_the_notes_on_missing_values_name_the_bound_only_beside_it(data, methods, is_bound):
    with open("data.csv", "a") as file:
        file.write(",0.5,yes\n")
    result = real("--missing", "median", "--resamples", "10", "--methods", methods, "--format", "table")
    assert result.exit_code == 0, result.stderr
    notes = " ".join(result.stdout.split())
    assert "most frequent level), in every fit. " in notes
    assert ("For cud, missing values are filled as in the fit to all rows." in notes) is is_bound
    assert ("cud" in notes) is is_bound


def test_maximum_likelihood_is_what_iterated_least_squares_finds(data):
    """By Newton's method as the textbooks write it, on features in units of very different size."""
    fitted = fit(ClassifierRecipe("logistic-ml"), sample(), seed=0)
    X, y = np.column_stack([np.ones(30), sample().X]), sample().y
    beta = np.zeros(3)
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-X @ beta))
        beta = beta + np.linalg.solve((X.T * (p * (1.0 - p))) @ X, X.T @ (y - p))
    found = np.append(fitted.estimator.intercept_, fitted.estimator.coef_)
    np.testing.assert_allclose(found, beta, rtol=1e-5)
    assert fitted.description == "LogisticRegression without a penalty"
    result = real(
        "--classifier", "logistic-ml", "--methods", "cud", "--resamples", "10"
    )  # it is the minimizer
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--threshold", "30"),
            "--threshold must be a probability in [0, 1] for LogisticRegression. Got 30.0 instead.",
        ),
        (("--threshold", "0.3", "--weight", "age"), "--weight and --threshold cannot be combined"),
    ],
)
def test_thresholds_that_cannot_be_used_are_refused(fake, patients, arguments, message):
    assert_error(interval(*arguments), 2, message)


def test_a_score_may_have_any_threshold(fake, patients):
    assert interval("--classifier", "svm", "--threshold", "-30").exit_code == 0
