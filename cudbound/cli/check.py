"""The command ``cudbound check``: the content of a file, its problems, and the command to run next."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable

import click

from cudbound.basis.rounding import printable
from cudbound.cli.command import command, say
from cudbound.cli.input_options import data_options
from cudbound.inputs.data_file import CsvError, DataFile
from cudbound.report.render import render_report

SECONDS_PER_MB = 8


@command("check")
@data_options(True, roles=False)
def check(data: DataFile) -> None:
    """Show the content of FILE.csv, all its problems, and the command to run next.

    The output has one row per column: its role, kind, missing cells, and levels. Roles that no option sets, including
    the target, are guessed. No classifier is fitted.
    """
    from cudbound.inputs.file_check import check_file
    from cudbound.report.table_columns import methods_report

    size = data.file.stat().st_size / 2**20 if data.file.exists() else 0.0
    if size > 1.0:
        say(f"{size:.0f} MB take about {SECONDS_PER_MB * size:.0f} seconds")
    content = check_file(data)
    click.echo(render_report(methods_report(content.columns, title=content.title)))
    click.echo("\nProblems:" if content.problems else "\nNo problems were found.")
    for problem in content.problems:
        click.echo(f"- {printable(problem)}")
    if content.error is not None:
        raise content.error
    line = command_line(content.data)
    if printable(line) != line:
        raise CsvError(
            "a name in the command to run next has unprintable characters; rename that column, or the file"
        )
    click.echo(f"\nNext:\n{line}")


def command_line(data: DataFile) -> str:
    """Return the command that reads a file in this way, ready to paste."""
    texts = {
        "--target": data.target,
        "--positive": data.positive,
        "--features": _listed(data.features),
        "--group": data.group,
        "--weight": data.weight,
        "--exclude": _listed(data.exclude),
        "--categorical": _listed(data.categorical),
        "--missing-values": ",".join(data.missing_values),
        "--missing": "" if data.missing == "error" else data.missing,
        "--sheet": data.sheet,
        "--skip-rows": str(data.skip_rows or ""),
        "--delimiter": {",": "", "\t": "tab"}.get(data.delimiter, data.delimiter),
        "--decimal": "" if data.decimal == "." else data.decimal,
        "--thousands": data.thousands,
        "--encoding": data.encoding,
    }
    file = str(data.file)
    words = ["cudbound", "interval", f"./{file}" if file.startswith("-") else file]
    for option, text in texts.items():
        if text:
            words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return shlex.join([*words, "--recommend"])


def _listed(names: Iterable[str]) -> str:
    """Write column names as the options expect them; names that contain commas are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
