"""The English and the length of README and docs: no words of our own, short sentences, short pages.

python .ci/prose.py [FILE...]

Fenced code, indented formulas and generated parts are not counted. `problems_of` takes any text, so that messages and
docstrings can be checked by it as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from house_rules import WORDS

#: Habits of ours, and what readers expect in their place; each is matched in any case.
HABITS = {
    **WORDS,
    r"\bto spare for\b": "to set aside for",
    r"\brests? on\b": "depends on, is based on",
    r"(?-i:Who (has|have|knows)\b)": "anyone with",
    r"\b(is|are) refused\b": "is not supported, or raises ValueError",
    r"\btold (as|apart)\b": "reported as, distinguished",
    r"\bare no (?!longer|more|fewer)\w+ (of|for)\b": "are not",
    r"\bsays? (of|more|little|nothing|much)\b": "reports",
    r"\bspeaks? (against|for)\b": "is a reason against",
    r"\bleaves? no trace\b": "cannot be seen",
    r"\bof (then|before|now)\b": "earlier, present",
    r"\bin place of\b": "instead of",
    r"\bto the bit\b": "exactly",
    r"\btill\b": "until",
    r"\ba wish\b": "a target",
    r"\bat (whatever|wherever)\b": "for any",
    r"\bthe like\b": "similar",
    r"\bso that it is no\b": "so it is not a",
    r"\bone (row|line|value|fit|file|name|record) for each\b": "one row per",
    r"\bor so\b": "about",
    r"\bmay well\b": "may",
    r"\bby the way\b": "",
    r"\bof (its|their) own\b": "separate, another",
    r"\bwhatever\b": "for any, for every",
    r"\bat the worst\b": "at the lowest, at most",
    r"\bin the median\b": "median",
    r"\bbut for\b": "except for",
    r"\bstands? (for|beside|above|below)\b": "is, represents",
    r"\bsays? so\b": "reports this",
    r"\blikewise\b": "in the same way",
    r"\bcovers? too (seldom|rarely)\b": "its coverage is too low",
    r"\bf[ae]lls? short\b": "is below its level",
}
#: The most words of a page, and of a sentence; the mean length of the sentences of a page.
PAGE, README, SENTENCE, MEAN = 1500, 700, 60, 24
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"^\$\$$.*?^\$\$$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->|<!--.*?-->", re.DOTALL)
#: Written by others, or a log.
FREE = ("registration.md", "changes.md")


def prose_of(text: str) -> str:
    """Return what a reader reads: without code, generated parts, formulas and the targets of links."""
    text = FORMULA.sub("", FENCE.sub("", GENERATED.sub("", text)))
    text = re.sub(r"^(    |:::).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def words(text: str) -> list[str]:
    return re.findall(r"[^\s|]*\w[^\s|]*", text)


def sentences_of(prose: str) -> list[str]:
    """Return the sentences of paragraphs and list items; headings and tables have none."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose)
    running = [" ".join(block.split()) for block in blocks if not block.lstrip().startswith(("#", "|", "!["))]
    return [one for block in running for one in re.split(r"(?<=[.!?:;])[\"')*]* +(?=[A-Z`*\"(\[])", block)]


def problems_of(text: str) -> Iterator[str]:
    """Yield the habits of `text` with what to write in their place."""
    prose = re.sub(r"`[^`\n]*`|\"[^\"\n]*\"", "", prose_of(text))
    for pattern, better in HABITS.items():
        for match in re.finditer(pattern, " ".join(prose.split()), re.IGNORECASE):
            yield f"{match[0]!r}: write {better!r}"


def problems_of_page(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    yield from problems_of(text)
    prose = prose_of(text)
    count, most = len(words(prose)), README if path.name == "README.md" else PAGE
    if count > most:
        yield f"{count} words; the most is {most}"
    lengths = {sentence: len(words(sentence)) for sentence in sentences_of(prose)}
    for sentence, length in lengths.items():
        if length > SENTENCE:
            yield f"a sentence of {length} words; the most is {SENTENCE}: {sentence[:70]} ..."
    if len(lengths) > 10 and (mean := sum(lengths.values()) / len(lengths)) > MEAN:
        yield f"{mean:.1f} words per sentence; the most is {MEAN}"


def main(*arguments: str) -> int:
    pages = [Path(one) for one in arguments] or [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
    found = [
        f"{page}: {problem}" for page in pages if page.name not in FREE for problem in problems_of_page(page)
    ]
    print("\n".join(found) or f"{len(pages)} pages are short, and so are their sentences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
