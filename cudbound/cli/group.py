"""The command line as a whole: the group and its commands."""

from __future__ import annotations

import click

from cudbound.cli.check import check
from cudbound.cli.command import OneLineGroup
from cudbound.cli.demo import demo, example
from cudbound.cli.interval import interval
from cudbound.cli.learners import compare_learners
from cudbound.cli.methods import explain, methods
from cudbound.cli.report import report
from cudbound.cli.sample_size import plan
from cudbound.cli.study import study
from cudbound.cli.verify import verify


@click.group(
    "cudbound",
    cls=OneLineGroup,
    context_settings={"show_default": True},  # of the options of every command
)
@click.version_option(package_name="cudbound", prog_name="cudbound")
def main() -> None:
    """Confidence intervals for the error of a classifier trained on few patients.

    Only the training data are needed.
    """


for subcommand in (
    demo,
    check,
    interval,
    report,
    compare_learners,
    plan,
    methods,
    explain,
    example,
    study,
    verify,
):
    main.add_command(subcommand)
