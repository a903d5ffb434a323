"""Classification instability: how often refits on bootstrap draws classify a row differently from the classifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.results import Pictured
from cudbound.basis.rounding import InLines, format_proportion
from cudbound.basis.validation import Array, checked
from cudbound.records import BootstrapLosses, Records
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


def instability_in(
    records: Records, distances: Array | None, distances_of: str, run: Run | None
) -> Instability | None:
    """Return the instability of a classifier from the losses of its refits; None without refits."""
    bootstrap = records.bootstrap
    if bootstrap is None:
        return None
    groups = () if records.groups is None else (f"{records.groups} kept together",)
    return Instability(
        _changed(bootstrap, np.asarray(records.losses)).mean(axis=0),
        bootstrap.n_fits,
        distances,
        distances_of,
        (*bootstrap.remarks, *groups),
        run,
    )


@public_call
def instability_of(
    bootstrap: BootstrapLosses, *, training_losses: ArrayLike, distances: ArrayLike | None = None
) -> Instability:
    """Report how often refits classify rows differently, from losses recorded by other software.

    A row is classified differently if exactly one of the refit and the classifier misclassifies it.

    Parameters
    ----------
    bootstrap : cudbound.records.BootstrapLosses
        Losses 0 and 1 of the refits on all training rows.
    training_losses : array-like, shape (n_samples,)
        Losses 0 and 1 of the classifier on the same rows.
    distances : array-like of float, shape (n_samples,), default=None
        Distance of the score of each row from the threshold, for the plot.

    Raises
    ------
    ValueError
        If losses are not 0 or 1, or the numbers of rows differ.

    Examples
    --------
    >>> from cudbound.analysis.instability import instability_of
    >>> from cudbound.records import BootstrapLosses
    >>> refits = BootstrapLosses([[2, 0, 1], [1, 1, 1]], [[0, 1, 0], [0, 0, 1]])
    >>> instability_of(refits, training_losses=[0, 0, 1]).shares.tolist()
    [0.0, 0.5, 0.5]
    """
    if not isinstance(bootstrap, BootstrapLosses):
        raise ParameterError("bootstrap", "a cudbound.records.BootstrapLosses", bootstrap)
    shares = _changed(bootstrap, checked("training_losses", training_losses, 1)).mean(axis=0)
    if distances is None:
        return Instability(shares, bootstrap.n_fits, remarks=bootstrap.remarks)
    absolute = abs(checked("distances", distances, 1).astype(np.float64))
    if absolute.shape != shares.shape:
        raise ParameterError("distances", f"one number per row, {shares.size} in all", distances)
    return Instability(shares, bootstrap.n_fits, absolute, "distance of the score", bootstrap.remarks)


def _percent(share: float) -> str:
    return format_proportion(share, percent=True)


def _changed(bootstrap: BootstrapLosses, losses: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which refits classify which rows differently, shape (n_resamples, n_samples)."""
    for name, values in (("training_losses", losses), ("bootstrap", np.asarray(bootstrap.losses))):
        if not ((values == 0) | (values == 1)).all():
            raise ParameterError(
                name, "losses of single rows, 0 for a correct class and 1 for a wrong one", values
            )
    if losses.size != bootstrap.n_samples:
        raise ParameterError(
            "training_losses", f"one loss per row, {bootstrap.n_samples} in all", losses.size
        )
    return np.asarray(np.asarray(bootstrap.losses, dtype=bool) != losses.astype(bool))
