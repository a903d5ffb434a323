"""Real data sets as populations, and folders of data sets with files checked against a manifest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_choice, check_integer
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile
from cudbound.study.populations.population import Cases, Truth, share_truth
from cudbound.study.schema import placed

#: The cases that give the true error, by which training sets are drawn.
TRUTH_FROM = ("remainder", "population")
#: Cases that must remain for testing, if coverage is to be estimated.
MIN_REMAINDER = 500
#: Minimum ratio of population to sample with replacement for a negligible overlap.
MIN_RATIO = 100
#: Size of training set in the definition of a small data set.
USUAL_SAMPLE = 50
#: Environment variable for the folder, if none is given.
VARIABLE = "CUDBOUND_DATA"
MANIFEST = "MANIFEST.json"


@dataclass(frozen=True, eq=False)
class RealData:
    """A data set of N cases as a source of training sets.

    Parameters
    ----------
    name : str
    words : str
        Description of the data, for the title.
    X : array, sparse matrix or data frame, shape (N, n_features)
    y : ndarray of int, shape (N,)
        0 or 1, with both present.
    device : {"remainder", "population"}, default="remainder"
        "remainder" draws without replacement and computes the error on the other N - n cases: an estimate for the
        population from which the data were sampled, with standard error sqrt(e (1 - e) / (N - n)). "population" draws
        with replacement and computes the error on all N cases: exact for the data set as the population.
    feature_names : sequence of str, default=()

    Raises
    ------
    ValueError
        If shapes do not match, `y` is not 0 and 1, or `device` is unknown.

    References
    ----------
    "remainder": Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in
    classification using the CUD bound. UAI 2008, section 5. "population": Grandvalet, Y. and Bengio, Y. (2006).
    Hypothesis testing for cross-validation. Technical report 1285, Universite de Montreal.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 2))
    >>> data = RealData("made", "made up", X, (X[:, 0] > 0).astype(int))
    >>> data.draw(30, rng).X.shape, data.n_cases
    ((30, 2), 1000)
    """

    name: str
    words: str
    X: Any = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    device: str = "remainder"
    feature_names: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_choice("device", self.device, TRUTH_FROM)
        if len(self.X.shape) != 2 or not self.X.shape[1] or self.y.shape != (self.X.shape[0],):
            raise ValueError(
                "X must have one row and y one label per case, and X at least one column. "
                f"Got the shapes {self.X.shape} and {self.y.shape}."
            )
        labels = np.unique(self.y).tolist()
        if labels != [0, 1]:
            raise ValueError(f"y must contain both labels 0 and 1, and no others. Got {labels[:5]}.")

    @property
    def n_cases(self) -> int:
        """Number of cases, N."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def all_cases(self) -> tuple[Any, NDArray[np.int64]] | None:
        """The features and labels of all cases if they are the population; None if samples are removed from them."""
        return (self.X, self.y) if self.device == "population" else None

    @property
    def title(self) -> str:
        """One line on the data, the drawing of cases and the true error."""
        how = (
            "drawn without replacement, true error on the other cases, with standard error"
            if self.device == "remainder"
            else "drawn with replacement, true error exact on all cases"
        )
        needed = USUAL_SAMPLE + MIN_REMAINDER if self.device == "remainder" else MIN_RATIO * USUAL_SAMPLE
        small = "; too small to estimate coverage" if self.n_cases < needed else ""
        return f"{self.words}: {self.n_cases} cases, {self.X.shape[1]} features; {how}{small}"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the features and labels, by which a study identifies its data."""
        digest = hashlib.sha256(f"{self.X.shape}".encode())
        digest.update(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        return digest.hexdigest()

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n cases; it may have only one class.

        Raises
        ------
        ValueError
            If n is not a positive integer, or no cases would remain for testing.
        """
        check_integer("n", n, 1)
        if self.device == "population":
            rows = rng.integers(0, self.n_cases, n)
            return Cases(_safe_indexing(self.X, rows), self.y[rows], self._population_error)
        if n >= self.n_cases:
            raise ValueError(
                f"{self.name} has {self.n_cases} cases: a sample of {n} leaves none for the true error. Use smaller "
                "samples, or device = 'population'."
            )
        rows = rng.choice(self.n_cases, n, replace=False)
        return Cases(_safe_indexing(self.X, rows), self.y[rows], partial(self._remainder_error, rows))

    def _population_error(self, classifier: Any) -> Truth:
        return Truth(float(np.mean(np.asarray(classifier.predict(self.X)) != self.y)))

    def _remainder_error(self, rows: NDArray[np.int64], classifier: Any) -> Truth:
        others = np.delete(np.arange(self.n_cases), rows)
        predicted = np.asarray(classifier.predict(_safe_indexing(self.X, others)))
        return share_truth(predicted != self.y[others])


def csv_population(data: DataFile, *, device: str = "remainder", name: str | None = None) -> RealData:
    """Make a population from a CSV file, read in the same way as by ``cudbound interval``.

    Parameters
    ----------
    data : DataFile
        The file and the roles of its columns. Missing values raise an error, or rows with missing values are dropped: a
        population has no imputation.
    device : {"remainder", "population"}, default="remainder"
        See `RealData`.
    name : str or None, default=None
        Its name in results; None uses the file name without its suffix.

    Raises
    ------
    CsvError
        If the file or a column cannot be used; see `cudbound.inputs.csv_columns.read_training_data`.
    ValueError
        If `device` is unknown.
    """
    check_choice("missing", data.missing, ("error", "drop"))
    read = read_training_data(data)
    words = f"{data.file.name}, {data.target} = {data.positive}"
    return RealData(name or data.file.stem, words, read.X, read.y, device, read.feature_names)


def load_data_set(
    name: str, folder: str | Path | None = None, *, target: str | None = None, device: str = "remainder"
) -> RealData:
    """Read a data set from a folder, after checking its file against the manifest.

    The manifest ``MANIFEST.json`` has a list ``datasets`` of objects with ``name``, ``title``, ``file``, ``sha256``,
    ``feature_columns`` and ``target_column``; they may have ``design``, with the ``text_features``, and
    ``alternative_targets``, a list of objects with ``column`` and perhaps ``features`` of their own. Rows with a
    missing value in a used column are left out, and the title gives their number. Text features become indicators, with
    the alphabetically first level as reference; all others are numbers.

    Parameters
    ----------
    name : str
    folder : str, Path or None, default=None
        None uses the environment variable ``CUDBOUND_DATA``.
    target : str or None, default=None
        Column of the labels 0 and 1: None for the usual one, or an alternative target in the manifest, which may have
        other features.
    device : {"remainder", "population"}, default="remainder"
        See `RealData`.

    Raises
    ------
    ValueError
        If no folder is given, its manifest is missing or invalid, the data set or target does not exist, the file is
        missing, or its checksum or columns do not match the manifest.
    """
    place = folder if folder is not None else os.environ.get(VARIABLE) or None
    if place is None:
        raise ValueError(
            f"No folder of data sets was given. Pass one (--data-folder), or set {VARIABLE} to its path."
        )
    try:
        sets = {entry["name"]: entry for entry in json.loads(_content(Path(place, MANIFEST)))["datasets"]}
        data = sets[check_choice("data", name, sets)]
        usual, text_features = data["target_column"], data.get("design", {}).get("text_features", ())
        others = {other["column"]: other.get("features") for other in data.get("alternative_targets", ())}
        column = check_choice("target", target or usual, {usual, *others})
        features = others.get(column)
        if not isinstance(features, list):
            features = data["feature_columns"]
        path, checksum, words = Path(place, data["file"]), data["sha256"], data["title"]
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{Path(place, MANIFEST)} is not a manifest of data sets ({error!r}).") from error
    if hashlib.sha256(_content(path)).hexdigest() != checksum:
        raise ValueError(
            f"{path} is not the file described in {MANIFEST}: its SHA-256 differs. Restore it from its source."
        )
    texts = [text for text in text_features if text in features]
    with placed(f"{path} does not match {MANIFEST}"):
        read = read_training_data(
            DataFile(path, column, "1", categorical=texts, features=features, missing="drop"),
            any_features=True,
        )
        if read.classes != ("0", "1"):
            raise ParameterError(column, "0 or 1 on every row", read.classes[0])
    words += "" if column == usual else f", {column}"
    if read.n_left_out:
        words += f" ({read.n_left_out} incomplete rows left out)"
    return RealData(name, words, read.X, read.y, device, read.feature_names)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"cannot read {path}: {error.strerror}. Restore it from its source, or use another folder of data sets "
            f"(--data-folder, or the variable {VARIABLE})."
        ) from error
