"""The worked examples that several test files read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORKED_EXAMPLES = Path(__file__).with_name("worked_examples.json")
#: Those of what goes beyond the sources: clinical software, tuned classifiers, rows in groups.
FURTHER_EXAMPLES = WORKED_EXAMPLES.with_name("worked_examples_2.json")
#: Those of the AUC and the Brier score.
WORKED_PROBABILITIES = WORKED_EXAMPLES.with_name("worked_probabilities.json")


def shared_vectors(path: Path = WORKED_EXAMPLES) -> dict[str, dict[str, Any]]:
    """Return the worked examples of a file by their id: inputs, value, tol, source."""
    return {entry["id"]: entry for entry in json.loads(path.read_text())}
