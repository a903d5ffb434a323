"""Seeded calls of every entry point, whose numbers stay as they are while the code behind them is rewritten.

Each call returns its numbers by name; `golden_numbers.json` keeps them. They are compared to the last bit on the
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
from cudbound.cli.command import main as command
from cudbound.records import (
    BootstrapLosses,
    FoldLosses,
    Records,
    SplitLosses,
    TestSetLosses,
    no_information_error,
)
from cudbound.resampling.folds import draw_folds
from cudbound.study.design_file import read_design

Numbers = dict[str, Any]
NUMBERS = Path(__file__).parent / "golden_numbers.json"
#: The columns of tables that are numbers of a method; the others are its texts.
COLUMNS = [
    *("estimate", "low", "high", "raw_low", "raw_high", "n_fits"),
    *("statistic", "pvalue", "adjusted_pvalue", "simultaneous_low", "simultaneous_high"),
]


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


def grouped() -> tuple[Any, Any, Any, Any]:
    X, y = sample(n=40)
    groups = np.repeat(np.arange(20), 2)
    y = np.where(np.arange(40) % 2 == 0, y, np.roll(y, 1))
    return cb.LeastSquaresClassifier().fit(X, y), X, y, groups


def weighted() -> Numbers:
    X, y = sample()
    weight = np.random.default_rng(12).uniform(0.5, 2.0, size=30)
    clf = cb.ConvexLossClassifier().fit(X, y, sample_weight=weight)
    methods = ["two-center", "cud", "out-of-bag-wilson"]
    return intervals(clf, X, y, methods=methods, sample_weight=weight, n_resamples=40, rng=12)


def single_class_draws() -> Numbers:
    X, y = sample(n=12)[0], np.where(np.arange(12) < 2, 1, -1)
    clf = cb.LeastSquaresClassifier().fit(X, y)
    options = {"methods": ["two-center", "bootstrap-percentile", "out-of-bag-wilson"], "n_resamples": 40}
    found = {
        rule: intervals(clf, X, y, rng=17, resampling=cb.Resampling(on_single_class=rule, inner=5), **options)
        for rule in ("redraw", "drop", "fit")
    }
    return {f"{rule} {name}": row for rule, rows in found.items() for name, row in rows.items()}


def error_interval_of(classifier: Any, seed: int, n_resamples: int = 30, **kind: Any) -> Numbers:
    clf, X, y = fitted(classifier, **kind)
    return table(cb.performance_interval(clf, X, y, n_resamples=n_resamples, rng=seed).to_frame())


def boosted_stumps() -> Any:
    boosted = GradientBoostingClassifier(n_estimators=4, max_depth=1, random_state=0).fit(*sample())
    return cb.ConvexLossClassifier("exponential", penalty=0.1, basis=cb.stump_basis(boosted))


def of_cud(classifier: Any = None, **options: Any) -> Numbers:
    kind = {name: options.pop(name) for name in ("n", "n_features", "signal") if name in options}
    return bound(cb.cud_interval(*fitted(classifier or cb.LeastSquaresClassifier(), **kind), **options))


def draws_and_folds() -> Numbers:
    result = cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), n_resamples=10, rng=31)
    folds = draw_folds(17, 5, np.random.default_rng(31))
    return {"counts": plain(result.problem.counts), "folds": folds.tolist()}


def calibration_values_and_one_limit() -> Numbers:
    clf, X, y = fitted(LogisticRegression(), n=40)
    found = cb.performance_interval(clf, X, y, metric="brier", alternative="less", n_resamples=40, rng=57)
    of = found.calibration
    values = [of.apparent_intercept, of.apparent_slope, of.intercept, of.slope, of.n_draws]
    return {"high": plain(found.confidence_interval.high), "calibration": plain(values)}


def cud_interval_at_another_level() -> Numbers:
    result = cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), n_resamples=40, rng=36, all_draws=True)
    return bound(result.at(confidence_level=0.8))


def cud_interval_by_the_reference_solver() -> Numbers:
    found = of_cud(n=14, n_features=2, n_resamples=6, rng=37, bound=cb.Bound(solver="cvxpy"))
    return {name: found[name] for name in ("estimate", "q", "low", "high")}


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


def estimates(*data: Any, **options: Any) -> Numbers:
    return table(cb.estimate_error(*data, **options).to_frame())


RIVALS = {
    "least-squares": cb.LeastSquaresClassifier(),
    "logistic": LogisticRegression(C=0.1),
    "tree": DecisionTreeClassifier(max_depth=1),
}
TWO = [RIVALS["least-squares"], RIVALS["logistic"]]


def learners(compared: Any, *keys: str, **options: Any) -> Numbers:
    return table(cb.compare_learners(compared, *sample(n=40), **options).to_frame(), *keys)


def recorded_losses() -> Numbers:
    rng = np.random.default_rng(47)
    losses, other = rng.integers(0, 2, size=(2, 30))
    folds = FoldLosses(losses, np.arange(30) % 5)
    counts = rng.multinomial(30, np.full(30, 1 / 30), size=40)
    draws = BootstrapLosses(counts, rng.integers(0, 2, size=(40, 30)))
    records = Records(losses, no_information_error(0.4, 0.5), bootstrap=draws)
    splits = SplitLosses(rng.uniform(size=8), 27, 3)
    differences = SplitLosses(rng.normal(scale=0.1, size=8), 27, 3)
    tested = [TestSetLosses(losses, 50), TestSetLosses(other, 50)]
    rows = {
        "interval": [
            cb.from_records(folds, "bayle-cv"),
            cb.from_records(splits, "corrected-resampled-t", alternative="less"),
            cb.from_records(draws, "out-of-bag-wilson"),
            cb.from_records(records, "bootstrap-632-plus-normal"),
            cb.from_records(tested[0], "test-set-wilson", confidence_level=0.9),
        ],
        "comparison": [
            cb.from_records(differences, "corrected-resampled-t", differences=True),
            cb.from_records(tested, "mcnemar", differences=True),
        ],
        "estimate": [cb.from_records(folds, "k-fold"), cb.from_records(records, "bootstrap-632")],
    }
    return {
        f"{kind} {name}": row
        for kind, some in rows.items()
        for name, row in table(pd.DataFrame([one.to_record() for one in some]), "method").items()
    }


def plan(*data: Any, **options: Any) -> Numbers:
    few = {"n_samples": [20, 40], "n_replicates": 10, "n_resamples": 30}
    return every_number(cb.plan_sample_size(cb.LeastSquaresClassifier(), *data, **few, **options).to_frame())


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
resampling.inner = 10
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


def command_numbers(line: str, key: str, n: int = 30) -> pd.DataFrame:
    """Return the rows that a command prints for a file of patients."""
    with tempfile.TemporaryDirectory() as folder:
        X, y = sample(n=n)
        file = Path(folder, "patients.csv")
        frame = pd.DataFrame(X, columns=["age", "marker", "dose"])
        frame = frame.assign(sick=np.where(y > 0, "yes", "no"), clinic=np.arange(n) // 2)
        frame.to_csv(file, index=False)
        before, *rest = line.split()
        of_file = [before, str(file), "--target", "sick", "--positive", "yes", "--format", "json"]
        result = CliRunner().invoke(command, [*of_file, *rest])
        assert result.exit_code == 0, result.output
        return pd.DataFrame(json.loads(result.stdout)[key])


SLOW = {
    *("cud_interval_by_the_reference_solver", "study_of_metrics", "study_of_scores", "study_of_comparisons")
}
LEAST_SQUARES = cb.LeastSquaresClassifier
FEW_INNER = cb.Resampling(inner=10)
CALLS: dict[str, Callable[[], Numbers]] = {
    "compare_intervals_paper": lambda: intervals(
        *fitted(LEAST_SQUARES()), methods="paper", n_resamples=60, rng=1
    ),
    "compare_intervals_all_with_test_set": lambda: intervals(
        *fitted(LEAST_SQUARES()), methods="all", n_resamples=40, rng=2, new_cases=sample(n=41)
    ),
    "compare_intervals_with_new_cases": lambda: intervals(
        *fitted(LogisticRegression()),
        metric=["error", "specificity", "balanced-error", "auc", "brier"],
        event=1, new_cases=sample(n=41), n_resamples=40, rng=2,
    ),
    "compare_intervals_recommended": lambda: intervals(
        *fitted(LogisticRegression(C=0.5)), methods="recommended", n_resamples=60, rng=3
    ),
    "compare_intervals_clinical_of_logistic_regression": lambda: intervals(
        *fitted(make_pipeline(StandardScaler(), LogisticRegression())), methods="clinical", n_resamples=30,
        resampling=FEW_INNER, rng=4,
    ),
    "compare_intervals_conditional_one_sided": lambda: intervals(
        *fitted(RidgeClassifier()), methods="conditional", alternative="less", n_resamples=40, rng=5,
        resampling=FEW_INNER,
    ),
    "compare_intervals_one_sided_greater": lambda: intervals(
        *fitted(LEAST_SQUARES()), methods="paper", alternative="greater", confidence_level=0.9, n_resamples=40,
        rng=6, resampling=FEW_INNER,
    ),
    "compare_intervals_algorithm": lambda: intervals(
        *fitted(LinearDiscriminantAnalysis()), methods="algorithm", rng=7,
        resampling=cb.Resampling(n_folds=5, n_splits=6, n_nested_repeats=4),
    ),
    "compare_intervals_options": lambda: intervals(
        *fitted(LEAST_SQUARES()), n_resamples=50, rng=8, methods=[
            "two-center", ("cud", cb.Bound(localization=2.0, polish=True)), ("bayle-cv", {"variance": "within-fold"})
        ],
    ),
    "compare_intervals_own_folds": lambda: intervals(
        *fitted(LEAST_SQUARES()), methods=["k-fold-t", "bayle-cv"], resampling=cb.Resampling(cv=5), rng=9
    ),
    "compare_intervals_groups": lambda: intervals(
        *grouped()[:3], groups=grouped()[3], n_resamples=40, resampling=FEW_INNER, rng=10,
        methods=["two-center", "cud", "bootstrap-percentile", "out-of-bag-wilson", "corrected-resampled-t"],
    ),
    "compare_intervals_groups_metrics": lambda: intervals(
        *grouped()[:3], groups=grouped()[3], methods="recommended", n_resamples=40, rng=11,
        metric=cb.Metrics(["error", "sensitivity", "specificity", "balanced-error"], event=1),
    ),
    "compare_intervals_weights": weighted,
    "compare_intervals_every_metric": lambda: intervals(
        *fitted(LogisticRegression(), n=40), n_resamples=40, rng=13,
        methods=["two-center", "cud", "bootstrap-632-normal", "out-of-bag-wilson"],
        metric=cb.Metrics(
            ["error", "sensitivity", "specificity", "balanced-error", "cost", "ppv", "npv"],
            event=1, costs={1: 3.0, -1: 1.0}, prevalence=0.3,
        ),
    ),
    "compare_intervals_joint": lambda: intervals(
        *fitted(LEAST_SQUARES(), n=40), methods="recommended", n_resamples=40, rng=14,
        metric=cb.Metrics(["sensitivity", "specificity"], event=1, joint=True),
    ),
    "compare_intervals_prevalence_of_sample": lambda: intervals(
        *fitted(LEAST_SQUARES(), n=40), methods="recommended", n_resamples=40, rng=15,
        metric=cb.Metrics(["ppv", "npv"], event=-1, prevalence="sample"),
    ),
    "compare_intervals_own_metric": lambda: intervals(
        *fitted(LEAST_SQUARES(), n=40), methods="recommended", n_resamples=40, rng=16,
        metric=cb.Metric("cost-of-events", shares=(0.7, 0.3), costs=(1.0, 2.0)),
    ),
    "compare_intervals_single_class_draws": single_class_draws,
    "compare_intervals_separable": lambda: intervals(
        *fitted(LEAST_SQUARES(), signal=40.0), methods="paper", n_resamples=40, resampling=FEW_INNER, rng=18
    ),
    "compare_intervals_binary_features": lambda: intervals(
        *fitted(LEAST_SQUARES(), kind="binary"), methods="recommended", n_resamples=60, rng=19
    ),
    "compare_intervals_more_features_than_rows": lambda: intervals(
        *fitted(RidgeClassifier(alpha=5.0), n=20, n_features=25), methods=["two-center", "out-of-bag-wilson"],
        n_resamples=40, rng=20,
    ),
    "compare_intervals_tuned": lambda: intervals(
        *fitted(
            GridSearchCV(
                make_pipeline(StandardScaler(), RidgeClassifier()), {"ridgeclassifier__alpha": [0.1, 10.0]}, cv=3
            )
        ),
        methods=["two-center", "bbc-cv", "bbc-f"], n_resamples=20, rng=21,
    ),
    "error_interval_of_least_squares": lambda: error_interval_of(LEAST_SQUARES(), 22),
    "error_interval_of_a_tree": lambda: error_interval_of(
        DecisionTreeClassifier(max_depth=2, random_state=0), 23
    ),
    "error_interval_of_nearest_neighbors": lambda: error_interval_of(KNeighborsClassifier(3), 24),
    "error_interval_of_a_linear_svc": lambda: error_interval_of(
        make_pipeline(StandardScaler(), LinearSVC(C=0.1)), 25
    ),
    "error_interval_of_robust_scaling": lambda: error_interval_of(
        make_pipeline(RobustScaler(), LogisticRegression()), 26
    ),
    "error_interval_of_stumps": lambda: error_interval_of(boosted_stumps(), 29, n_resamples=20),
    "error_interval_of_a_selection": lambda: error_interval_of(
        make_pipeline(SelectKBest(f_classif, k=2), LinearDiscriminantAnalysis()), 27, n_features=6
    ),
    "error_interval_by_name": lambda: table(
        cb.performance_interval(
            *fitted(LEAST_SQUARES()), method="bootstrap-percentile", alternative="greater", n_resamples=60,
            rng=30, resampling=cb.Resampling(inner="oob"),
        ).to_frame()
    ),
    "cud_interval_of_least_squares": lambda: of_cud(n_resamples=40, rng=31, all_draws=True),
    "draws_and_folds": draws_and_folds,
    "scores_by_every_method": lambda: intervals(
        *fitted(LogisticRegression(C=2.0), n=36), methods="all", metric=["auc", "brier"],
        new_cases=sample(n=41), n_resamples=40, rng=55,
    ),
    "scores_jointly_with_the_error_in_groups": lambda: intervals(
        *fitted(DecisionTreeClassifier(max_depth=2, random_state=0), n=40), groups=np.arange(40) // 2,
        metric=cb.Metrics(["error", "auc", "brier"], joint=True), n_resamples=40, rng=56,
    ),
    "calibration_values_and_one_limit": calibration_values_and_one_limit,
    "cud_interval_quantile_search": lambda: of_cud(n_resamples=40, rng=31),
    "cud_interval_of_logistic_regression": lambda: of_cud(
        LogisticRegression(C=2.0), n_resamples=25, rng=32
    ),
    "cud_interval_of_the_squared_hinge": lambda: of_cud(
        cb.ConvexLossClassifier(loss="squared_hinge", penalty=0.05), n_resamples=25, rng=33,
        confidence_level=0.9, bound=cb.Bound(localization="paper-literal"),
    ),
    "cud_interval_of_sensitivity": lambda: of_cud(
        metric=cb.Metrics("sensitivity", event=1), n_resamples=30, rng=34
    ),
    "cud_interval_under_limits": lambda: of_cud(
        n=60, n_features=8, signal=0.2, n_resamples=20, rng=35, bound=cb.Bound(nodes=3)
    ),
    "cud_interval_at_another_level": cud_interval_at_another_level,
    "cud_interval_by_the_reference_solver": cud_interval_by_the_reference_solver,
    "solve_draws_on_arrays": solve_draws_on_arrays,
    "estimate_error_by_all": lambda: estimates(
        *fitted(LEAST_SQUARES()), n_resamples=40, rng=39, new_cases=sample(n=41)
    ),
    "estimate_error_in_groups": lambda: estimates(
        *grouped()[:3], groups=grouped()[3], n_resamples=30, rng=40,
        methods=["k-fold", "bootstrap-632-plus", "bootstrap-optimism", "leave-one-out"],
    ),
    "instability_of_a_classifier": lambda: every_number(
        cb.performance_interval(*fitted(LEAST_SQUARES()), n_resamples=40, rng=41)
        .instability.to_frame()[["share", "distance"]]
    ),
    "compare_learners_of_two": lambda: learners(TWO, "method", rng=42),
    "compare_learners_one_sided_with_null": lambda: learners(
        TWO, "method", methods="5x2cv-t", alternative="less", null=0.05, rng=43
    ),
    "compare_learners_by_every_method": lambda: learners(
        TWO, "method", methods="all", rng=44, new_cases=sample(n=41)
    ),
    "compare_learners_in_pairs": lambda: learners(RIVALS, rng=45, confidence_level=0.9),
    "compare_learners_with_a_reference": lambda: learners(
        RIVALS, reference="least-squares", methods="bayle-cv", rng=46
    ),
    "recorded_losses": recorded_losses,
    "plan_from_a_pilot": lambda: plan(*sample(), rng=48),
    "plan_from_a_world": lambda: plan("gaussians", method="out-of-bag-wilson", rng=49),
    "sample_sizes_in_closed_form": sample_sizes_in_closed_form,
    "study_of_intervals": lambda: study_numbers(
        '"two-center", "cud", "bootstrap-percentile", "corrected-resampled-t"'
    ),
    "study_of_metrics": lambda: study_numbers(
        '"two-center", "out-of-bag-wilson"', 'metric = ["sensitivity", "specificity"]'
    ),
    "study_of_scores": lambda: study_numbers(
        '"two-center", "delong-10-fold"', 'metric = "auc"', 'metric = "auc"'
    ),
    "study_of_comparisons": lambda: study_numbers(
        '"corrected-resampled-t", "5x2cv-f"', 'rival = {classifier = "ridge"}',
        'rival = {classifier = "least-squares"}',
    ),
    "command_interval": lambda: table(
        command_numbers(
            "interval --exclude clinic --resamples 40 --seed 51 --methods paper --classifier least-squares",
            "intervals",
        )
    ),
    "command_interval_of_metrics_and_groups": lambda: table(
        command_numbers(
            "interval --group clinic --resamples 40 --seed 52 --classifier logistic --standardize "
            "--metric sensitivity,specificity,ppv --prevalence 0.2", "intervals", n=40,
        )
    ),
    "command_compare_learners": lambda: table(
        command_numbers("compare-learners --exclude clinic --learners lda,tree --seed 53", "comparisons"),
        "method",
    ),
    "command_plan": lambda: every_number(
        command_numbers(
            "plan --exclude clinic --n-samples 20,30 --replicates 10 --resamples 20 --seed 54 "
            "--classifier least-squares", "sizes",
        )
    ),
}  # fmt: skip


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
