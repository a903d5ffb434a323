"""In which form a command writes: what was asked for, and what the name of a file says."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click

#: The forms of a table, in the order of the help.
FORMATS = ("table", "markdown", "latex", "html", "csv", "json")
#: Pictures, by the extensions of their files.
PICTURES = ("svg", "png", "pdf")
#: The form of a file by its extension.
EXTENSIONS = {
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".csv": "csv",
    ".json": "json",
    **{f".{name}": name for name in PICTURES},
    ".htm": "html",
    ".markdown": "markdown",
    ".latex": "latex",
}
#: Extensions of files that any text goes into.
ANY_TEXT = ("", ".txt")


def form_of(
    asked: str | None, place: Path | None, allowed: Collection[str] = FORMATS, default: str = "table"
) -> str:
    """Return the form that --format names or, if it names none, the extension of the file.

    Parameters
    ----------
    asked : str or None
        The value of --format.
    place : Path or None
        None stands for stdout, which takes any text.
    allowed : collection of str, default FORMATS
        What the command can write.
    default : str, default "table"
        Where neither says anything.

    Raises
    ------
    click.UsageError
        If nothing is written into files with this extension, or --format names another form than it.
    """
    extension = "" if place is None else place.suffix.lower()
    if extension in ANY_TEXT:
        return asked or default
    meant = EXTENSIONS.get(extension)
    if meant is None or meant not in allowed:
        known = [one for one, form in EXTENSIONS.items() if form in allowed]
        raise click.UsageError(
            f"--output: {str(place)!r} ends in {extension!r}, which fits nothing that this command writes; its files "
            f"end in {', '.join(known)}, or in .txt for any text."
        )
    if asked not in (None, meant):
        raise click.UsageError(
            f"--format {asked} and --output {str(place)!r} contradict each other: {extension} stands for {meant}; "
            "leave --format out, or name another file."
        )
    return meant
