"""What the calls and the command refuse: an input a line; the pages have the argument that is named and the remedy."""

from __future__ import annotations

import inspect
import shlex
import warnings
from collections.abc import Callable, Iterator
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
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import cudbound as cb
from cudbound import Bound, Resampling
from cudbound.adapters.parts import describe_classifier
from cudbound.cli.group import main
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile
from cudbound.intervals.five_by_two import five_by_two_f
from cudbound.solve import Problem, SearchLimits, solve_draws
from cudbound.study.design.design_file import read_design
from cudbound.study.populations import worlds
from cudbound.study.populations.population import RealData, load_data_set
from cudbound.study.populations.worlds import Patients

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
    "metric": ["recall of all", "ppv", "cost"],
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
PLAN = "plan patients.csv --target sick --positive yes --exclude clinic --categorical sex"
#: What stands before the options of each line below.
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
LINES = r"""
interval --confidence-level 95
interval --confidence-level high
interval --confidence-level nan
interval --resamples many
interval --resamples 0
interval --seed -1
interval --alpha 0.05
interval --bound seconds=nan
interval --bound nodes=few
interval --threshold nan
interval --methods cud,martin
interval --methods mcnemar
interval --metric pr-auc
interval --metric ppv --prevalence 2
interval --metric cost
interval --metric cost --cost yes=1
interval --metric ppv
interval --metric brier --classifier linear-svm --standardize
interval --prevalence 0.1
interval --joint
interval --resampling inner=few
interval --resampling inner=3 --metric sensitivity
interval --bound localization=m
interval --jobs 0
interval --resampling n_folds
interval --resampling n_fold=3
interval --resampling K=3
interval --resampling n_folds=2.5
interval --resampling n_splits=5 --resampling n_splits=6
interval --option form=wilson
interval --methods paper --option kohavi.form=wilson
interval --methods paper --option kohavi-normal.forn=wilson
interval --methods paper --option kohavi-normal.form=no
interval --alternative equivalent
interval --resampling cv=50 --methods k-fold-t
interval --format docx
interval --output a.dat
interval --output a.svg
interval --output nowhere/a.txt
interval --plot a.bmp
interval --save patients.csv
interval second.csv
interval --exclude agee
interval --group sex
interval --group clinic --methods aci
interval --classifier forest
interval --classifier least-squares --set C=1
interval --classifier ridge --set alhpa=1
interval --classifier ridge --set alpha
interval --classifier logistic --set C=-1
interval --classifier linear-svm --set loss=hinge --set dual=false
interval --classifier logistic-ml --set C=1
interval --classifier svm --set verbose=true
interval --classifier convex-loss --set loss=hing
interval --model nowhere.skops
interval --model patients.csv
interval --trust a.B
interval --missing mean
interval --decimal , --delimiter ,
interval --encoding latin-99
interval --weight sex
interval --all-classes
compare-learners
compare-learners --learners ridge
compare-learners --learners ridge,ridge
compare-learners --learners a=ridge,a=tree
compare-learners --learners ridge,tre
compare-learners --learners ridge,tree,logistic --reference svm
compare-learners --learners ridge,tree --set svm.C=1
compare-learners --learners ridge,tree --set tree.depth=1
compare-learners --learners least-squares,ridge --set least-squares.C=1
compare-learners --learners lda,tree --methods cud
compare-learners --learners lda,tree --methods mcnema
compare-learners --learners lda,tree --methods 5x2cv-f --alternative less
compare-learners --learners lda,tree --alternative smaller
compare-learners --learners lda,tree --alternative equivalent
compare-learners --learners lda,tree --alternative equivalent --null 0.1 --confidence-level 0.5
compare-learners --learners lda,tree --null nan
compare-learners --learners lda,tree --option mcnema.form=exact
compare-learners --learners lda,tree --resampling folds=5
compare-learners --learners lda,tree --model model.skops
plan
plan patients.csv
plan --world gaussians --target died
plan patients.csv --world gaussians
plan --world gaussian
plan --world gaussians --parameter far=1
plan --world gaussians --parameter distance=-1
plan --world gaussians --n-samples 20:x
plan --world gaussians --n-samples 3
plan --world gaussians --half-width nan
plan --world gaussians --probability 1
plan --world gaussians --method paper
plan --world gaussians --method cud,aci
plan --world gaussians --method mcnemar
plan patients.csv --target sick --positive yes --categorical sex --group clinic
plan patients.csv --target sick --positive yes --categorical sex --output patients.csv
report
report --output a.pdf
report --output nowhere/a.html
report --output a.html --methods cud
report --output a.html --target dead
methods --gives test
methods --format pdf
methods cud
methods --output nowhere/methods.txt
verify nowhere.json patients.csv
verify patients.csv patients.csv
check nowhere.csv
study run nowhere.toml --store a.sqlite
study run nowhere.toml
study status nowhere.sqlite
study report nowhere.sqlite --output a.html
study merge --store all.sqlite
study merge nowhere --store all.sqlite
study new nothing
"""


def of_the_command() -> Iterator[str]:
    """Yield each line, its exit code and the one line that it gets; to be called where patients.csv is."""
    for line in LINES.strip().splitlines():
        name, *rest = shlex.split(line)
        result = CliRunner().invoke(main, [*shlex.split(COMMANDS[name]), *rest])
        assert result.exit_code in (1, 2), f"{line}: {result.output}"
        assert (result.stdout, result.stderr.count("\n")) == ("", 1), f"{line}: {result.output}"
        assert result.stderr.startswith("cudbound: error: "), line
        message = result.stderr.removeprefix("cudbound: error: ").rstrip().replace(str(Path.cwd()), "FOLDER")
        yield f"{line}\n    {result.exit_code}: {message}"
    assert [path.name for path in Path().iterdir()] == ["patients.csv"], "a refusal leaves no file"


SETTINGS, WORLD = "n_samples = 30; n_replicates = 2", "[[scenario]]; world = 'gaussians'"
#: Designs of studies: a line of a file ends where a semicolon stands; S and W are `SETTINGS` and `WORLD`.
DESIGNS = """
n_samples =
W
n_samples = 30; W
S
S; [scenario]; world = 'noise'
sed = 1; S; W
seed = -1; S; W
name = 3; S; W
n_samples = 'many'; n_replicates = 2; W
n_samples = [30, 30]; n_replicates = 2; W
n_samples = []; n_replicates = 2; W
n_samples = 30; n_replicates = 2.5; W
methods = ['cdu']; S; W
methods = 7; S; W
methods = ['mcnemar']; S; W
localization = 'm'; S; W
confidence_level = 95; S; W
resampling.inner = 0; S; W
options = 3; S; W
S; options.kohavi-normal.form = 'x'; W
S; W; distance = 'far'
S; W; W
S; W; distanse = 1.0
S; [[scenario]]; world = 'gausians'
S; [[scenario]]; name = 'a'
S; W; csv = 'a.csv'
S; W; name = ''
S; W; classifier = 'logistc'
S; W; classifier = 1
S; W; standardize = 'yes'
S; W; components = 0
S; W; components = 4
S; W; set = 3
S; W; tune = [1.0]
S; W; n_features = 60; degree = 8
S; W; classifier = 'ridge'; tune = {alpha = [1.0, -3.0]}
S; W; classifier = 'ridge'; set = {alhpa = 1}
S; W; classifier = 'logistic'; set = {C = -1}
S; W; classifier = 'svm'; set = {kernel = 'rbf'}
S; W; positive_share = 0.0001
S; W; rival = 3
S; W; n_features = 3; n_replicates = 0
S; W; metric = 'recall of all'
"""


def of_designs() -> Iterator[str]:
    """Yield each design and the one line that names its place."""
    for line in DESIGNS.strip().splitlines():
        parts = [{"S": SETTINGS, "W": WORLD}.get(part, part) for part in line.split("; ")]
        Path("mine.toml").write_text("; ".join(parts).replace("; ", "\n"))
        message = said(read_design, Path("mine.toml"))
        assert message.split(": ")[1] == "mine.toml", message
        yield f"{line}\n    {message}"


#: Files and how they are read: bytes as Python writes them, and after || the roles of columns other than the defaults.
FILES = r"""

\n\n
\xef\xbb\xbf
a,b\n
a,b\n,\n
a,b\n1,2\n1,2,3\n
a,b\nx,1,2\ny,3,4\n
"a,b"\n"1,2"\n"3,4"\n
a b\n1 2\n
a,b\n1\n
a,b,a,b,c\n1,2,3,4,5\n
a,a \n1,2\n
column 2,\n1,2\n
a,b\n1,\x81\n
a,b\n1,\x02\xff\n
a,b\n1,2\x00\n3,4\n
\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1
,,,,,,,,\n1\n
a,b\n1,2\n"3,4\n
a,b\n1,"2"3\n
a,b\n1,2\n3,4\nTotal:,6\n
\x1b]0;owned\x07,\x1b]0;owned\x07\n1,2\n
Ward 3\na,b\n1,2\n3,4\n
Ward 3,,\n\nof 2024,,\na,b,c\n1,2,3\n3,4,\n
a,b\n1,2\n || encoding="ascii", skip_rows=9
a,b\n1,\xfc\n || encoding="ascii"
a,b\n1,2\n || encoding="cp12525"
a,died\n1,yes\n2,no\n3,maybe\n4,no\n
a,died\n1,yes\n2,yes\n
a,died\n1,yes\n2,no\n3,no\n
died\nyes\nno\n
a,b,c,died\n1,5,2,yes\n1.0,6,2,no\n1,7,2,no\n1,8,2,yes\n
a,code,died\n1,7,yes\n2,3,no\n3,3,no\n5,7.0,yes\n1,7,yes\n2,3,no\n3,3,no\n5,7.0,yes\n1,7,yes\n2,3,no\n3,3,no\n5,7.0,yes\n1,7,yes\n2,3,no\n3,3,no\n5,7.0,yes\n
a,b,died\n1,inf,yes\n2,3,no\n3,1e999,no\n5,1,yes\n
a,died\n1,yes\n2,no\n-1e101,no\n5,yes\n
sex,grade,died\nm,1,yes\nf,b,no\nm,c,no\nf,d,yes\n
id,died\np1,yes\np2,no\np3,no\np4,yes\n
age,died\n31,yes\n42,no\n5o,no\n61,yes\n
age,died\n"31,5",yes\n"42,1",no\n"50,0",no\n61,yes\n
a,died\n1_000,yes\n0x10,no\n3,no\n4,yes\n
,a,died\n1,5,yes\n2,6,no\n3,8,no\n4,7,yes\n
a,b,died\n1,2,yes\n\n3,?,no\n#N/A,5,yes\n6,7,no\n
x,age,died\n1,30,yes\n,31,no\n3,30,no\n4,32,yes\n || target="age", positive="TRUE"
x,age\n1,NA\n,\n || target="age", positive="TRUE"
x,age\n1,a\n,b\n3,a\n4,b\n || target="age", positive="TRUE"
CLEAN || positive="Y"
CLEAN || target="dead"
CLEAN || target="AGE"
CLEAN || target="zzz"
CLEAN || categorical=["sax"]
CLEAN || exclude=["BMI"]
CLEAN || exclude=["died"]
CLEAN || categorical=["died"]
CLEAN || categorical=["sex"], exclude=["sex"]
CLEAN || features=["age", "bmj"]
CLEAN || features=["died"]
CLEAN || features=["age"], exclude=["age"]
CLEAN || features=["age"], group="age"
CLEAN || features=["age"], weight="age"
CLEAN || group="age", weight="age"
CLEAN || weight="died"
CLEAN || weight="bmj"
CLEAN || features=["age"], categorical=["sex"]
CLEAN || exclude=["age", "sex", "bmi"]
CLEAN || decimal=";"
CLEAN || thousands="_"
CLEAN || decimal=",", thousands=","
CLEAN || sheet="x"
w,x,died\n0,1,yes\n1,2,no\n2,3,no\n1,5,yes\n || weight="w"
w,x,died\n-1.5,1,yes\n1,2,no\n2,3,no\n1,5,yes\n || weight="w"
w,x,died\nmuch,1,yes\n1,2,no\n2,3,no\n1,5,yes\n || weight="w"
w,x,died\ninf,1,yes\n1,2,no\n2,3,no\n1,5,yes\n || weight="w"
w,x,died\n,1,yes\n1,2,no\n2,3,no\n1,5,yes\n || weight="w", missing="median"
age,bmi,died\n30,1,yes\n40,2,\n50,3,yes\n60,4,no\n || missing="median"
age,site,died\n30,n,yes\n40,,no\n50,s,yes\n60,n,no\n || missing="most-frequent", group="site"
age,bmi,died\n30,,yes\n40,,no\n50,?,yes\n60,.,no\n || missing="median"
age,bmi,died\n30,,yes\n,4,no\n50,?,yes\n60,.,no\n || missing="drop"
age,died\nxx,yes\n40,no\n,yes\n60,no\n || missing="median"
"""


def of_files() -> Iterator[str]:
    """Yield what is said of each file as a data set whose target is `died`, with the positive value `yes`."""
    for line in FILES.removeprefix("\n").removesuffix("\n").split("\n"):
        text, _, roles = line.partition(" || ")
        text = text.replace(
            "CLEAN", r"age,sex,bmi,died\n30,m,21.5,yes\n41,f,1e1,no\n52,f,-.5,yes\n63,m,+7,no\n"
        )
        Path("data.csv").write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
        chosen = {"target": "died", "positive": "yes", **eval(f"dict({roles})")}
        message = said(read_training_data, DataFile(Path("data.csv"), **chosen))
        assert message.isprintable(), line
        yield f"{line}\n    {message}"


#: Calls that are refused for a reason of their own, on 30 rows X, y and their 30 draws.
EXPRESSIONS = """
cb.performance_interval(LinearSVC().fit(X, y), X, y, metric="brier")
cb.performance_interval(CLF, X, y, metric="auc", sample_weight=np.ones(30))
cb.performance_interval(CLF, X, y, metric="auc", method="cud")
cb.performance_interval(CLF, X, y, method=["two-center"])
cb.performance_interval(CLF, X[:, :1], y)
cb.performance_interval(SVC().fit(X, y), X, y, method="cud")
cb.performance_interval(CLF, X, y, method="bbc-cv")
cb.compare_intervals(CLF, X, y, methods=["nested-cv", "aci"], groups=np.arange(30) // 2)
cb.compare_intervals(CLF, X, y, methods=[("cud", {"alpha": 0.05})])
cb.compare_intervals(CLF, X, y, methods=("paper", {"alpha": 0.05}))
cb.compare_intervals(CLF, X, y, methods="k-fold-t", new_cases=(X, y))
cb.compare_intervals(CLF, X, y, methods="test-set-wald", new_cases=[X, y])
cb.compare_intervals(CLF, X, y, methods="test-set-wald", new_cases=(X, y + 1))
cb.compare_learners([CLF, RidgeClassifier().fit(X, y > 0)], X, y)
cb.compare_learners([RidgeClassifier(), CLF], X, np.arange(30) % 3)
cb.compare_learners([LinearRegression(), CLF], X, y)
cb.compare_learners([CLF, "mayority"], X, y)
cb.ConvexLossClassifier("hing").fit(X, y)
cb.ConvexLossClassifier(penalty=-1).fit(X, y)
cb.ConvexLossClassifier(penalty=[0.1]).fit(X, y)
cb.ConvexLossClassifier(intercept_penalty=-1).fit(X, y)
cb.ConvexLossClassifier().fit(X, X[:, 0] > 0)
cb.ConvexLossClassifier("cubic", basis=3).fit(X, y)
cb.ConvexLossClassifier().fit(X, np.arange(30) % 3)
cb.LeastSquaresClassifier().fit(X, np.ones(30))
Problem.of(X[0], y, COEF, DRAWS)
Problem.of(np.full((30, 3), np.nan), y, COEF, DRAWS)
Problem.of(X * [1.0, 1.0, 1e-300], y, COEF, DRAWS)
Problem.of(X, y[1:], COEF, DRAWS)
Problem.of(X, np.zeros(30), COEF, DRAWS)
Problem.of(X, y, COEF[1:], DRAWS)
Problem.of(X, y, COEF * np.inf, DRAWS)
Problem.of(X, y, COEF, DRAWS[:, 1:])
Problem.of(X, y, COEF, -DRAWS)
Problem.of(X, y, COEF, DRAWS / 2)
Problem.of(X, y, COEF, DRAWS, loss="cubic")
Problem.of(X, y, COEF, DRAWS, localization=-1)
Problem.of(X, y, COEF, DRAWS, localization=np.nan)
Problem.of(X, y, COEF, DRAWS, weights=np.ones((2, 30)))
Problem.of(X, y, COEF, DRAWS, weights=np.full((4, 30), np.inf))
Problem.of(X, y, COEF, DRAWS, penalty=-1)
Problem.of(X, y, COEF, DRAWS, penalty=[1, 2])
Problem.of(X, y, COEF, DRAWS, l1_penalty=-1)
Problem.of(X, y, COEF, DRAWS, sample_weight=-np.ones(30))
Problem.of(X, y, COEF, DRAWS, offset=np.nan)
Problem.of(X, y, COEF, DRAWS, draw_scale=np.zeros(4))
solve_draws(PROBLEM, side="up")
solve_draws(PROBLEM, ranks=0)
solve_draws(PROBLEM, ranks=[5])
solve_draws(PROBLEM, n_jobs=0)
solve_draws(PROBLEM, limits=5)
solve_draws(PROBLEM, previous=5)
SearchLimits(nodes=-1)
SearchLimits(nodes=1.5)
SearchLimits(nodes_per_draw=True)
SearchLimits(nodes_per_draw="many")
SearchLimits(seconds=-0.1)
SearchLimits(seconds="1 h")
SearchLimits(solver="gurobi")
worlds.Gaussians(distance=-1)
worlds.Gaussians(n_features=0)
worlds.Gaussians(n_signal=9)
worlds.Gaussians(positive_share=1)
worlds.Gaussians(positive_sd=0)
worlds.FlippedLabels(flip_rate=1.5)
worlds.Donut(radius=-1)
worlds.Donut(n_features=1)
worlds.Quadratic(noise=0)
worlds.ThreePoint(boundary_mass=1)
worlds.ThreePoint(slope=1.0)
worlds.Discrete(n_levels=1)
worlds.BinaryFinding(odds_ratio=0)
worlds.MissingValues(missing_share=1)
Patients(worlds.Gaussians(), (3, 2))
Patients(worlds.Gaussians(), within_patient=1.5)
RealData("a", "a", X, y)
RealData("a", "a", X, np.ones(30))
RealData("a", "a", X, (y > 0).astype(int), "half")
load_data_set("heart", "nowhere")
five_by_two_f([[0.1, 0.2]] * 4)
"""


def of_expressions() -> Iterator[str]:
    """Yield each expression and its error."""
    CLF, X, y = fitted(LogisticRegression())
    draws = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), size=4)
    named = (
        *(LinearRegression, RidgeClassifier, LinearSVC, SVC, Problem, SearchLimits, solve_draws),
        *(Patients, RealData, load_data_set, five_by_two_f),
    )
    problem = Problem.of(X, y, CLF.coef_[0], draws)
    names = {one.__name__: one for one in named} | {"cb": cb, "np": np, "worlds": worlds, "PROBLEM": problem}
    names |= {"CLF": CLF, "X": X, "y": y, "DRAWS": draws, "COEF": CLF.coef_[0]}
    for line in EXPRESSIONS.strip().splitlines():
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
