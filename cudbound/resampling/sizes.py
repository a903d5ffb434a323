"""The amount of resampling: numbers of folds, splits and repetitions, and points near the boundary."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cudbound.basis.validation import check_aci_rate, check_integer, check_number

#: Upper limit for folds, splits and repetitions; no run with more would finish.
LARGEST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ResamplingSizes:
    """Numbers of folds, splits and repetitions, and the rate for "aci", with the defaults of the sources.

    Attributes
    ----------
    n_folds : int, default=10
        K of cross-validation, plain and nested; fewer if there are too few rows.
    n_repeats : int, default=10
        Partitions of repeated cross-validation.
    n_splits : int, default=15
        Random splits J. Nadeau and Bengio (2003), section 5, find little gain beyond 15.
    test_fraction : float, default=0.1
        Share n2/n of rows tested by a random split; at least one row.
    n_halvings : int, default=10
        Repetitions M of the conservative Z method; 5 to 10 in Nadeau and Bengio (2003).
    n_replicates : int, default=15
        Bootstrap replicates R of the pseudo-bootstrap.
    n_nested_repeats : int, default=50
        Repetitions of nested cross-validation; Bates, Hastie and Tibshirani use 200 and more.
    holdout_fraction : float, default=0.5
        Share of rows tested by the holdout methods.
    aci_rate : {"log", "loglog"} or float in [0, inf], default="log"
        How close to the boundary a point must be for the adaptive interval "aci" to allow either class, see
        `cudbound.bound.boundary.boundary_deviations`.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    n_folds: int = 10
    n_repeats: int = 10
    n_splits: int = 15
    test_fraction: float = 0.1
    n_halvings: int = 10
    n_replicates: int = 15
    n_nested_repeats: int = 50
    holdout_fraction: float = 0.5
    aci_rate: str | float = "log"

    def __post_init__(self) -> None:
        smallest = {"n_folds": 2, "n_splits": 2, "n_replicates": 2}
        for name in (entry.name for entry in fields(self)):
            if name == "aci_rate":
                check_aci_rate(name, self.aci_rate)
            elif name.endswith("_fraction"):
                check_number(name, getattr(self, name), 0.0, 1.0)
            else:
                check_integer(name, getattr(self, name), smallest.get(name, 1), LARGEST)

    def n_test(self, n_samples: int) -> int:
        """Return the number of test rows n2 of a random split of `n_samples` rows: at least 1, at most n - 1."""
        return min(max(1, round(self.test_fraction * n_samples)), n_samples - 1)

    def n_held_out(self, n_samples: int) -> int:
        """Return the number of test rows of the holdout methods: at least 1, at most n - 1."""
        return min(max(1, round(self.holdout_fraction * n_samples)), n_samples - 1)
