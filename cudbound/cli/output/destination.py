"""Bring a finished table to its place, whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import click

from cudbound.cli.output.one_line import say


def on_terminal() -> bool:
    """Whether a progress bar, which goes to stderr, would be seen by a person."""
    return sys.stderr.isatty()


def emit(text: str, place: Path | None) -> None:
    """Print a finished text, or write it to a file."""
    if place is None:
        click.echo(text)
    else:
        write_whole(place, f"{text}\n")


def check_output(path: Path | None, **inputs: Path | None) -> None:
    """Refuse a place that cannot be written, before any time is spent on what should go there.

    Parameters
    ----------
    path : Path or None
        None stands for stdout.
    **inputs : Path or None
        Files that are read, by the word for them, such as ``store``.

    Raises
    ------
    ValueError
        If the folder does not exist or cannot be written, if `path` is a folder, or is one of the files `inputs`.
    """
    if path is None or _is_device(path):
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"--output: no such folder: {str(folder)!r}; create it first")
    if path.is_dir():
        raise ValueError(f"--output: {str(path)!r} is a folder; name a file in it")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"--output: no permission to write {str(path)!r}")
    for what, read in inputs.items():
        if read is not None and path.exists() and read.exists() and path.samefile(read):
            raise ValueError(f"--output: {str(path)!r} is the {what} file itself; choose another name")


def write_whole(path: Path, text: str) -> None:
    """Write `text` as UTF-8 so that a reader sees the old file or the new one, never a part, and say so.

    The text goes to a temporary file in the same folder, which then takes the name. A link keeps pointing
    where it does; a device or a pipe is written directly, since it must not be replaced.

    Raises
    ------
    ValueError
        If the disk is full or cannot be written; the message names the file, which stays as it was.
    """
    try:
        _write_whole(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:  # which names no file where a disk is full
        raise ValueError(
            f"--output: {str(path)!r} cannot be written: {error.strerror}; free some space or name another file"
        ) from error
    say(f"wrote {path}")


def _write_whole(path: Path, content: bytes) -> None:
    if _is_device(path):
        path.write_bytes(content)
        return
    path = path.resolve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_device(path: Path) -> bool:
    """Whether `path` is there and is neither a file nor a folder: a pipe, a terminal, /dev/stdout, ..."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode(path: Path) -> int:
    """Return the permissions that an ordinary write would leave: those of the file there, or the umask's."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
