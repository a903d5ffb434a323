"""Base class of results with a plot."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Drawable(Protocol):
    """The protocol of displays, for results that cannot import them."""

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on a new figure for None."""
        ...


OneDisplay = TypeVar("OneDisplay", bound=Drawable)


class Pictured(abc.ABC, Generic[OneDisplay]):
    """A result with a plot."""

    @abc.abstractmethod
    def display(self) -> OneDisplay:
        """Return the picture before it is drawn, for ``save(path)`` alone."""

    def plot(self, ax: Axes | None = None) -> OneDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            None makes a new figure.

        Returns
        -------
        Display
            Drawn, with ``ax_``, ``figure_`` and ``save(path)``.

        Raises
        ------
        ImportError
            If matplotlib is not installed, with the way to get it.
        """
        return self.display().plot(ax)
