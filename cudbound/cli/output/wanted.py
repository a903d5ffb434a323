"""What a user wants to have of a result: a table in some form, a picture, words for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
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
    instability : bool
        Whether the notes say how often refits put rows in another class.
    instability_picture : Path or None
        Where a picture of that goes.
    saved : Path or None
        Where the file for ``cudbound verify`` goes.
    """

    form: str
    place: Path | None = None
    picture: Path | None = None
    describe: bool = False
    style: Mapping[str, Any] = field(default_factory=dict)
    instability: bool = False
    instability_picture: Path | None = None
    saved: Path | None = None

    @property
    def pictures(self) -> dict[str, Path]:
        """Where pictures besides the result go, by the options that name them."""
        named = {"--plot": self.picture, "--instability-plot": self.instability_picture}
        return {option: path for option, path in named.items() if path is not None}

    def check(self) -> None:
        """Raise UsageError if one wish is against another."""
        if self.describe and self.place is None and self.form not in READ_BY_PEOPLE:
            raise click.UsageError(
                f"--describe prints words to stdout, where {self.form} goes; name a file for it with --output."
            )
        if self.instability and self.form in ("csv", *PICTURES):
            raise click.UsageError(
                f"--instability says its numbers below the table, for which {self.form} has no place; choose another "
                "--format, or --instability-plot."
            )
        places = self.pictures
        for option, place in (("--output", self.place), ("--save", self.saved)):
            if place is not None:
                places[option] = place
        for (first, path), (second, other) in combinations(places.items(), 2):
            if path == other:
                raise click.UsageError(f"{first} and {second} name the same file.")

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
        check_output(self.saved, inputs, "--save")
        for option, path in self.pictures.items():
            check_output(path, inputs, option)
        if self.pictures or self.form in PICTURES:
            from cudbound.plotting.display import import_matplotlib

            import_matplotlib()
