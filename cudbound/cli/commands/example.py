"""The command ``cudbound example``: a data file to try the other commands on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from cudbound.cli.inputs import options
from cudbound.cli.output.destination import check_output, emit
from cudbound.cli.output.exit_codes import EXIT_CODES
from cudbound.cli.output.one_line import say

#: No patient of it exists; its name says so wherever the file itself is found.
NAME = "simulated_patients.csv"


def example_text() -> str:
    """Return the file of simulated patients, one line per patient below a header."""
    return (files("cudbound.inputs") / NAME).read_text(encoding="utf-8")


@click.command("example", epilog=EXIT_CODES)
@click.option(
    "--output",
    "place",
    type=options.output,
    metavar="PATH",
    help="File to write instead of stdout, which is also -. It is replaced whole.",
)
def example(*, place: Path | None) -> None:
    """Print a CSV file of 60 simulated patients, to try the other commands on.

    They do not exist: age, sex, body mass index, creatinine and diabetes were drawn at random, and death by a logistic
    model in age, creatinine and diabetes.
    """
    check_output(place)
    emit(example_text().removesuffix("\n"), place)
    say(
        "these patients are simulated; the columns are id, age, sex, bmi, creatinine, diabetes and died (yes or no)"
    )
