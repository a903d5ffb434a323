"""The command ``cudbound example``: a data file for trying the other commands."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from cudbound.cli.command import command, say
from cudbound.cli.output import check_paths, emit, output_option

#: No patient of it exists; its name says so wherever the file itself is found.
NAME = "simulated_patients.csv"


def example_text() -> str:
    """Return the file of simulated patients, one line per patient below a header."""
    return (files("cudbound.inputs") / NAME).read_text(encoding="utf-8")


@command("example")
@output_option("File to write; - for stdout, the default. An existing file is replaced.")
def example(*, path: Path | None) -> None:
    """Print a CSV file of 60 simulated patients, for trying the other commands.

    The patients are not real: age, sex, body mass index, creatinine and diabetes were drawn at random, and death from
    a logistic model of age, creatinine and diabetes.
    """
    check_paths({"--output": path})
    emit(example_text().removesuffix("\n"), path)
    say(
        "these patients are simulated; the columns are id, age, sex, bmi, creatinine, diabetes and died (yes or no)"
    )
