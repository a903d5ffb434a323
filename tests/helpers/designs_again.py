"""Designs that are run again.

``python tests/helpers/designs_again.py published FOLDER`` writes the designs of the 149 published cells of two-center,
by two-center alone with the seeds of then. The random numbers of a replicate depend on the seed, the name of the
scenario, n and its number alone, so that the samples and draws are those of then.

``python tests/helpers/designs_again.py misses DESIGN SEED NAME...`` prints a design of the package with these scenarios
alone, at 3000 sets, with another seed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from cudbound.study.design.design_file import template_text

#: Sizes at which each design was published.
SIZES = {
    "paper2008": [20, 30, 50],
    "where-intervals-break": [30, 50, 100],
    "logistic-regression": [30, 50],
}
#: Sets by which a miss is confirmed.
N_CONFIRMED = 3000


def by_two_center(name: str) -> str:
    """Return a design with its published sizes and no other method."""
    alone = 'methods = ["two-center"]'
    text = re.sub(r"^methods = (\[.*?\]|.*?$)", alone, template_text(name), count=1, flags=re.M | re.S)
    return re.sub(r"^n_samples = .*$", f"n_samples = {SIZES[name]}", text, count=1, flags=re.M)


def misses(name: str, seed: int, scenarios: list[str]) -> str:
    """Return a design with these scenarios alone, each at 3000 sets."""
    head, *tables = template_text(name).split("[[scenario]]\n")
    named = {tomllib.loads(table)["name"]: table for table in tables}
    head = re.sub(r"^seed = .*$", f"seed = {seed}", head, flags=re.M)
    kept = [named[one] for one in scenarios]
    text = "[[scenario]]\n".join([head, *kept])
    return re.sub(r"^n_replicates = .*$", f"n_replicates = {N_CONFIRMED}", text, flags=re.M)


if __name__ == "__main__":
    what, place, *more = sys.argv[1:]
    if what == "published":
        for design in SIZES:
            (Path(place) / f"{design}.toml").write_text(by_two_center(design))
    else:
        print(misses(place, int(more[0]), more[1:]), end="")
