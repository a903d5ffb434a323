"""The worked examples of Q as problems."""

from __future__ import annotations

from typing import Any

import numpy as np
from shared_files import shared_vectors

from cudbound.problem.problem import Problem

CUD_VECTORS = ["cud_A_0", "cud_duplicates", "cud_sens", "cud_B_onesided"]


def vector_problem(name: str) -> tuple[Problem, list[float], dict[str, Any]]:
    """Return the problem of a worked example, its values of alpha, and its results."""
    example = shared_vectors()[name]
    inputs, value = example["inputs"], example["value"]
    x = np.array(inputs["X"] if "X" in inputs else [[1.0, x] for x in inputs["x"]])
    labels = np.array(inputs["y"])
    coef = np.linalg.lstsq(x, labels, rcond=None)[0]
    weights = [value["weights"]] if "weights" in value else None
    problem = Problem.of(x, labels, coef, np.array([inputs["phi"]]), weights=weights)
    return problem, [float(alpha) for alpha in inputs["alpha"]], {**value, "tol": example["tol"]}
