"""The worked examples that several test files read, and what lies beside the repository where it is developed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

WORKED_EXAMPLES = Path(__file__).with_name("worked_examples.json")
#: Those of what goes beyond the sources: clinical software, tuned classifiers, rows in groups.
FURTHER_EXAMPLES = WORKED_EXAMPLES.with_name("worked_examples_2.json")
#: Those of the AUC and the Brier score.
WORKED_PROBABILITIES = WORKED_EXAMPLES.with_name("worked_probabilities.json")

#: Beside the repository where it is developed; a clone has nothing beside it, and no test may need it: what cannot do
#: without is skipped there.
BESIDE = Path(__file__).parents[3] / "shared"
#: The files that these are copies of.
ORIGINALS = BESIDE / "vectors"
PUBLISHED_SETS = BESIDE / "data"
needs_published_sets = pytest.mark.skipif(
    not PUBLISHED_SETS.is_dir(),
    reason="the published data sets lie beside the repository where it is developed",
)


def shared_vectors(path: Path = WORKED_EXAMPLES) -> dict[str, dict[str, Any]]:
    """Return the worked examples of a file by their id: inputs, value, tol, source."""
    return {entry["id"]: entry for entry in json.loads(path.read_text())}
