"""The documentation as a program: its code runs, its tables are those of the package, its links lead somewhere."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import click
import pandas as pd
import pytest
import search_nodes
from docs_pages import PAGES, PARTS, ROOT, renewed
from matplotlib import pyplot as plt
from method_cards import statements
from page_session import FENCE, GENERATED, run_page

import cudbound
from cudbound.adapters.families import ADAPTERS
from cudbound.cli.command import main as command
from cudbound.intervals import METHODS
from cudbound.losses.surrogates import LOSSES
from cudbound.point_estimates import ESTIMATORS
from cudbound.resampling import Resampling
from cudbound.solve.reference_cones import CVXPY_LOSSES

LANGUAGES = {"python", "pycon", "shell", "text", "r", "{eval-rst}", "{literalinclude}"}
#: What the package alone does not bring, and the extras with it; a page that uses it names an extra or installs it.
BROUGHT_BY = {
    "matplotlib": ("plots", "study"),
    "jinja2": ("study",),
    "skops": ("models",),
    "openpyxl": ("excel",),
    "cvxpy": ("reference",),
    "distributed": ("dask",),
    "statsmodels": (),
}
BIBLIOGRAPHY = ROOT / "cudbound" / "report" / "references.bib"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(cudbound.__path__, "cudbound.")
    if not module.name.endswith(("__main__", "._solvers"))
)
#: Places on one machine, which no page may name.
MACHINE_PATH = re.compile(r"(?<![\w.])(/(home|root|work|tmp|usr|opt|mnt|var|etc|Users)\b|[A-Z]:\\)")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def tiered(paths: list[Path], *quick: str):
    """Leave what these do to `make test-slow`, but for the quick ones."""
    return [
        pytest.param(one, id=named(one), marks=[] if named(one) in quick else pytest.mark.slow)
        for one in paths
    ]


each_page = pytest.mark.parametrize("page", PAGES, ids=named)
each_session = pytest.mark.parametrize(
    "page", tiered(PAGES, "README.md", "docs/explanation/recommended_interval.md")
)


@pytest.fixture(autouse=True)
def figures():
    """Close what pages and examples leave open."""
    yield
    plt.close("all")


@pytest.fixture
def registries():
    """Take back what a page adds to a registry."""
    before = [(registry, dict(registry)) for registry in (LOSSES, CVXPY_LOSSES)]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


@each_session
def test_code_runs(page, tmp_path, monkeypatch, registries):
    """Every block of a page runs, with the extras that it names, and prints what the page has under it."""
    text = page.read_text()
    installed = set(re.findall(r"\w+", " ".join(re.findall(r"pip install ([^`\n]*)", text))))
    for module in BROUGHT_BY:
        if installed.isdisjoint((module, *BROUGHT_BY[module])):
            monkeypatch.setitem(sys.modules, module, None)
    assert run_page(page, tmp_path) == text, "renew it with: python docs/made/page_session.py PAGE"


@each_page
def test_blocks_have_a_language_and_included_files_exist(page):
    for match in FENCE.finditer(page.read_text()):
        assert match["language"] in LANGUAGES, f"mark the block as one of {LANGUAGES}: {match[0]}"
        if match["source"] is not None:
            assert (page.parent / match["source"]).is_file(), match["source"]


def test_make_targets_exist():
    """Every ``make X`` of the documentation is a target."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {
        target
        for page in PAGES
        if page.name != "CHANGELOG.md"  # which names what there was
        for target in re.findall(r"(?:`|^)make ([a-z][\w-]*)", page.read_text(), re.MULTILINE)
    }
    assert {"demo", "test"} <= asked <= targets


@pytest.mark.parametrize("example", tiered(EXAMPLES, "examples/table_of_intervals.py"))
def test_examples_run(example, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


@each_page
def test_generated_parts_are_up_to_date(page):
    text = page.read_text()
    assert renewed(text) == text, "renew it with: python docs/made/docs_pages.py"


@pytest.mark.parametrize("place", [0, 1, *(pytest.param(i, marks=pytest.mark.slow) for i in (2, 3, 4))])
def test_nodes_of_the_search_are_those_of_its_program(place):
    """The table of the paper is made from this file."""
    kept = pd.read_csv(search_nodes.FILE)
    assert len(kept) == len(search_nodes.SETTINGS)
    n, p, signal = search_nodes.SETTINGS[place]
    renew = "renew it with: python docs/made/search_nodes.py"
    words = str(signal) if signal else "none: labels are noise"
    assert kept.loc[place].to_list() == [n, p, words, *search_nodes.nodes_of(n, p, signal)], renew


def test_every_generated_part_is_used():
    used = {match["part"] for page in PAGES for match in GENERATED.finditer(page.read_text())}
    assert used - {"printed"} == set(PARTS)


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "index.md").read_text()
    listed = re.findall(r"^   (\w+)$", page, re.MULTILINE)
    assert sorted({*cudbound.__all__} - {*listed, "__version__", "study", "solve"}) == []
    assert sorted({*cudbound.study.__all__} - {*listed, "worlds"}) == []


def test_statements_of_a_formula_are_not_divided_within_brackets():
    assert statements("u +/- t(p; R (k - 1)) s; s = f(a); b") == ["u +/- t(p; R (k - 1)) s", "s = f(a)", "b"]


def test_every_method_has_a_section():
    """One section of the page of methods, which begins with its card."""
    page = (ROOT / "docs" / "reference" / "methods.md").read_text()
    sections = re.findall(r"^### (\S+)\n\n<!-- generated: card-(\S+) -->$", page, re.MULTILINE)
    assert sorted(sections) == sorted((name, name) for name in (*METHODS, *ESTIMATORS))


def test_every_adapter_has_a_row():
    """Its loss and strengths, in the table of the classifiers that are understood."""
    rows = re.findall(
        r"^\| (.+?) +\|", (ROOT / "docs" / "reference" / "classifiers.md").read_text(), re.MULTILINE
    )
    assert [one.supports for one in ADAPTERS if rows.count(one.supports) != 1] == []


def test_defaults_of_the_sizes_are_those_of_the_notation():
    """The page gives each number of `Resampling` in brackets behind its name."""
    text = (ROOT / "docs" / "reference" / "words_and_sources.md").read_text()
    given = dict(re.findall(r"`(?:Resampling\.)?(\w+)` \(([\d.]+)\)", text))
    elsewhere = {"inner", "on_single_class", "cv", "copies", "holdout_fraction"}
    numbers = [one for one in fields(Resampling) if one.name not in elsewhere]
    assert given == {one.name: f"{one.default:g}" for one in numbers}


def options_of(part: click.Command, context: click.Context) -> set[str]:
    """The options of a command and of those below it."""
    below = (
        [part.get_command(context, name) for name in part.list_commands(context)]
        if isinstance(part, click.Group)
        else []
    )
    own = {option for parameter in part.params for option in parameter.opts}
    return own.union(*(options_of(each, context) for each in below))


@each_page
def test_calls_and_options_in_the_text_can_be_made(page):
    """Code within a sentence is not run: only its arguments and options are checked."""
    options = options_of(command, click.Context(command)) | {"--help", "--renew"}
    if page.name == "CONTRIBUTING.md":
        options |= {"--no-build-isolation", "--strict"}
    for code in re.findall(r"`([^`\n]+)`", FENCE.sub("", page.read_text())):
        assert set(re.findall(r"(?<!\S)--[a-z][a-z-]*", code)) <= options, code
        if (call := re.match(r"(\w+)\(.+\)$", code)) and call[1] in cudbound.__all__:
            written = ast.parse(code, mode="eval").body
            given = [ast.unparse(each) for each in written.args if ast.unparse(each) != "..."]
            # whatever is left out where a call has three dots is of no concern
            inspect.signature(getattr(cudbound, call[1])).bind_partial(
                *given, **{each.arg: None for each in written.keywords}
            )


@each_page
def test_files_that_are_named_exist(page):
    text = FENCE.sub("", page.read_text())
    named_files = re.findall(r"`((?:cudbound|solvers|tests|docs|examples|\.ci)/[\w./-]*)`", text)
    assert [path for path in named_files if not (ROOT / path).exists()] == []


@pytest.mark.slow
def test_doctests():
    assert [name for name in MODULES if doctest.testmod(importlib.import_module(name)).failed] == []


def anchors(page: Path) -> set[str]:
    """Return the anchors that a heading gets on the usual hosts."""
    text = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_links_resolve(page):
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    links = re.findall(r"\]\(([^)\s]+)\)", prose)
    for link in links:
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), f"{link} leads out of the repository"
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_is_in_the_menu_of_its_folder():
    pages = [page for page in PAGES if page.is_relative_to(ROOT / "docs") and page.parent != ROOT / "docs"]
    for page in pages:
        menu = (page.parent / "index.md").read_text().splitlines()
        assert page.name == "index.md" or page.stem in menu, f"{named(page)} is in no toctree"


def test_the_list_for_language_models_has_every_page():
    listed = re.findall(r"\(([\w/]+)\.html\)", (ROOT / "docs" / "llms.txt").read_text())
    pages = [page.relative_to(ROOT / "docs").with_suffix("") for page in PAGES if page.parent != ROOT]
    assert sorted(listed) == sorted(
        page.as_posix() for page in pages if page.parts[0] not in ("index", "paper")
    )


def test_no_two_pages_have_one_title():
    titles = [
        re.search(r"^# (.*)$", page.read_text(), re.MULTILINE)[1] for page in PAGES if page.parent != ROOT
    ]
    titles += [re.match(r'"""\s*(.*)', example.read_text())[1] for example in EXAMPLES]
    assert [title for title in set(titles) if titles.count(title) > 1] == []


@pytest.mark.parametrize("path", [*PAGES, *EXAMPLES, ROOT / "CITATION.cff", BIBLIOGRAPHY], ids=named)
def test_no_place_on_one_machine_is_named(path):
    assert MACHINE_PATH.search(path.read_text()) is None


def test_the_version_is_one():
    """The newest one of the change log is that of the package, of README and of the citation."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    stated = {
        "README.md": r"^Version ([\d.]+),",
        "CHANGELOG.md": r"^## ([\d.]+)",
        "CITATION.cff": r"^version: (\S+)$",
    }
    for name, pattern in stated.items():
        assert re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)[1] == version, name


def bibliography() -> dict[str, dict[str, str]]:
    """Return the entries of the bibliography by their key, as far as one field a line goes."""
    text = (BIBLIOGRAPHY).read_text()
    entries = {}
    for kind, key, body in re.findall(r"^@(\w+)\{([\w]+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL):
        assert key not in entries
        entries[key] = {"kind": kind, **dict(re.findall(r"^  (\w+) *= \{(.*)\},$", body, re.MULTILINE))}
    assert len(entries) == text.count("@")
    return entries


def test_cited_sources_are_in_the_bibliography():
    """Every "Author (year)" and "Author and Author (year)" of the pages and of the registry of methods."""
    known = [
        (
            re.sub(r"{\\(?:\W(\w)|\w{(\w)})}", r"\1\2", entry["author"]),
            entry["year"],
        )  # letters without their accents
        for entry in bibliography().values()
    ]
    text = "\n".join(
        [
            *(page.read_text() for page in PAGES),
            *(method.reference for method in (*METHODS.values(), *ESTIMATORS.values())),
        ]
    )
    cited = set(re.findall(r"([A-Z][a-z]+)(?: and ([A-Z][a-z]+))?,? \(?((?:18|19|20)\d\d)\)?[,;:.) ]", text))
    missing = [
        (first, second, year)
        for first, second, year in cited
        if not any(first in author and second in author and year == given for author, given in known)
    ]
    assert len(cited) >= 8
    assert missing == []
