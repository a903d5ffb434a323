"""Plots of coverage studies, from plain frames of their cells; matplotlib is imported only when one is drawn.

A display keeps its data; ``plot(ax=None)`` draws it, keeps the artists in attributes that end in an underscore, and
returns the display; ``svg(name)`` returns it as an element of a page.
"""
