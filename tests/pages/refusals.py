"""What the calls and the command refuse: the pages have the argument that is named and the remedy.

The inputs of four pages stand on the pages themselves, an input a line: write a new one there, without an answer, and
then ``make pages PAGES=...``.
"""

from __future__ import annotations

import inspect
import shlex
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from golden_calls import RIVALS, fitted, sample
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import cudbound as cb
from cudbound import Bound, Resampling
from cudbound.adapters.parts import describe_classifier
from cudbound.cli.command import main
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile
from cudbound.intervals.random_splits import five_by_two_f
from cudbound.solve import CvxpyLoss, Problem, SearchLimits, solve_draws
from cudbound.study import worlds
from cudbound.study.design_file import read_design
from cudbound.study.population import RealData, load_data_set
from cudbound.study.worlds import Patients

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "performance_interval": (cb.performance_interval, fitted(LogisticRegression())),
    "compare_intervals": (cb.compare_intervals, fitted(LogisticRegression())),
    "cud_interval": (cb.cud_interval, fitted(LogisticRegression())),
    "estimate_error": (cb.estimate_error, fitted(LogisticRegression())),
    "compare_learners": (cb.compare_learners, (RIVALS, *sample())),
    "plan_sample_size": (cb.plan_sample_size, (LogisticRegression(), *sample())),
    "clinical_report": (cb.clinical_report, fitted(LogisticRegression())),
}
#: Values that no call takes, by the name of the parameter.
BAD: dict[str, list[Any]] = {
    "method": ["cud, aci", "martin", "mcnemar", 3, ("cud", {"form": 1})],
    "methods": ["martin", [], 3, ("cud", {"form": 1})],
    "metric": ["recall of all", "calibration", "ppv", "cost"],
    "event": ["ghost"],
    "groups": [np.arange(5), np.zeros(30), "clinic"],
    "sample_weight": [np.ones(5), -np.ones(30), np.zeros(30), np.full(30, np.nan)],
    "new_cases": [3, (np.zeros((4, 2)), np.ones(4)), (np.zeros((4, 3)), np.ones(5)), (np.zeros((0, 3)), [])],
    "confidence_level": [0, 1, 95, float("nan"), "high"],
    "alternative": ["smaller", None, "equivalent"],
    "null": [1, float("nan"), "much"],
    "reference": ["nobody"],
    "n_resamples": [0, 1.5, "many", 10**7],
    "n_replicates": [0, 1.5],
    "n_samples": [[3], ["x"], []],
    "n_seeds": [0, "many"],
    "half_width": [0, 1, float("nan")],
    "probability": [0, 1],
    "resampling": ["oob", 5],
    "bound": ["cvxpy", 5],
    "rng": [-1, "seed", 1.5],
    "n_jobs": [0, 1.5],
    "X": [np.zeros((5, 3)), np.full((30, 3), np.nan), np.zeros(30)],
    "y": [np.ones(30), np.arange(30), np.ones(5)],
}
OBJECTS: dict[type, dict[str, list[Any]]] = {
    Resampling: {
        "n_folds": [1, 2.5, "ten"],
        "n_repeats": [0],
        "n_splits": [1],
        "test_fraction": [1, -0.1],
        "n_halvings": [0],
        "holdout_fraction": [1, -0.1],
        "inner": [0, "few"],
        "on_single_class": ["ignore"],
        "copies": ["some"],
    },
    Bound: {
        "nodes": [-1, "few"],
        "seconds": [-1, float("nan")],
        "nodes_per_draw": [-1],
        "localization": [-1, "m"],
        "polish": ["yes"],
        "solver": ["gurobi"],
    },
}


def shown(value: Any) -> str:
    text = (
        repr(value)
        if not isinstance(value, np.ndarray)
        else f"array{value.shape} of {value.ravel()[:1].tolist()}"
    )
    return text.replace("\n", " ")


def said(call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """Return what an error says; a value that is taken is one that should have been refused."""
    try:
        with warnings.catch_warnings(action="ignore"):
            call(*arguments, **named)
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    raise AssertionError(f"{named} is taken")


def inputs_of(page: str) -> list[str]:
    """Return the lines of a page of refusals that are no answers."""
    path = Path(__file__).with_name(f"refusals_of_{page}.txt")
    return [line for line in path.read_text(encoding="utf-8").split("\n")[:-1] if not line.startswith("    ")]


def of_calls() -> Iterator[str]:
    """Yield each parameter of every call with each of its bad values, and the error."""
    for name, (call, data) in CALLS.items():
        parameters = inspect.signature(call).parameters
        places = list(parameters)
        for parameter, values in BAD.items():
            for value in values if parameter in parameters else []:
                arguments, named = list(data), {}
                if parameter in ("X", "y"):
                    arguments[places.index(parameter)] = value
                else:
                    named = {parameter: value}
                small = {"n_resamples": 5} if "n_resamples" in parameters else {}
                yield f"{name}({parameter}={shown(value)})\n    {said(call, *arguments, **{**small, **named})}"
    for kind, wrong in OBJECTS.items():
        for parameter, values in wrong.items():
            for value in values:
                yield f"{kind.__name__}({parameter}={shown(value)})\n    {said(kind, **{parameter: value})}"


DATA = "--target sick --positive yes --categorical sex"
#: What stands before the options of each line of the page.
COMMANDS = {
    "interval": f"interval patients.csv {DATA} --seed 1 --resamples 20",
    "compare-learners": f"compare-learners patients.csv {DATA} --seed 1",
    "plan": "plan",
    "report": f"report patients.csv {DATA} --seed 1",
    "methods": "methods",
    "verify": "verify",
    "study": "study",
    "check": "check",
}


def of_the_command() -> Iterator[str]:
    """Yield each line, its exit code and the one line that it gets; to be called where patients.csv is."""
    for line in inputs_of("the_command"):
        name, *rest = shlex.split(line)
        result = CliRunner().invoke(main, [*shlex.split(COMMANDS[name]), *rest])
        assert result.exit_code in (1, 2), f"{line}: {result.output}"
        assert (result.stdout, result.stderr.count("\n")) == ("", 1), f"{line}: {result.output}"
        assert result.stderr.startswith("cudbound: error: "), line
        message = result.stderr.removeprefix("cudbound: error: ").rstrip().replace(str(Path.cwd()), "FOLDER")
        yield f"{line}\n    {result.exit_code}: {message}"
    assert [path.name for path in Path().iterdir()] == ["patients.csv"], "a refusal leaves no file"


#: S and W of the designs of studies; a line of the file ends where a semicolon stands.
SETTINGS, WORLD = "n_samples = 30; n_replicates = 2", "[[scenario]]; world = 'gaussians'"


def of_designs() -> Iterator[str]:
    """Yield each design and the one line that names its place."""
    for line in inputs_of("designs"):
        parts = [{"S": SETTINGS, "W": WORLD}.get(part, part) for part in line.split("; ")]
        Path("mine.toml").write_text("; ".join(parts).replace("; ", "\n"))
        message = said(read_design, Path("mine.toml"))
        assert message.split(": ")[1] == "mine.toml", message
        yield f"{line}\n    {message}"


def of_files() -> Iterator[str]:
    """Yield what is said of each file as a data set whose target is `died`, with the positive value `yes`.

    Files are bytes as Python writes them, and after || stand the roles of columns other than the defaults.
    """
    for line in inputs_of("files"):
        text, _, roles = line.partition(" || ")
        text = text.replace(
            "CLEAN", r"age,sex,bmi,died\n30,m,21.5,yes\n41,f,1e1,no\n52,f,-.5,yes\n63,m,+7,no\n"
        )
        Path("data.csv").write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
        chosen = {"target": "died", "positive": "yes", **eval(f"dict({roles})")}
        message = said(read_training_data, DataFile(Path("data.csv"), **chosen))
        assert message.isprintable(), line
        yield f"{line}\n    {message}"


class Mine(DecisionTreeClassifier):
    """A tree of which the predictions, or the probabilities, are changed."""

    def __init__(self, labels: Any = None, risks: Any = None) -> None:
        super().__init__(max_depth=2, random_state=0)
        self.labels, self.risks = labels, risks

    def predict(self, X: Any) -> Any:
        predicted = super().predict(X)
        return predicted if self.labels is None else self.labels(predicted)

    def predict_proba(self, X: Any) -> Any:
        risks = super().predict_proba(X)
        return risks if self.risks is None else self.risks(risks)


def of_expressions() -> Iterator[str]:
    """Yield each call that is refused for a reason of its own, on 30 rows X, y, and its error."""
    CLF, X, y = fitted(LogisticRegression())
    draws = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), size=4)
    named = (
        *(LinearRegression, RidgeClassifier, LinearSVC, SVC, DecisionTreeClassifier, Mine, CvxpyLoss),
        *(Problem, SearchLimits, solve_draws, GroupKFold, ShuffleSplit, Patients, RealData),
        *(load_data_set, five_by_two_f),
    )
    problem = Problem.of(X, y, CLF.coef_[0], draws)
    names = {one.__name__: one for one in named} | {"cb": cb, "np": np, "worlds": worlds, "PROBLEM": problem}
    names |= {"SEARCH": partial(GridSearchCV, RidgeClassifier(), {"alpha": [0.1, 1.0]})}
    names |= {"CLF": CLF, "X": X, "y": y, "DRAWS": draws, "COEF": CLF.coef_[0]}
    for line in inputs_of("arrays"):
        yield f"{line}\n    {said(eval, line, names)}"


ESTIMATORS: list[Any] = [
    LogisticRegression(C=2.0, class_weight="balanced"),
    LinearSVC(penalty="l1", C=2.0),
    RidgeClassifier(alpha=3, class_weight="balanced"),
    RidgeClassifier(positive=True),
    SGDClassifier(penalty="elasticnet", alpha=0.01, random_state=0),
    SGDClassifier("perceptron", random_state=0),
    cb.ConvexLossClassifier(penalty=[0.1, 0.2, 0.3]),
    Perceptron(random_state=0),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    AdaBoostClassifier(n_estimators=5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=5),
    RandomForestClassifier(n_estimators=3, random_state=0),
    DecisionTreeClassifier(max_depth=2, random_state=1),
    SVC(),
    CalibratedClassifierCV(LogisticRegression(), ensemble=False),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, refit=False),
    GridSearchCV(RandomForestClassifier(n_estimators=3, random_state=0), {"max_depth": [1, 2]}, cv=2),
    GridSearchCV(make_pipeline(StandardScaler(), SVC(kernel="linear")), {"svc__C": [0.5]}, cv=2),
    make_pipeline(RobustScaler(), RidgeClassifierCV([2.0])),
    make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    make_pipeline(make_column_transformer((StandardScaler(), [0])), cb.LeastSquaresClassifier()),
    FixedThresholdClassifier(LogisticRegression(), threshold=0.4),
    FixedThresholdClassifier(LogisticRegression(), threshold=1.0),
    FixedThresholdClassifier(LogisticRegression(fit_intercept=False), threshold=0.3),
    FixedThresholdClassifier(LinearSVC(), threshold=0.3, response_method="decision_function"),
    FixedThresholdClassifier(SGDClassifier("modified_huber", random_state=0), threshold=0.3),
    TunedThresholdClassifierCV(
        LogisticRegression(), scoring=make_scorer(f1_score, pos_label=1), cv=2, thresholds=5
    ),
]


def of_estimators() -> Iterator[str]:
    """Yield each classifier, how it is described, and why it has no CUD bound if it has none."""
    X, y = sample()
    for estimator in ESTIMATORS:
        with warnings.catch_warnings(action="ignore"):
            estimator.fit(X, y)
            try:
                cb.cud_interval(estimator, X, y, n_resamples=5, rng=0, bound=cb.Bound(polish=True))
                reason = "has the bound"
            except (ValueError, TypeError) as error:
                reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        name = " ".join(repr(estimator).split())
        words = describe_classifier(estimator) if hasattr(estimator, "predict") else ""
        yield f"{name}\n    {words}\n    {reason}"
