"""A display as SVG text, for a self-contained page."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Metadata that matplotlib writes into a file; an element of a page needs none of it.
METADATA = ("Creator", "Date", "Format", "Type")


class Display(Protocol):
    """Whatever draws itself on axes."""

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw on `ax`."""


def draw_svg(display: Display, size: tuple[float, float], name: str) -> str:
    """Draw a display and return it as an ``<svg>`` element.

    Parameters
    ----------
    display : object with ``plot(ax)``
    size : tuple of float
        Width and height in inches.
    name : str
        Prefix for the names of parts inside the element; must be unique within a page.

    Returns
    -------
    str
        Without an XML declaration. Text stays text, escaped. The same display gives the same string.

    Raises
    ------
    ImportError
        If matplotlib is not installed, with the way to get it.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, which is not installed; get it with: pip install 'cudbound[study]'"
        ) from error
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.0}
    stream = io.StringIO()
    with mpl.rc_context(settings), warnings.catch_warnings():
        # missing glyphs in matplotlib's font affect only the layout: the reader's own font draws the text
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        display.plot(figure.subplots())
        figure.savefig(stream, format="svg", metadata=dict.fromkeys(METADATA))
    text = stream.getvalue()
    # groups are called figure_1, axes_1, ... in every figure, but names must be unique in a page; nothing refers to
    # them
    return re.sub('<g id="[^"]*"', "<g", text[text.index("<svg") :])
