"""The same call with other seeds: how far the limits of an interval depend on the random numbers."""

from __future__ import annotations

import abc
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cudbound.bars import Progress
from cudbound.exceptions import CudboundWarning, NotCertifiedWarning, SeedsInterrupted
from cudbound.parameter_error import ParameterError
from cudbound.results import IntervalEstimate
from cudbound.rounding import InLines, format_proportion
from cudbound.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

#: More runs than this say no more of a range.
MAX_SEEDS = 1000
#: What is compared over the seeds, in the words of a sentence.
COMPARED = {"estimate": "estimate", "low": "lower limit", "high": "upper limit"}
#: Fields that hold rows of patients, for computing and saving a result; None where it is pickled or copied.
WITH_ROWS = frozenset({"call", "source"})
#: The limit that a one-sided interval does not have.
ABSENT = {"less": "low", "greater": "high"}


@dataclass(frozen=True, eq=False)
class Call:
    """How a result was computed, so that it can be computed again with another seed.

    Attributes
    ----------
    function : callable
        Returns a `Repeatable` result.
    arguments : mapping of str to object
        All of its arguments but the random numbers, the bar, and what was computed before. They are the objects of the
        caller, not copies.
    seed : int or None
        The seed of the result; None where it had none.
    """

    function: Callable[..., Repeatable] = field(repr=False)
    arguments: Mapping[str, Any] = field(repr=False)
    seed: int | None

    @classmethod
    def of(cls, function: Callable[..., Repeatable], given: Mapping[str, Any], seed: int | None) -> Self:
        """Return the call of a function with these values of its parameters; `others` are keywords it has refused."""
        left_out = {"rng", "progress", "previous", "others"}
        return cls(function, {name: value for name, value in given.items() if name not in left_out}, seed)

    def but(self, **changed: Any) -> Self:
        """Return the call with other values of some arguments."""
        return replace(self, arguments={**self.arguments, **changed})

    def again(self, seed: int | None) -> tuple[IntervalEstimate, ...]:
        """Return the rows of the call with another seed."""
        return self.function(**self.arguments, rng=seed, progress=False).intervals


class Repeatable(abc.ABC):
    """A result that can be computed again with other seeds.

    It holds the classifier and the rows for that. They are left out where it is pickled or copied: a file of the result
    has no rows of patients that it would not have otherwise.
    """

    call: Call | None

    @property
    @abc.abstractmethod
    def intervals(self) -> tuple[IntervalEstimate, ...]:
        """The intervals of the result."""

    def over_seeds(
        self, n_seeds: int = 5, *, progress: bool | None = None, previous: OverSeeds | None = None
    ) -> OverSeeds:
        """Compute the result again with other seeds, and return the range of its limits.

        The seeds are that of the result and others spawned from it (`numpy.random.SeedSequence`), so that the range
        repeats to the bit, and that over 5 seeds is part of that over 10. Where the result had no seed the others are
        new each time. They are in ``seeds``, each good for a call of its own.

        Parameters
        ----------
        n_seeds : int, default=5
            Runs in all, this result included: the others take as long as this one each. 2 to 1000.
        progress : bool or None, default=None
            Whether to show a bar on standard error; None shows it from two seconds on, on a terminal or in a notebook.
        previous : OverSeeds, default=None
            What `SeedsInterrupted` carried; the runs in it are not made again.

        Returns
        -------
        OverSeeds
            Prints the ranges; has ``to_frame()``, ``seeds`` and the rows of all ``runs``.

        Raises
        ------
        ValueError
            If an argument is out of range, or the result was pickled or copied, which leaves out the classifier and the
            rows.
        SeedsInterrupted
            On Ctrl-C; pass its ``unfinished`` as `previous` to resume.

        Notes
        -----
        The classifier and the data are those that were passed, and must not have been changed since. A range over seeds
        says how many resamples it takes, not how sure the interval is: it goes to a point as `n_resamples` grows, and
        the interval does not.

        Examples
        --------
        >>> import numpy as np
        >>> from cudbound import LeastSquaresClassifier, error_interval
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(40, 2))
        >>> y = X[:, 0] + rng.normal(size=40) > 0
        >>> result = error_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=50, rng=0)
        >>> ranges = result.over_seeds(3).to_frame()
        >>> bool(ranges["low_least"][0] <= result.confidence_interval.low <= ranges["low_most"][0])
        True
        """
        size = check_integer("n_seeds", n_seeds, 2, MAX_SEEDS)
        if self.call is None:
            raise ValueError(
                "This result was pickled, copied or made by hand, and knows no classifier to compute it again with. "
                "Make it again by the call that gave it, and ask that."
            )
        own = self.intervals
        seeds, runs = _seeds(self.call.seed, size), [own]
        if previous is not None:
            if not isinstance(previous, OverSeeds) or len(previous.seeds) != size or previous.runs[0] != own:
                rule = (
                    "what SeedsInterrupted carries as 'unfinished', of this result and as many seeds, or None"
                )
                raise ParameterError("previous", rule, previous)
            seeds, runs = previous.seeds, list(previous.runs)
        with Progress.of(progress).bar(total=size, initial=len(runs), desc="seeds", unit="run") as bar:
            for seed in seeds[len(runs) :]:
                try:
                    with _without_cautions():
                        runs.append(self.call.again(seed))
                except KeyboardInterrupt as stopped:
                    raise SeedsInterrupted(OverSeeds(seeds, tuple(runs))) from stopped
                bar.update(1)
        return OverSeeds(seeds, tuple(runs))

    def __getstate__(self) -> dict[str, Any]:
        return {name: None if name in WITH_ROWS else value for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False, repr=False)
class OverSeeds(InLines):
    """What one call gave with several seeds.

    Attributes
    ----------
    seeds : tuple of int or None
        The seed of each run; the first is that of the result that was asked, None where it had none.
    runs : tuple of tuple of IntervalEstimate
        The rows of each run that was made, in this order.
    """

    seeds: tuple[int | None, ...]
    runs: tuple[tuple[IntervalEstimate, ...], ...]

    @property
    def complete(self) -> bool:
        """Whether every run was made."""
        return len(self.runs) == len(self.seeds)

    def to_frame(self) -> pd.DataFrame:
        """Return one line for each interval, with the least and the most of its estimate and limits.

        Returns
        -------
        pandas.DataFrame
            With the columns ``method``, ``metric``, ``n_seeds`` (runs in which there is such an interval), and
            ``estimate_least``, ``estimate_most``, likewise of ``low`` and ``high``, the limits clipped to their scale.
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {"method": row.method, "metric": row.metric, "n_seeds": n_seeds, **numbers}
                for row, n_seeds, numbers in self._ranges()
            ]
        )

    @property
    def rows(self) -> tuple[IntervalEstimate, ...]:
        """The rows of the result that was asked, with the ranges in their remarks."""
        return tuple(
            replace(row, remarks=(*row.remarks, f"{self._over}: {_in_words(row, n_seeds, numbers)}"))
            for row, n_seeds, numbers in self._ranges()
        )

    @property
    def summary(self) -> dict[str, Any]:
        """The seeds and the ranges, as strict JSON has them: an undefined number is None."""
        ranges = [
            {name: None if value != value else value for name, value in row.items()}
            for row in self.to_frame().to_dict("records")
        ]
        return {"seeds": list(self.seeds[: len(self.runs)]), "ranges": ranges}

    def lines(self) -> list[str]:
        """Return the ranges, one line for each interval."""
        several = len({row.metric for row in self.runs[0]}) > 1
        used = ", ".join("none" if seed is None else str(seed) for seed in self.seeds[: len(self.runs)])
        return [
            f"{self._over[0].upper()}{self._over[1:]}: {used}.",
            *(
                f"{row.method}{f', {row.metric}' if several else ''}: {_in_words(row, n_seeds, numbers)}."
                for row, n_seeds, numbers in self._ranges()
            ),
        ]

    @property
    def _over(self) -> str:
        made = f"{len(self.runs)} seeds" if self.complete else f"{len(self.runs)} of {len(self.seeds)} seeds"
        return f"over {made}"

    def _ranges(self) -> Iterator[tuple[IntervalEstimate, int, dict[str, float]]]:
        """Yield each row of the first run, the number of runs in which it has limits, and the ranges of its numbers."""
        for rows in zip(*self.runs, strict=True):
            known = [row for row in rows if not math.isnan(row.low + row.high)]
            numbers = {}
            for name in COMPARED:
                values = [getattr(row, name) for row in known] or [math.nan]
                numbers[f"{name}_least"], numbers[f"{name}_most"] = min(values), max(values)
            yield rows[0], len(known), numbers


def _in_words(row: IntervalEstimate, n_seeds: int, numbers: Mapping[str, float]) -> str:
    if not n_seeds:
        return "no interval"
    return ", ".join(
        f"{words} {format_proportion(numbers[f'{name}_least'])} to {format_proportion(numbers[f'{name}_most'])}"
        for name, words in COMPARED.items()
        if name != ABSENT.get(row.alternative)
    )


def _seeds(seed: int | None, size: int) -> tuple[int | None, ...]:
    """Return a seed and others spawned from it, short enough to be typed."""
    others = np.random.SeedSequence(seed).spawn(size - 1)
    return (seed, *(int(other.generate_state(1)[0]) for other in others))


@contextmanager
def _without_cautions() -> Iterator[None]:
    """Keep what the first run has warned of already from being said again; an open search is one of this run alone."""
    with warnings.catch_warnings():
        for kind in CudboundWarning.__subclasses__():
            if kind is not NotCertifiedWarning:
                warnings.simplefilter("ignore", kind)
        yield
