"""What all plots share: colors, markers, safe labels, the line of the nominal level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Literal

from cudbound.rounding import printable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

#: Colors that readers with any color vision tell apart: Okabe and Ito (2008), without the yellow, too pale for lines.
COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
#: Characters of a label; longer names are cut.
LABEL_LENGTH = 28
#: Characters of a line of the legend.
LEGEND_LENGTH = 90
#: Half-width of the band of Monte Carlo noise around the nominal level, in standard errors.
BAND = 1.96


def check_columns(name: str, frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse a frame that lacks a column or has no row.

    Raises
    ------
    ValueError
        If it does.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing or frame.empty:
        what = f"no column {missing[0]!r}" if missing else "no row"
        raise ValueError(f"The '{name}' frame must have rows and the columns {list(columns)}. Got {what}.")


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes, or new ones of a new figure of pyplot, with a size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, which is not installed; get it with: pip install 'cudbound[study]'"
        ) from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def safe_label(text: str) -> str:
    r"""Return untrusted text as a label that matplotlib shows literally: no formula, no control character, not hidden.

    Examples
    --------
    >>> safe_label("a$x_1$"), safe_label("_hidden"), len(safe_label("x" * 80))
    ('a\\$x_1\\$', ' _hidden', 28)
    """
    shown = printable(text)
    if len(shown) > LABEL_LENGTH:
        shown = f"{shown[: LABEL_LENGTH - 1]}…"
    if shown.startswith("_"):  # matplotlib leaves out such names from a legend
        shown = f" {shown}"
    return shown.replace("$", r"\$")


def methods_of(cells: pd.DataFrame) -> list[str]:
    """Return the methods in the order in which they occur."""
    return list(dict.fromkeys(cells["method"]))


def method_styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return color and marker of each method; no pair is repeated within 63 methods."""
    names = list(methods)
    colors, markers = islice(cycle(COLORS), len(names)), islice(cycle(MARKERS), len(names))
    return {
        name: {"color": color, "marker": marker}
        for name, color, marker in zip(names, colors, markers, strict=True)
    }


def noise_band(cells: pd.DataFrame, confidence_level: float) -> tuple[float, float]:
    """Return where an exact coverage falls in 95% of studies with as many replicates as the smallest cell."""
    size = int(cells["n_replicates"].min())
    half = BAND * math.sqrt(confidence_level * (1.0 - confidence_level) / size)
    return confidence_level - half, min(1.0, confidence_level + half)


def finish(
    ax: Axes, handles: Sequence[Any], methods: Sequence[str], side: Literal["left", "right"] = "left"
) -> Legend:
    """Remove the frame, and put the legend above the axes, flush with one side of them; return the legend."""
    labels = [safe_label(name) for name in methods]
    ax.spines[["top", "right"]].set_visible(False)
    return ax.legend(
        handles,
        labels,
        loc="lower left" if side == "left" else "lower right",
        bbox_to_anchor=(float(side == "right"), 1.01),
        ncols=max(1, LEGEND_LENGTH // (max(map(len, labels)) + 5)),  # a key is as wide as 5 letters
        fontsize="small",
        frameon=False,
        borderaxespad=0.0,
        handletextpad=0.4,
        columnspacing=1.2,
    )
