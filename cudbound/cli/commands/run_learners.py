"""What `cudbound compare-learners` does once the command line is understood; nothing here parses or prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cudbound.cli.inputs.fitted import FittedClassifier
from cudbound.cli.inputs.settings import SharedSettings
from cudbound.cli.output.advice import (
    A_OR_B_OPTIONS,
    LEARNERS_OPTIONS,
    advice_of_the_command,
    collected_warnings,
)
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
    return CommandOutcome(table, describe(a, b, settings), _warnings({"a": a, "b": b}, collected))


@dataclass(frozen=True, kw_only=True)
class PairsSettings(SharedSettings):
    """How several learners are compared: further arguments of `cudbound.compare_many_learners`."""

    method: str = "corrected-resampled-t"
    reference: str | None = None


def compare_many(learners: Mapping[str, FittedClassifier], settings: PairsSettings) -> CommandOutcome:
    """Compare several classifiers that were fitted to the same sample, by their names.

    Raises
    ------
    ValueError
        If one of them cannot be fitted to a part of the rows; the message says how to continue.
    """
    from cudbound.report.tables import PairsRun
    from cudbound.tables.pairwise import compare_many_learners

    first = next(iter(learners.values()))
    estimators = {name: one.estimator for name, one in learners.items()}
    with (
        collected_warnings("some of the refits", LEARNERS_OPTIONS) as collected,
        advice_of_the_command(LEARNERS_OPTIONS),
    ):
        arguments = settings.arguments(first.sample)
        arguments["options"] = settings.options.get(settings.method)
        table = compare_many_learners(estimators, first.X, first.y, **arguments)
    described = replace(table, learners={name: one.description for name, one in learners.items()})
    run = PairsRun(**settings.described(first.sample))
    return CommandOutcome(described, run, _warnings(learners, collected))


def _warnings(learners: Mapping[str, FittedClassifier], collected: Iterable[object]) -> tuple[str, ...]:
    """Return what was remarkable about the fits, and then about the refits, each once."""
    fits = [f"{name}: {warning}" for name, fitted in learners.items() for warning in fitted.warnings]
    return tuple(dict.fromkeys((*fits, *map(str, collected))))


def describe(a: FittedClassifier, b: FittedClassifier, settings: ComparisonSettings) -> ComparisonRun:
    """Return what the notes under the table say of the data, the two classifiers and the run."""
    from cudbound.report.tables import ComparisonRun

    return ComparisonRun(**settings.described(a.sample), learner_a=a.description, learner_b=b.description)
