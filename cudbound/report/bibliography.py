"""The references of methods in BibTeX, found by author names and years."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

from cudbound.basis.environment import versions

_ENTRY = re.compile(r"^@(?!software)\w+\{\w+,\n.*?^\}$", re.MULTILINE | re.DOTALL)
_LETTER = re.compile(r"@\w+\{\D+\d{4}([a-z]),")
_FIELD = r"^  {} *= \{{(.*)\}},$"
_SOFTWARE = """\
@software{{cudbound,
  author  = {{{{The cudbound developers}}}},
  title   = {{cudbound: confidence intervals for the error of a classifier trained on few patients}},
  version = {{{version}}},
}}"""


def cited(references: Iterable[str]) -> tuple[str, ...]:
    """Return the BibTeX entries for sources cited as "Author and Author (year)", and for this package.

    Parameters
    ----------
    references : iterable of str
        Such as the ``reference`` of methods.

    Returns
    -------
    tuple of str
        Each entry once, in the order of the bibliography; this package, with its version, comes last.

    Examples
    --------
    >>> [entry.partition(",")[0] for entry in cited(["Laber and Murphy (2008), section 3"])]
    ['@inproceedings{laber2008small', '@software{cudbound']
    """
    text = "; ".join(references)
    found = [entry for form, entry in _entries() if re.search(form, text)]
    return (*found, _SOFTWARE.format(version=versions()["cudbound"]))


@cache
def _entries() -> tuple[tuple[str, str], ...]:
    """Return every entry with a pattern of its citation."""
    text = resources.files("cudbound.report").joinpath("references.bib").read_text("utf-8")
    return tuple((_cited_as(entry), entry) for entry in _ENTRY.findall(text))


def _cited_as(entry: str) -> str:
    """Return the pattern of names and year: not the end of a longer list of names.

    Two works of one year have a letter at the end of their keys, as in Newcombe (1998a).
    """
    author = _field(entry, "author")
    year = _field(entry, "year") + (letter[1] if (letter := _LETTER.match(entry)) else "")
    plain = re.sub(r"\\\w(?=\{)|[{}]|\\\W", "", author)  # letters without their accents
    names = [re.escape(name.partition(",")[0].strip()) for name in plain.split(" and ")]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    short = rf"|{names[0]} et al\." if len(names) > 2 else ""
    return rf"(?<!\w)(?<!and )(?<!, )(?:{listed}{short}) \({year}\)|(?<=\d\), )(?:{listed}{short}) \({year}\)"


def _field(entry: str, name: str) -> str:
    found = re.search(_FIELD.format(name), entry, re.MULTILINE)
    if found is None:
        raise ValueError(f"references.bib: no {name} in {entry!r}")
    return found[1]
