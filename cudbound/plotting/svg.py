"""A display as SVG text, for a page that needs no other file."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: What matplotlib would say of a file; an element of a page needs none of it.
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
        Names of parts inside the element are made from it; give each element of a page its own.

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
        # letters that matplotlib's font lacks only cost room here: the reader's own font draws the text
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        display.plot(figure.subplots())
        figure.savefig(stream, format="svg", metadata=dict.fromkeys(METADATA))
    text = stream.getvalue()
    # groups are called figure_1, axes_1, ... in every figure, but a page may have a name once; nothing refers to them
    return re.sub('<g id="[^"]*"', "<g", text[text.index("<svg") :])
