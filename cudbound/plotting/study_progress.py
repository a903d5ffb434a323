"""How far every cell of a study is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudbound.plotting.display import CELL, Display, check_columns
from cudbound.plotting.style import safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class StudyProgressDisplay(Display):
    """Replicates of every cell, those that are done, and those that failed, one bar for each.

    Parameters
    ----------
    frame : pandas.DataFrame
        `StudyStatus.to_frame()` or some of its rows: scenario, n, n_total, n_done, n_failed.

    Attributes
    ----------
    bars_ : dict of str to matplotlib.container.BarContainer
        By the column that they show.
    legend_, ax_, figure_ : matplotlib artists
    """

    columns = (*CELL, "n_total", "n_done", "n_failed")

    def __init__(self, frame: pd.DataFrame) -> None:
        check_columns("frame", frame, self.columns)
        self.frame = frame

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return 7.0, 1.2 + 0.22 * len(self.frame)

    def _draw_on(self, ax: Axes) -> None:
        shown = {"n_total": ("planned", "0.92"), "n_done": ("done", "0.6"), "n_failed": ("failed", "black")}
        lines = range(len(self.frame))
        self.bars_ = {
            name: ax.barh(lines, self.frame[name], color=color, label=label)
            for name, (label, color) in shown.items()
        }
        cells = self.frame[CELL].itertuples(index=False, name=None)
        ax.set_yticks(lines, [f"{safe_label(scenario)}, n = {n}" for scenario, n in cells])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(self.frame) - 0.5, -0.5)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("Replicates")
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
        self.legend_ = ax.legend(ncols=len(shown), fontsize="small", frameon=False, **place)
