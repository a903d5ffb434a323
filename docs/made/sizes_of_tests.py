"""Tables of the study of tests for two learners, from the stored cells: docs/evidence/comparisons."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parents[2] / "docs" / "evidence" / "comparisons"
CHOSEN = "repeated-k-fold-t"


def stored_cells() -> pd.DataFrame:
    """Return a line per cell and method, with the number of the cell: 1 where the chosen test rejects most often."""
    cells = pd.read_csv(FOLDER / "cells.csv")
    chosen = cells[cells["method"] == CHOSEN].sort_values(["equal", "rejected"], ascending=False)
    numbers = {name: number for number, name in enumerate(chosen["cell"], start=1)}
    return cells.assign(number=cells["cell"].map(numbers)).sort_values("number")


def of_equal_errors(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the largest size of each method, the cells in which it kept its level, and its mean width; worst first."""
    equal = cells[cells["equal"]].assign(kept=lambda lines: lines["keeps_level"].astype(str) == "True")
    by_method = equal.groupby("method").agg(
        largest=("rejected", "max"), kept=("kept", "sum"), width=("width", "mean"), sets=("sets", "max")
    )
    return by_method.sort_values(["largest", "width"], ascending=False)


def in_words(method: str) -> str:
    """Return the name of a method as code, with how it was used."""
    name, comma, how = method.removesuffix(", none").partition(", ")
    return f"`{name}`{comma}{how}" if name != "ten partitions" else method


def decimal(value: float) -> str:
    """Return a share without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def methods_by_size() -> list[dict[str, str]]:
    """Return a row per method, that of the largest size first."""
    cells = stored_cells()
    power = cells[~cells["equal"]].pivot(index="method", columns="number", values="rejected")
    return [
        {
            "test": in_words(str(name)),
            "largest size": decimal(line.largest),
            "level kept, of 17": str(int(line.kept)),
            "width": f"{line.width:.2f}",
            "rejected with a difference": ", ".join(map(decimal, power.loc[name])),
        }
        for name, line in of_equal_errors(cells).iterrows()
    ]
