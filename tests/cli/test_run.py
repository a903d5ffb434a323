"""The work behind the commands, and the command as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cudbound

# --- as a program


def program(*arguments: str, cwd: Path, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    root = str(Path(cudbound.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "cudbound", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
        check=False,
        timeout=900,
    )


@pytest.mark.parametrize("command", ["interval", "compare-learners", "methods"])
def test_help_loads_no_heavy_package(tmp_path, command):
    code = (
        "import sys\nfrom cudbound.cli.group import main\n"
        "try:\n    main(['" + command + "', '--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'sklearn', 'pandas', 'scipy', 'joblib', 'tqdm', 'tabulate', 'cvxpy', 'matplotlib', 'skops'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    root = str(Path(cudbound.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
