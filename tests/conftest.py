"""What all tests share: Ctrl-C reaches the processes they start; no wall time; fixtures of the tests of the command."""

from __future__ import annotations

import math
import signal
from pathlib import Path

import hypothesis
import pytest
from cli_fakes import CLEAN, Fake
from hypothesis_cases import SEEN

from cudbound.basis import calls

# a property is not false because the machine is busy
hypothesis.settings.register_profile("any time", deadline=None)
hypothesis.settings.load_profile("any time")


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start; and announce no long refits, which are long when others compute.

    A shell without job control starts what it puts into the background with SIGINT ignored, and each process that is
    started from there would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    calls.LONG_SECONDS = math.inf


@pytest.fixture(autouse=True, scope="module")
def open_draws_of_a_file() -> None:
    """Count draws that stay open by file: which files share a process must not matter."""
    SEEN.clear()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    computation = Fake()
    for module in ("interval", "demo"):
        monkeypatch.setattr(f"cudbound.cli.{module}.compute", computation)
    return computation


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clean file in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "patients.csv"
    path.write_text(CLEAN)
    return path
