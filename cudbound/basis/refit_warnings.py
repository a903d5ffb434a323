"""Warnings of other packages during refits, collected into one for a whole call."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from cudbound.basis.exceptions import WarnedRefitsWarning

#: The category and the text of a warning.
Kind = tuple[type[Warning], str]

#: Characters of the text of a warning that are shown.
LONGEST = 200
#: What helps against a warning, by the name of its category.
REMEDIES = {"ConvergenceWarning": "scale the features, or allow more iterations"}

_ACTIVE: ContextVar[WarningsOfRefits | None] = ContextVar("warnings_of_refits", default=None)


@dataclass
class WarningsOfRefits:
    """How many refits of a call warned, and of what.

    Attributes
    ----------
    n_refits, n_warned : int
    n_of : Counter
        Refits that warned, by the category and the text without its numbers.
    first : dict
        The first text of each of these.
    """

    n_refits: int = 0
    n_warned: int = 0
    n_of: Counter[Kind] = field(default_factory=Counter)
    first: dict[Kind, str] = field(default_factory=dict)
    _ignored: set[Kind] = field(default_factory=set)

    def add(self, refits: Iterable[Iterable[Kind]]) -> None:
        """Add refits, each with its warnings; what the caller ignores is left out, and what is an error is raised."""
        for heard in refits:
            kinds = {(category, re.sub(r"[-+.\de]*\d", "", text)): text for category, text in heard}
            for kind, text in kinds.items():
                if kind not in self.first and kind not in self._ignored and not _is_shown(kind[0], text):
                    self._ignored.add(kind)
            known = kinds.keys() - self._ignored
            self.n_refits += 1
            self.n_warned += bool(known)
            self.n_of.update(known)
            self.first = {kind: kinds[kind] for kind in known} | self.first

    @property
    def warning(self) -> WarnedRefitsWarning | None:
        """The warning for all refits; None if none of them warned."""
        if not self.n_warned:
            return None
        kinds = sorted(self.n_of, key=lambda kind: (-self.n_of[kind], kind[0].__name__, kind[1]))
        names = dict.fromkeys(category.__name__ for category, _ in kinds)
        said = [f"{kind[0].__name__} in {self.n_of[kind]}: {_shortened(self.first[kind])}" for kind in kinds]
        helps = "".join(f"; {REMEDIES[name]}" for name in names if name in REMEDIES)
        fact = (
            f"{self.n_warned} of {self.n_refits} refits warned, and are used as they are: {'; '.join(said)}"
        )
        return WarnedRefitsWarning(
            fact, helps, n_refits=self.n_refits, n_warned=self.n_warned, categories=tuple(names)
        )


@contextmanager
def collected() -> Iterator[WarningsOfRefits | None]:
    """Collect the warnings of refits inside; yields None within another such block, which collects them."""
    if _ACTIVE.get() is not None:
        yield None
        return
    heard = WarningsOfRefits()
    token = _ACTIVE.set(heard)
    try:
        yield heard
    finally:
        _ACTIVE.reset(token)


def active() -> WarningsOfRefits | None:
    """Return where the warnings of a call are collected; None outside of every call."""
    return _ACTIVE.get()


class _NotHere(type):
    """Makes a class the base of every class, in processes other than the one that records."""

    #: The process that records, in all of its threads.
    process = 0

    def __subclasscheck__(cls, other: type) -> bool:
        return os.getpid() != cls.process


class _OfOtherProcesses(Warning, metaclass=_NotHere):
    """Any warning in the workers of a refit, to which scikit-learn gives the filters of their parent process."""


@contextmanager
def recorded() -> Iterator[list[Kind]]:
    """Record the warnings inside, of one refit; its own worker processes, which nobody hears, show none."""
    heard: list[Kind] = []
    _NotHere.process = os.getpid()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", _OfOtherProcesses)
        try:
            yield heard
        finally:
            heard += [(one.category, str(one.message)) for one in caught]


def _is_shown(category: type[Warning], text: str) -> bool:
    """Whether the filters of the caller show a warning; raises it if they make it an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn_explicit(text, category, __file__, 1, registry={})
    return bool(caught)


def _shortened(text: str) -> str:
    first = " ".join(text.split())
    return f"{first[:LONGEST]}..." if len(first) > LONGEST else first.rstrip(".")
