"""Where the command begins: streams that are closed, and Ctrl-C before there is anything to stop."""

from __future__ import annotations

import os
import signal
import sys

#: As in `cudbound.cli.command`, which imports more than is safe before Ctrl-C is heard.
INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process, and leave with its exit code."""
    replace_closed_streams()
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # ignored where a shell has put the command into the background
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from cudbound.cli.commands.group import main as command

    signal.signal(signal.SIGINT, before)
    command(prog_name="cudbound")


def replace_closed_streams() -> None:
    """Put others in the place of standard streams that are closed.

    Files opened later would otherwise get their numbers, and with them what is written to the streams. Messages are
    lost, which stops nothing; the null device stands in for stdout unwritable, so that a lost table is an error.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free, this one
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
