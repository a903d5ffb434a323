"""What `cudbound compare-learners` does once the command line is understood; nothing here parses or prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudbound.cli.inputs.fitted import FittedClassifier
from cudbound.cli.inputs.settings import SharedSettings
from cudbound.cli.output.advice import A_OR_B_OPTIONS, advice_of_the_command, collected_warnings
from cudbound.cli.output.outcome import CommandOutcome

if TYPE_CHECKING:
    from cudbound.report.tables import ComparisonRun


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings(SharedSettings):
    """How two learners are compared: further arguments of `cudbound.tabulate_comparisons`."""

    methods: str | tuple[str, ...] = ("corrected-resampled-t",)
    alternative: str = "two-sided"
    null: float = 0.0


def compare(a: FittedClassifier, b: FittedClassifier, settings: ComparisonSettings) -> CommandOutcome:
    """Compare two classifiers that were fitted to the same sample.

    Raises
    ------
    ValueError
        If one of them cannot be fitted to a part of the rows; the message says how to continue.
    """
    from cudbound.tables.compare_learners import tabulate_comparisons

    with (
        collected_warnings("some of the refits", A_OR_B_OPTIONS) as collected,
        advice_of_the_command(A_OR_B_OPTIONS),
    ):
        arguments = settings.arguments(a.sample)
        table = tabulate_comparisons(a.estimator, b.estimator, a.X, a.y, **arguments)
    messages = [f"{name}: {warning}" for name, fitted in (("a", a), ("b", b)) for warning in fitted.warnings]
    warnings = tuple(dict.fromkeys((*messages, *map(str, collected))))
    return CommandOutcome(table, describe(a, b, settings), warnings)


def describe(a: FittedClassifier, b: FittedClassifier, settings: ComparisonSettings) -> ComparisonRun:
    """Return what the notes under the table say of the data, the two classifiers and the run."""
    from cudbound.report.tables import ComparisonRun

    return ComparisonRun(**settings.described(a.sample), learner_a=a.description, learner_b=b.description)
