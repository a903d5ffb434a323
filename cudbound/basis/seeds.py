"""The same call with several seeds, to show how much its numbers depend on the seed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cudbound.basis.calls import public_call
from cudbound.basis.forecast import REPEATS, Repeats, tell
from cudbound.basis.validation import check_integer, check_rng

if TYPE_CHECKING:
    import pandas as pd


class Call(Protocol):
    """A call whose random numbers are still to be chosen."""

    def __call__(self, *, rng: int) -> HasFrame:
        """Return its result with this seed."""


class HasFrame(Protocol):
    """A result of this package."""

    def to_frame(self) -> pd.DataFrame:
        """Return its numbers, one line per row."""


@public_call
def over_seeds(call: Call, n_seeds: int = 5, rng: int | np.random.Generator | None = None) -> pd.DataFrame:
    """Make the same call with several seeds, and return the results by seed.

    A range over seeds shows whether there are enough resamples, not how uncertain the estimate is: it shrinks to a
    point as `n_resamples` grows, and the interval does not.

    Parameters
    ----------
    call : callable
        ``call(rng=seed)`` returns a result that has ``to_frame()``: an interval, a comparison, or a table of them.
    n_seeds : int, default=5
        Number of calls.
    rng : int, numpy.random.Generator or None, default=None
        The first seed; None uses a fresh one, and a generator draws it. The others are spawned from it
        (`numpy.random.SeedSequence`): the frame is exactly reproducible, and one over 10 seeds starts with that over 5.

    Returns
    -------
    pandas.DataFrame
        One line per seed and row of its result: the column ``seed``, and those of ``to_frame()``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Warns
    -----
    SlowRefitsWarning
        If all calls will take more than ten seconds, as far as the first one shows.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, performance_interval, over_seeds
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = X[:, 0] + rng.normal(size=40) > 0
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> found = over_seeds(partial(performance_interval, clf, X, y, n_resamples=50), 3, rng=0)
    >>> ranges = found.groupby("method")[["low", "high"]].agg(["min", "max"])
    >>> ranges.shape
    (1, 4)
    """
    import pandas as pd

    first = check_seed(rng)
    others = np.random.SeedSequence(first).spawn(check_integer("n_seeds", n_seeds, 1) - 1)
    seeds = [first, *(int(other.generate_state(1)[0]) for other in others)]  # short enough to be typed
    frames = {}
    begun, repeats = time.monotonic(), Repeats(len(seeds))
    for seed in seeds:
        token = REPEATS.set(repeats)
        try:
            frames[seed] = call(rng=seed).to_frame()
        finally:
            REPEATS.reset(token)
        left = repeats.times - 1
        if left > 0 and not repeats.told:  # fast refits are not forecast one by one
            tell(f"{left} more seeds", left * (time.monotonic() - begun), ("a smaller n_resamples",))
        repeats = Repeats(0)
    return pd.concat(frames, names=["seed"]).reset_index("seed").reset_index(drop=True)


def check_seed(rng: int | np.random.Generator | None) -> int:
    """Return an integer itself, or one that a generator draws, a fresh one for None, short enough to be typed."""
    generator = check_rng(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return int(generator.integers(2**32))
    return int(rng)


def seed_of(rng: object) -> int | None:
    """Return the seed that an ``rng`` is, or None for a generator and for None."""
    return int(rng) if isinstance(rng, int | np.integer) and not isinstance(rng, bool) else None
