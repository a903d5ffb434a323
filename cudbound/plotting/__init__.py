"""Plots of tables, results and coverage studies; matplotlib is imported only when one is drawn.

A display keeps its data; ``plot(ax=None)`` draws it, keeps the artists in attributes that end in an underscore, and
returns the display; ``save(path)`` writes it as SVG, PNG or PDF; ``svg(name)`` returns it as an element of a page.
"""
