"""An archive without a history: what can be checked and built there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """What `make lint` and `make wheel` begin with, where there is neither a history nor git."""
    for script in ("house_rules.py", "wheel"):
        (tmp_path / ".ci").mkdir(exist_ok=True)
        (tmp_path / ".ci" / script).write_text((ROOT / ".ci" / script).read_text())
    (tmp_path / "pyproject.toml").touch()
    os.utime(tmp_path / "pyproject.toml", (0, 1234567890))
    return tmp_path


def run(*arguments: str, cwd: Path, path: str = os.defpath) -> str:
    environment = {"PATH": path, "GIT_CEILING_DIRECTORIES": str(cwd.parent)}
    done = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", ["", os.defpath], ids=["no git", "no history"])
def test_style_is_checked_without_a_history(archive, path):
    said = run(sys.executable, ".ci/house_rules.py", cwd=archive, path=path)
    assert said.endswith("there is no commit HEAD~1 here, so no added words were read\n")


@pytest.mark.skipif(sys.platform != "linux", reason="wheels for Linux alone are built this way")
def test_a_wheel_without_a_history_has_the_time_of_its_files(archive):
    script = (archive / ".ci" / "wheel").read_text()
    beginning = script[: script.index("if ! test")] + "echo $SOURCE_DATE_EPOCH\n"
    (archive / ".ci" / "wheel").write_text(beginning)
    assert run("bash", ".ci/wheel", cwd=archive) == "1234567890\n"
