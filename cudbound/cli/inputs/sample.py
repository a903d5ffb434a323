"""The training set as the commands read it, and the folds that are made of it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from cudbound.inputs.csv_file import DataFile, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cudbound.inputs.csv_columns import TrainingData


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
    from cudbound.inputs.csv_columns import read_training_data

    sample = read_training_data(data)
    if folds is not None:
        _check_folds_of(sample, folds)
    return sample


def _check_folds_of(sample: TrainingData, folds: int) -> None:
    source = quoted(sample.source)
    if sample.groups is None:
        most = min(sample.y.sum(), sample.y.size - sample.y.sum())
        reason = f"the smaller class of {source} has only {most} rows, and each fold is to hold one"
    else:
        most = len(set(sample.groups))
        reason = f"{source} has only {most} groups"
    if folds > most:
        raise ValueError(f"--folds {folds}: {reason}; choose at most {most}")


def make_cv(sample: TrainingData, folds: int | None) -> tuple[Any, NDArray[np.str_] | None]:
    """Return the ``cv`` and ``groups`` of the package: stratified folds, or folds of whole groups.

    Parameters
    ----------
    sample : TrainingData
    folds : int or None
        None leaves the folds to the package.
    """
    if sample.groups is None or folds is None:
        return folds, sample.groups
    from sklearn.model_selection import GroupKFold

    return GroupKFold(folds), sample.groups
