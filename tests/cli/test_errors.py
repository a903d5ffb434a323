"""Exit codes, and one clear line on stderr for everything that can be wrong with a command or its data."""

from __future__ import annotations

from pathlib import Path

from cli_fakes import assert_error, interval


def test_not_certified_is_printed_and_exits_3(fake, patients):
    fake.certified = False
    fake.warnings = ("2 of 1000 draws were stopped", "another")
    result = interval("--seed", "1")
    assert result.exit_code == 3
    assert "conditional" in result.stdout
    assert result.stderr == ("cudbound: warning: 2 of 1000 draws were stopped\ncudbound: warning: another\n")


def test_warnings_alone_are_no_failure(fake, patients):
    fake.warnings = ("zero width",)
    result = interval("--seed", "1")
    assert result.exit_code == 0
    assert result.stderr == "cudbound: warning: zero width\n"


def test_interrupt_exits_130(fake, patients):
    fake.error = KeyboardInterrupt()
    result = interval("--seed", "1", "--output", "out.txt")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr.strip() == "cudbound: interrupted"
    assert not Path("out.txt").exists()


def test_too_little_memory_is_said_in_one_line(fake, patients):
    fake.error = MemoryError()
    assert_error(interval("--seed", "1"), 1, "not enough memory; use fewer resamples or splits")


def test_a_bug_is_not_disguised_as_bad_data(fake, patients):
    fake.error = ZeroDivisionError("bug")
    assert isinstance(interval("--seed", "1").exception, ZeroDivisionError)
