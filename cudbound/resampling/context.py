"""What functions that record losses are given, and how they draw training sets with both classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.groups import Groups
from cudbound.basis.validation import Losses
from cudbound.resampling.failed_refits import Failures
from cudbound.resampling.settings import Policy, Resampling

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.refits import Outputs, Refit

TREATMENT = {"fit": "fitted as drawn", "redraw": "redrawn", "drop": "dropped"}


def has_one_class(counts: NDArray[Any], labels: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which training sets have only one class, shape (...).

    Parameters
    ----------
    counts : ndarray of int, shape (..., n_samples)
        How often each row occurs in each training set.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0, or the numbers of the classes.
    """
    of_class = labels[:, None] == np.unique(labels)
    return np.asarray((counts @ of_class.astype(np.int64)).max(axis=-1) == counts.sum(axis=-1))


Part = TypeVar("Part")

#: A design of splits is redrawn at most this many times to keep both classes in every training set. With a class of two
#: rows, some designs cannot; they are then fitted as drawn.
MAX_ATTEMPTS = 100


def parted(outputs: Outputs) -> tuple[Losses, dict[str, Any]]:
    """Return the losses of refits, and the other outputs kept for each row, by name."""
    names = outputs.dtype.names
    if names is None:
        return outputs, {}
    return np.ascontiguousarray(outputs["loss"]), {name: outputs[name] for name in names if name != "loss"}


@dataclass(frozen=True, eq=False)
class RefitContext:
    """The input of every function that records losses.

    Attributes
    ----------
    refit : callable
        From `Refits.outputs`; for bootstrap draws, folds and test sets it may return more than losses, see `parted`.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0, or the numbers of more than two classes.
    sizes : Resampling
        Numbers of folds, splits and repetitions; each function uses its own.
    on_single_class : {"fit", "redraw", "drop"}
        Treatment of training sets with only one class, see `draw_parts`.
    rng : numpy.random.Generator
        Draws the training sets.
    groups : Groups or None
        Rows that are drawn and left out together; None if rows are independent.
    failed : dict of int to FailedRefit, or None
        Refits that failed in the latest call of `refit`, by number; None if it raises an error.
    """

    refit: Refit
    labels: NDArray[np.float64]
    sizes: Resampling
    on_single_class: Policy
    rng: np.random.Generator
    groups: Groups | None = None
    failed: Failures | None = None

    @property
    def n_samples(self) -> int:
        """Rows of the whole data."""
        return int(self.labels.size)

    @property
    def units(self) -> Groups:
        """What is drawn and left out together: the groups, or else each row by itself."""
        return Groups(np.arange(self.n_samples)) if self.groups is None else self.groups

    def draw_parts(
        self, draws: Sequence[Callable[[], Part]], training: Callable[[Part], NDArray[np.int32]], what: str
    ) -> tuple[list[Part], tuple[str, ...]]:
        """Draw the independent parts of a design of splits, each with both classes if the policy requires it.

        With "redraw" and "drop" each part is redrawn by itself, but as a whole, since a training set without a
        classifier would leave points without a loss. If all parts were redrawn together, they would seldom all have
        both classes at the same time. If no part with both classes is found, the last is fitted as drawn, which gives
        constant classifiers.

        Parameters
        ----------
        draws : sequence of callable
            ``draw()`` returns a random part.
        training : callable
            ``training(part)`` returns the counts of its training sets, shape (n_fits, n_samples).
        what : str
            The training sets, for messages: "training sets of random splits", ...

        Returns
        -------
        parts : list of object
            One from each of `draws`.
        remarks : tuple of str
        """
        parts: list[Part] = []
        n_again = n_one_class = 0
        for draw in draws:
            attempts = 0
            while True:
                part = draw()
                n_bad = int(has_one_class(training(part), self.labels).sum())
                if not n_bad or self.on_single_class == "fit" or attempts == MAX_ATTEMPTS:
                    break
                attempts += 1
            parts.append(part)
            n_again += attempts
            n_one_class += n_bad
        if n_one_class:
            return parts, (f"{n_one_class} single-class {what} fitted as drawn",)
        return parts, (f"{what} redrawn {n_again} times to keep both classes in them",) if n_again else ()
