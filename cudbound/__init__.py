"""Exact confidence sets for the true error of a classifier that was trained on few patients.

The public names are imported when they are first used, so that ``import cudbound`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudbound.bound import CudResult as CudResult
    from cudbound.bound import cud_interval as cud_interval
    from cudbound.compare import compare_intervals as compare_intervals
    from cudbound.convex_loss import ConvexLossClassifier as ConvexLossClassifier
    from cudbound.cvxpy_loss import CvxpyLoss as CvxpyLoss
    from cudbound.estimators import LeastSquaresClassifier as LeastSquaresClassifier
    from cudbound.problem import Problem as Problem
    from cudbound.results import ConfidenceInterval as ConfidenceInterval
    from cudbound.results import Draws as Draws
    from cudbound.results import IntervalEstimate as IntervalEstimate
    from cudbound.results import IntervalTable as IntervalTable
    from cudbound.results import SolveStatus as SolveStatus
    from cudbound.solve import solve_draws as solve_draws
    from cudbound.stumps import stump_basis as stump_basis

_HOME = {
    "CudResult": "bound",
    "cud_interval": "bound",
    "compare_intervals": "compare",
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
