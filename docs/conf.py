"""Settings of the site: ``make docs`` builds it without a network, and warnings are errors."""

from __future__ import annotations

import warnings

import click
from docutils import nodes
from sphinx import addnodes
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
# registrations are files that pages link; the paper has settings of its own, and `make docs` builds it into the site
PAPER = "paper/index"
exclude_patterns = ["gallery/*.ipynb", "evidence/*/*.md", "paper"]
# the names in single backticks of docstrings lead to the API where it has them
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# the column at the right names members without their class
toc_object_entries_show_parents = "hide"
# -- are the first characters of an option
smartquotes = False

bibtex_bibfiles = ["../cudbound/report/references.bib"]
copybutton_exclude = ".linenos, .gp, .go"

# how long refits take depends on the machine that builds the site
warnings.filterwarnings("ignore", message=".* refits will take about")
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
    # a picture is shown, and not the name of the object that drew it
    "capture_repr": (),
    "thumbnail_size": (960, 480),
}

html_theme = "pydata_sphinx_theme"
html_title = f"cudbound {version}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": html_title},
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


def link_files(app: Sphinx, document: nodes.document) -> None:
    """Let links to Markdown files that are not pages, such as registrations, download them; the paper is built."""
    for link in list(document.findall(addnodes.pending_xref)):
        if link["refdomain"] == "doc" and link["reftarget"] not in app.env.found_docs:
            place = f"/{link['reftarget']}.md"
            if link["reftarget"] == PAPER:
                place = app.builder.get_relative_uri(app.env.docname, PAPER)
                link.replace_self(nodes.reference("", "", *link.children, refuri=place))
            elif (app.srcdir / place[1:]).is_file():
                download = addnodes.download_reference("", "", *link.children, reftarget=place)
                link.replace_self(download)


def wrap_sentences(app: Sphinx, document: nodes.document) -> None:
    """Mark printed text with lines that are too long for a table, to be wrapped."""
    for block in document.findall(nodes.literal_block):
        if block.get("language") == "text" and max(map(len, block.astext().splitlines()), default=0) > 88:
            block["classes"] += ["sentence", "tabular"] if "----" in block.astext() else ["sentence"]


def print_exit_codes_once(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Leave the exit codes to the program; its commands have the same."""
    if context.parent is not None:
        lines.clear()


def setup(app: Sphinx) -> None:
    """Connect what this file adds to the build."""
    app.connect("doctree-read", leave_out_of_search)
    app.connect("doctree-read", wrap_sentences)
    app.connect("doctree-read", link_files, priority=400)  # before downloads are collected
    app.connect("sphinx-click-process-epilog", print_exit_codes_once)
