"""Settings of the paper: ``make paper`` builds it without a network, and warnings are errors."""

project = "cudbound"
author = copyright = "The cudbound developers"
extensions = ["myst_parser", "sphinx-mathjax-offline", "sphinxcontrib.bibtex"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["../../cudbound/report/references.bib"]
html_theme = "alabaster"
html_theme_options = {"nosidebar": True, "body_max_width": "50em", "font_size": "16px"}
html_title = "Intervals for the error of a classifier trained on few patients"
html_show_sourcelink = False
html_copy_source = False
