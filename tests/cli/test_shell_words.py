"""Remarks, warnings and errors in the words of the reader: options at the shell, arguments in Python."""

from __future__ import annotations

import pytest
from cli_fakes import assert_error, interval
from unwrapped import unwrapped

from cudbound.cli.output.shell_words import PHRASES, at_the_shell
from cudbound.intervals.two_stage import NO_INNER_DRAWS
from cudbound.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG
from cudbound.results import IntervalEstimate
from cudbound.tables.table import IntervalTable


def row(method: str, estimate: float, low: float, high: float, reason: str | None = None) -> IntervalEstimate:
    found = Outcome(
        estimate, ConfidenceInterval(low, high), estimand=Estimand("conditional"), degenerate=reason
    )
    return IntervalEstimate.of(found, method=method, confidence_level=0.95, n_fits=1)


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        (NOTHING_OUT_OF_BAG, "undefined: no point was ever out of bag, raise --resamples"),
        (
            NO_INNER_DRAWS,
            "no inner draws on record: add --inner 50, which takes 50 further refits of every draw",
        ),
        ("add polish=True or solver='cvxpy'", "add --polish or --solver cvxpy"),
        ("a reason without any argument", "a reason without any argument"),
    ],
)
def test_arguments_become_options(python, shell):
    assert at_the_shell(python) == shell


def test_the_command_prints_options_and_python_prints_arguments(fake, patients, monkeypatch):
    table = IntervalTable((row("two-stage", 0.2, 0.1, 0.3, NO_INNER_DRAWS),))
    monkeypatch.setattr("cli_fakes.TABLE", table)
    printed = " ".join(interval("--seed", "1").stdout.split())
    assert "add --inner 50" in printed
    assert "inner=50" not in printed
    assert "pass inner=50" in " ".join(str(table).split())


def test_errors_and_warnings_are_told_in_the_same_words(fake, patients):
    fake.warnings = ("no interval: raise n_resamples",)
    assert "warning: no interval: raise --resamples" in interval("--seed", "1").stderr
    fake.error = ValueError("nothing is left. Raise n_resamples.")
    assert_error(interval("--seed", "1"), 1, "nothing is left. Raise --resamples.")


def test_every_option_that_is_named_exists():
    options = {
        word.removesuffix(".") for _, words in PHRASES for word in words.split() if word.startswith("--")
    }
    text = interval("--help").stdout
    assert options
    assert all(option in text for option in options)


def test_limits_that_leave_out_their_estimate_are_explained():
    text = str(
        IntervalTable((row("bccvp", 0.2, 0.25, 0.4), row("cud", 0.2, 0.1, 0.3), row("aci", 0.3, 0.1, 0.3)))
    )
    assert "bccvp: the limits leave out the estimate beside them. They are not built around it" in unwrapped(
        text
    )
    assert "leave out" not in str(
        IntervalTable((row("cud", 0.2, 0.1, 0.3), row("aci", 0.3, 0.1, 0.3 - 1e-12)))
    )
