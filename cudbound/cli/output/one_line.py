"""A click group that reports every failure as one line on stderr and keeps the documented exit codes."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import click

from cudbound.cli.output.exit_codes import INTERRUPTED, UNUSABLE, USAGE_ERROR
from cudbound.cli.output.shell_words import at_the_shell
from cudbound.rounding import printable

PROGRAM = "cudbound"
#: Characters of a message; of a longer one, whose middle somebody else wrote, the two ends are said.
LONGEST, END = 3_000, 300


class OneLineGroup(click.Group):
    """Group whose errors read ``cudbound: error: ...``, with foreign text escaped and no traceback."""

    def main(self, *arguments: Any, standalone_mode: bool = True, **named: Any) -> Any:
        """Run the command and leave the interpreter with its exit code."""
        run = partial(super().main, *arguments, standalone_mode=False, **{"prog_name": PROGRAM, **named})
        if not standalone_mode:
            return run()
        for stream in (sys.stdout, sys.stderr):  # a letter that the encoding lacks becomes an escape
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            code: Any = run()
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx is not None else PROGRAM
            fail(f"{error.format_message()} See '{command} --help'.", USAGE_ERROR)
        except click.ClickException as error:
            fail(error.format_message(), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            say("interrupted")
            sys.exit(INTERRUPTED)
        except OSError as error:  # a broken pipe has been dealt with by click
            if error.filename is not None:
                fail(f"{error.filename!r}: {error.strerror}; name another file", UNUSABLE)
            sys.stdout = None  # Python would try once more at the end, and leave with an exit code of its own
            fail(
                f"stdout cannot be written: {error.strerror}; free some space or print to another place",
                UNUSABLE,
            )
        except (ValueError, ImportError) as error:
            fail(at_the_shell(str(error)), UNUSABLE)
        sys.exit(code)


def say(message: str) -> None:
    """Write one line to stderr, the program's name first; where that is closed or full, the result still counts."""
    with suppress(OSError):
        line = printable(" ".join(message.split()))
        if len(line) > LONGEST:
            line = f"{line[:END]} ... {line[-END:]}"
        click.echo(f"{PROGRAM}: {line}", err=True)


def say_seed(seed: int) -> None:
    """Say which seed was chosen for the user."""
    say(f"seed {seed} was chosen; repeat this run with --seed {seed}")


def fail(message: str, exit_code: int) -> NoReturn:
    """Write one line to stderr and leave with `exit_code`."""
    say(f"error: {message}")
    sys.exit(exit_code)
