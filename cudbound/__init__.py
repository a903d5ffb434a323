"""Exact confidence sets for the true error of a classifier that was trained on few patients.

The public names are imported when they are first used, so that ``import cudbound`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudbound.bound import CudResult as CudResult
    from cudbound.bound import cud_interval as cud_interval
    from cudbound.certificate import Certificate as Certificate
    from cudbound.compare import compare_intervals as compare_intervals
    from cudbound.convex_loss import ConvexLossClassifier as ConvexLossClassifier
    from cudbound.cvxpy_loss import CvxpyLoss as CvxpyLoss
    from cudbound.estimate import estimate_error as estimate_error
    from cudbound.estimators import LeastSquaresClassifier as LeastSquaresClassifier
    from cudbound.learners import compare_learners as compare_learners
    from cudbound.learners import tabulate_comparisons as tabulate_comparisons
    from cudbound.methods import available_methods as available_methods
    from cudbound.problem import Problem as Problem
    from cudbound.recorded import recorded_comparison as recorded_comparison
    from cudbound.recorded import recorded_estimate as recorded_estimate
    from cudbound.recorded import recorded_interval as recorded_interval
    from cudbound.resampling import ResamplingSizes as ResamplingSizes
    from cudbound.results import ComparisonResult as ComparisonResult
    from cudbound.results import ComparisonTable as ComparisonTable
    from cudbound.results import ConfidenceInterval as ConfidenceInterval
    from cudbound.results import Draws as Draws
    from cudbound.results import IntervalEstimate as IntervalEstimate
    from cudbound.results import IntervalTable as IntervalTable
    from cudbound.results import SolveStatus as SolveStatus
    from cudbound.solve import solve_draws as solve_draws
    from cudbound.study.runner import run_study as run_study
    from cudbound.study.scenario import Scenario as Scenario
    from cudbound.study.scenario import Study as Study
    from cudbound.study.summary import summarise as summarise
    from cudbound.stumps import stump_basis as stump_basis

_HOME = {
    "CudResult": "bound",
    "cud_interval": "bound",
    "Certificate": "certificate",
    "compare_intervals": "compare",
    "available_methods": "methods",
    "compare_learners": "learners",
    "tabulate_comparisons": "learners",
    "estimate_error": "estimate",
    "recorded_comparison": "recorded",
    "recorded_estimate": "recorded",
    "recorded_interval": "recorded",
    "ResamplingSizes": "resampling",
    "ComparisonResult": "results",
    "ComparisonTable": "results",
    "ConvexLossClassifier": "convex_loss",
    "CvxpyLoss": "cvxpy_loss",
    "LeastSquaresClassifier": "estimators",
    "Problem": "problem",
    "ConfidenceInterval": "results",
    "Draws": "results",
    "IntervalEstimate": "results",
    "IntervalTable": "results",
    "SolveStatus": "results",
    "solve_draws": "solve",
    "stump_basis": "stumps",
    "Scenario": "study.scenario",
    "Study": "study.scenario",
    "run_study": "study.runner",
    "summarise": "study.summary",
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
