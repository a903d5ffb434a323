"""A program that uses every public name as its users would: type checkers must find nothing in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import cudbound
from cudbound import (
    Bound,
    ComparisonTable,
    ConfidenceInterval,
    ConvexLossClassifier,
    CudResult,
    IntervalEstimate,
    IntervalTable,
    LeastSquaresClassifier,
    Metric,
    Metrics,
    PerformanceInterval,
    Resampling,
    available_methods,
    clinical_report,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    from_records,
    own_method,
    performance_interval,
    plan_sample_size,
    stump_basis,
    verify_result,
)
from cudbound.analysis.instability_and_calibration import Calibration, Instability
from cudbound.analysis.saved_file import Check, ResultVerification
from cudbound.analysis.table import PointEstimateTable
from cudbound.basis.results import ComparisonResult, Estimand, PointEstimate
from cudbound.clinical.clinical_report import ClinicalReport
from cudbound.intervals import Method
from cudbound.plotting.display import Display
from cudbound.plotting.forest import ComparisonDisplay, IntervalDisplay
from cudbound.plotting.risks import CalibrationDisplay, RocDisplay
from cudbound.plotting.studies import CoverageByScenarioDisplay, HalfWidthDisplay
from cudbound.problem.problem import Polish
from cudbound.solve import CvxpyLoss, Draws, Problem, SearchLimits
from cudbound.solve.search import Search
from cudbound.study import (
    Cases,
    SampleSizePlan,
    Scenario,
    Study,
    Summary,
    Truth,
    closed_form_sample_sizes,
    merge_stores,
    replay,
    run_study,
)
from cudbound.study.closed_forms import ClosedFormSize
from cudbound.study.plan_sample_size import PlannedSize, RequiredSampleSize
from cudbound.study.store import StudyStatus

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def report(X: Rows, y: Labels) -> str:
    model = LeastSquaresClassifier().fit(X, y)
    found: PerformanceInterval = performance_interval(model, X, y, rng=0)
    row: IntervalEstimate = found.row
    limits: ConfidenceInterval = row.confidence_interval
    aim: Estimand = row.estimand
    return f"{cudbound.__version__} {limits.low:.3f} {limits.high:.3f} {aim}"


def bound(X: Rows, y: Labels) -> CudResult:
    model = ConvexLossClassifier(loss="logistic", penalty=0.1).fit(X, y)
    few = Bound(seconds=10.0)
    result: CudResult = cud_interval(model, X, y, metric=Metric("sensitivity"), rng=0, bound=few)
    draws: Draws = result.draws
    problem: Problem = result.problem
    polish: Polish | None = result.polish
    search: Search = result.search
    residual = 0.0 if polish is None else polish.residual
    print(result.q + float(draws.upper.max()) + residual + float(problem.localization) + search.all_draws)
    return result.at(confidence_level=0.9, limits=SearchLimits(seconds=60.0))


def tables(X: Rows, y: Labels) -> pd.DataFrame:
    model = LeastSquaresClassifier().fit(X, y)
    rival = ConvexLossClassifier(loss="squared").fit(X, y)
    both = Metrics(["error", "sensitivity"])
    intervals: IntervalTable = compare_intervals(model, X, y, metric=both, event=1, rng=0, methods="paper")
    points: PointEstimateTable = estimate_error(model, X, y, rng=0)
    comparisons: ComparisonTable = compare_learners(
        {"squares": model, "convex": rival, "majority": "majority"},
        X,
        y,
        methods=["mcnemar", ("grandvalet-bengio-t", {"rho": 0.5})],
        reference="majority",
        resampling=Resampling(n_splits=20),
    )
    first: ComparisonResult = comparisons["squares", "majority", "mcnemar"]
    adjusted: float | None = first.adjusted_pvalue
    print(compare_learners([model, rival], X, y, rng=0).row.pvalue, adjusted)
    print(stump_basis(model), available_methods())
    return pd.concat([intervals.to_frame(), comparisons.to_frame(), points.to_frame()])


def patients(X: Rows, y: Labels) -> float:
    plan: SampleSizePlan = plan_sample_size(LeastSquaresClassifier(), X, y, n_samples=[40, 80], rng=0)
    first: PlannedSize = plan.sizes[0]
    required: RequiredSampleSize = plan.n_samples_for(half_width=0.05, probability=0.9)
    forms: tuple[ClosedFormSize, ...] = closed_form_sample_sizes(0.05, accuracy=0.8)
    display: HalfWidthDisplay = plan.plot()
    return required.n + first.n + (forms[0].n or 0) + display.required


def recorded(
    losses: Any,
) -> tuple[IntervalEstimate | PointEstimate, ComparisonResult]:
    return (from_records(losses, "bayle-cv"), from_records(losses, "corrected-resampled-t", differences=True))


def draws(design: NDArray[np.float64], labels: NDArray[np.float64], counts: NDArray[np.int32]) -> Draws:
    own = CvxpyLoss("my-loss", lambda margins, cp: cp.pos(1 - margins))
    problem = Problem.of(design, labels, np.zeros(design.shape[1]), counts, loss=own)
    return cudbound.solve.solve_draws(problem, limits=SearchLimits(solver="cvxpy"))


def unstable(X: Rows, y: Labels) -> list[Instability]:
    model = LeastSquaresClassifier().fit(X, y)
    found = performance_interval(model, X, y, n_resamples=200, rng=0).instability
    assert found is not None
    drawn: Display = found.plot(picture="risks")
    drawn.save("rows.svg")
    return [found]


def calibrated(table: IntervalTable, result: PerformanceInterval) -> Calibration | None:
    curve: RocDisplay = RocDisplay.from_table(table).plot()
    found = table.calibration
    if found is None:
        return result.calibration
    drawn: CalibrationDisplay = found.plot()
    print(curve, drawn, found.slope - found.apparent_slope)
    return found


def saved(
    found: PerformanceInterval | IntervalTable | CudResult, model: LeastSquaresClassifier, folder: Path
) -> list[str]:
    found.save(folder / "result.json")
    verification: ResultVerification = verify_result(
        folder / "result.json", model, [[0.0], [1.0]], [0, 1], n_jobs=2
    )
    checks: tuple[Check, ...] = verification.checks
    return [] if verification.passed and verification.complete else [check.finding for check in checks]


def clinical(model: LeastSquaresClassifier, X: Rows, y: Labels, folder: Path) -> ClinicalReport:
    found: ClinicalReport = clinical_report(model, X, y, rng=0)
    print(found.to_dict()["box"], found.to_json(), found.to_html(), found.save(folder / "report.html"))
    return found


class Coin:
    """Labels without features."""

    name = "coin"
    title = "labels without features"

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        return Cases(rng.normal(size=(n, 1)), rng.integers(0, 2, n), lambda classifier: Truth(0.5))


def everything(
    model: LeastSquaresClassifier,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    level: float,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    return 0.5, 0.0, 1.0


def study(folder: Path) -> Summary:
    mine: Method = own_method("mine", everything, tendency="long")
    scenario = Scenario("coin", Coin(), LeastSquaresClassifier())
    planned = Study("quick", (scenario,), (30,), 10, ("langford-binomial", everything, mine))
    status: StudyStatus = run_study(planned, folder / "one.sqlite", n_jobs=2)
    print(status.n_done, replay(planned, folder / "one.sqlite", "coin", 30, 0).truth)
    merge_stores([folder / "one.sqlite"], folder / "all.sqlite")
    return cudbound.study.summarize(folder / "all.sqlite")


def plots(frame: pd.DataFrame) -> None:
    IntervalDisplay(frame).plot()
    ComparisonDisplay(frame).plot()
    CoverageByScenarioDisplay(frame).plot()
