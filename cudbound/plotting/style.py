"""The common style of plots: colors, markers, safe labels, the band of Monte Carlo noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import cycle
from typing import TYPE_CHECKING, Any

from cudbound.basis.rounding import printable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axis import Axis

#: Colors that readers with any color vision can distinguish: Okabe and Ito (2008), without yellow, too pale for lines.
COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
#: Characters of a label; longer names are truncated.
LABEL_LENGTH = 28
#: Half-width of the band of Monte Carlo noise around the nominal level, in standard errors.
BAND = 1.96


#: A legend inside the axes: small, on a background that hides lines behind it.
LEGEND_STYLE: dict[str, Any] = {"fontsize": "small", "edgecolor": "none", "framealpha": 1.0}


def in_percent(axis: Axis) -> None:
    """Write the numbers of an axis, which are proportions, in percent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def safe_label(text: str, length: int = LABEL_LENGTH) -> str:
    r"""Return untrusted text as a label that matplotlib shows literally, without formulas or control characters.

    Examples
    --------
    >>> safe_label("a$x_1$"), safe_label("_hidden"), len(safe_label("x" * 80))
    ('a\\$x_1\\$', ' _hidden', 28)
    """
    shown = printable(text)
    if len(shown) > length:
        shown = f"{shown[: length - 1]}…"
    if shown.startswith("_"):  # matplotlib leaves out such names from a legend
        shown = f" {shown}"
    return shown.replace("$", r"\$")


def method_styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return color and marker of each method; no pair repeats within 63 methods."""
    return {
        name: {"color": color, "marker": marker}
        for name, color, marker in zip(methods, cycle(COLORS), cycle(MARKERS), strict=False)
    }


def noise_band(cells: pd.DataFrame, confidence_level: float) -> tuple[float, float]:
    """Return the range of the observed coverage of an exact interval in 95% of studies, for the smallest cell."""
    size = int(cells["n_replicates"].min())
    half = BAND * math.sqrt(confidence_level * (1.0 - confidence_level) / size)
    return confidence_level - half, min(1.0, confidence_level + half)
