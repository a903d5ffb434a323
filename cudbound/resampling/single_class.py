"""Resampled training sets that hold only one class: what is done with them, and how it is reported."""

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
TREATMENT = {"fit": "fitted as drawn", "redraw": "redrawn", "drop": "dropped"}

#: A design of splits is drawn again at most this many times to keep both classes in every training set. With a class
#: of two rows some designs cannot; they are then fitted as drawn.
MAX_ATTEMPTS = 100


def has_one_class(counts: NDArray[Any], labels: Array) -> Bools:
    """Return which training sets hold only one class, shape (...).

    Parameters
    ----------
    counts : ndarray of int, shape (..., n_samples)
        How often each row occurs in each training set.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    """
    positive = counts @ (labels > 0.0).astype(np.int64)
    return np.asarray((positive == 0) | (positive == counts.sum(axis=-1)))


class SingleClassError(ValueError):
    """A resampled training set holds only one class, and the caller requested an error in this case."""


def refuse_one_class(what: str, n_affected: int) -> SingleClassError:
    """Return the error for the policy "error"."""
    return SingleClassError(
        f"{n_affected} {what} held only one class, and on_single_class='error' was requested. "
        "Pass on_single_class='redraw' or 'drop' to continue without them, or 'fit' to use the constant classifier "
        "instead."
    )


def draw_design(
    draw: Callable[[], Design],
    training: Callable[[Design], NDArray[np.int32]],
    labels: Array,
    policy: Policy,
    what: str,
) -> tuple[Design, tuple[str, ...]]:
    """Draw a design of splits whose training sets hold both classes, as far as the policy requires it.

    A design is drawn again as a whole under "redraw" and "drop", since a part without a classifier would leave
    points without a loss. Where no design with both classes is found it is fitted as drawn, which gives constant
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

    If all parts were drawn again together, they would seldom all hold both classes at the same time.

    Returns
    -------
    parts : list of object
        One from each of `draws`.
    n_again : int
        How often a part was drawn again.
    n_one_class : int
        Training sets that nevertheless hold only one class.
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
        return (f"{n_one_class} single-class {what} fitted as drawn",)
    return (f"{what} drawn again {n_again} times to keep both classes in them",) if n_again else ()
