"""Settings of the resampling, its random numbers, and how training sets with both classes are drawn for a record."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from cudbound.basis import validation
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.validation import Losses
from cudbound.resampling.failed_refits import Failures

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.refits import Outputs, Refit

Policy = Literal["fit", "redraw", "drop"]


#: Upper limit for folds, splits and repetitions; no run with more would finish.
LARGEST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """Settings for drawing and refitting training sets, except the number of bootstrap draws.

    Attributes
    ----------
    inner : int, "oob" or None, default=None
        Inner draws per draw for bootstrap intervals that recompute the .632 estimate on every draw. "oob" uses .368
        err(f_b on D_b) + .632 err(f_b off D_b) instead and needs no inner draws; "two-stage" then has no limits, and a
        draw that leaves no row out is redrawn, for every method that refits the draws. None means 50 if refits are made
        in batches, and "oob" if clones are fitted one by one, as for a random forest, because 51,000 fits with the
        other defaults would take long; "oob", too, for searches, with weights, for metrics of classes other than the
        error, and without copies.
    on_single_class : {"fit", "redraw", "drop"} or None, default=None
        Treatment of resampled training sets with only one class; remarks report their number. None means "fit",
        which gives a constant classifier, if refits are made in batches, except those of searches; "redraw" otherwise
        and where two AUCs are compared. The CUD bound needs no refits and uses every draw unchanged.
    cv : int, splitter of scikit-learn or iterable of (train, test), default=None
        Your own splits instead of random ones. `resampled-t` and `corrected-resampled-t` use all of them; methods of
        k-fold cross-validation need one partition of the rows, those of repeated cross-validation one or more. An
        integer means stratified shuffled folds.
    copies : bool or None, default=None
        Whether a classifier is refitted to a bootstrap draw with all copies of its rows. False fits each row of a draw
        once, about .632 n rows: a classifier that splits its rows when it is fitted, as a search with cross-validation
        does, would otherwise meet copies of a row on both sides of a split. None means False for classifiers that are
        seen to do so: searches and other classifiers or steps with a parameter `cv`, and early stopping. Pass False for
        a class of your own that splits its rows.
    n_folds : int, default=10
        K of cross-validation, plain and nested; fewer if there are too few rows.
    n_repeats : int, default=10
        Partitions of repeated cross-validation.
    n_splits : int, default=15
        Random splits J. Nadeau and Bengio (2003), section 5, find little gain beyond 15.
    test_fraction : float, default=0.1
        Share n2/n of rows tested by a random split; at least one row.
    n_halvings : int, default=10
        Halvings M of conservative-z; 5 to 10 in Nadeau and Bengio (2003).
    n_replicates : int, default=15
        Bootstrap replicates R of the pseudo-bootstrap.
    n_nested_repeats : int, default=50
        Repetitions of nested cross-validation; Bates, Hastie and Tibshirani use 200 and more.
    holdout_fraction : float, default=0.5
        Share of rows tested by the holdout methods.

    Raises
    ------
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> Resampling(inner="oob", n_folds=5).n_folds
    5
    """

    inner: int | str | None = None
    on_single_class: str | None = None
    #: Design files have no splitters.
    cv: validation.Splits | None = field(default=None, metadata={"key": None})
    copies: bool | None = None
    n_folds: int = 10
    n_repeats: int = 10
    n_splits: int = 15
    test_fraction: float = 0.1
    n_halvings: int = 10
    n_replicates: int = 15
    n_nested_repeats: int = 50
    holdout_fraction: float = 0.5

    def __post_init__(self) -> None:
        if self.inner is not None:
            validation.check_inner(self.inner)
        if self.on_single_class is not None:
            validation.check_choice("on_single_class", self.on_single_class, get_args(Policy))
        if self.copies is not None:
            validation.check_flag("copies", self.copies)
        for name in ("n_repeats", "n_halvings", "n_nested_repeats", "n_folds", "n_splits", "n_replicates"):
            smallest = 2 if name in ("n_folds", "n_splits", "n_replicates") else 1
            validation.check_integer(name, getattr(self, name), smallest, LARGEST)
        for name in ("test_fraction", "holdout_fraction"):
            validation.check_number(name, getattr(self, name), 0.0, 1.0)

    def n_test(self, n_samples: int) -> int:
        """Return the number of test rows n2 of a random split of `n_samples` rows: at least 1, at most n - 1."""
        return min(max(1, round(self.test_fraction * n_samples)), n_samples - 1)

    def n_held_out(self, n_samples: int) -> int:
        """Return the number of test rows of the holdout methods: at least 1, at most n - 1."""
        return min(max(1, round(self.holdout_fraction * n_samples)), n_samples - 1)


DEFAULT_SIZES = Resampling()

# ---- random numbers ----

#: Random streams in the order of spawning, on which their numbers depend: it never changes. "cv" is for the caller's
#: splitter, "learners" for the fits of learners that are not fitted.
STREAMS = (
    *("bootstrap", "inner", "folds", "cv", "removed_cases", "bolstered"),
    *("repeated_folds", "leave_one_out", "splits", "half_splits", "replicates", "halvings", "test_set"),
    *("nested", "replacements", "second_test_set", "learners", "tuned", "stratified_folds", "own_intervals"),
)


class Streams(dict[str, np.random.Generator]):
    """A generator per record, made when it is used, so that no record depends on which others are made."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self._bit_generator: Any = type(rng.bit_generator)
        seeds: Any = rng.bit_generator.seed_seq
        if not hasattr(seeds, "spawn"):  # that of a RandomState has no sequence of seeds
            rule = "a generator that can spawn others, such as numpy.random.default_rng(0)"
            raise ParameterError("rng", rule, rng)
        self._seeds = dict(zip(STREAMS, seeds.spawn(len(STREAMS)), strict=True))

    def __missing__(self, name: str) -> np.random.Generator:
        if name in self._seeds:
            self[name] = np.random.Generator(self._bit_generator(self._seeds[name]))
        else:
            # a record that is not in the list takes its numbers from its name, and moves no other
            root = self._seeds[STREAMS[0]]
            key = (*root.spawn_key, zlib.crc32(name.encode()))
            self[name] = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key))
        return self[name]


# ---- what functions that record losses are given ----

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
    def units(self) -> Groups:
        """What is drawn and left out together: the groups, or else each row by itself."""
        return Groups(np.arange(self.labels.size)) if self.groups is None else self.groups

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
