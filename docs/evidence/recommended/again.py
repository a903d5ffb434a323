"""The misses of the confirmation once more, with another seed and more sets.

    python again.py STORE [--jobs 2] [--data FOLDER]    one file per cell in the folder STORE; resumes

A cell is run again, with the code of the registration and the rule alone, if the rule is short in it for one of its
metrics in cells.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import warnings
from dataclasses import replace
from pathlib import Path

import confirm
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

SEED_AGAIN = 20261227
#: Sets of a cell, of one that takes over half a second per set, and of a learner that splits its rows inside fit.
SETS, SETS_OF_SLOW, SETS_OF_SPLITTING = 3000, 600, 400


def cells_again(data: Path) -> list[confirm.Cell]:
    """Return the cells in which the rule is short, with the number of sets that was registered."""
    with (Path(__file__).parent / "cells.csv").open() as file:
        short = {
            row["cell"]
            for row in csv.DictReader(file)
            if row["method"] == "two-center" and row["keeps_level"] == "False"
        }
    return [replace(cell, sets=_n_sets(cell)) for cell in confirm.cells(data) if cell.name in short]


def _n_sets(cell: confirm.Cell) -> int:
    if cell.splits_inside:
        return SETS_OF_SPLITTING
    return SETS if cell.sets == 1000 else SETS_OF_SLOW


def run_block(cell: confirm.Cell, store: Path, numbers: range) -> None:
    """Run the sets of a block that the store does not have, without the methods beside the rule."""
    confirm.BESIDE, confirm.MOST_ROWS_NESTED = confirm.BESIDE[:1], 0
    warnings.simplefilter("ignore")
    path = store / f"{cell.name.replace('/', ' ')}.jsonl"
    done = {json.loads(line)["set"] for line in path.open()} if path.exists() else set()
    for number in set(numbers) - done:
        with threadpool_limits(1):
            line = json.dumps(confirm.run_set(cell, number, SEED_AGAIN)) + "\n"
        with path.open("a") as file:
            file.write(line)


def main() -> None:
    """Run the cells."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CUDBOUND_DATA", "data")))
    arguments = parser.parse_args()
    arguments.store.mkdir(exist_ok=True)
    work = [(cell, part) for cell in cells_again(arguments.data) for part in confirm.blocks(cell)]
    Parallel(arguments.jobs)(delayed(run_block)(cell, arguments.store, part) for cell, part in work)


if __name__ == "__main__":
    main()
