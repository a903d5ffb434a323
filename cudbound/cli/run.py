"""What the commands do once the command line is understood; nothing here parses or prints."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    source: str
    event: str


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
    return Sample(data.X, data.y, data.feature_names, table.source, f"{target} = {data.positive}")


def compute(sample: Sample, settings: Settings, *, progress: bool = False) -> Outcome:
    """Fit the paper's classifier to the sample and compute the intervals for its error."""
    from cudbound import LeastSquaresClassifier, compare_intervals
    from cudbound.exceptions import CudboundWarning, NotCertifiedWarning

    classifier = LeastSquaresClassifier().fit(sample.X, sample.y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CudboundWarning)
        table = compare_intervals(
            classifier,
            sample.X,
            sample.y,
            methods=settings.methods,
            confidence_level=settings.confidence_level,
            n_resamples=settings.n_resamples,
            alpha=settings.alpha,
            rng=settings.seed,
            n_jobs=settings.n_jobs,
            node_limit=settings.node_limit,
            progress=progress,
        )
    ours = [warning for warning in caught if issubclass(warning.category, CudboundWarning)]
    _warn_again([warning for warning in caught if warning not in ours])
    return Outcome(
        table,
        describe(sample, settings),
        tuple(
            dict.fromkeys(
                not_certified(warning.message, settings)
                if isinstance(warning.message, NotCertifiedWarning)
                else str(warning.message)
                for warning in ours
            )
        ),
        not any(issubclass(warning.category, NotCertifiedWarning) for warning in ours),
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


def describe(sample: Sample, settings: Settings) -> RunDescription:
    """Return what the notes under the table say of the data and the run."""
    from cudbound.report.tables import RunDescription

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
    )


def _warn_again(caught: Sequence[Any]) -> None:
    """Pass on the warnings of other packages, which are not ours to word."""
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
