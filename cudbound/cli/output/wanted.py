"""What a user wants to have of a result: a table in some form, a picture, words for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from cudbound.cli.inputs.forms import PICTURES
from cudbound.cli.output.destination import check_output

#: Forms of stdout that words can follow.
READ_BY_PEOPLE = ("table", "markdown", "latex", "html")


@dataclass(frozen=True)
class Wanted:
    """What is written of a result.

    Attributes
    ----------
    form : str
        Of the table; "svg", "png" or "pdf" for a picture in its place.
    place : Path or None
        Where it goes; None stands for stdout.
    picture : Path or None
        Where a picture goes besides.
    describe : bool
        Whether words for a paper go to stdout.
    style : mapping of str to object
        Fields of `cudbound.report.table_style.Style`.
    """

    form: str
    place: Path | None = None
    picture: Path | None = None
    describe: bool = False
    style: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise UsageError if one wish is against another."""
        if self.describe and self.place is None and self.form not in READ_BY_PEOPLE:
            raise click.UsageError(
                f"--describe prints words to stdout, where {self.form} goes; name a file for it with --output."
            )
        if self.picture is not None and self.place is not None and self.picture == self.place:
            raise click.UsageError("--plot and --output name the same file.")

    def check_places(self, **inputs: Path | None) -> None:
        """Refuse files that cannot be written, and pictures that cannot be drawn, before any time is spent.

        Raises
        ------
        ValueError
            As `check_output` does.
        ImportError
            If a picture is wanted and matplotlib is not installed.
        """
        check_output(self.place, inputs)
        check_output(self.picture, inputs, "--plot")
        if self.picture is not None or self.form in PICTURES:
            from cudbound.plotting.display import import_matplotlib

            import_matplotlib()
