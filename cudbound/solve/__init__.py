"""Solvers for Q: the compiled solver and the slow reference, with a common contract."""

from cudbound.losses.surrogates import CvxpyLoss
from cudbound.problem.draws import Draws
from cudbound.problem.problem import Problem
from cudbound.solve.search import SearchLimits, solve_draws

__all__ = ["CvxpyLoss", "Draws", "Problem", "SearchLimits", "solve_draws"]
