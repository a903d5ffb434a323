"""The cards of the methods as sections of a page: formula, aim, assumptions, tendency, source."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from functools import partial

from cudbound.analysis.available_methods import METRIC_OF, row_of
from cudbound.basis.method_card import SYMBOLS, MethodCard, sources_beyond
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS

CARDS: dict[str, MethodCard] = {**METHODS, **ESTIMATORS}
#: What the plain characters of a card stand for, by a pattern.
PRINTED = {
    r"\+/-": "±",
    ">=": "≥",
    "<=": "≤",
    r"\bsqrt\b": "√",
    r"\bd\b": "δ",
    r"beta_hat\b": "β̂",
    "beta": "β",
    "alpha": "\N{GREEK SMALL LETTER ALPHA}",
    "theta": "θ",
    r"\bPhi\b": "Φ",
    r"\bphi\b": "φ",
    r"(?<= )-(?= )": "\N{MINUS SIGN}",
    r"\^2": "²",
}
#: What a method gives besides an interval, in words.
GIVES = {
    "interval": "",
    "interval and comparison": "An interval, and a test of the difference between two learners.",
    "comparison": "A test of the difference between two learners.",
    "point estimate": "",
}
GROUPS = {
    "refits": "rows of groups count as independent",
    "no": "no groups of rows",
    "test_set": "groups of rows only with new cases",
    "halvings": "groups of rows only with user-defined splits",
}
#: Cards that have the aim, fits, groups, assumption and symbols of another one, which the page has above them.
LIKE = {
    "bootstrap-632-plus-normal": "bootstrap-632-normal",
    "out-of-bag-clopper-pearson": "out-of-bag-wilson",
    "bccvp-br": "bccvp",
    "test-set-wilson": "test-set-wald",
    "test-set-clopper-pearson": "test-set-wald",
    "test-set-langford": "test-set-wald",
    "test-set-wilson-corrected": "test-set-wald",
    "test-set-agresti-coull": "test-set-wald",
    "test-set-jeffreys": "test-set-wald",
}
#: What these share.
SHARED = ("estimand", "cost", "with_groups", "assumptions")
#: A page that a card names.
PAGE = re.compile(r"docs/(\w+)/(\w+)\.md")
WIDTH = 84


def printed(formula: str) -> str:
    """Return a formula with the characters of mathematics."""
    for pattern, character in PRINTED.items():
        formula = re.sub(pattern, character, formula)
    return formula


def statements(formula: str) -> list[str]:
    """Return the statements of a formula, which semicolons separate, but not within brackets, as in t(p; R (k - 1))."""
    separate: list[str] = []
    for part in formula.split("; "):
        if separate and separate[-1].count("(") > separate[-1].count(")"):
            separate[-1] += f"; {part}"
        else:
            separate.append(part)
    return separate


def fenced(formula: str, shown: str = "") -> str:
    """Return a formula as a block, one line per statement, except those in the formula that is `shown` already."""
    shown_above = statements(printed(shown))
    lines = (
        textwrap.fill(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in statements(printed(formula))
        if line not in shown_above
    )
    return "\n".join(("```text", *lines, "```"))


def starred(text: str) -> str:
    """Return text with links to the pages that it names, and with stars that are not taken for emphasis."""
    text = PAGE.sub(lambda page: f"[{page[2].replace('_', ' ')}](../{page[1]}/{page[2]}.md)", text)
    return text.replace("*", "\\*")


def bullets(card: MethodCard, shown: dict[str, str]) -> list[str]:
    """Return the entries of a card, except those that are `shown` already."""
    row = row_of(card)
    if "reference" in shown:
        row["reference"] = sources_beyond(row["reference"], shown["reference"])
    short = {"estimand": f"aims at `{row['estimand']}`", "cost": f"fits: {row['cost']}"}
    if row["with_groups"] != "kept":
        # one test set can be new cases, two of them are parts of these rows
        kinds = {kind.name for kind in card.needs}
        tested = "test_set" in kinds and "second_test_set" not in kinds
        way = "test_set" if tested else "halvings" if kinds == {"halvings"} else row["with_groups"]
        short["with_groups"] = GROUPS[way]
    options = "; ".join(f"`{name}`: {one}" for name, one in card.options.items())
    long = {
        "assumptions": "Assumes",
        "tendency": "Tendency",
        "reference": "Sources also" if "reference" in shown else "Source",
    }
    first = "; ".join(text for key, text in short.items() if row[key] != shown.get(key))
    return [
        *([f"- {first[0].upper()}{starred(first[1:])}."] if first else []),
        *([f"- Options: {starred(options)}."] if options and "options" not in shown else []),
        *(
            f"- {word}: {starred(printed(row[key]))}."
            for key, word in long.items()
            if row[key] and row[key] != shown.get(key)
        ),
    ]


def section(name: str) -> str:
    """Return the card of a method, and what differs for the AUC and the Brier score."""
    card = CARDS[name]
    row = row_of(card)
    parts = [f"{starred(card.title)}. {GIVES[row['gives']]}".rstrip()]
    if name in LIKE:
        like = CARDS[LIKE[name]]
        shared = {key: row_of(like)[key] for key in SHARED}
        as_other = f"- Aim, fits, assumption and symbols: as `{like.name}`."
        parts += [fenced(card.formula, like.formula), "\n".join([as_other, *bullets(card, shared)])]
    else:
        parts += [fenced(card.formula), "\n".join(bullets(card, {}))]
    for output, variant in card.variants.items():
        parts.append(f"For the {METRIC_OF[output]}:")
        if variant.formula != card.formula:
            parts.append(fenced(variant.formula, card.formula))
        parts.append("\n".join(bullets(variant, row)))
    return "\n\n".join(part for part in parts if part)


def symbols() -> str:
    """Return the symbols that formulas share, as a list."""
    meanings = (meaning.partition(": ") for meaning in SYMBOLS.values())
    return "\n".join(f"- {printed(symbol)}: {printed(meaning)}" for symbol, _, meaning in meanings)


PARTS: dict[str, Callable[[], str]] = {
    "symbols": symbols,
    **{f"card-{name}": partial(section, name) for name in CARDS},
}
