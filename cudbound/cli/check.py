"""The command ``cudbound check``: the content of a file, its problems, and the command to run next."""

from __future__ import annotations

import csv
import io
import shlex
from dataclasses import fields

import click

from cudbound.basis.words import printable
from cudbound.cli.command import command
from cudbound.cli.input_options import data_options
from cudbound.inputs.data_file import CsvError, DataFile
from cudbound.report.render import render_report


@command("check")
@data_options(target=False, event=False)
def check(data: DataFile) -> None:
    """Show the content of FILE.csv, its problems, and the command to run next.

    The output has one row per column: its role, type, missing cells, and levels. Roles that no option sets, including
    the target, are guessed. No classifier is fitted.
    """
    from cudbound.inputs.file_check import check_file
    from cudbound.report.table_columns import methods_report

    content = check_file(data)
    click.echo(render_report(methods_report(content.columns, title=content.title)))
    if content.problems:
        click.echo("\nProblems:")
    elif content.error is None:
        click.echo("\nNo problems were found.")
    for problem in content.problems:
        click.echo(f"- {printable(problem)}")
    if content.error is not None:
        raise content.error
    line = command_line(content.data, content.standardize)
    if printable(line) != line:
        raise CsvError(
            "a name in the command to run next has unprintable characters; rename that column, or the file"
        )
    click.echo(f"\nNext:\n{line}")


def command_line(data: DataFile, standardize: bool) -> str:
    """Return the command that reads a file in this way, ready to paste."""
    words = ["cudbound", "interval", f"./{data.file}" if str(data.file).startswith("-") else str(data.file)]
    for entry in fields(DataFile)[1:]:
        value = "tab" if getattr(data, entry.name) == "\t" else getattr(data, entry.name)
        if value and value != entry.default:
            option, text = f"--{entry.name.replace('_', '-')}", value
            if not isinstance(value, str):
                text = _listed(value)
            words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return shlex.join([*words, *["--standardize"] * standardize, "--recommend"])


def _listed(value: object) -> str:
    """Write column names as the options expect them, those that contain commas in quotes; or a number."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(value if isinstance(value, list | tuple) else [value])
    return text.getvalue()
