"""Warnings and errors about a classifier, with remedies that name command options instead of Python arguments."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from cudbound.basis.exceptions import (
    CudboundWarning,
    NoMinimizerError,
    NotCertifiedWarning,
    NotMinimizerError,
    SlowRefitsWarning,
    StatedError,
    UnscaledPenaltyWarning,
    UnsupportedEstimatorError,
    UnsupportedProblemError,
    WarnedRefitsWarning,
)
from cudbound.cli.command import say

#: The way out of an error that states its fact; the first class that fits.
REMEDIES: dict[type[StatedError], str] = {
    NoMinimizerError: (
        "choose a classifier with a penalty, such as logistic, or convex-loss with the option penalty=0.01, or one "
        "whose loss always has a minimizer, such as least-squares"
    ),
    NotMinimizerError: (
        "add --polish for the CUD interval of the exact minimizer, or fit more exactly with the options tol=1e-10 and "
        "max_iter=100000 of the classifier; a model from a file must have been fitted to the rows of FILE.csv, and to "
        "the weights of --weight, if it had any"
    ),
    UnsupportedEstimatorError: (
        "choose another classifier, or drop the methods that need it from --methods, such as cud, aci and bbc-cv: the "
        "other methods support any classifier"
    ),
    UnsupportedProblemError: "add --solver cvxpy for the slow reference solver.",
}


#: The way on from a fit that did not converge.
CONVERGE = (
    "standardize the features with --standardize, or allow more steps with the classifier's option max_iter=N"
)
#: Options, by what they are in Python.
OPTIONS = {
    "n_jobs=-1": "--jobs -1",
    "a smaller n_resamples": "a smaller --resamples",
    "a smaller n_replicates": "a smaller --replicates",
    'resampling=Resampling(inner="oob")': "--inner oob",
    "smaller resampling=Resampling(sizes=...)": "a smaller --size",
}


@dataclass
class Heard:
    """The warnings of a computation.

    Attributes
    ----------
    messages : list of str
        With the options of the command, each once.
    certified : bool
        Whether all bounds are proved.
    """

    messages: list[str] = field(default_factory=list)
    certified: bool = True

    def add(self, message: str) -> None:
        """Add a message, unless it is already there."""
        if message not in self.messages:
            self.messages.append(message)


@contextmanager
def in_words_of_the_command(fits: str) -> Iterator[Heard]:
    """Collect warnings of this package and of fits that did not converge; reword errors to name command options.

    Parameters
    ----------
    fits : str
        What is fitted, such as "some of the refits".

    Yields
    ------
    Heard
        Filled while the block runs. Warnings of other packages are passed on.

    Raises
    ------
    ValueError
        With the fact from the package, and the command's remedy.
    """
    from sklearn.exceptions import ConvergenceWarning

    heard = Heard()
    pass_on = warnings.showwarning
    passed_on = set()

    def hear(message: Warning | str, category: type[Warning], *place: Any, **named: Any) -> None:
        if isinstance(message, SlowRefitsWarning):  # of use before the time is spent
            say(str(SlowRefitsWarning(message.fact, tuple(OPTIONS[one] for one in message.helps))))
        elif issubclass(category, CudboundWarning):
            heard.certified &= not isinstance(message, NotCertifiedWarning)
            heard.add(worded(message))
        elif issubclass(category, ConvergenceWarning):  # whose own text is several lines long
            heard.add(f"{fits} did not converge; {CONVERGE}")
        elif (category, *place[:2]) not in passed_on:  # refits reset what is known of them
            passed_on.add((category, *place[:2]))
            pass_on(message, category, *place, **named)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CudboundWarning)
        warnings.simplefilter("default", ConvergenceWarning)  # thousands of refits may raise the same one
        warnings.showwarning = hear
        try:
            yield heard
        except tuple(REMEDIES) as error:
            remedy = next(text for kind, text in REMEDIES.items() if isinstance(error, kind))
            raise ValueError(f"{error.fact.removesuffix('.')}; {remedy}") from error


def worded(warning: Warning | str) -> str:
    """Return a warning with options of the command instead of arguments in Python."""
    if isinstance(warning, UnscaledPenaltyWarning):
        return f"{warning.fact}; add --standardize"
    if isinstance(warning, WarnedRefitsWarning):
        return f"{warning.fact}; {CONVERGE}" if "ConvergenceWarning" in warning.categories else str(warning)
    if isinstance(warning, NotCertifiedWarning):
        return _not_certified(warning)
    return warning if isinstance(warning, str) else warning.args[0]


def _more_time() -> str:
    """Return how to allow the search more time, with options that only some commands have."""
    context = click.get_current_context(silent=True)
    if context is not None and all("--time-limit" not in one.opts for one in context.command.params):
        return "'cudbound interval' has the option --time-limit SECONDS to allow more time"
    return (
        "allow more time with --time-limit SECONDS, remove the limit with --total-node-limit none, or increase "
        "--node-limit"
    )


def _not_certified(event: NotCertifiedWarning) -> str:
    from cudbound.basis.quantiles import within

    known = "aci: bounds were used"
    if event.half_width is not None:
        known = f"{event.method}: q is {within(*event.half_width)}; the larger value was used"
    messages = [f"{known}, which can only make the interval longer."]
    if event.n_limited:
        messages.append(f"A limit stopped the search in {event.n_limited} draws: {_more_time()}.")
    if event.n_inaccurate:
        messages.append(
            f"Rounding left {event.n_inaccurate} draws unproved: rescale the features or look for an outlier."
        )
    return " ".join(messages)
