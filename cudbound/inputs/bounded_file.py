"""Read a file that somebody else names: what has no end, no writer or no measure is refused."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

MB = 2**20
#: Environment variable that raises the size of data files, in MB.
VARIABLE = "CUDBOUND_MAX_FILE_MB"
#: Size of a data file without that variable; cudbound is for tens to hundreds of rows.
DEFAULT_MB = 64
#: Seconds that a named pipe may be without a writer.
PATIENCE = 5.0


class TooLargeError(ValueError):
    """The file holds more than is read of it; the message says how much that is, after its name."""


def data_file_limit() -> int:
    """Return the bytes that are read of a data file."""
    text = os.environ.get(VARIABLE, "")
    return max(1, int(text) if text.isdecimal() and len(text) < 7 else DEFAULT_MB) * MB


def read_bounded(path: Path, limit: int, way_on: str = "") -> bytes:
    """Return the content of a file, a device or a pipe.

    Parameters
    ----------
    path : Path
    limit : int
        Bytes that it may hold.
    way_on : str, default=""
        What to do about a larger file, for the message.

    Raises
    ------
    TooLargeError
        If it holds more.
    OSError
        If it cannot be read, or is a named pipe that nobody opens for writing.
    """
    too_large = TooLargeError(f"is larger than {limit / MB:g} MB, the most that is read{way_on}")
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb", buffering=0) as file:
        kind = os.fstat(handle)
        if stat.S_ISREG(kind.st_mode) and kind.st_size > limit:
            raise too_large
        first = _first_of_pipe(file.fileno()) if stat.S_ISFIFO(kind.st_mode) else b""
        if hasattr(os, "set_blocking"):
            os.set_blocking(handle, True)
        parts, size = [first], len(first)
        while size <= limit:
            part = file.read(min(MB, limit + 1 - size))
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
        raise too_large


def _first_of_pipe(handle: int) -> bytes:
    """Return what a pipe has, once somebody writes it; a writer that is there may take its time."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            first = os.read(handle, MB)
        except BlockingIOError:
            return b""  # somebody has opened it and has not written yet
        if first or time.monotonic() > end:
            break
        time.sleep(0.02)
    if not first:
        raise OSError(f"a pipe that nobody has written to in {PATIENCE:g} seconds")
    return first
