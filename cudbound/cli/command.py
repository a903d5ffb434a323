"""Errors and warnings of the command: one line on stderr, documented exit codes, options by their names."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource, augment_usage_errors
from click.exceptions import NoArgsIsHelpError

from cudbound.basis import exceptions
from cudbound.basis.words import printable

PROGRAM = "cudbound"
#: Characters of a message, whose middle may come from a file.
LONGEST = 2_900

UNUSABLE = 1
USAGE_ERROR = 2
NOT_CERTIFIED = 3
DISAGREES = 4
INTERRUPTED = 130

EXIT_CODES = """\b
Exit codes:
    0  success
    1  the data, or a file, cannot be used: stderr has the reason in one line
    2  the command line is wrong: unknown option, level outside (0, 1)
    3  the table was written, but a limit or rounding left a bound of cud
       or aci unproved: the larger value was used
    4  a saved result does not agree with the data, or with itself
  130  stopped by Ctrl-C; no file was written, but the store of a study keeps
       finished replicates"""

#: The commands, most in a module of their own name.
COMMANDS = (
    *("demo", "check", "interval", "report", "compare-learners", "plan"),
    *("methods", "explain", "example", "study", "verify"),
)
BESIDE = {"compare_learners": "learners", "explain": "methods", "example": "demo"}
#: What the package calls an argument, where a command has another name for it.
NAMES = {
    "rng": "seed",
    "sample_weight": "weight",
    "groups": "group",
    "classifier": "learners",
    "methods": "method",
    "method": "methods",
}
#: Options that change no number, and the seed, which the notes have anyway.
OF_OUTPUT = frozenset(
    {"form", "path", "plot", "describe", "instability", "style", "percent", "save", "seed", "n_jobs"}
)

#: The way out of an event that states its fact; the first class that fits.
REMEDIES: dict[type[exceptions.StatedError | exceptions.UnscaledPenaltyWarning], str] = {
    exceptions.NoMinimizerError: (
        "choose a classifier with a penalty, such as logistic, or convex-loss with the option penalty=0.01, or one "
        "whose loss always has a minimizer, such as least-squares"
    ),
    exceptions.NotMinimizerError: (
        "add --bound polish=true for the CUD interval of the exact minimizer, or fit more exactly with the options "
        "tol=1e-10 and max_iter=100000 of the classifier; a model from a file must have been fitted to the rows of "
        "FILE.csv, and to the weights of --weight, if it had any"
    ),
    exceptions.UnsupportedEstimatorError: (
        "choose another classifier, or drop the methods that need it from --methods, such as cud, aci and bbc-cv: the "
        "other methods support any classifier"
    ),
    exceptions.UnsupportedProblemError: "add --bound solver=cvxpy for the slow reference solver.",
    exceptions.UnscaledPenaltyWarning: "add --standardize",
}


#: What makes refits faster or fewer, as options.
FASTER = "--jobs -1, a smaller --resamples, or smaller numbers in --resampling"
#: The way on from a fit that did not converge.
CONVERGE = (
    "standardize the features with --standardize, or allow more steps with the classifier's option max_iter=N"
)


class OneLineCommand(click.Command):
    """Command that keeps its options as they were typed, and names them in errors of the package."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the texts of the options with their values; raise an error if a list option is given twice."""
        ctx.meta["typed"], _, order = self.make_parser(ctx).parse_args(list(args))
        lists = [option for option in order if not option.multiple and "," in (option.metavar or "")]
        if twice := next((option for place, option in enumerate(lists) if option in lists[:place]), None):
            raise click.UsageError(f"{twice.opts[-1]} is given twice; separate the names by commas.", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with its objects made of options; report an invalid argument as an error of its option."""
        try:
            with augment_usage_errors(ctx):  # they end with the help of this command
                for name, (make, options) in vars(self.callback).get("objects", {}).items():
                    ctx.params[name] = make(**{option: ctx.params.pop(option) for option in options})
            return super().invoke(ctx)
        except ValueError as error:
            parameter, is_named, rule = str(error).removeprefix("The '").partition("' parameter ")
            names = (parameter, NAMES.get(parameter)) if is_named else ()
            flag = next((option.opts[0] for option in self.params if option.name in names), None)
            if flag is None:
                raise
            if isinstance(error, exceptions.ParameterError):
                raise click.UsageError(f"{flag} {rule}", ctx) from error
            raise ValueError(f"{flag} {rule}") from error


class CommandLine(click.Group):
    """The commands, whose modules are imported when they are used.

    Errors read ``cudbound: error: ...``, with untrusted text escaped and no traceback.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, or None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        found: click.Command = getattr(import_module(f"cudbound.cli.{BESIDE.get(name, name)}"), name)
        return found

    def main(self, *arguments: Any, **named: Any) -> NoReturn:
        """Run the command and exit the interpreter with its exit code."""
        for stream in (sys.stdout, sys.stderr):  # a letter that the encoding lacks becomes an escape
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            code: Any = super().main(*arguments, **{**named, "standalone_mode": False})
        except NoArgsIsHelpError as error:
            error.show()
            sys.exit(USAGE_ERROR)
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
                fail(f"{error.filename!r}: {error.strerror}; choose another file", UNUSABLE)
            sys.stdout = None  # Python would try once more at the end, and leave with an exit code of its own
            fail(
                f"stdout cannot be written: {error.strerror}; free some space or write to another place",
                UNUSABLE,
            )
        except MemoryError:
            fail("not enough memory; use fewer resamples or splits", UNUSABLE)
        except (ValueError, exceptions.StatedError, ImportError) as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # while a compiled module was loaded
                say("interrupted")
                sys.exit(INTERRUPTED)
            fail(str(error), UNUSABLE)
        sys.exit(code)


main = click.version_option(package_name=PROGRAM, prog_name=PROGRAM)(
    CommandLine(
        PROGRAM,
        help="Confidence intervals for the error of a classifier trained on few patients.\n\n"
        "Only the training data are needed.",
        epilog=EXIT_CODES,
        context_settings={"show_default": True},  # of the options of every command
    )
)

command = partial(click.command, cls=OneLineCommand, epilog=EXIT_CODES)


def refuse_beside(option: str, names: Iterable[str], reason: str) -> None:
    """Raise UsageError if one of the options `names` was typed together with another that excludes it."""
    context = click.get_current_context()
    for other in context.command.params:
        if other.name in names and context.get_parameter_source(other.name) is ParameterSource.COMMANDLINE:
            shown = other.opts[0] if isinstance(other, click.Option) else other.make_metavar(context)
            raise click.UsageError(f"{shown} and {option} cannot be combined: {reason}.")


def typed_options() -> str | None:
    """Return the options that were typed and may change numbers, with file names without their folders."""
    context = click.get_current_context(silent=True)
    typed: Mapping[str, Any] = {} if context is None else context.meta.get("typed", {})
    words: list[str] = []
    for option in () if context is None else context.command.params:
        value = typed.get(option.name or "")
        if value is None or option.name in OF_OUTPUT or isinstance(option, click.Argument):
            continue
        texts: list[str] = [value] if isinstance(value, str) else value
        if isinstance(option.type, click.Path):
            texts = [Path(text).name for text in texts]
        name = option.opts[0]
        words += [name] if value is True else [f"{name} {shlex.quote(text)}" for text in texts]
    return " ".join(words) or None


def typed_command() -> str:
    """Return the command as it was typed, without the options of `OF_OUTPUT`, and the file without its folder."""
    context = click.get_current_context()
    file = shlex.quote(Path(context.meta["typed"]["file"]).name)
    return " ".join(filter(None, (PROGRAM, context.info_name, file, typed_options())))


def say(message: str) -> None:
    """Write one line to stderr, with the program's name first; ignore it if stderr is closed or full."""
    with suppress(OSError):
        click.echo(f"{PROGRAM}: {printable(' '.join(message.split()))[:LONGEST]}", err=True)


def fail(message: str, exit_code: int) -> NoReturn:
    """Write one line to stderr and exit with `exit_code`."""
    say(f"error: {message}")
    sys.exit(exit_code)


# --- warnings and errors of the package, with options instead of arguments


@dataclass
class CollectedWarnings:
    """The warnings of a computation.

    Attributes
    ----------
    messages : list of str
        With the options of the command.
    certified : bool
        Whether all bounds are proved.
    fitted_here : bool
        Whether the command fitted the classifiers.
    n_copies : int
        Copied rows that were named in the warnings of the file.
    """

    messages: list[str] = field(default_factory=list)
    certified: bool = True
    fitted_here: bool = False
    n_copies: int = 0

    def worded(self, event: object) -> str:
        """Return a warning in words, see `worded`; nothing about a missing CUD bound of a fit of the command itself.

        It cannot be a fit to other rows, and a table with the bound has the reason among its remarks. Nor does it
        repeat what the warnings of the file said of copied rows.
        """
        unsaid = self.fitted_here and isinstance(event, exceptions.NotMinimizerWarning)
        if isinstance(event, exceptions.RepeatedRowsWarning):
            unsaid = vars(event) == {"n_equal": self.n_copies}
        return "" if unsaid else worded(event)


def finish(collected: CollectedWarnings) -> None:
    """Report the seed, if the user chose none, and the warnings; exit with 3 if a bound is not proved."""
    context = click.get_current_context()
    if context.get_parameter_source("seed") is ParameterSource.DEFAULT:
        seed = context.params["seed"]
        say(f"seed {seed} was chosen; repeat this run with --seed {seed}")
    for warning in dict.fromkeys(collected.messages):
        say(f"warning: {warning}")
    if not collected.certified:
        sys.exit(NOT_CERTIFIED)


@contextmanager
def in_words_of_the_command(fits: str, fitted_here: bool = False) -> Iterator[CollectedWarnings]:
    """Collect warnings of this package and of fits that did not converge; reword errors to name command options.

    Parameters
    ----------
    fits : str
        What is fitted, such as "some of the refits".
    fitted_here : bool, default=False
        Whether the command fitted the classifiers.

    Yields
    ------
    CollectedWarnings
        Filled while the block runs. Warnings of other packages are passed on.

    Raises
    ------
    ValueError
        With the fact from the package, and the command's remedy.
    """
    from sklearn.exceptions import ConvergenceWarning

    collected = CollectedWarnings(fitted_here=fitted_here)
    pass_on = warnings.showwarning
    passed_on = set()

    def collect(message: Warning | str, category: type[Warning], *place: Any, **named: Any) -> None:
        if isinstance(message, exceptions.SlowRefitsWarning):  # of use before the time is spent
            say(str(exceptions.SlowRefitsWarning(message.fact, FASTER)))
        elif issubclass(category, exceptions.CudboundWarning):
            collected.certified &= not isinstance(message, exceptions.NotCertifiedWarning)
            collected.messages += filter(None, [collected.worded(message)])
        elif issubclass(category, ConvergenceWarning):  # whose own text is several lines long
            collected.messages.append(f"{fits} did not converge; {CONVERGE}")
        elif (category, *place[:2]) not in passed_on:  # refits reset the registry of Python
            passed_on.add((category, *place[:2]))
            pass_on(message, category, *place, **named)

    with warnings.catch_warnings():
        warnings.simplefilter("always", exceptions.CudboundWarning)
        warnings.simplefilter("default", ConvergenceWarning)  # thousands of refits may raise the same one
        warnings.showwarning = collect
        try:
            yield collected
        except tuple(kind for kind in REMEDIES if issubclass(kind, Exception)) as error:
            raise ValueError(worded(error)) from error


def worded(event: object) -> str:
    """Return an error or a warning in words, with the options of the command if they are the way out."""
    for kind, remedy in REMEDIES.items():
        if isinstance(event, kind):
            return f"{event.fact.removesuffix('.')}; {remedy}"
    return str(event)
