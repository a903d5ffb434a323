"""Fixtures of the tests of the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_fakes import CLEAN, Fake

from cudbound.cli.commands import run_interval as run


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    computation = Fake()
    monkeypatch.setattr(run, "compute", computation)
    return computation


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clean file in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "patients.csv"
    path.write_text(CLEAN)
    return path
