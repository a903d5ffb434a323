"""A simulated population of more than two classes, for the error of all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cudbound.basis.validation import check_flag, check_integer, check_number
from cudbound.study.populations.simulated import Array, Labels, World, check_features


@dataclass(frozen=True)
class SeveralClasses(World):
    """Normal classes around centers in the directions of the features.

    Class k is centered at `distance` in the direction of feature k, the classes after the last feature on the other
    side of 0; all features have variance 1 within a class and are independent.

    Parameters
    ----------
    n_classes : int, default=2
        At least 2, at most twice `n_features`.
    n_features : int, default=3
    distance : float, default=2.0
        Of each center from 0; of 0 nothing is to be learned.
    ratio : float, default=1.0
        Share of a class over that of the class before it, above 0 and at most 1.
    whole : bool, default=False
        Whether features are rounded to whole numbers, so that many cases are equal.
    """

    n_classes: int = 2
    n_features: int = 3
    distance: float = 2.0
    ratio: float = 1.0
    whole: bool = False

    name = "several-classes"

    def __post_init__(self) -> None:
        check_features(self.n_features, 1)
        check_integer("n_classes", self.n_classes, 2, 2 * self.n_features)
        check_number("distance", self.distance, 0.0, 100.0)
        check_number("ratio", self.ratio, 1e-3, 1.0 + 1e-9)
        check_flag("whole", self.whole)

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        return (
            f"{self.n_classes} normal classes, each at {self.distance:g} from 0 in the direction of one of "
            f"{self.n_features} features{', which are rounded' if self.whole else ''}, shares falling by {self.ratio:g}"
        )

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, shape (n, n_features), and labels from 0 on, shape (n,)."""
        shares = self.ratio ** np.arange(self.n_classes)
        y = rng.choice(self.n_classes, size=n, p=shares / shares.sum())
        X = rng.normal(size=(n, self.n_features))
        side, feature = np.divmod(y, self.n_features)
        X[np.arange(n), feature] += self.distance * (1.0 - 2.0 * side)
        return np.round(X) if self.whole else X, y
