"""User-defined populations: a function that draws cases, or a CSV file; for arrays use `RealData`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cudbound.basis.validation import check_choice, check_integer
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile
from cudbound.study.populations.population import Cases, Truth
from cudbound.study.populations.real_data import RealData
from cudbound.study.populations.truth import N_TRUTH_CASES, sampled_truth


@dataclass(frozen=True)
class FunctionPopulation:
    """A population defined by a function that draws cases.

    Parameters
    ----------
    function : callable
        ``function(n, rng) -> (X, y)``: n independent cases, with finite features, shape (n, n_features), and labels 0
        and 1, shape (n,). All its randomness must come from the generator `rng`; otherwise replicates are not
        reproducible.
    name : str
        Its name in results.
    error : callable or None, default=None
        ``error(classifier) -> float``, the exact error of a fitted classifier. None estimates the error on a fixed
        sample from the function, drawn once per process, with a standard error.
    n_truth_cases : int, default=50000
        Size of that sample. The standard error is at most 0.5 / sqrt(n_truth_cases), .00224.

    Examples
    --------
    >>> def probit(n, rng):
    ...     X = rng.standard_normal((n, 2))
    ...     return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    >>> population = FunctionPopulation(probit, "probit")
    >>> population.title
    'probit; true error on 50000 fixed cases'
    """

    function: Callable[[int, np.random.Generator], tuple[Any, Any]]
    name: str
    error: Callable[[Any], float] | None = None
    n_truth_cases: int = N_TRUTH_CASES

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        return self.name

    @property
    def title(self) -> str:
        """One line on how cases arise and how the true error is found."""
        how = "by a given function" if self.error is not None else f"on {self.n_truth_cases} fixed cases"
        return f"{self.cases}; true error {how}"

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return features and labels of n cases, after checking their form.

        Raises
        ------
        ValueError
            If the function returned another number of cases, features that are not finite, or labels other than 0, 1.
        """
        X, y = map(np.asarray, self.function(n, rng))
        if X.ndim != 2 or len(X) != n or y.shape != (n,):
            raise ValueError(
                f"{self.name}: the function must return X of shape ({n}, n_features) and y of shape ({n},). "
                f"Got {X.shape} and {y.shape}."
            )
        if not np.isfinite(X).all() or not np.isin(y, (0, 1)).all():
            raise ValueError(f"{self.name}: the function must return finite features, and labels 0 and 1.")
        return X.astype(np.float64), y.astype(np.int64)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n cases; it may have only one class."""
        X, y = self.sample(check_integer("n", n, 1), rng)
        return Cases(X, y, self.true_error)

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier.

        Raises
        ------
        ValueError
            If the user's function returns a number outside [0, 1].
        """
        if self.error is None:
            return sampled_truth(self, classifier, self.n_truth_cases)
        value = float(self.error(classifier))
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{self.name}: the error must be in [0, 1]. Got {value!r}.")
        return Truth(value)


def csv_population(data: DataFile, *, device: str = "remainder", name: str | None = None) -> RealData:
    """Make a population from a CSV file, read in the same way as by ``cudbound interval``.

    Parameters
    ----------
    data : DataFile
        The file and the roles of its columns. Missing values raise an error, or rows with missing values are dropped: a
        population has no imputation.
    device : {"remainder", "population"}, default="remainder"
        See `cudbound.study.populations.real_data.RealData`.
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
