"""Run the command, also as ``python -m cudbound``; Ctrl-C is handled from the start."""

from __future__ import annotations

import os
import signal

#: As in `cudbound.cli.command`, which imports more than is safe before Ctrl-C is heard.
INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process, and exit with its exit code."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # ignored where a shell has put the command into the background
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from cudbound.cli.command import main as command

    signal.signal(signal.SIGINT, before)
    command(prog_name="cudbound")


if __name__ == "__main__":
    main()
