"""The worked examples that several test files read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORKED_EXAMPLES = Path(__file__).with_name("worked_examples.json")

#: The file that `WORKED_EXAMPLES` is a copy of; it lies beside the checkout where the project is developed.
ORIGINAL = Path(__file__).parents[3] / "shared" / "vectors" / "worked_examples.json"


def shared_vectors() -> dict[str, dict[str, Any]]:
    """Return the worked examples by their id: inputs, value, tol, source."""
    return {entry["id"]: entry for entry in json.loads(WORKED_EXAMPLES.read_text())}
