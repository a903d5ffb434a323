"""Print the ratios of time that the package aims at, measured side by side in one run.

    python docs/benchmarks/run.py [--quick] [--picture FILE]

Every comparison runs its sides in turns (A B A B ...) on one thread and reports medians, because a machine that
is shared or changes its clock slows all of them alike. Timings are not tests: pytest collects nothing here, and
the numbers of nodes of seeded problems are pinned in ``tests/solve/test_properties.py`` and
``tests/solve/test_directed.py`` instead.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path


def main() -> None:
    """Run all cases and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, data sets and draws")
    parser.add_argument(
        "--picture", type=Path, help="draw the cost curves in n and p, as docs/pictures/cost.svg"
    )
    options = parser.parse_args()
    quick = options.quick

    # before numpy is loaded: one thread for every side
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))  # the worlds of the tests
    import curves
    import directed
    import surrogates
    import tables
    from measure import table

    rows = []
    for case in (*directed.CASES, *surrogates.CASES, *tables.CASES):
        print(f"{case.__name__} ...", file=sys.stderr, flush=True)
        rows += case(quick)
    print("cost curves ...", file=sys.stderr, flush=True)
    points = curves.measure(quick)
    rows += curves.rows(points)
    if options.picture is not None:
        curves.draw(points, options.picture)
    print(
        f"Python {platform.python_version()}, {platform.machine()}, one thread{', quick' if quick else ''}\n"
    )
    print(table(rows))
    print(f"\nDraws that were not solved to the end: {sum(row.unsolved for row in rows)}")


if __name__ == "__main__":
    main()
