"""What the commands do once the command line is understood; nothing here parses or prints."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudbound.cli.advice import NOT_CONVERGED, advice_of_the_command, warn_again
from cudbound.cli.fitted import Fitted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cudbound.exceptions import NotCertifiedWarning
    from cudbound.report.tables import RunDescription
    from cudbound.results import IntervalTable


@dataclass(frozen=True)
class Settings:
    """How the intervals are computed: the arguments of `cudbound.compare_intervals`, its rng being `seed`."""

    seed: int
    methods: str | tuple[str, ...] = "paper"
    confidence_level: float = 0.95
    n_resamples: int = 1000
    alpha: str | float = "n"
    n_jobs: int = 1
    node_limit: int | None = None
    inner: int | str = 50
    polish: bool = False
    solver: str = "native"


@dataclass(frozen=True)
class Sample:
    """A training set and what a reader must know of it.

    Attributes
    ----------
    X : ndarray of float, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)
        1 for the event, 0 otherwise.
    feature_names : tuple of str, length n_features
    source, event : str
        Name of the data, and the event in words.
    classes : (str, str)
        The values of the target as the data have them, that of the event second.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    source: str
    event: str
    classes: tuple[str, str] = ("0", "1")


@dataclass(frozen=True)
class Outcome:
    """A finished table with its description, the package's warnings, and whether every draw was solved."""

    table: IntervalTable
    run: RunDescription
    warnings: tuple[str, ...]
    certified: bool


def new_seed() -> int:
    """Choose a seed that is short enough to be typed again."""
    return secrets.randbelow(2**32)


def read_sample(
    path: str,
    *,
    target: str,
    positive: str,
    categorical: Sequence[str],
    exclude: Sequence[str],
    delimiter: str,
) -> Sample:
    """Read the training set from a CSV file; raise `CsvError` if it cannot be used."""
    from cudbound.csv_data import training_data
    from cudbound.csv_file import read_csv_file

    table = read_csv_file(path, delimiter=delimiter)
    data = training_data(table, target=target, positive=positive, categorical=categorical, exclude=exclude)
    event = f"{target} = {data.positive}"
    return Sample(
        data.X, data.y, data.feature_names, table.source, event, classes=(data.negative, data.positive)
    )


def compute(fitted: Fitted, settings: Settings, *, progress: bool = False) -> Outcome:
    """Compute the intervals for the error of a fitted classifier.

    Raises
    ------
    ValueError
        If the CUD bound is asked for and cannot be had for this classifier; the message has the way out.
    """
    from sklearn.exceptions import ConvergenceWarning

    from cudbound import compare_intervals
    from cudbound.exceptions import CudboundWarning, NotCertifiedWarning

    with warnings.catch_warnings(record=True) as caught, advice_of_the_command(saved=fitted.saved):
        warnings.simplefilter("always", CudboundWarning)
        warnings.simplefilter("default", ConvergenceWarning)  # thousands of refits may raise the same one
        table = compare_intervals(
            fitted.estimator,
            fitted.X,
            fitted.y,
            methods=settings.methods,
            confidence_level=settings.confidence_level,
            n_resamples=settings.n_resamples,
            alpha=settings.alpha,
            inner=settings.inner,
            polish=settings.polish,
            solver=settings.solver,
            rng=settings.seed,
            n_jobs=settings.n_jobs,
            node_limit=settings.node_limit,
            progress=progress,
        )
    ours = [event for event in caught if issubclass(event.category, CudboundWarning)]
    unfinished = [event for event in caught if issubclass(event.category, ConvergenceWarning)]
    warn_again([event for event in caught if event not in ours and event not in unfinished])
    said = [
        not_certified(event.message, settings)
        if isinstance(event.message, NotCertifiedWarning)
        else str(event.message)
        for event in ours
    ]
    if unfinished:
        said.append(NOT_CONVERGED.format(what="some of the refits"))
    return Outcome(
        table,
        describe(fitted, settings),
        tuple(dict.fromkeys((*fitted.warnings, *said))),
        not any(issubclass(event.category, NotCertifiedWarning) for event in ours),
    )


def not_certified(event: NotCertifiedWarning, settings: Settings) -> str:
    """Word the warning for the command line, which has other means to go on than Python has."""
    reasons = []
    if event.n_limited:
        reasons.append(f"{event.n_limited} by the limit on nodes: raise --node-limit or leave it out")
    if event.n_inaccurate:
        reasons.append(
            f"{event.n_inaccurate} because of rounding: rescale the features or look for an outlying value"
        )
    return (
        f"{event.n_limited + event.n_inaccurate} of {settings.n_resamples} draws were not solved to the end, "
        f"{'; '.join(reasons)}. Their upper bounds were used, which can only make the interval longer."
    )


def describe(fitted: Fitted, settings: Settings) -> RunDescription:
    """Return what the notes under the table say of the data, the classifier and the run."""
    from cudbound.report.tables import RunDescription

    sample = fitted.sample
    events = int(sample.y.sum())
    return RunDescription(
        source=sample.source,
        n_samples=int(sample.y.size),
        n_events=events,
        n_non_events=int(sample.y.size) - events,
        event=sample.event,
        features=sample.feature_names,
        n_resamples=settings.n_resamples,
        alpha=settings.alpha,
        seed=settings.seed,
        classifier=fitted.description,
    )
