"""The worked examples that several test files read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from cudbound.problem.problem import Problem

WORKED_EXAMPLES = Path(__file__).with_name("worked_examples.json")
#: Those of what goes beyond the sources: clinical software, tuned classifiers, rows in groups.
FURTHER_EXAMPLES = WORKED_EXAMPLES.with_name("worked_examples_2.json")


def shared_vectors(path: Path = WORKED_EXAMPLES) -> dict[str, dict[str, Any]]:
    """Return the worked examples of a file by their id: inputs, value, tol, source."""
    return {entry["id"]: entry for entry in json.loads(path.read_text())}


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
