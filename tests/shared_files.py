"""Files that the tests share with the rest of the project, which lie beside the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[2] / "shared"


def shared_vectors() -> dict[str, dict[str, Any]]:
    """Return the worked examples by their id: inputs, value, tol, source."""
    path = SHARED / "vectors" / "worked_examples.json"
    if not path.exists():
        raise FileNotFoundError(f"the worked examples are missing: {path}")
    return {entry["id"]: entry for entry in json.loads(path.read_text())}
