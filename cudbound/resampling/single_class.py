"""Resampled training sets that hold one class only: what is done with them, and how it is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Policy = Literal["fit", "redraw", "drop", "error"]
Design = TypeVar("Design")

POLICIES = ("fit", "redraw", "drop", "error")
DONE = {"fit": "fitted as they fell", "redraw": "redrawn", "drop": "dropped"}

#: A design of splits is drawn again at most so often to keep both classes in every training set. With a class of two
#: rows some designs cannot; they are then fitted as they fell.
MAX_ATTEMPTS = 100


def has_one_class(counts: NDArray[Any], labels: Array) -> Bools:
    """Return which training sets hold one class only, shape (...).

    Parameters
    ----------
    counts : ndarray of int, shape (..., n_samples)
        How often each row stands in each training set.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    """
    positive = counts @ (labels > 0.0).astype(np.int64)
    return np.asarray((positive == 0) | (positive == counts.sum(axis=-1)))


class SingleClassError(ValueError):
    """A resampled training set holds one class only, and the caller asked for an error then."""


def refuse_one_class(what: str, n_affected: int) -> SingleClassError:
    """Return the error for the policy "error"."""
    return SingleClassError(
        f"{n_affected} {what} held one class only, and on_single_class='error' was asked for. "
        "Pass on_single_class='redraw' or 'drop' to go on without them, or 'fit' to have the constant classifier "
        "in their place."
    )


def draw_design(
    draw: Callable[[], Design],
    training: Callable[[Design], NDArray[np.int32]],
    labels: Array,
    policy: Policy,
    what: str,
) -> tuple[Design, tuple[str, ...]]:
    """Draw a design of splits whose training sets hold both classes, as far as the policy asks for it.

    A design is drawn again as a whole under "redraw" and "drop", since a part without a classifier would leave
    points without a loss. Where no design with both classes is found it is fitted as it fell, which gives constant
    classifiers.

    Parameters
    ----------
    draw : callable
        ``draw()`` returns a random design.
    training : callable
        ``training(design)`` returns the counts of its training sets, shape (n_fits, n_samples).
    labels : ndarray of float, shape (n_samples,)
    policy : {"fit", "redraw", "drop", "error"}
    what : str
        The training sets, for messages: "training sets of random splits", ...

    Returns
    -------
    design : object
    remarks : tuple of str

    Raises
    ------
    ValueError
        If a training set holds one class and the policy is "error".
    """
    (design,), n_again, n_one_class = draw_parts([draw], training, labels, policy)
    return design, describe_parts(what, policy, n_again, n_one_class)


def draw_parts(
    draws: Sequence[Callable[[], Design]],
    training: Callable[[Design], NDArray[np.int32]],
    labels: Array,
    policy: Policy,
) -> tuple[list[Design], int, int]:
    """Draw the independent parts of a design, each again on its own; parameters as in `draw_design`.

    Drawn again as one, many parts would seldom hold both classes all at the same time.

    Returns
    -------
    parts : list of object
        One of each of `draws`.
    n_again : int
        How often a part was drawn again.
    n_one_class : int
        Training sets that hold one class all the same.
    """
    parts: list[Design] = []
    n_again = n_one_class = 0
    for draw in draws:
        attempts = 0
        while True:
            part = draw()
            n_bad = int(has_one_class(training(part), labels).sum())
            if not n_bad or policy in ("fit", "error") or attempts == MAX_ATTEMPTS:
                break
            attempts += 1
        parts.append(part)
        n_again += attempts
        n_one_class += n_bad
    return parts, n_again, n_one_class


def describe_parts(what: str, policy: Policy, n_again: int, n_one_class: int) -> tuple[str, ...]:
    """Return remarks on what `draw_parts` counted.

    Raises
    ------
    ValueError
        If a training set holds one class and the policy is "error".
    """
    if n_one_class and policy == "error":
        raise refuse_one_class(what, n_one_class)
    if n_one_class:
        return (f"{n_one_class} single-class {what} fitted as they fell",)
    return (f"{what} drawn again {n_again} times to keep both classes in them",) if n_again else ()
