"""Between which values the numbers of each row lie over several seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudbound.basis.rounding import format_proportion

if TYPE_CHECKING:
    import pandas as pd

#: What is compared over the seeds, in the words of a sentence.
COMPARED = {"estimate": "estimate", "low": "lower limit", "high": "upper limit"}
#: The limit that a one-sided interval does not have.
ABSENT = {"less": "low", "greater": "high"}


@dataclass(frozen=True)
class SeedRanges:
    """What one call gave with several seeds.

    Attributes
    ----------
    seeds : list of int
    ranges : list of dict
        For each row: method, metric, runs in which there is such an interval, and the least and the most of its
        numbers, None where there are none.
    words : list of str
        The same in words.
    """

    seeds: list[int]
    ranges: list[dict[str, Any]]
    words: list[str]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> SeedRanges:
        """Return the ranges of what `cudbound.over_seeds` returned for a table of intervals."""
        ranges: list[dict[str, Any]] = []
        words = []
        for (method, metric), runs in frame.groupby(["method", "metric"], sort=False):
            known = runs.dropna(subset=["low", "high"])
            ends = {
                f"{name}_{end}": float(known[name].agg(how)) if len(known) else None
                for name in COMPARED
                for end, how in (("least", "min"), ("most", "max"))
            }
            ranges.append({"method": method, "metric": metric, "n_seeds": len(known), **ends})
            absent = ABSENT.get(runs["alternative"].iloc[0])
            parts = [
                f"{said} {format_proportion(known[name].min())} to {format_proportion(known[name].max())}"
                for name, said in COMPARED.items()
                if len(known) and name != absent
            ]
            words.append(", ".join(parts) or "no interval")
        return cls([int(seed) for seed in frame["seed"].unique()], ranges, words)

    def lines(self) -> list[str]:
        """Return the ranges, one line for each row."""
        several = len({one["metric"] for one in self.ranges}) > 1
        return [
            f"Over {len(self.seeds)} seeds: {', '.join(map(str, self.seeds))}.",
            *(
                f"{one['method']}{', ' + one['metric'] if several else ''}: {words}."
                for one, words in zip(self.ranges, self.words, strict=True)
            ),
        ]
