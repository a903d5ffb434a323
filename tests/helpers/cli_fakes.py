"""A computation that answers at once, and the calls that the tests of the command share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from click.testing import CliRunner, Result

from cudbound.analysis.table import IntervalTable
from cudbound.basis.results import ConfidenceInterval, Estimand, IntervalEstimate, Outcome
from cudbound.cli.command import CollectedWarnings, main
from cudbound.cli.fitted import FittedClassifier, with_notes
from cudbound.inputs.csv_columns import TrainingData
from cudbound.intervals import METHODS
from cudbound.report.tables import Run

CLEAN = "age,sex,bmi,died\n30,m,21.5,yes\n41,f,22,no\n52,f,23,yes\n63,m,24.5,no\n50,m,20,no\n"
FOUND = Outcome(0.2, ConfidenceInterval(-0.1, 0.5), estimand=Estimand("conditional"))
OURS = Outcome(0.25, ConfidenceInterval(0.125, 0.375), estimand=Estimand("conditional"))
TABLE = IntervalTable(
    tuple(
        IntervalEstimate.of(found, method=name, words=METHODS[name].words(), confidence_level=0.95, n_fits=1)
        for name, found in (("two-center", OURS), ("cud", FOUND))
    )
)


class Fake:
    """Stands in for the computation: keeps what it was asked, answers with a fixed table."""

    def __init__(self) -> None:
        self.calls: list[tuple[TrainingData, dict[str, Any]]] = []
        self.tables: list[IntervalTable] = []
        self.fitted: list[FittedClassifier] = []
        self.warnings: tuple[str, ...] = ()
        self.certified = True
        self.error: BaseException | None = None

    def __call__(
        self, call: object, learners: Mapping[str, FittedClassifier], resampling: object, **arguments: Any
    ) -> tuple[IntervalTable, CollectedWarnings]:
        (fitted,) = learners.values()
        self.calls.append((fitted.sample, {**arguments, "resampling": resampling}))
        self.fitted.append(fitted)
        if self.error is not None:
            raise self.error
        y = fitted.sample.y
        run = Run(None, len(y), 0, 0, "", (), arguments["n_resamples"], "n", arguments["rng"])
        self.tables.append(with_notes(replace(TABLE, about=run), learners))
        return self.tables[-1], CollectedWarnings(list(self.warnings), self.certified)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def interval(*arguments: str, positive: str = "yes", target: str = "died") -> Result:
    fixed = ["interval", "patients.csv", "--target", target, "--positive", positive, "--categorical", "sex"]
    return invoke(*fixed, *arguments)


def assert_error(result: Result, code: int, message: str) -> None:
    """One line on stderr, nothing on stdout, no traceback."""
    assert result.stdout == ""
    assert result.stderr.startswith("cudbound: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stderr.rstrip("\n").isprintable()
    assert result.exit_code == code
