"""What the entry points that refit have in common: the sample, the random numbers, and going on after Ctrl-C."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

import joblib
import numpy as np
from numpy.typing import NDArray

from cudbound.exceptions import RunInterrupted, SlowRefitsWarning, SolveInterrupted
from cudbound.method_card import Registered
from cudbound.records import Records, TestSetLosses
from cudbound.resampling import POLICIES, Policy, ResamplingPlan, ResamplingSizes
from cudbound.resampling.plan import training_records
from cudbound.resampling.refits import Tape
from cudbound.resampling.splitters import make_splits
from cudbound.results import Draws
from cudbound.validation import (
    check_choice,
    check_labels,
    check_lengths,
    check_rng,
)

Array = NDArray[np.float64]
Row = TypeVar("Row")
Named = TypeVar("Named", bound=Registered)

#: Refits one by one that are likely to take longer than this, judged after so many seconds of them, are announced.
LONG_SECONDS, SECONDS_BEFORE_FORECAST = 60.0, 2.0
#: Records that a splitter can fill.
FROM_SPLITS = frozenset({"splits", "folds", "repeated_folds", "halvings"})
#: Records for which no rows are resampled.
UNSPLIT = frozenset({"losses", "bolstered"})


@dataclass(frozen=True, eq=False)
class Sample:
    """A training set in the words of a classifier, and as plain labels.

    Attributes
    ----------
    X : array-like, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        Out of `classes`.
    labels : ndarray of float, shape (n_samples,)
        -1.0 for ``classes[0]``, +1.0 for ``classes[1]``.
    classes : ndarray, shape (2,)
    """

    X: Any
    y: NDArray[Any]
    labels: Array
    classes: NDArray[Any]

    @property
    def n_samples(self) -> int:
        """Rows of the training set."""
        return int(self.labels.size)


def check_sample(X: Any, y: Any, classes: NDArray[Any]) -> Sample:
    """Return the training set; raise ValueError if `X` and `y` do not fit each other or the classes."""
    labels = check_labels(y, classes)
    check_lengths(X.shape[0] if hasattr(X, "shape") else len(X), labels.size)
    return Sample(X, classes[(labels > 0.0).astype(int)], labels, classes)


@dataclass(frozen=True, eq=False)
class Unfinished:
    """What a run that was stopped had computed; pass it as ``previous=`` to the same call to go on.

    Attributes
    ----------
    rng : numpy.random.Generator
        The random numbers as they were at the start of the run.
    tape : Tape
        Losses of the refits that were made.
    draws : Draws or None
        What was proved about the draws of the CUD bound.
    digest : str
        Names the data and the arguments, so that it is not taken for another run's.
    """

    rng: np.random.Generator = field(repr=False)
    tape: Tape = field(repr=False)
    draws: Draws | None = field(repr=False)
    digest: str = field(repr=False)

    @property
    def n_fits(self) -> int:
        """Number of refits that were made."""
        return self.tape.n_fits


class Run:
    """One run of an entry point: its random numbers and what it has computed so far.

    Parameters
    ----------
    rng : int, numpy.random.Generator or None
    previous : Unfinished or None
        Its random numbers and results are used instead of new ones.

    Raises
    ------
    ValueError
        If one of them is none of these.
    """

    def __init__(self, rng: Any, previous: Unfinished | None):
        if previous is not None and not isinstance(previous, Unfinished):
            raise ValueError(
                "The 'previous' parameter must be what RunInterrupted carries as 'unfinished', or None. "
                f"Got {previous!r} instead."
            )
        generator = check_rng(rng)
        self._previous = previous
        self._start = deepcopy(generator if previous is None else previous.rng)
        self._identity: object = None
        self.rng = generator if previous is None else deepcopy(previous.rng)
        self.tape = Tape(None if previous is None else previous.tape)
        self.draws = None if previous is None else previous.draws

    def identify(self, sample: Sample, plan: ResamplingPlan, *arguments: object) -> None:
        """Note the data and the arguments that decide the results.

        Raises
        ------
        ValueError
            If `previous` belongs to others.
        """
        splits = None if plan.splits is None else (plan.splits.training, plan.splits.test)
        sizes = (plan.n_inner, plan.sizes, plan.on_single_class, splits)
        self._identity = (sample.X, sample.y, sorted(plan.needs), sizes, arguments)
        if self._previous is not None and self._previous.digest != self._digest:
            raise ValueError(
                "The 'previous' parameter belongs to other data or other arguments. Pass those of the run that was "
                "stopped, or leave it out."
            )

    @property
    def _digest(self) -> str:
        return str(joblib.hash(self._identity))  # only a run that stops or goes on needs it

    @property
    def unfinished(self) -> Unfinished:
        """What has been computed so far."""
        return Unfinished(self._start, self.tape, self.draws, self._digest)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """Turn Ctrl-C into `RunInterrupted`, which carries what has been computed so far."""
        try:
            yield
        except SolveInterrupted as stopped:
            self.draws = stopped.draws
            raise RunInterrupted(self.unfinished, stopped.proved) from stopped
        except KeyboardInterrupt as stopped:
            raise RunInterrupted(self.unfinished) from stopped


def make_plan(
    methods: Iterable[Registered],
    sample: Sample,
    streams: Mapping[str, np.random.Generator],
    *,
    n_inner: int | None = 50,
    sizes: ResamplingSizes | None = None,
    on_single_class: str | None = None,
    cv: Any = None,
    groups: Any = None,
    has_test_set: bool = False,
) -> ResamplingPlan:
    """Return what has to be recorded for some methods.

    Raises
    ------
    ValueError
        If a parameter is of the wrong kind, if no method reads what `cv` gives, or if `groups` are given and a method
        would resample rows without regard to them.
    """
    methods = tuple(methods)
    if on_single_class is not None:
        check_choice("on_single_class", on_single_class, POLICIES)
    if sizes is not None and not isinstance(sizes, ResamplingSizes):
        raise ValueError(f"The 'sizes' parameter must be a ResamplingSizes or None. Got {sizes!r} instead.")
    needs = frozenset[str]().union(*(method.needs for method in methods))
    if has_test_set:
        needs -= {"test_set"}
    if groups is not None:
        check_lengths(len(groups), sample.n_samples)
        if cv is None:
            raise ValueError(
                "The 'groups' parameter needs 'cv', such as sklearn.model_selection.GroupKFold(5)."
            )
    splits = None if cv is None else make_splits(cv, sample.X, sample.y, groups, streams["cv"].spawn(1)[0])
    if splits is not None:
        _check_use(methods, splits.fills, groups is not None, has_test_set)
    sizes = ResamplingSizes() if sizes is None else sizes
    if splits is not None and "splits" in needs:
        # variances taken from halves or replicates of the data are those of a mean over as many and as large splits
        sizes = replace(sizes, n_splits=max(2, len(splits.test)), test_fraction=float(splits.test.mean()))
    return ResamplingPlan(needs, n_inner, sizes, cast("Policy | None", on_single_class), splits)


def _check_use(
    methods: tuple[Registered, ...], fills: frozenset[str], grouped: bool, has_test_set: bool
) -> None:
    """Refuse splits that nobody reads, and methods that would tear groups apart."""
    readers = [method.name for method in methods if method.needs & fills]
    if not readers:
        raise ValueError(
            f"The 'cv' parameter gives {sorted(fills)}, which none of the methods asked for reads: "
            f"{ {method.name: sorted(method.needs & FROM_SPLITS) for method in methods} }. A single partition into "
            "folds gives 'folds' and 'splits', several of them 'repeated_folds' and 'splits', other splitters 'splits'."
        )
    whole = UNSPLIT | {"test_set"} if has_test_set else UNSPLIT
    torn = [method.name for method in methods if not method.needs - whole <= fills]
    if grouped and torn:
        raise ValueError(
            f"The 'groups' parameter cannot be kept by {torn}, which resample single rows. "
            f"With this 'cv' they can by {readers}."
        )


def check_test_set(
    test_set: Any, classes: NDArray[Any], methods: Iterable[Registered]
) -> tuple[Any, NDArray[Any]]:
    """Return new cases ``(X_test, y_test)``.

    Raises
    ------
    ValueError
        If they are no such pair, their labels are not those of the classifier, or none of the methods tests on them.
    """
    if not any("test_set" in method.needs and "second_test_set" not in method.needs for method in methods):
        raise ValueError(
            "The 'test_set' parameter is read by none of the methods asked for. Leave it out, or ask for one whose "
            "needs, in available_methods(), include test_set."
        )
    if not isinstance(test_set, tuple) or len(test_set) != 2:
        raise ValueError(
            f"The 'test_set' parameter must be a pair (X_test, y_test) or None. Got {type(test_set).__name__} instead."
        )
    X_test, y_test = test_set[0], np.asarray(test_set[1])
    check_lengths(X_test.shape[0] if hasattr(X_test, "shape") else len(X_test), len(y_test))
    unknown = sorted(set(y_test.tolist()) - set(classes.tolist()), key=repr)
    if unknown:
        raise ValueError(
            f"The labels of 'test_set' must be those of the classifier, {classes.tolist()}. Got also {unknown[:5]}."
        )
    return X_test, y_test


def given_records(estimator: Any, sample: Sample, test_set: tuple[Any, NDArray[Any]] | None) -> Records:
    """Return the losses of a fitted classifier on its training set and, if there are any, on new cases.

    `test_set` is from `check_test_set`.
    """
    records = training_records(estimator, sample.X, sample.y, sample.labels)
    if test_set is None:
        return records
    wrong = np.asarray(estimator.predict(test_set[0]) != test_set[1])
    return replace(records, test_set=TestSetLosses(wrong, sample.n_samples, estimand="conditional"))


def raise_failed(method: Registered, failed: Mapping[str, Exception]) -> None:
    """Raise why a record that the method needs could not be made; `failed` is by the fields of `Records`."""
    for need in sorted(method.needs & failed.keys()):
        raise failed[need]


def compute_rows(
    methods: Iterable[Named],
    compute: Callable[[Named], Row],
    without: Callable[[Named, str], Row],
    *,
    lacking: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Row, ...]:
    """Return one row a method. A method that fails keeps its row, with the reason: those of the others took refits.

    Parameters
    ----------
    methods : iterable of Registered
    compute : callable
        ``compute(method)`` returns the row.
    without : callable
        ``without(method, reason)`` returns a row without numbers.
    lacking : mapping of str to str, default={}
        Why methods were left out, by their names.

    Raises
    ------
    Exception
        The first one, if no method has a row of its own.
    """
    rows: list[Row] = []
    errors: list[Exception] = []
    n_computed = 0
    for method in methods:
        if method.name in lacking:
            rows.append(without(method, lacking[method.name]))
            continue
        try:
            rows.append(compute(method))
            n_computed += 1
        except Warning:
            raise
        except Exception as error:
            errors.append(error)
            said = " ".join(str(error).split())
            rows.append(without(method, f"could not be computed: {type(error).__name__}: {said}"))
    if errors and not n_computed:
        raise errors[0]
    return tuple(rows)


class Forecast:
    """Warns once of refits that are going to take long, as soon as the first few tell.

    Parameters
    ----------
    total : int
        Refits of the run.
    clock : callable, default=time.monotonic
    """

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic):
        self._total = total
        self._clock = clock
        self._begun: float | None = None
        self._made = 0
        self._told = False

    def __call__(self, n_fits: int) -> None:
        """Note that so many refits more have been made."""
        if self._told or not n_fits:
            return
        if self._begun is None:
            # the start of workers, and what an earlier run has made, say nothing of the others
            self._begun = self._clock()
            return
        self._made += n_fits
        elapsed = self._clock() - self._begun
        if elapsed < SECONDS_BEFORE_FORECAST:
            return
        self._told = True
        seconds = elapsed / self._made * self._total
        if seconds >= LONG_SECONDS:
            warnings.warn(
                SlowRefitsWarning(
                    f"{self._total:,} refits will take about {_in_words(seconds)}, judged by the first "
                    f"{self._made}. Ctrl-C stops them and keeps what was made; n_jobs=-1 uses all cores, inner='oob' "
                    "and a smaller n_resamples need fewer fits, and progress=True shows how far they are.",
                    n_fits=self._total,
                    seconds=seconds,
                ),
                stacklevel=2,
            )


def _in_words(seconds: float) -> str:
    minutes = seconds / 60.0
    return f"{minutes:.0f} minutes" if minutes < 90.0 else f"{minutes / 60.0:.1f} hours"


@contextmanager
def progress_bar(total: int, show: bool) -> Iterator[Callable[[int], object]]:
    """Show a bar over all refits of a run, with the time that they are likely to take; yields how to advance it.

    Parameters
    ----------
    total : int
        Refits of the run.
    show : bool
        Whether there is a bar. Without one the time is told if it is going to be long.
    """
    if not show or total == 0:
        yield Forecast(total) if total else lambda _: None
        return
    from tqdm import tqdm

    # with smoothing 0 the time that remains is judged by all fits made so far, not by the last few
    with tqdm(total=total, desc="refits", unit="fit", leave=False, smoothing=0) as bar:
        yield bar.update
        bar.total = bar.n  # draws that were dropped, or drawn again, are counted here at last
        bar.refresh()
