"""The benchmark still runs: its modules load together and its cheapest case gives rows for the table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).with_name("benchmarks")

SCRIPT = """
import sys
sys.path[:0] = [{benchmarks!r}, {tests!r}]
import cases, directed, run, surrogates, tables
from measure import table
assert all(callable(case) for module in (cases, directed, surrogates, tables) for case in module.CASES)
rows = tables.comparisons(quick=True)
print(table(rows))
"""


def test_the_benchmark_runs():
    script = SCRIPT.format(benchmarks=str(BENCHMARKS), tests=str(BENCHMARKS.parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "comparisons together / one by one" in done.stdout
