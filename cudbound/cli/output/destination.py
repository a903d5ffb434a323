"""Bring a finished table to its place, whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import click

from cudbound.cli.output.one_line import say
from cudbound.report.files import is_device, write_texts

#: A command that reads no file.
NO_INPUTS: Mapping[str, Path | None] = MappingProxyType({})


def emit(text: str, place: Path | None) -> None:
    """Print a finished text, or write it to a file."""
    if place is None:
        click.echo(text)
    else:
        write_whole({place: f"{text}\n"})


def check_output(
    path: Path | None, inputs: Mapping[str, Path | None] = NO_INPUTS, option: str = "--output"
) -> None:
    """Refuse a place that cannot be written, before any time is spent on what should go there.

    Parameters
    ----------
    path : Path or None
        None stands for stdout.
    inputs : mapping of str to Path or None, default {}
        Files that are read, by the word for them, such as "store".
    option : str, default "--output"
        What named the place.

    Raises
    ------
    ValueError
        If the folder does not exist or cannot be written, if `path` is a folder or a link to itself, or is one of the
        files `inputs`.
    """
    if path is None or is_device(path):
        return
    if _leads_to_itself(path):
        raise ValueError(f"{option}: {str(path)!r} is a link that leads back to itself; name another file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{option}: no such folder: {str(folder)!r}; create it first")
    if path.is_dir():
        raise ValueError(f"{option}: {str(path)!r} is a folder; name a file in it")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"{option}: no permission to write {str(path)!r}")
    for what, read in inputs.items():
        if read is not None and path.exists() and read.exists() and path.samefile(read):
            raise ValueError(f"{option}: {str(path)!r} is the {what} file itself; choose another name")


def write_whole(texts: Mapping[Path, str | bytes]) -> None:
    """Write finished texts and pictures into their files, all of them or none, and say so.

    Raises
    ------
    ValueError
        If the disk is full or cannot be written; the message names the file, and all stay as they were.
    """
    try:
        write_texts(texts)
    except OSError as error:
        raise ValueError(
            f"--output: {error.filename!r} cannot be written: {error.strerror}; free some space or name another file"
        ) from error
    for path in texts:
        say(f"wrote {path}")


def _leads_to_itself(path: Path) -> bool:
    """Whether following the links of a path never ends."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False
