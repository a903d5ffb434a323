"""What goes wrong with a classifier, and how to continue, in words of the command instead of Python's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cudbound.cli.output.one_line import say
from cudbound.exceptions import (
    CudboundWarning,
    NoMinimizerError,
    NotMinimizerError,
    SlowRefitsWarning,
    StatedError,
    UnscaledPenaltyWarning,
    UnsupportedEstimatorError,
    UnsupportedProblemError,
)


@dataclass(frozen=True)
class OptionNames:
    """The options by which a command chooses a classifier, as a message names them."""

    classifier: str = "--classifier"
    #: With what stands before the name of an option.
    assignment: str = "--set "


INTERVAL_OPTIONS = OptionNames()
A_OPTIONS = OptionNames("--a", "--set-a ")
B_OPTIONS = OptionNames("--b", "--set-b ")
#: Where it cannot be known which of the two it was.
A_OR_B_OPTIONS = OptionNames("--a (or --b)", "--set-a (or --set-b) ")
#: Where it cannot be known which of several it was.
LEARNERS_OPTIONS = OptionNames("--learners", "--set NAME.")

#: scikit-learn's own text is several lines long and speaks of Python.
_NOT_CONVERGED = (
    "{what} did not converge; standardize the features with --standardize, or raise the number of steps with "
    "{names.assignment}max_iter=N"
)
_NOT_MINIMIZER = (
    "add --polish for the CUD interval of the exact minimizer, or fit more exactly with {names.assignment}tol=1e-10 "
    "and {names.assignment}max_iter=100000"
)
_SAVED_NOT_MINIMIZER = (
    "check that FILE.csv holds the rows that the model was fitted to, and that --weight names the weights of that fit, "
    "if it had any; if so its solver stopped early: add --polish for the CUD interval of the exact minimizer"
)
_NO_MINIMIZER = (
    "choose a classifier with a penalty, such as {names.classifier} logistic or {names.classifier} convex-loss "
    "{names.assignment}penalty=0.01, or one whose loss always has a minimizer, such as {names.classifier} "
    "least-squares"
)
_UNSUPPORTED = (
    "choose another --classifier for the CUD bound, or leave cud and aci out of --methods: the other intervals take "
    "any classifier of two classes"
)
_OTHER_SOLVER = "add --solver cvxpy for the slow reference solver."


@contextmanager
def advice_of_the_command(names: OptionNames = INTERVAL_OPTIONS, *, saved: bool = False) -> Iterator[None]:
    """Raise ValueError with the fact that the package states and the command's way out of it.

    Parameters
    ----------
    names : OptionNames, default INTERVAL_OPTIONS
        How the way out names its options.
    saved : bool, default False
        Whether the classifier comes from a file, so that options of a fit are no way out.
    """
    remedies: dict[type[StatedError], str] = {
        NoMinimizerError: _NO_MINIMIZER,  # the first that fits, and this is a NotMinimizerError too
        NotMinimizerError: _SAVED_NOT_MINIMIZER if saved else _NOT_MINIMIZER,
        UnsupportedEstimatorError: _UNSUPPORTED,
        UnsupportedProblemError: _OTHER_SOLVER,
    }
    try:
        yield
    except tuple(remedies) as error:
        remedy = next(text for kind, text in remedies.items() if isinstance(error, kind))
        raise ValueError(f"{error.fact.removesuffix('.')}; {remedy.format(names=names)}") from error
    except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
        if not saved:
            raise
        raise ValueError(  # the state of a saved model can be anything
            f"--model: the saved model cannot be used, {type(error).__name__}: {error}; fit it again with the "
            "installed scikit-learn, or let the command fit one with --classifier"
        ) from error


@contextmanager
def collected_warnings(what: str, names: OptionNames) -> Iterator[list[Warning | str]]:
    """Collect the warnings of this package, and one text for all fits that did not converge; pass the others on.

    Parameters
    ----------
    what : str
        What is fitted, such as "some of the refits".
    names : OptionNames

    Yields
    ------
    list of Warning or str
        Filled when the block ends.
    """
    from sklearn.exceptions import ConvergenceWarning

    collected: list[Warning | str] = []
    unfinished: list[Warning | str] = []
    others: list[warnings.WarningMessage] = []

    def hear(message: Warning | str, category: type[Warning], *place: Any, **named: Any) -> None:
        if isinstance(message, SlowRefitsWarning):  # of use before the time is spent
            say(f"{message.n_fits:,} refits will take about {message.seconds / 60.0:.0f} minutes")
        elif isinstance(message, UnscaledPenaltyWarning):
            collected.append(f"{message.fact}; add --standardize")
        elif issubclass(category, CudboundWarning):
            collected.append(message)
        elif issubclass(category, ConvergenceWarning):
            unfinished.append(message)
        else:
            others.append(warnings.WarningMessage(message, category, *place, **named))

    with warnings.catch_warnings():
        warnings.simplefilter("always", CudboundWarning)
        warnings.simplefilter("default", ConvergenceWarning)  # thousands of refits may raise the same one
        warnings.showwarning = hear
        yield collected
    if unfinished:
        collected.append(_NOT_CONVERGED.format(what=what, names=names))
    warn_again(others)


def warn_again(caught: Sequence[warnings.WarningMessage]) -> None:
    """Pass on the warnings of other packages, which are not ours to word, one for each place they come from."""
    first = {(event.category, event.filename, event.lineno): event for event in reversed(caught)}
    for event in reversed(first.values()):
        warnings.warn_explicit(event.message, event.category, event.filename, event.lineno)
