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

    from cudbound.inputs.csv_columns import TrainingData

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


def new_seed() -> int:
    """Choose a seed that is short enough to be typed again."""
    return secrets.randbelow(2**32)


def read_sample(data: DataFile, folds: int | None = None) -> TrainingData:
    """Read the training set from a CSV file.

    Parameters
    ----------
    data : DataFile
    folds : int or None, default None
        Number of folds that it must allow.

    Raises
    ------
    ValueError
        If it cannot be used, or has fewer groups than `folds`, or without groups fewer rows of one class.
    """
    from cudbound.inputs.csv_columns import training_data
    from cudbound.inputs.csv_file import read_csv_file

    table = read_csv_file(data.file, delimiter=data.delimiter)
    sample = training_data(
        table,
        target=data.target,
        positive=data.positive,
        categorical=data.categorical,
        exclude=data.exclude,
        group=data.group,
    )
    if folds is not None:
        _check_folds_of(sample, folds)
    return sample


def _check_folds_of(sample: TrainingData, folds: int) -> None:
    source = quoted(sample.source)
    if sample.groups is not None:
        n_groups = len(set(sample.groups))
        if folds > n_groups:
            raise ValueError(
                f"--folds {folds}: {source} has only {n_groups} groups; choose at most {n_groups}"
            )
        return
    fewer = min(sample.y.sum(), sample.y.size - sample.y.sum())
    if folds > fewer:
        raise ValueError(
            f"--folds {folds}: the smaller class of {source} has only {fewer} rows, and each fold is to hold one; "
            f"choose at most {fewer}"
        )


def make_cv(sample: TrainingData, folds: int | None) -> tuple[Any, NDArray[np.str_] | None]:
    """Return the ``cv`` and ``groups`` of the package: stratified folds, or folds of whole groups.

    Parameters
    ----------
    sample : TrainingData
    folds : int or None
        None means `FOLDS` folds with groups, and without them no folds of the command's own.
    """
    if sample.groups is None:
        return folds, None
    from sklearn.model_selection import GroupKFold

    return GroupKFold(min(FOLDS, len(set(sample.groups))) if folds is None else folds), sample.groups
