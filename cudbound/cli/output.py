"""The output of a command: a table, a plot or text for a paper, its format, and further files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from cudbound.basis.words import printable
from cudbound.cli.command import CollectedWarnings, finish, say
from cudbound.cli.options import OUTPUT, Decorator, from_text, options_as_object
from cudbound.plotting.display import IMAGES, import_matplotlib
from cudbound.report.files import write_texts
from cudbound.report.render import FORMATS, render_report

if TYPE_CHECKING:
    from cudbound.report.tables import StyleOptions

#: The form of a file by its extension.
EXTENSIONS = {".md": "markdown", ".tex": "latex", ".html": "html", ".csv": "csv", ".json": "json"}


def form_of(form: str | None, path: Path | None) -> str:
    """Return the format given by --format or, without it, by the extension of the file; None means stdout.

    Raises
    ------
    click.UsageError
        If no format has this extension.
    """
    extension = "" if path is None else path.suffix.lower()
    if form is None and extension not in ("", ".txt", *EXTENSIONS):
        raise click.UsageError(
            f"--output: {str(path)!r} ends in {extension!r}, which is not a format of this command; its files end in "
            f"{', '.join(EXTENSIONS)}, or in .txt for any text."
        )
    return form or EXTENSIONS.get(extension, "table")


def check_paths(write: Iterable[Path | None], read: Iterable[Path | None] = ()) -> None:
    """Raise an error, before any long computation, for a file that is in no folder or is one of those that are read."""
    inputs = {path.resolve() for path in read if path is not None}
    for path in filter(None, write):
        if path.resolve() in inputs:
            raise ValueError(f"{str(path)!r} is an input file; choose another name")
        if not path.parent.is_dir():
            raise ValueError(f"no such folder: {str(path.parent)!r}; create it first")


def emit(text: str, path: Path | None) -> None:
    """Print a complete text, or write it to a file."""
    if path is None:
        click.echo(text)
    else:
        write_whole({path: f"{text}\n"})


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
    form : str
        Format of the table.
    path : Path or None
        File of the table; None means stdout.
    plot : Path or None
        File of an additional plot.
    describe : bool
        Whether text for a paper is printed to stdout.
    style : Style or None
        None if only text is written.
    """

    form: str
    path: Path | None = None
    plot: Path | None = None
    describe: bool = False
    style: Any = None

    def check(self, read: Iterable[Path | None] = (), *further: Path | None) -> None:
        """Raise an error for files that cannot be written, see `check_paths`; `further` ones are written as well."""
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
            display.percent = self.style.percent
            texts[self.plot] = display.image(picture_form(self.plot))
        report = result.report(style=self.style)
        if instability is not None:
            refits = result.instability
            display = refits.display("classes" if refits.risks is None else "risks")
            texts[instability] = display.image(picture_form(instability))
            more = {**report.more, "instability": refits.summary}
            report = replace(report, notes=(*report.notes, *refits.lines()), more=more)
        text = render_report(report, self.form)
        if headline_only and self.form == "table":
            text = " ".join(map(printable, report.headline))
        if self.path is None:
            click.echo(text)
        else:
            texts[self.path] = f"{text}\n"
        if self.describe:
            click.echo(f"{chr(10) if self.path is None else ''}{result.describe(self.style.percent)}")
        write_whole(texts)
        finish(collected)


def picture_form(path: Path) -> str:
    """Return the plot format from the extension of a file."""
    return path.suffix.lower().removeprefix(".")


def picture(text: str) -> Path:
    """Return the file of a plot; its extension must be a plot format."""
    if picture_form(Path(text)) not in IMAGES:
        raise ValueError(f"{text!r} ends in none of .{', .'.join(IMAGES)}.")
    return Path(text)


# --- options


def output_option(help: str, name: str = "path", **named: Any) -> Decorator:
    """Add --output, a file or - for stdout; the command receives a Path or None."""
    settings: dict[str, Any] = {"type": OUTPUT, "metavar": "PATH", "help": help}
    settings["callback"] = lambda context, param, path: None if path == Path("-") else path
    return click.option("--output", name, **(settings | named))


_FORM_AND_PLACE = (
    click.option(
        "--format",
        "form",
        type=click.Choice(tuple(FORMATS)),
        show_default="by the extension of the file, or table",
        help="Format of the output.",
    ),
    output_option(
        "File to write; - for stdout, the default. An existing file is replaced at the end. The extension determines "
        "the format: .md, .tex, .html, .csv, .json, or .txt for any text."
    ),
)


def _result_output(
    form: str | None, path: Path | None, plot: Path | None, describe: bool, **style: Unpack[StyleOptions]
) -> ResultOutput:
    from cudbound.report.tables import Style

    return ResultOutput(form_of(form, path), path, plot, describe, Style(**style))


#: Add --format and --output; the command gets ``output``, a `ResultOutput`.
output_options = options_as_object(
    "output", lambda form, path: ResultOutput(form_of(form, path), path), *_FORM_AND_PLACE
)
#: Add what is written of a result, and how; the command gets ``output``, a `ResultOutput`.
result_options = options_as_object(
    "output",
    _result_output,
    *_FORM_AND_PLACE,
    click.option(
        "--plot",
        type=from_text(picture),
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
)
