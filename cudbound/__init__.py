"""Exact confidence sets for the true error of a classifier that was trained on few patients.

The public names are imported when they are first used, so that ``import cudbound`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudbound.adapters.statsmodels_results import from_statsmodels as from_statsmodels
    from cudbound.bound.cud_interval import cud_interval as cud_interval
    from cudbound.bound.cud_result import CudResult as CudResult
    from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier as ChosenThresholdClassifier
    from cudbound.estimators.convex_loss import ConvexLossClassifier as ConvexLossClassifier
    from cudbound.estimators.least_squares import LeastSquaresClassifier as LeastSquaresClassifier
    from cudbound.estimators.stumps import stump_basis as stump_basis
    from cudbound.exact.certificate import Certificate as Certificate
    from cudbound.exact.certificate import Verification as Verification
    from cudbound.losses.cvxpy_loss import CvxpyLoss as CvxpyLoss
    from cudbound.metrics.asked import Metrics as Metrics
    from cudbound.metrics.metric import Metric as Metric
    from cudbound.outcomes import ConfidenceInterval as ConfidenceInterval
    from cudbound.outcomes import Estimand as Estimand
    from cudbound.planning.closed_forms import ClosedFormSize as ClosedFormSize
    from cudbound.planning.closed_forms import closed_form_sample_sizes as closed_form_sample_sizes
    from cudbound.planning.plan_sample_size import plan_sample_size as plan_sample_size
    from cudbound.planning.required_size import RequiredSampleSize as RequiredSampleSize
    from cudbound.planning.sample_size_plan import PlannedSize as PlannedSize
    from cudbound.planning.sample_size_plan import SampleSizePlan as SampleSizePlan
    from cudbound.plotting.coverage import CoverageByScenarioDisplay as CoverageByScenarioDisplay
    from cudbound.plotting.coverage import CoverageWidthDisplay as CoverageWidthDisplay
    from cudbound.plotting.coverage import KurtosisDisplay as KurtosisDisplay
    from cudbound.plotting.forest import ComparisonDisplay as ComparisonDisplay
    from cudbound.plotting.forest import IntervalDisplay as IntervalDisplay
    from cudbound.plotting.half_widths import HalfWidthDisplay as HalfWidthDisplay
    from cudbound.plotting.instability_display import InstabilityDisplay as InstabilityDisplay
    from cudbound.plotting.nested_loop import NestedLoopDisplay as NestedLoopDisplay
    from cudbound.plotting.suprema import SupremaDisplay as SupremaDisplay
    from cudbound.problem.additive_model import Polish as Polish
    from cudbound.problem.problem import Problem as Problem
    from cudbound.report.description import Description as Description
    from cudbound.resampling import ResamplingSizes as ResamplingSizes
    from cudbound.results import ComparisonResult as ComparisonResult
    from cudbound.results import Draws as Draws
    from cudbound.results import IntervalEstimate as IntervalEstimate
    from cudbound.results import PointEstimate as PointEstimate
    from cudbound.results import SolveStatus as SolveStatus
    from cudbound.seeds import OverSeeds as OverSeeds
    from cudbound.solve.limits import SearchLimits as SearchLimits
    from cudbound.solve.search import Search as Search
    from cudbound.solve.solve_draws import solve_draws as solve_draws
    from cudbound.study.design.scenario import Scenario as Scenario
    from cudbound.study.design.scenario import Study as Study
    from cudbound.study.measure.summary import Summary as Summary
    from cudbound.study.measure.summary import summarize as summarize
    from cudbound.study.run.merge import merge_stores as merge_stores
    from cudbound.study.run.replay import replay as replay
    from cudbound.study.run.runner import run_study as run_study
    from cudbound.study.run.status import StudyStatus as StudyStatus
    from cudbound.tables.available_methods import available_methods as available_methods
    from cudbound.tables.cochran import CochranQ as CochranQ
    from cudbound.tables.cochran import cochran_q as cochran_q
    from cudbound.tables.compare_intervals import compare_intervals as compare_intervals
    from cudbound.tables.compare_learners import compare_learners as compare_learners
    from cudbound.tables.compare_learners import tabulate_comparisons as tabulate_comparisons
    from cudbound.tables.error_interval import ErrorInterval as ErrorInterval
    from cudbound.tables.error_interval import error_interval as error_interval
    from cudbound.tables.estimate_error import estimate_error as estimate_error
    from cudbound.tables.explanation import Explanation as Explanation
    from cudbound.tables.explanation import explain as explain
    from cudbound.tables.from_recorded import recorded_comparison as recorded_comparison
    from cudbound.tables.from_recorded import recorded_estimate as recorded_estimate
    from cudbound.tables.from_recorded import recorded_interval as recorded_interval
    from cudbound.tables.instability import Instability as Instability
    from cudbound.tables.instability import classification_instability as classification_instability
    from cudbound.tables.instability import recorded_instability as recorded_instability
    from cudbound.tables.pairwise import Pair as Pair
    from cudbound.tables.pairwise import PairTable as PairTable
    from cudbound.tables.pairwise import compare_many_learners as compare_many_learners
    from cudbound.tables.table import ComparisonTable as ComparisonTable
    from cudbound.tables.table import IntervalTable as IntervalTable
    from cudbound.tables.table import PointEstimateTable as PointEstimateTable
    from cudbound.tables.unfinished import Unfinished as Unfinished
    from cudbound.tables.verification import Check as Check
    from cudbound.tables.verification import ResultVerification as ResultVerification
    from cudbound.tables.verify_result import verify_result as verify_result

_HOME = {
    "CudResult": "bound.cud_result",
    "cud_interval": "bound.cud_interval",
    "Certificate": "exact.certificate",
    "error_interval": "tables.error_interval",
    "ErrorInterval": "tables.error_interval",
    "compare_intervals": "tables.compare_intervals",
    "available_methods": "tables.available_methods",
    "compare_many_learners": "tables.pairwise",
    "Pair": "tables.pairwise",
    "PairTable": "tables.pairwise",
    "cochran_q": "tables.cochran",
    "CochranQ": "tables.cochran",
    "explain": "tables.explanation",
    "Explanation": "tables.explanation",
    "compare_learners": "tables.compare_learners",
    "tabulate_comparisons": "tables.compare_learners",
    "plan_sample_size": "planning.plan_sample_size",
    "SampleSizePlan": "planning.sample_size_plan",
    "PlannedSize": "planning.sample_size_plan",
    "RequiredSampleSize": "planning.required_size",
    "closed_form_sample_sizes": "planning.closed_forms",
    "ClosedFormSize": "planning.closed_forms",
    "estimate_error": "tables.estimate_error",
    "recorded_comparison": "tables.from_recorded",
    "recorded_estimate": "tables.from_recorded",
    "recorded_interval": "tables.from_recorded",
    "classification_instability": "tables.instability",
    "recorded_instability": "tables.instability",
    "Instability": "tables.instability",
    "ResamplingSizes": "resampling",
    "ComparisonResult": "results",
    "ComparisonTable": "tables.table",
    "ChosenThresholdClassifier": "estimators.chosen_threshold",
    "ConvexLossClassifier": "estimators.convex_loss",
    "CvxpyLoss": "losses.cvxpy_loss",
    "LeastSquaresClassifier": "estimators.least_squares",
    "Metric": "metrics.metric",
    "Metrics": "metrics.asked",
    "Problem": "problem.problem",
    "ConfidenceInterval": "outcomes",
    "Estimand": "outcomes",
    "Draws": "results",
    "OverSeeds": "seeds",
    "IntervalEstimate": "results",
    "IntervalTable": "tables.table",
    "SolveStatus": "results",
    "SearchLimits": "solve.limits",
    "solve_draws": "solve.solve_draws",
    "stump_basis": "estimators.stumps",
    "from_statsmodels": "adapters.statsmodels_results",
    "Scenario": "study.design.scenario",
    "Study": "study.design.scenario",
    "merge_stores": "study.run.merge",
    "replay": "study.run.replay",
    "run_study": "study.run.runner",
    "Polish": "problem.additive_model",
    "PointEstimate": "results",
    "PointEstimateTable": "tables.table",
    "Search": "solve.search",
    "StudyStatus": "study.run.status",
    "Summary": "study.measure.summary",
    "Unfinished": "tables.unfinished",
    "Verification": "exact.certificate",
    "verify_result": "tables.verify_result",
    "ResultVerification": "tables.verification",
    "Check": "tables.verification",
    "ComparisonDisplay": "plotting.forest",
    "CoverageByScenarioDisplay": "plotting.coverage",
    "CoverageWidthDisplay": "plotting.coverage",
    "IntervalDisplay": "plotting.forest",
    "InstabilityDisplay": "plotting.instability_display",
    "KurtosisDisplay": "plotting.coverage",
    "NestedLoopDisplay": "plotting.nested_loop",
    "SupremaDisplay": "plotting.suprema",
    "HalfWidthDisplay": "plotting.half_widths",
    "Description": "report.description",
    "summarize": "study.measure.summary",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("cudbound")
    if name in _HOME:
        return getattr(importlib.import_module(f"cudbound.{_HOME[name]}"), name)
    raise AttributeError(f"module 'cudbound' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
