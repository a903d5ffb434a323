"""The benchmark still runs: its modules load together and its cheapest case gives rows for the table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "docs" / "benchmarks"

SCRIPT = """
import sys
sys.path[:0] = [{benchmarks!r}, {tests!r}]
from pathlib import Path
import curves, directed, run, surrogates, tables
from measure import table
assert all(callable(case) for module in (directed, surrogates, tables) for case in module.CASES)
rows = tables.comparisons(quick=True)
points = [
    curves.Point(n, p, signal, 0.1, 0.01, 10, n < 100, "q 0.1")
    for signal in (3.0, 1.0, 0.0)
    for n, p in ((50, 5), (100, 5), (100, 2))
]
curves.draw(points, Path({picture!r}))
rows += curves.rows(points)
print(table(rows))
"""


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: Path):
    picture = tmp_path / "cost.svg"
    script = SCRIPT.format(
        benchmarks=str(BENCHMARKS), tests=str(ROOT / "tests" / "helpers"), picture=str(picture)
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "comparisons together / one by one" in done.stdout
    assert "cost of q of 500 draws" in done.stdout
    assert picture.read_text(encoding="utf-8").rstrip().endswith("</svg>")
