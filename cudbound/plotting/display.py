"""What all plots share: they keep their data, draw on axes in one style, and export to a file or a page element."""

from __future__ import annotations

import abc
import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from cudbound.basis.exceptions import ParameterError, install_command
from cudbound.basis.words import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


#: Colors that readers with any color vision can distinguish: Okabe and Ito (2008), without yellow, too pale for lines.
COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
#: Characters of a label; longer names are truncated.
LABEL_LENGTH = 28


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


BAND_STYLE: dict[str, Any] = {"color": "0.92", "zorder": 0, "linewidth": 0}
LEVEL_STYLE: dict[str, Any] = {"color": "0.4", "linewidth": 0.8, "linestyle": "--", "zorder": 1}
#: File formats, and the matplotlib metadata in each that would change with its version or the date.
IMAGES: dict[str, tuple[str, ...]] = {
    "svg": ("Creator", "Date", "Format", "Type"),
    "png": ("Software",),
    "pdf": ("Creator", "Producer", "CreationDate"),
}


class Display(abc.ABC):
    """A plot; matplotlib is imported only when it is drawn.

    Attributes
    ----------
    percent : bool, default=False
        Whether proportions are written in percent, where intervals or half-widths are drawn; set it before `plot`.
    ax_ : matplotlib.axes.Axes
        The axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        The figure of these axes.
    """

    percent: bool = False
    inches: tuple[float, float] = (7.0, 4.2)
    ax_: Axes
    figure_: Figure

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return self.inches

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on a new figure for None.

        Raises
        ------
        ImportError
            If matplotlib is not installed; the message shows the install command.
        """
        if ax is None:
            ax = import_matplotlib().pyplot.subplots(figsize=self.size, layout="constrained")[1]
        self.ax_ = ax
        self.figure_ = cast("Figure", ax.figure)
        self._draw_on(ax)
        ax.spines[["top", "right"]].set_visible(False)
        return self

    @abc.abstractmethod
    def _draw_on(self, ax: Axes) -> None:
        """Draw everything and keep the artists."""

    def image(self, path: str | os.PathLike[str]) -> bytes:
        """Draw the display on its own figure and return the content of a file of this name.

        The same display gives the same bytes: the file has no date.

        Raises
        ------
        ParameterError
            If the extension is not .svg, .png or .pdf.
        ImportError
            If matplotlib is not installed; the message shows the install command.
        """
        format = Path(path).suffix.lower().removeprefix(".")
        if format not in IMAGES:
            raise ParameterError(
                "path", f"a name that ends in one of {[f'.{form}' for form in IMAGES]}", str(path)
            )
        stream = io.BytesIO()
        with _drawn(self, "cudbound", "path") as figure:
            figure.savefig(stream, format=format, dpi=200, metadata=dict.fromkeys(IMAGES[format]))
        return stream.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the display to a file in the format of its extension: .svg, .png or .pdf.

        Raises
        ------
        ParameterError, ImportError
            As in `image`.
        OSError
            If the file cannot be written.
        """
        Path(path).write_bytes(self.image(path))

    def svg(self, name: str) -> str:
        """Draw the display and return an ``<svg>`` element.

        Parameters
        ----------
        name : str
            Prefix for the names of parts inside the element; must be unique within a page.

        Returns
        -------
        str
            Without an XML declaration. Text stays escaped text. The same display gives the same string.

        Raises
        ------
        ImportError
            If matplotlib is not installed; the message shows the install command.
        """
        stream = io.StringIO()
        with _drawn(self, name, "none") as figure:
            figure.savefig(stream, format="svg", metadata=dict.fromkeys(IMAGES["svg"]))
        text = stream.getvalue()
        # groups are called figure_1, axes_1, ... in every figure, but names must be unique in a page; nothing refers to
        # them
        return re.sub('<g id="[^"]*"', "<g", text[text.index("<svg") :])


@contextmanager
def _drawn(display: Display, salt: str, fonttype: str) -> Iterator[Figure]:
    """Draw a display reproducibly on its own figure; `salt` makes the names in an SVG unique."""
    mpl = import_matplotlib()
    settings = {"svg.fonttype": fonttype, "svg.hashsalt": salt, "font.size": 9.0}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # missing glyphs in matplotlib's font affect only the layout: the reader's own font draws the text
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = mpl.figure.Figure(figsize=display.size, layout="constrained")
        # what was drawn for a person stays what the attributes hold
        copy(display).plot(figure.subplots())
        yield figure


def import_matplotlib() -> Any:
    """Return matplotlib; raise ImportError with the install command if it is not installed."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, the extra cudbound[plots], which is not installed; get it with: "
            f"{install_command('plots')}"
        ) from error
    return matplotlib
