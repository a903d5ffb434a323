"""The chosen test again in the cell where it rejected most often, with another seed, as registered.

    python repeat.py run STORE       resumes
    python repeat.py summary STORE   repeated.csv on standard output

The cell is that of the largest size in cells.csv. registration.md has the rules.
"""

from __future__ import annotations

import csv
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import compare

SEED = 20261204
SETS = 3000


def worst_cell() -> compare.Cell:
    """Return the cell of equal errors in which the chosen test rejected most often, with more sets."""
    with (Path(__file__).parent / "cells.csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["method"] == compare.PROPOSED]
    worst = max((line for line in lines if line["equal"] == "True"), key=lambda line: float(line["rejected"]))
    return next(replace(cell, sets=SETS) for cell in compare.CELLS if cell.name == worst["cell"])


def main() -> None:
    """Run a command on this one cell."""
    command, store = sys.argv[1], Path(sys.argv[2])
    warnings.simplefilter("ignore")
    compare.CELLS[:] = [worst_cell()]
    if command == "run":
        compare.run(store, SEED)
    else:
        compare.summary(store)


if __name__ == "__main__":
    main()
