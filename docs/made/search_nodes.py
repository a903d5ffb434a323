"""Nodes of the search for one quantile and for every draw: ``python docs/made/search_nodes.py`` writes the file anew.

500 draws of each seeded problem, squared loss, localization n, the .95 quantile. Takes about a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "evidence" / "search_nodes.csv"
DRAWS, RANK = 500, 475
SETTINGS = [(50, 5, 1.0), (50, 5, 0.0), (200, 5, 1.0), (200, 10, 3.0), (1000, 5, 3.0)]


def nodes_of(n: int, p: int, signal: float) -> tuple[int, int]:
    """Return the nodes for the quantile and for every draw."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from worlds import world_problem

    from cudbound.solve.search import solve_draws

    problem = world_problem(n, p, signal, 0, n_draws=DRAWS)
    quantile, every = solve_draws(problem, ranks=RANK), solve_draws(problem)
    assert every.certified.all()
    return int(quantile.nodes.sum()), int(every.nodes.sum())


if __name__ == "__main__":
    rows = [
        {"n": n, "p": p, "signal": signal or "none: labels are noise"}
        | dict(zip(("quantile", "every draw"), nodes_of(n, p, signal), strict=True))
        for n, p, signal in SETTINGS
    ]
    pd.DataFrame(rows).to_csv(FILE, index=False)
