"""Plots of refits and test rows: errors of the refits, and the confusion table with limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import ConfusionMatrixDisplay

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.metric_words import metric_words
from cudbound.basis.rounding import format_level, format_proportion
from cudbound.plotting.display import LEVEL_STYLE, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Bars of the histogram.
N_BARS = 20


class RefitErrorDisplay(Display):
    """Histogram of the errors of refits on bootstrap draws, each on the rows that its draw left out.

    It shows how much refits differ, but is not an interval: few rows are left out of each draw.

    Parameters
    ----------
    errors : array-like of float, shape (n_refits,)
        nan if a draw left no row out; at least one is not nan.

    Attributes
    ----------
    bars_ : matplotlib.container.BarContainer
    mean_line_ : matplotlib.lines.Line2D
    legend_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> display = RefitErrorDisplay([0.25, 0.5, 0.5]).plot()
    >>> display.legend_.get_texts()[0].get_text()
    'mean of 3 refits: 0.417'
    """

    def __init__(self, errors: ArrayLike) -> None:
        found = np.asarray(errors, dtype=float)
        self.errors = found[~np.isnan(found)]
        if found.ndim != 1 or not self.errors.size:
            raise ParameterError("errors", "one number per refit, not all of them nan", errors)

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.IntervalTable` with a method that refits on bootstrap draws.

        Raises
        ------
        ValueError
            If the table has no such method.
        """
        bootstrap = None if table.analysis is None else table.analysis.records.bootstrap
        if bootstrap is None:
            raise ValueError(
                "The table has no refits on bootstrap draws. Include 'two-center' in its methods."
            )
        return cls(bootstrap.out_of_bag)

    def _draw_on(self, ax: Axes) -> None:
        top, mean = max(0.1, float(self.errors.max())), float(self.errors.mean())
        bars: dict[str, Any] = {"bins": N_BARS, "range": (0.0, top), "color": "0.8", "edgecolor": "white"}
        self.bars_ = ax.hist(self.errors, **bars)[2]
        self.mean_line_ = ax.axvline(mean, **LEVEL_STYLE | {"zorder": 3})
        label = f"mean of {self.errors.size} refits: {format_proportion(mean)}"
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
        self.legend_ = ax.legend([self.mean_line_], [label], fontsize="small", frameon=False, **place)
        ax.set(
            xlim=(0.0, top), xlabel="Error of a refit on the rows outside its draw", ylabel="Number of refits"
        )


class ConfusionDisplay(Display):
    """Confusion table of a classifier, with limits for sensitivity and specificity next to its rows.

    The counts are for the given rows, the limits for new cases: on training rows, the counts look too good.

    Parameters
    ----------
    counts : array-like of int, shape (2, 2)
        As from `sklearn.metrics.confusion_matrix`: true classes in rows, predicted classes in columns, the event second
        in both.
    limits : mapping of str to str, default={}
        Texts next to the row of events ("sensitivity") and the row of non-events ("specificity").

    Attributes
    ----------
    cells_ : list of matplotlib.text.Text
        The counts, row by row.
    limits_ : list of matplotlib.text.Text
    ax_, figure_ : matplotlib artists
    """

    def __init__(self, counts: ArrayLike, limits: Mapping[str, str] | None = None) -> None:
        self.counts = np.asarray(counts)
        if self.counts.shape != (2, 2):
            raise ParameterError("counts", "a table of two rows and two columns", counts)
        self.limits = dict(limits or {})

    @classmethod
    def from_table(cls, table: Any, counts: ArrayLike) -> Self:
        """Return the display with the first limits for each metric in a `cudbound.IntervalTable`."""
        limits = {}
        for row in reversed(table.rows):
            if row.metric in ("sensitivity", "specificity") and not math.isnan(row.low + row.high):
                low, high = map(format_proportion, row.confidence_interval)
                words = f"{metric_words([row.metric]).capitalize()} {format_proportion(row.estimate)}"
                limits[row.metric] = f"{words}\n({format_level(row.confidence_level)} limits {low} to {high})"
        return cls(counts, limits)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return 6.4, 2.8

    def _draw_on(self, ax: Axes) -> None:
        drawn = ConfusionMatrixDisplay(self.counts, display_labels=["no event", "event"])
        scale = {"vmin": 0, "vmax": 3 * max(1, self.counts.max())}
        drawn.plot(ax=ax, cmap="Greys", colorbar=False, im_kw=scale, text_kw={"color": "black"})
        self.cells_ = drawn.text_.ravel().tolist()
        self.limits_ = [
            ax.text(1.55, row, self.limits[metric], va="center")
            for row, metric in enumerate(("specificity", "sensitivity"))
            if metric in self.limits
        ]
        ax.spines[:].set_visible(False)
        ax.set(xlabel="Predicted class", ylabel="True class", aspect="auto")
