"""Classification instability: how often refits on bootstrap draws classify a row differently from the classifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cudbound.basis.results import Pictured
from cudbound.basis.rounding import InLines, format_proportion
from cudbound.basis.validation import Array
from cudbound.report.tables import Run

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.risks import InstabilityDisplay

#: Shares of refits above which rows are counted.
MARKS = (0.1, 0.25)


@dataclass(frozen=True, eq=False, repr=False)
class Instability(InLines, Pictured["InstabilityDisplay"]):
    """How often refits classify the training rows differently from the classifier.

    It prints a summary without single rows; `to_frame` has the rows by number.

    Attributes
    ----------
    shares : ndarray of float, shape (n_samples,)
        Share of refits, in [0, 1], that classify the row differently.
    n_refits : int
        Number of refits.
    distances : ndarray of float, shape (n_samples,), or None
        Distance of the row's score from the threshold of the classifier; None without such scores.
    distances_of : str
        The quantity whose distances they are, or why there are none.
    remarks : tuple of str
        The treatment of draws that could not be used as drawn, and of groups of rows.
    run : Run or None
        The data, the classifier and the draws, if known.
    """

    shares: Array
    n_refits: int
    distances: Array | None = None
    distances_of: str = "no scores were given"
    remarks: tuple[str, ...] = ()
    run: Run | None = field(default=None)

    @property
    def mean(self) -> float:
        """Mean share over the rows: how often a refit and the classifier disagree about a row."""
        return float(self.shares.mean())

    def above(self, share: float) -> float:
        """Return the share of rows that more than this share of refits classify differently."""
        return float((self.shares > share).mean())

    @property
    def summary(self) -> dict[str, float]:
        """The printed numbers by name."""
        marks = {f"above_{100 * mark:g}_percent": self.above(mark) for mark in MARKS}
        return {"n_refits": self.n_refits, "mean": self.mean, **marks}

    def lines(self) -> list[str]:
        """Return the summary, in sentences."""
        low, high = (f"{int((self.shares > mark).sum())} ({_percent(self.above(mark))})" for mark in MARKS)
        first, second = (f"{100 * mark:g}%" for mark in MARKS)
        return [
            f"Classification instability: of {self.shares.size} training rows, {low} are classified differently by "
            f"more than {first} of the refits, {high} by more than {second}.",
            f"A refit and this classifier disagree about {_percent(self.mean)} of the rows, on average over "
            f"{self.n_refits} bootstrap draws.",
            *(f"{remark[0].upper()}{remark[1:]}." for remark in self.remarks),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one line per training row, in order.

        Returns
        -------
        pandas.DataFrame
            With the columns ``share`` and ``distance``, which is nan without scores; its index is the row number, from
            0.
        """
        import pandas as pd

        distances = np.full(self.shares.size, np.nan) if self.distances is None else self.distances
        return pd.DataFrame({"share": self.shares, "distance": distances}).rename_axis("row")

    def display(self) -> InstabilityDisplay:
        """Return the plot of each row's share against its score's distance from the threshold; its `plot` draws it.

        Without scores, the rows are ordered by share.
        """
        from cudbound.plotting.risks import InstabilityDisplay

        return InstabilityDisplay(self.shares, self.distances, self.distances_of, marks=MARKS)


def _percent(share: float) -> str:
    return format_proportion(share, percent=True)
