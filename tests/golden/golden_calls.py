"""Seeded calls of every entry point, whose numbers stay as they are while the code behind them is rewritten.

Each function returns its numbers by name; `golden_numbers.json` keeps them. They are compared to the last bit on the
machine that made the file (`make golden`), and to nine digits by the tests; whole numbers (draws, folds, counts, nodes)
are always compared exactly.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from click.testing import CliRunner
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import cudbound as cb
from cudbound.cli.group import main as command
from cudbound.records import BootstrapLosses, FoldLosses, SplitLosses, TestSetLosses
from cudbound.resampling.folds import draw_folds
from cudbound.study.design.design_file import read_design

Numbers = dict[str, Any]
NUMBERS = Path(__file__).parent / "golden_numbers.json"
#: The columns of tables that are numbers of a method; the others are its texts.
COLUMNS = [
    *("estimate", "low", "high", "raw_low", "raw_high", "n_fits"),
    *("statistic", "pvalue", "adjusted_pvalue", "simultaneous_low", "simultaneous_high"),
]
CALLS: dict[str, Callable[[], Numbers]] = {}
SLOW: set[str] = set()


def golden(function: Callable[[], Numbers]) -> Callable[[], Numbers]:
    """Keep the numbers of a call."""
    CALLS[function.__name__] = function
    return function


def slow(function: Callable[[], Numbers]) -> Callable[[], Numbers]:
    """Mark a call that takes seconds."""
    SLOW.add(function.__name__)
    return function


def numbers_of(name: str) -> Numbers:
    """Return the numbers of one call as they are read from the file."""
    with warnings.catch_warnings(action="ignore"):
        return json.loads(json.dumps(CALLS[name]()))


@lru_cache
def sample(n: int = 30, n_features: int = 3, signal: float = 1.0, kind: str = "normal") -> tuple[Any, Any]:
    """Return a training set that no other code makes."""
    rng = np.random.default_rng([n, n_features])
    X = rng.normal(size=(n, n_features))
    if kind == "binary":
        X = (X > 0).astype(float)
    y = np.where(signal * X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n) > 0, 1, -1)
    return X, y


def fitted(classifier: Any, **kind: Any) -> tuple[Any, Any, Any]:
    X, y = sample(**kind)
    return classifier.fit(X, y), X, y


def table(frame: pd.DataFrame, *keys: str) -> Numbers:
    """Return the numbers of each row, by the names of the row."""
    keys = keys or tuple(key for key in ("a", "b", "method", "metric") if key in frame)
    return {
        " ".join(str(row[key]) for key in keys): {name: plain(row[name]) for name in COLUMNS if name in row}
        for row in frame.to_dict("records")
    }


def plain(value: Any) -> Any:
    """Return numbers, and arrays of them, as JSON has them."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return "nan" if isinstance(value, float) and np.isnan(value) else value


def every_number(frame: pd.DataFrame) -> Numbers:
    return {
        str(name): plain(column.to_numpy()) for name, column in frame.items() if column.dtype.kind in "ifb"
    }


def intervals(*data: Any, **options: Any) -> Numbers:
    """Return the rows of `compare_intervals`."""
    return table(cb.compare_intervals(*data, **options).to_frame())


def bound(result: Any) -> Numbers:
    """Return the numbers of a CUD bound, and what is proved of each of its draws."""
    low, high = result.raw_interval.low, result.raw_interval.high
    values = {"estimate": result.estimate, "q": result.q, "q_lower": result.q_lower, "low": low, "high": high}
    draws = result.draws
    proved = {"lower": draws.lower, "upper": draws.upper, "nodes": draws.nodes, "status": draws.status_codes}
    return {name: plain(value) for name, value in (values | proved).items()}


@golden
def compare_intervals_paper() -> Numbers:
    return intervals(*fitted(cb.LeastSquaresClassifier()), methods="paper", n_resamples=60, rng=1)


@golden
def compare_intervals_all_with_test_set() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    fresh = sample(n=41)
    return intervals(clf, X, y, methods="all", n_resamples=40, rng=2, new_cases=fresh)


@golden
def compare_intervals_recommended() -> Numbers:
    clf, X, y = fitted(LogisticRegression(C=0.5))
    return intervals(clf, X, y, methods="recommended", n_resamples=60, rng=3)


@golden
def compare_intervals_clinical_of_logistic_regression() -> Numbers:
    clf, X, y = fitted(make_pipeline(StandardScaler(), LogisticRegression()))
    return intervals(clf, X, y, methods="clinical", n_resamples=30, resampling=cb.Resampling(inner=10), rng=4)


@golden
def compare_intervals_conditional_one_sided() -> Numbers:
    clf, X, y = fitted(RidgeClassifier())
    found = cb.compare_intervals(
        clf,
        X,
        y,
        methods="conditional",
        alternative="less",
        n_resamples=40,
        rng=5,
        resampling=cb.Resampling(inner=10),
    )
    return table(found.to_frame())


@golden
def compare_intervals_one_sided_greater() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    found = cb.compare_intervals(
        clf,
        X,
        y,
        methods="paper",
        alternative="greater",
        confidence_level=0.9,
        n_resamples=40,
        rng=6,
        resampling=cb.Resampling(inner=10),
    )
    return table(found.to_frame())


@golden
def compare_intervals_algorithm() -> Numbers:
    clf, X, y = fitted(LinearDiscriminantAnalysis())
    resampling = cb.Resampling(n_folds=5, n_splits=6, n_nested_repeats=4)
    return intervals(clf, X, y, methods="algorithm", resampling=resampling, rng=7)


@golden
def compare_intervals_options() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    methods = [
        "two-center",
        "cud",
        ("bayle-cv", {"variance": "within-fold"}),
    ]
    bound = cb.Bound(localization=2.0, polish=True)
    found = cb.compare_intervals(clf, X, y, methods=methods, n_resamples=50, rng=8, bound=bound)
    return table(found.to_frame())


@golden
def compare_intervals_own_folds() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    return intervals(clf, X, y, methods=["k-fold-t", "bayle-cv"], resampling=cb.Resampling(cv=5), rng=9)


def grouped() -> tuple[Any, Any, Any, Any]:
    X, y = sample(n=40)
    groups = np.repeat(np.arange(20), 2)
    y = np.where(np.arange(40) % 2 == 0, y, np.roll(y, 1))
    return cb.LeastSquaresClassifier().fit(X, y), X, y, groups


@golden
def compare_intervals_groups() -> Numbers:
    clf, X, y, groups = grouped()
    methods = ["two-center", "cud", "bootstrap-percentile", "out-of-bag-wilson", "corrected-resampled-t"]
    return intervals(
        clf, X, y, methods=methods, groups=groups, n_resamples=40, resampling=cb.Resampling(inner=10), rng=10
    )


@golden
def compare_intervals_groups_metrics() -> Numbers:
    clf, X, y, groups = grouped()
    metrics = cb.Metrics(["error", "sensitivity", "specificity", "balanced-error"], event=1)
    return intervals(clf, X, y, methods="recommended", metric=metrics, groups=groups, n_resamples=40, rng=11)


@golden
def compare_intervals_weights() -> Numbers:
    X, y = sample()
    weight = np.random.default_rng(12).uniform(0.5, 2.0, size=30)
    clf = cb.ConvexLossClassifier().fit(X, y, sample_weight=weight)
    methods = ["two-center", "cud", "out-of-bag-wilson"]
    return intervals(clf, X, y, methods=methods, sample_weight=weight, n_resamples=40, rng=12)


@golden
def compare_intervals_every_metric() -> Numbers:
    clf, X, y = fitted(LogisticRegression(), n=40)
    metrics = cb.Metrics(
        ["error", "sensitivity", "specificity", "balanced-error", "cost", "ppv", "npv"],
        event=1, costs={1: 3.0, -1: 1.0}, prevalence=0.3,
    )  # fmt: skip
    methods = ["two-center", "cud", "bootstrap-632-normal", "out-of-bag-wilson"]
    return intervals(clf, X, y, methods=methods, metric=metrics, n_resamples=40, rng=13)


@golden
def compare_intervals_joint() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier(), n=40)
    metrics = cb.Metrics(["sensitivity", "specificity"], event=1, joint=True)
    return intervals(clf, X, y, methods="recommended", metric=metrics, n_resamples=40, rng=14)


@golden
def compare_intervals_prevalence_of_sample() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier(), n=40)
    metrics = cb.Metrics(["ppv", "npv"], event=-1, prevalence="sample")
    return intervals(clf, X, y, methods="recommended", metric=metrics, n_resamples=40, rng=15)


@golden
def compare_intervals_own_metric() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier(), n=40)
    metric = cb.Metric("cost-of-events", shares=(0.7, 0.3), costs=(1.0, 2.0))
    return intervals(clf, X, y, methods="recommended", metric=metric, n_resamples=40, rng=16)


@golden
def compare_intervals_single_class_draws() -> Numbers:
    X, y = sample(n=12)
    y = np.where(np.arange(12) < 2, 1, -1)
    clf = cb.LeastSquaresClassifier().fit(X, y)
    methods = ["two-center", "bootstrap-percentile", "out-of-bag-wilson"]
    found = {
        rule: intervals(
            clf,
            X,
            y,
            methods=methods,
            resampling=cb.Resampling(on_single_class=rule, inner=5),
            n_resamples=40,
            rng=17,
        )
        for rule in ("redraw", "drop", "fit")
    }
    return {f"{rule} {name}": row for rule, rows in found.items() for name, row in rows.items()}


@golden
def compare_intervals_separable() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier(), signal=40.0)
    return intervals(clf, X, y, methods="paper", n_resamples=40, resampling=cb.Resampling(inner=10), rng=18)


@golden
def compare_intervals_binary_features() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier(), kind="binary")
    return intervals(clf, X, y, methods="recommended", n_resamples=60, rng=19)


@golden
def compare_intervals_more_features_than_rows() -> Numbers:
    clf, X, y = fitted(RidgeClassifier(alpha=5.0), n=20, n_features=25)
    return intervals(clf, X, y, methods=["two-center", "out-of-bag-wilson"], n_resamples=40, rng=20)


@golden
def compare_intervals_tuned() -> Numbers:
    clf, X, y = fitted(
        GridSearchCV(
            make_pipeline(StandardScaler(), RidgeClassifier()), {"ridgeclassifier__alpha": [0.1, 10.0]}, cv=3
        )
    )
    return intervals(clf, X, y, methods=["two-center", "bbc-cv"], n_resamples=20, rng=21)


def error_interval_of(classifier: Any, seed: int, **kind: Any) -> Numbers:
    clf, X, y = fitted(classifier, **kind)
    return table(cb.performance_interval(clf, X, y, n_resamples=30, rng=seed).to_frame())


@golden
def error_interval_of_least_squares() -> Numbers:
    return error_interval_of(cb.LeastSquaresClassifier(), 22)


@golden
def error_interval_of_a_tree() -> Numbers:
    return error_interval_of(DecisionTreeClassifier(max_depth=2, random_state=0), 23)


@golden
def error_interval_of_nearest_neighbors() -> Numbers:
    return error_interval_of(KNeighborsClassifier(3), 24)


@golden
def error_interval_of_a_linear_svc() -> Numbers:
    return error_interval_of(make_pipeline(StandardScaler(), LinearSVC(C=0.1)), 25)


@golden
def error_interval_of_robust_scaling() -> Numbers:
    return error_interval_of(make_pipeline(RobustScaler(), LogisticRegression()), 26)


@golden
def error_interval_of_a_selection() -> Numbers:
    return error_interval_of(
        make_pipeline(SelectKBest(f_classif, k=2), LinearDiscriminantAnalysis()), 27, n_features=6
    )


@golden
def error_interval_of_a_chosen_threshold() -> Numbers:
    def choose(scores: Any, labels: Any) -> float:
        return float(np.median(scores))

    return error_interval_of(cb.ChosenThresholdClassifier(LogisticRegression(), choose), 28)


@golden
def error_interval_of_stumps() -> Numbers:
    X, y = sample()
    boosted = GradientBoostingClassifier(n_estimators=4, max_depth=1, random_state=0).fit(X, y)
    clf = cb.ConvexLossClassifier("exponential", penalty=0.1, basis=cb.stump_basis(boosted)).fit(X, y)
    return table(cb.performance_interval(clf, X, y, n_resamples=20, rng=29).to_frame())


@golden
def error_interval_by_name() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    found = cb.performance_interval(
        clf,
        X,
        y,
        method="bootstrap-percentile",
        alternative="greater",
        n_resamples=60,
        rng=30,
        resampling=cb.Resampling(inner="oob"),
    )
    return table(found.to_frame())


@golden
def cud_interval_of_least_squares() -> Numbers:
    return bound(
        cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), n_resamples=40, rng=31, all_draws=True)
    )


@golden
def draws_and_folds() -> Numbers:
    result = cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), n_resamples=10, rng=31)
    folds = draw_folds(17, 5, np.random.default_rng(31))
    return {"counts": plain(result.problem.counts), "folds": folds.tolist()}


@golden
def scores_by_every_method() -> Numbers:
    clf, X, y = fitted(LogisticRegression(C=2.0), n=36)
    found = cb.compare_intervals(
        clf, X, y, methods="all", metric=["auc", "brier"], new_cases=sample(n=41), n_resamples=40, rng=55
    )
    return table(found.to_frame())


@golden
def scores_jointly_with_the_error_in_groups() -> Numbers:
    clf, X, y = fitted(DecisionTreeClassifier(max_depth=2, random_state=0), n=40)
    metrics = cb.Metrics(["error", "auc", "brier"], joint=True)
    return intervals(clf, X, y, metric=metrics, groups=np.arange(40) // 2, n_resamples=40, rng=56)


@golden
def calibration_values_and_one_limit() -> Numbers:
    clf, X, y = fitted(LogisticRegression(), n=40)
    found = cb.performance_interval(clf, X, y, metric="brier", alternative="less", n_resamples=40, rng=57)
    of = found.calibration
    values = [of.apparent_intercept, of.apparent_slope, of.intercept, of.slope, of.n_draws]
    return {"high": plain(found.confidence_interval.high), "calibration": plain(values)}


@golden
def cud_interval_quantile_search() -> Numbers:
    return bound(cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), n_resamples=40, rng=31))


@golden
def cud_interval_of_logistic_regression() -> Numbers:
    return bound(cb.cud_interval(*fitted(LogisticRegression(C=2.0)), n_resamples=25, rng=32))


@golden
def cud_interval_of_the_squared_hinge() -> Numbers:
    clf = cb.ConvexLossClassifier(loss="squared_hinge", penalty=0.05)
    return bound(
        cb.cud_interval(
            *fitted(clf),
            n_resamples=25,
            rng=33,
            confidence_level=0.9,
            bound=cb.Bound(localization="paper-literal"),
        )
    )


@golden
def cud_interval_of_sensitivity() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    return bound(
        cb.cud_interval(clf, X, y, metric=cb.Metrics("sensitivity", event=1), n_resamples=30, rng=34)
    )


@golden
def cud_interval_under_limits() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier(), n=60, n_features=8, signal=0.2)
    return bound(cb.cud_interval(clf, X, y, n_resamples=20, rng=35, bound=cb.Bound(nodes=3)))


@golden
def cud_interval_at_another_level() -> Numbers:
    result = cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), n_resamples=40, rng=36, all_draws=True)
    return bound(result.at(confidence_level=0.8))


@slow
@golden
def cud_interval_by_the_reference_solver() -> Numbers:
    found = bound(
        cb.cud_interval(
            *fitted(cb.LeastSquaresClassifier(), n=14, n_features=2),
            n_resamples=6,
            rng=37,
            bound=cb.Bound(solver="cvxpy"),
        )
    )
    return {name: found[name] for name in ("estimate", "q", "low", "high")}


@golden
def solve_draws_on_arrays() -> Numbers:
    X, y = sample(n=20, n_features=2)
    design = np.column_stack([np.ones(20), X])
    coef = np.linalg.lstsq(design, y.astype(float), rcond=None)[0]
    counts = np.random.default_rng(38).multinomial(20, np.full(20, 0.05), size=10)
    found = {}
    for side in ("both", "positive", "negative"):
        draws = cb.solve.solve_draws(cb.solve.Problem.of(design, y, coef, counts), side=side)
        found[side] = {"lower": plain(draws.lower), "upper": plain(draws.upper), "nodes": plain(draws.nodes)}
    return {"counts": counts.tolist(), **found}


@golden
def estimate_error_by_all() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    return table(cb.estimate_error(clf, X, y, n_resamples=40, rng=39, new_cases=sample(n=41)).to_frame())


@golden
def estimate_error_in_groups() -> Numbers:
    clf, X, y, groups = grouped()
    methods = ["k-fold", "bootstrap-632-plus", "bootstrap-optimism", "leave-one-out"]
    return table(
        cb.estimate_error(clf, X, y, methods=methods, groups=groups, n_resamples=30, rng=40).to_frame()
    )


@golden
def instability_of_a_classifier() -> Numbers:
    clf, X, y = fitted(cb.LeastSquaresClassifier())
    return every_number(cb.performance_interval(clf, X, y, n_resamples=40, rng=41).instability.to_frame())


RIVALS = {
    "least-squares": cb.LeastSquaresClassifier(),
    "logistic": LogisticRegression(C=0.1),
    "tree": DecisionTreeClassifier(max_depth=1),
}


@golden
def compare_learners_of_two() -> Numbers:
    X, y = sample(n=40)
    result = cb.compare_learners([RIVALS["least-squares"], RIVALS["logistic"]], X, y, rng=42)
    return table(result.to_frame(), "method")


@golden
def compare_learners_one_sided_with_null() -> Numbers:
    X, y = sample(n=40)
    result = cb.compare_learners(
        [RIVALS["least-squares"], RIVALS["logistic"]],
        X,
        y,
        methods="5x2cv-t",
        alternative="less",
        null=0.05,
        rng=43,
    )
    return table(result.to_frame(), "method")


@golden
def compare_learners_by_every_method() -> Numbers:
    X, y = sample(n=40)
    pair = [RIVALS["least-squares"], RIVALS["logistic"]]
    found = cb.compare_learners(pair, X, y, methods="all", rng=44, new_cases=sample(n=41))
    return table(found.to_frame(), "method")


@golden
def compare_learners_in_pairs() -> Numbers:
    X, y = sample(n=40)
    return table(cb.compare_learners(RIVALS, X, y, rng=45, confidence_level=0.9).to_frame())


@golden
def compare_learners_with_a_reference() -> Numbers:
    X, y = sample(n=40)
    found = cb.compare_learners(RIVALS, X, y, reference="least-squares", methods="bayle-cv", rng=46)
    return table(found.to_frame())


@golden
def recorded_losses() -> Numbers:
    rng = np.random.default_rng(47)
    losses, other = rng.integers(0, 2, size=(2, 30))
    folds = FoldLosses(losses, np.arange(30) % 5)
    counts = rng.multinomial(30, np.full(30, 1 / 30), size=40)
    draws = BootstrapLosses(counts, rng.integers(0, 2, size=(40, 30)))
    splits = SplitLosses(rng.uniform(size=8), 27, 3)
    differences = SplitLosses(rng.normal(scale=0.1, size=8), 27, 3)
    recorded = [
        cb.from_records(folds, "bayle-cv"),
        cb.from_records(splits, "corrected-resampled-t", alternative="less"),
        cb.from_records(draws, "out-of-bag-wilson", training_losses=losses),
        cb.from_records(
            draws, "bootstrap-632-plus-normal", training_losses=losses, positive=0.4, predicted_positive=0.5
        ),
        cb.from_records(TestSetLosses(losses, 50), "test-set-wilson", confidence_level=0.9),
    ]
    comparisons = [
        cb.from_records(differences, "corrected-resampled-t", differences=True),
        cb.from_records([TestSetLosses(losses, 50), TestSetLosses(other, 50)], "mcnemar", differences=True),
    ]
    estimates = [
        cb.from_records(folds, "k-fold"),
        cb.from_records(draws, "bootstrap-632", training_losses=losses),
    ]
    rows = [[one.to_record() for one in some] for some in (recorded, comparisons, estimates)]
    kinds = ("interval", "comparison", "estimate")
    return {
        f"{kind} {name}": row
        for kind, some in zip(kinds, rows, strict=True)
        for name, row in table(pd.DataFrame(some), "method").items()
    }


@golden
def plan_from_a_pilot() -> Numbers:
    X, y = sample()
    plan = cb.plan_sample_size(
        cb.LeastSquaresClassifier(), X, y, n_samples=[20, 40], n_replicates=10, n_resamples=30, rng=48
    )
    return every_number(plan.to_frame())


@golden
def plan_from_a_world() -> Numbers:
    plan = cb.plan_sample_size(
        cb.LeastSquaresClassifier(),
        world="gaussians",
        method="out-of-bag-wilson",
        n_samples=[20, 40],
        n_replicates=10,
        n_resamples=30,
        rng=49,
    )
    return every_number(plan.to_frame())


@golden
def sample_sizes_in_closed_form() -> Numbers:
    found = cb.study.closed_form_sample_sizes(0.05, sensitivity=0.9, specificity=0.7, prevalence=0.2)
    return {
        str(number): plain([value for value in vars(one).values() if not isinstance(value, str)])
        for number, one in enumerate(found)
    }


DESIGN = """
name = "golden"
seed = 50
n_samples = [20, 30]
n_replicates = 4
n_resamples = 30
inner = 10
methods = [{methods}]
[[scenario]]
world = "gaussians"
distance = 1.6
n_features = 3
classifier = "least-squares"
{first}
[[scenario]]
world = "noise"
name = "noise, scaled"
classifier = "logistic"
standardize = true
{second}
"""


def study_numbers(methods: str, first: str = "", second: str = "") -> Numbers:
    with tempfile.TemporaryDirectory() as folder:
        file, store = Path(folder, "golden.toml"), Path(folder, "golden.sqlite")
        file.write_text(DESIGN.format(methods=methods, first=first, second=second))
        cb.study.run_study(read_design(file), store)
        summary = cb.study.summarize(store)
        rows = summary.scores.drop(columns="truth")
        line = rows.groupby(["scenario", "n", "method"], sort=False).ngroup()
        tables = {"cells": summary.cells.reset_index(), "rows": rows.assign(line=line)}
        return {
            name: every_number(frame[[column for column in frame if "seconds" not in str(column)]])
            for name, frame in tables.items()
        }


@golden
def study_of_intervals() -> Numbers:
    return study_numbers('"two-center", "cud", "bootstrap-percentile", "corrected-resampled-t"')


@slow
@golden
def study_of_metrics() -> Numbers:
    return study_numbers('"two-center", "out-of-bag-wilson"', 'metric = ["sensitivity", "specificity"]')


@slow
@golden
def study_of_scores() -> Numbers:
    return study_numbers('"two-center", "delong-10-fold"', 'metric = "auc"', 'metric = "auc"')


@slow
@golden
def study_of_comparisons() -> Numbers:
    rivals = ('rival = {classifier = "ridge"}', 'rival = {classifier = "least-squares"}')
    return study_numbers('"corrected-resampled-t", "5x2cv-f"', *rivals)


def command_numbers(*arguments: str, n: int = 30) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        X, y = sample(n=n)
        file = Path(folder, "patients.csv")
        frame = pd.DataFrame(X, columns=["age", "marker", "dose"]).assign(
            sick=np.where(y > 0, "yes", "no"), clinic=np.arange(n) // 2
        )
        frame.to_csv(file, index=False)
        before, *rest = arguments
        result = CliRunner().invoke(
            command, [before, str(file), "--target", "sick", "--positive", "yes", *rest, "--format", "json"]
        )
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@golden
def command_interval() -> Numbers:
    found = command_numbers(
        "interval", "--exclude", "clinic", "--resamples", "40", "--seed", "51", "--methods", "paper",
        "--classifier", "least-squares",
    )  # fmt: skip
    return table(pd.DataFrame(found["intervals"]))


@golden
def command_interval_of_metrics_and_groups() -> Numbers:
    found = command_numbers(
        "interval", "--group", "clinic", "--resamples", "40", "--seed", "52", "--classifier", "logistic",
        "--standardize",
        "--metric", "sensitivity,specificity,ppv", "--prevalence", "0.2", n=40,
    )  # fmt: skip
    return table(pd.DataFrame(found["intervals"]))


@golden
def command_compare_learners() -> Numbers:
    found = command_numbers(
        "compare-learners", "--exclude", "clinic", "--learners", "lda,tree", "--seed", "53"
    )
    return table(pd.DataFrame(found["comparisons"]), "method")


@golden
def command_plan() -> Numbers:
    found = command_numbers(
        "plan",
        "--exclude",
        "clinic",
        "--n-samples",
        "20,30",
        "--replicates",
        "10",
        "--resamples",
        "20",
        "--seed",
        "54",
        "--classifier",
        "least-squares",
    )
    return every_number(pd.DataFrame(found["sizes"]))


def differences(kept: Any, found: Any, digits: float, where: str = "") -> Iterable[str]:
    """Say where numbers are not the same: whole numbers and texts exactly, others to a relative difference."""
    if isinstance(kept, Mapping) and isinstance(found, Mapping):
        for name in kept.keys() | found.keys():
            if name not in kept or name not in found:
                yield f"{where}/{name} is {'new' if name in found else 'gone'}"
            else:
                yield from differences(kept[name], found[name], digits, f"{where}/{name}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for place, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from differences(one, other, digits, f"{where}[{place}]")
    elif isinstance(kept, float) and isinstance(found, float | int):
        if kept != found and not abs(kept - found) <= digits * max(abs(kept), 1.0):
            yield f"{where}: {kept!r} -> {found!r}"
    elif kept != found:
        yield f"{where}: {kept!r} -> {found!r}"
