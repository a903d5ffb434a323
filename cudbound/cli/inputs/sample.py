"""The training set as the commands read it, and the folds that are made of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.inputs.csv_file import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Folds of whole groups if no number is asked for; fewer where there are fewer groups.
FOLDS = 10


@dataclass(frozen=True)
class DataFile:
    """A CSV file and the parts that its columns play, as the command line names them."""

    file: Path
    target: str
    positive: str
    categorical: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    delimiter: str = ","
    group: str | None = None


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
    groups : ndarray of str, shape (n_samples,), or None
        Which rows belong together; None if nothing is said of it.
    group : str or None
        Name of the column that says so.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    source: str
    event: str
    classes: tuple[str, str] = ("0", "1")
    groups: NDArray[np.str_] | None = None
    group: str | None = None

    def described(self) -> dict[str, Any]:
        """Return what the notes under a table say of the data, by the names of their fields."""
        events = int(self.y.sum())
        return {
            "source": self.source,
            "n_samples": int(self.y.size),
            "n_events": events,
            "n_non_events": int(self.y.size) - events,
            "event": self.event,
            "features": self.feature_names,
        }


def new_seed() -> int:
    """Choose a seed that is short enough to be typed again."""
    return secrets.randbelow(2**32)


def read_sample(data: DataFile) -> Sample:
    """Read the training set from a CSV file; raise `CsvError` if it cannot be used."""
    from cudbound.inputs.csv_columns import training_data
    from cudbound.inputs.csv_file import read_csv_file

    table = read_csv_file(data.file, delimiter=data.delimiter)
    found = training_data(
        table,
        target=data.target,
        positive=data.positive,
        categorical=data.categorical,
        exclude=data.exclude,
        group=data.group,
    )
    return Sample(
        found.X,
        found.y,
        found.feature_names,
        table.source,
        f"{data.target} = {found.positive}",
        classes=(found.negative, found.positive),
        groups=found.groups,
        group=data.group,
    )


def check_folds_of(sample: Sample, folds: int | None) -> None:
    """Raise ValueError if there are to be more folds than groups, or than rows of one class."""
    source = quoted(sample.source)
    if folds is None:
        return
    if sample.groups is not None:
        n_groups = len(set(sample.groups))
        if folds > n_groups:
            raise ValueError(
                f"--folds {folds}: {source} has only {n_groups} groups; choose at most {n_groups}"
            )
        return
    events = int(sample.y.sum())
    fewer = min(events, sample.y.size - events)
    if folds > fewer:
        raise ValueError(
            f"--folds {folds}: the smaller class of {source} has only {fewer} rows, and each fold is to hold one; "
            f"choose at most {fewer}"
        )


def make_cv(sample: Sample, folds: int | None) -> tuple[Any, NDArray[np.str_] | None]:
    """Return the ``cv`` and ``groups`` of the package: stratified folds, or folds of whole groups.

    Parameters
    ----------
    sample : Sample
    folds : int or None
        None means `FOLDS` folds with groups, and without them no folds of the command's own.
    """
    if sample.groups is None:
        return folds, None
    from sklearn.model_selection import GroupKFold

    return GroupKFold(min(FOLDS, len(set(sample.groups))) if folds is None else folds), sample.groups
