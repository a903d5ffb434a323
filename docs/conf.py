"""Settings of the site: ``make docs`` builds it without a network, and warnings are errors."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

import cudbound

project = "cudbound"
author = "The cudbound developers"
copyright = author
templates_path = ["_templates"]
version = release = cudbound.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
    "sphinxcontrib.bibtex",
]
# registrations are files that pages link; `make paper` builds the paper
exclude_patterns = ["gallery/*.ipynb", "evidence/*/*.md", "paper"]
# the names in single backticks of docstrings lead to the API where it has them
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

bibtex_bibfiles = ["../cudbound/report/references.bib"]
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "cudbound"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
}

#: What the search leaves out: it has the words of every other page.
UNSEARCHED = {"changes", "bibliography"}


def leave_out_of_search(app: Sphinx, document: nodes.document) -> None:
    """Mark sections that the search index is to skip."""
    for section in document.findall(nodes.section):
        if UNSEARCHED & set(section["names"]):
            section["classes"].append("no-search")


def setup(app: Sphinx) -> None:
    """Connect what this file adds to the build."""
    app.connect("doctree-read", leave_out_of_search)
