"""Plots of coverage studies, from plain frames of their cells; matplotlib is imported only when one is drawn.

A display keeps its data; ``plot(ax=None)`` draws it, keeps the artists in attributes that end in an underscore, and
returns the display.
"""

from __future__ import annotations

from cudbound.plotting.coverage import CoverageByScenarioDisplay, CoverageWidthDisplay, KurtosisDisplay
from cudbound.plotting.nested_loop import NestedLoopDisplay
from cudbound.plotting.svg import draw_svg

__all__ = [
    "CoverageByScenarioDisplay",
    "CoverageWidthDisplay",
    "KurtosisDisplay",
    "NestedLoopDisplay",
    "draw_svg",
]
