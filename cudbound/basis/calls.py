"""What public calls share: versions, workers, progress, a forecast, one warning for all refits."""

from __future__ import annotations

import functools
import multiprocessing
import os
import platform
import re
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from cudbound.basis.exceptions import SlowRefitsWarning, WarnedRefitsWarning

#: Packages whose versions belong to a result, by the names of their distributions.
PACKAGES = ("cudbound", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of `PACKAGES`.

    Examples
    --------
    >>> list(versions())
    ['python', 'cudbound', 'numpy', 'scipy', 'scikit-learn']
    """
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


#: Seconds between two checks whether the parent still exists.
LOOK_SECONDS = 0.5


def parallel(n_jobs: int, **options: Any) -> Any:
    """Return scikit-learn's ``Parallel``, which gives workers the settings of `sklearn.set_config`.

    Its workers end with this process; `options` are those of ``Parallel``, which needs ``delayed`` of
    `sklearn.utils.parallel`.
    """
    from sklearn.utils.parallel import Parallel  # versions are read without scikit-learn

    return Parallel(n_jobs=n_jobs, initializer=end_with, initargs=(os.getpid(),), **options)


def results_of(n_jobs: int, jobs: Iterable[Any]) -> Generator[Any, None, None]:
    """Yield the results of jobs in their order, each as soon as it is there if the backend of joblib can do so."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        yield from parallel(n_jobs, return_as="generator")(jobs)
    else:  # such as "multiprocessing"
        yield from parallel(n_jobs)(jobs)


def begin_worker(parent: int) -> None:
    """Prepare a child process of `parent`: it ignores Ctrl-C, which the parent handles, and ends with the parent.

    A killed parent sends no message: its workers would finish their work and wait minutes for more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


@cache
def end_with(parent: int) -> None:
    """End this process soon after its parent, or now if that has ended; nothing in processes that others started.

    Windows keeps the number of an ended parent; there, workers end when they return their results.
    """
    starter = multiprocessing.parent_process()
    if starter is not None and starter.pid == parent:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)  # not by an exception, which would wait for what the worker does


PACKAGE = str(Path(__file__).parents[1] / "_").removesuffix("_")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


#: Arguments whose whole numbers may also come as floats.
WHOLE = frozenset({"rng", "n_resamples", "n_jobs"})


def public_call(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a public function share one progress bar with its parts, and warn once of its refits."""

    @functools.wraps(function)
    def call(*values: Parameters.args, **named: Parameters.kwargs) -> Result:
        if OF_CALL.get() is not None:  # a part of another call
            return function(*values, **named)
        for name in WHOLE & named.keys():  # R has no other numbers than 0.0
            value = named[name]
            if isinstance(value, float) and value.is_integer():
                named[name] = int(value)
        refits = WarningsOfRefits()
        progress, active = _SHARED.set(current_progress()), OF_CALL.set(refits)
        try:
            result = function(*values, **named)
        finally:
            _SHARED.reset(progress)
            OF_CALL.reset(active)
        if refits.n_warned:
            warn(refits.warning)
        return result

    return call


def warn(message: Warning | str, category: type[Warning] | None = None) -> None:
    """Issue a warning that points at the calling line outside this package; `category` is for a text."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


#: Seconds after which a call shows a bar by itself.
PATIENCE = 2.0


@dataclass(frozen=True)
class Progress:
    """Whether a call shows bars, and after how long.

    Attributes
    ----------
    shown : bool
    since : float
        The time, by `time.monotonic`, before which nothing is shown.
    """

    shown: bool
    since: float

    @contextmanager
    def bar(self, **settings: Any) -> Iterator[Any]:
        """Yield a tqdm bar, which shows the remaining time; `settings` are passed to tqdm.

        It is drawn with `update` from the time on at which it is due, and wiped out at the end.
        """
        from tqdm.auto import tqdm

        if not self.shown:
            settings["disable"] = True  # else the user may say so, by TQDM_DISABLE=1
        with tqdm(delay=max(0.0, self.since - time.monotonic()), leave=False, **settings) as bar:
            yield bar


#: Shows nothing, whatever is asked for.
HIDDEN = Progress(False, 0.0)
#: That of the outermost call, so that the time of its parts runs from its beginning.
_SHARED: ContextVar[Progress | None] = ContextVar("progress", default=None)


def current_progress() -> Progress:
    """Return the progress of the enclosing call, or a new one, which is shown on a terminal or in a notebook."""
    if (outer := _SHARED.get()) is not None:
        return outer
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    in_notebook = "ipykernel.zmqshell" in sys.modules  # standard error is shown there, too
    return Progress(in_notebook or is_terminal, time.monotonic() + PATIENCE)


@contextmanager
def shared(progress: Progress) -> Iterator[None]:
    """Use this progress for all calls in the block."""
    token = _SHARED.set(progress)
    try:
        yield
    finally:
        _SHARED.reset(token)


#: Calls expected to take longer than the first are announced, judged after the second, both in seconds.
LONG_SECONDS, SECONDS_BEFORE_FORECAST = 10.0, 0.5


@dataclass
class Forecast:
    """Warns once if refits will take long, as soon as the first few allow a forecast.

    Parameters
    ----------
    total : int
        Refits of the run.
    clock : callable, default=time.monotonic
    """

    total: int
    clock: Callable[[], float] = time.monotonic
    _begun: float | None = None
    _made: int = 0
    _judged: bool = False

    def __call__(self, n_fits: int) -> None:
        """Add to the number of completed refits."""
        if self._judged or not n_fits:
            return
        if self._begun is None:
            # the start of workers does not represent later refits
            self._begun = self.clock()
            return
        self._made += n_fits
        elapsed = self.clock() - self._begun
        if elapsed < SECONDS_BEFORE_FORECAST:
            return
        self._judged = True
        seconds = elapsed / self._made * self.total
        if seconds >= LONG_SECONDS:
            warn(SlowRefitsWarning(f"{self.total:,} refits will take about {_in_words(seconds)}"))


@contextmanager
def bar_of_refits(total: int) -> Iterator[Callable[[int], object]]:
    """Show a bar over refits, and warn if they will take long; yields a function that advances both by some fits."""
    shown = current_progress()
    forecast = Forecast(total)
    if not shown.shown or total == 0:
        yield forecast
        return
    # with smoothing 0 the time that remains is judged by all fits made so far, not by the last few
    with shown.bar(total=total, desc="refits", unit="fit", smoothing=0) as bar:

        def advance(n_fits: int) -> None:
            forecast(n_fits)
            bar.update(n_fits)

        yield advance
        if time.monotonic() >= shown.since:
            bar.total = bar.n  # draws that were dropped, or drawn again, are counted here at last
            bar.refresh()


def _in_words(seconds: float) -> str:
    minutes = seconds / 60.0
    if minutes < 1.5:
        return f"{seconds:.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 90.0 else f"{minutes / 60.0:.1f} hours"


#: The category and the text of a warning.
Kind = tuple[type[Warning], str]

#: Characters of the text of a warning that are shown.
LONGEST = 200
#: What helps against a warning, by the name of its category.
REMEDIES = {"ConvergenceWarning": "scale the features, or allow more iterations"}

#: Where the warnings of the present call are collected; None outside of every call.
OF_CALL: ContextVar[WarningsOfRefits | None] = ContextVar("warnings_of_refits", default=None)


@dataclass
class WarningsOfRefits:
    """How many refits of a call warned, and of what.

    Attributes
    ----------
    n_refits, n_warned : int
    n_of : Counter
        Refits that warned, by the category and the text without its numbers.
    texts : dict
        The first text of each of these.
    """

    n_refits: int = 0
    n_warned: int = 0
    n_of: Counter[Kind] = field(default_factory=Counter)
    texts: dict[Kind, str] = field(default_factory=dict)
    _ignored: set[Kind] = field(default_factory=set)

    def add(self, refits: Iterable[Iterable[Kind]]) -> None:
        """Add refits, each with its warnings; what the caller ignores is left out, and what is an error is raised."""
        for raised in refits:
            kinds = {(category, re.sub(r"[-+.\de]*\d", "", text)): text for category, text in raised}
            for kind, text in kinds.items():
                if kind not in self.texts and kind not in self._ignored and not _is_shown(kind[0], text):
                    self._ignored.add(kind)
            shown = kinds.keys() - self._ignored
            self.n_refits += 1
            self.n_warned += bool(shown)
            self.n_of.update(shown)
            self.texts = {kind: kinds[kind] for kind in shown} | self.texts

    @property
    def warning(self) -> WarnedRefitsWarning:
        """The warning for all refits, of which some warned."""
        kinds = sorted(self.n_of, key=lambda kind: (-self.n_of[kind], kind[0].__name__, kind[1]))
        names = dict.fromkeys(category.__name__ for category, _ in kinds)
        counted = [
            f"{kind[0].__name__} in {self.n_of[kind]}: {_shortened(self.texts[kind])}" for kind in kinds
        ]
        helps = "".join(f"; {REMEDIES[name]}" for name in names if name in REMEDIES)
        fact = f"{self.n_warned} of {self.n_refits} refits warned, and are used as they are: {'; '.join(counted)}"
        return WarnedRefitsWarning(
            fact, helps, n_refits=self.n_refits, n_warned=self.n_warned, categories=tuple(names)
        )


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
    kinds: list[Kind] = []
    _NotHere.process = os.getpid()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", _OfOtherProcesses)
        try:
            yield kinds
        finally:
            kinds += [(warning.category, str(warning.message)) for warning in caught]


def _is_shown(category: type[Warning], text: str) -> bool:
    """Whether the filters of the caller show a warning; raises it if they make it an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn_explicit(text, category, __file__, 1, registry={})
    return bool(caught)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:LONGEST]}..." if len(line) > LONGEST else line.rstrip(".")
