"""The output of a command: a table, a plot or text for a paper, its format, and further files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from cudbound.basis.words import printable
from cudbound.cli.command import CollectedWarnings, finish, say
from cudbound.cli.options import OUTPUT, options_as_object
from cudbound.plotting.display import IMAGES, import_matplotlib
from cudbound.report.files import write_texts
from cudbound.report.render import FORMATS, render_report
from cudbound.report.tables import Style

#: The form of a file by its extension.
EXTENSIONS = {
    "": "table",
    ".txt": "table",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".csv": "csv",
    ".json": "json",
}


def check_paths(write: Iterable[Path | None], read: Iterable[Path | None] = ()) -> None:
    """Raise an error, before any long computation, for a file that is in no folder or is one of those that are read."""
    inputs = {path.resolve() for path in read if path is not None}
    for path in filter(None, write):
        if str(path) == "-":
            raise click.UsageError(
                "an output file cannot be named '-'; choose another name, or print the table by leaving out --output."
            )
        if path.resolve() in inputs:
            raise ValueError(f"{str(path)!r} is an input file; choose another name")
        if not path.parent.is_dir():
            raise ValueError(f"no such folder: {str(path.parent)!r}; create it first")


def write_whole(texts: Mapping[Path, str | bytes]) -> None:
    """Write complete texts and plots to their files, all or none, and report it."""
    write_texts(texts)
    for path in texts:
        say(f"wrote {path}")


@dataclass(frozen=True)
class ResultOutput:
    """The output of a result.

    Attributes
    ----------
    form : str or None
        Format of the table; None means that of the extension of its file.
    path : Path or None
        File of the table; None means stdout.
    plot : Path or None
        File of an additional plot.
    describe : bool
        Whether text for a paper is printed to stdout.
    style, percent
        As in `Style`.
    """

    form: str | None
    path: Path | None
    plot: Path | None = None
    describe: bool = False
    style: str = "full"
    percent: bool = False

    def check(self, read: Iterable[Path | None] = (), *further: Path | None) -> None:
        """Raise an error for files that cannot be written, see `check_paths`; `further` ones are written as well."""
        extension = "" if self.path is None else self.path.suffix.lower()
        if self.form is None and extension not in EXTENSIONS:
            raise click.UsageError(
                f"--output: {str(self.path)!r} ends in {extension!r}, which is not a format of this command; its files "
                f"end in {', '.join(filter(None, EXTENSIONS))}."
            )
        check_paths([self.path, self.plot, *further], read)
        if self.plot is not None:
            import_matplotlib()

    def write(
        self,
        result: Any,
        collected: CollectedWarnings,
        files: Mapping[Path, str | bytes] | None = None,
        *,
        headline_only: bool = False,
        instability: Path | None = None,
    ) -> None:
        """Write a table, its plot and further `files`; then the seed and the warnings, see `finish`.

        With `instability`, what refits say of single rows is drawn to this file, and summarized in the notes.
        """
        texts = dict(files or {})
        if self.plot is not None:
            display = result.display()
            display.percent = self.percent
            texts[self.plot] = display.image(self.plot)
        form = self.form or EXTENSIONS["" if self.path is None else self.path.suffix.lower()]
        report = result.report(style=Style(self.style, self.percent))
        if instability is not None:
            refits = result.instability
            display = refits.display("classes" if refits.risks is None else "risks")
            texts[instability] = display.image(instability)
            more = {**report.more, "instability": refits.summary}
            report = replace(report, notes=(*report.notes, *refits.lines()), more=more)
        text = render_report(report, form)
        if headline_only and form == "table":
            text = " ".join(map(printable, report.headline))
        if self.path is None:
            click.echo(text)
        else:
            texts[self.path] = f"{text}\n"
        if self.describe:
            click.echo(f"{chr(10) if self.path is None else ''}{result.describe(self.percent)}")
        if texts:
            write_whole(texts)
        finish(collected)


def picture(text: str) -> Path:
    """Return the file of a plot; its extension must be a plot format."""
    if Path(text).suffix.lower().removeprefix(".") not in IMAGES:
        raise click.BadParameter(f"{text!r} ends in none of .{', .'.join(IMAGES)}.")
    return Path(text)


# --- options


_FORM_AND_PLACE = (
    click.option(
        "--format",
        "form",
        type=click.Choice(tuple(FORMATS)),
        show_default="by the extension of the file, or table",
        help="Format of the output.",
    ),
    click.option(
        "--output",
        "path",
        type=OUTPUT,
        metavar="PATH",
        help="File to write instead of stdout; an existing file is replaced at the end. The extension determines the "
        "format: .md, .tex, .html, .csv, .json, or .txt for any text.",
    ),
)
#: Add --format and --output; the command gets ``output``, a `ResultOutput`.
output_options = partial(options_as_object, "output", ResultOutput, _FORM_AND_PLACE)
#: Add what is written of a result, and how; the command gets ``output``, a `ResultOutput`.
result_options = partial(
    options_as_object,
    "output",
    ResultOutput,
    (
        *_FORM_AND_PLACE,
        click.option(
            "--plot",
            type=picture,
            metavar="PATH",
            help="Also plot the table, to a file that ends in .svg, .png or .pdf.",
        ),
        click.option(
            "--describe",
            is_flag=True,
            help="Also print text for a paper to stdout: methods, results, versions, seed, and references in BibTeX.",
        ),
        click.option(
            "--style",
            type=click.Choice(("full", "paper")),
            default="full",
            help="paper for estimates and limits in one column, such as '0.16 (0.01 to 0.31)'.",
        ),
        click.option("--percent", is_flag=True, help="Write proportions in percent."),
    ),
)
