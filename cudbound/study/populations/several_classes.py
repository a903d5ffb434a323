"""A simulated population with more than two classes, for the overall error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cudbound.basis.validation import check_flag, check_integer, check_number
from cudbound.study.populations.simulated import Array, Labels, World, check_features


@dataclass(frozen=True)
class SeveralClasses(World):
    """Normal classes with centers along the feature axes.

    Class k is centered at `distance` along feature k; classes beyond the last feature are centered on the other side
    of 0. Within a class, features are independent with variance 1.

    Parameters
    ----------
    n_classes : int, default=2
        At least 2, at most twice `n_features`.
    n_features : int, default=3
    distance : float, default=2.0
        Distance of each center from 0; with 0, the features have no signal.
    ratio : float, default=1.0
        Share of each class relative to the previous one, above 0 and at most 1.
    whole : bool, default=False
        Whether features are rounded to whole numbers, which makes many cases equal.
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
            f"{self.n_classes} normal classes, each at {self.distance:g} from 0 along one of {self.n_features} "
            f"features{', which are rounded' if self.whole else ''}, shares decreasing by {self.ratio:g}"
        )

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, shape (n, n_features), and labels from 0, shape (n,)."""
        shares = self.ratio ** np.arange(self.n_classes)
        y = rng.choice(self.n_classes, size=n, p=shares / shares.sum())
        X = rng.normal(size=(n, self.n_features))
        side, feature = np.divmod(y, self.n_features)
        X[np.arange(n), feature] += self.distance * (1.0 - 2.0 * side)
        return np.round(X) if self.whole else X, y
