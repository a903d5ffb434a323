"""FILE.csv of a command, and the options that say how it is read; it is read before options that take longer."""

from __future__ import annotations

from typing import Any

import click

from cudbound.cli.command import NotedOption
from cudbound.cli.options import FILE, Decorator, between_commas, combined, from_text
from cudbound.inputs.data_file import DataFile
from cudbound.inputs.number_texts import DECIMALS, THOUSANDS
from cudbound.inputs.parsed_file import CHOICES, ParsedFile, parse_file

#: The fields of a `Reading`.
READING = (
    click.option(
        "--delimiter",
        type=from_text(lambda text: "\t" if text in ("tab", r"\t") else text),
        default=",",
        metavar="CHAR",
        help="Delimiter of the cells: , ; | or tab.",
    ),
    click.option(
        "--decimal",
        type=click.Choice(DECIMALS),
        default=DECIMALS[0],
        help="Decimal separator.",
    ),
    click.option(
        "--thousands",
        type=click.Choice(tuple(THOUSANDS)),
        default="",
        metavar=",|.|'|space",
        help="Separator of thousands; by default there is none.",
    ),
    click.option(
        "--encoding",
        default="",
        metavar="NAME",
        help="Encoding of the text, such as mac-roman; by default UTF-8, UTF-16 or cp1252, by trial.",
    ),
    click.option(
        "--missing-values",
        multiple=True,
        type=from_text(between_commas),
        callback=lambda _context, _param, lists: tuple(text for texts in lists for text in texts),
        metavar="TEXT,TEXT,...",
        help="Further codes of missing values, such as -,unknown,999, in all columns; a number matches every way to "
        "write it. Empty cells and NA, N/A, NaN, null, . and ? are always missing.",
    ),
    click.option(
        "--sheet", metavar="NAME", show_default="the first", help="Sheet of an Excel workbook (.xlsx)."
    ),
    click.option(
        "--skip-rows",
        type=click.IntRange(min=0),
        default=0,
        metavar="INT",
        help="Number of lines above the header, such as a title; for a workbook, rows.",
    ),
)
_COLUMNS = (
    click.option(
        "--features",
        multiple=True,
        metavar="COL,COL,...",
        help="Feature columns; by default every column except the target, --group and --exclude.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="auto|COL,COL,...",
        help="Columns to code as k - 1 indicators of k levels; the first level in sorted order is the reference. auto "
        "means all text columns, and stops at dates, numbers with units, decimal commas and IDs.",
    ),
    click.option(
        "--exclude", multiple=True, metavar="COL,COL,...", help="Columns that are not used as features."
    ),
    click.option(
        "--missing",
        type=click.Choice(CHOICES),
        default=CHOICES[0],
        help="Handling of missing values: stop, drop incomplete rows, or fill them with the median or most frequent "
        "value of the column, as a step of every fit; categories always with the most frequent level.",
    ),
    click.option(
        "--group",
        cls=NotedOption,
        metavar="COL",
        help="Column of groups of rows, such as those of one patient; draws and folds keep groups whole.",
    ),
)


def parse_options(**values: Any) -> ParsedFile:
    """Return the file that options describe, as text; they must name an event, or all classes."""
    if not values["positive"] and not values.get("all_classes"):
        raise click.MissingParameter(param_hint="'--positive'", param_type="option")
    return parse_file(DataFile(**values))


def data_options(
    required: bool, *more: Decorator, roles: bool | None = None, event: bool = True, parsed: bool = False
) -> Decorator:
    """Add FILE.csv and the options for its columns; the command receives them as ``data``, a DataFile.

    The target is `required` like the file, unless `roles` says otherwise; without an `event`, --positive is optional.
    With `parsed` it receives a ParsedFile as ``parsed``: the file is checked before the options that follow.
    """
    roles = required if roles is None else roles
    two, event_help = "; it must have two values" if event else "", "Value of the target that is the event."
    return combined(
        *(("parsed", parse_options) if parsed else ("data", DataFile)),
        click.argument("file", metavar="FILE.csv", required=required, type=FILE),
        click.option("--target", required=roles, metavar="COL", help=f"Column of the class label{two}."),
        click.option("--positive", required=roles and event, metavar="VALUE", help=event_help),
        *_COLUMNS,
        *READING,
        *more,
    )
