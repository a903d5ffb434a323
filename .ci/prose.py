"""The English of README, docs, messages and docstrings, and the length of pages: common words, short sentences.

python .ci/prose.py [FILE...]

Pages: fenced code, indented formulas and generated parts are not counted. Modules: the first paragraph of public
docstrings, and all texts of at least `MESSAGE` words.
"""

from __future__ import annotations

import ast
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
    r"\bin the median\b(?! of)": "median",
    r"\bbut for\b": "except for",
    r"\bstands? (beside|above|below)\b": "is, is given",
    r"\bsays? so\b": "reports this",
    r"\blikewise\b": "in the same way",
    r"\bcovers? too (seldom|rarely)\b": "its coverage is too low",
    r"\bf[ae]lls? short\b": "is below its level",
}
#: Habits that only messages and docstrings are checked for.
CODE_HABITS = {
    **HABITS,
    r"(?-i:^(Say|Refuse|Let)\b)": "return, report, raise an error for, make",
    r"\bof (its|their|your|our|his) own\b": "its own, separate, user-defined",
    r"\bleans? on\b": "uses",
    r"\basked for\b": "requested",
    r"\bwhatever\b": "any, regardless of",
    r"\bbeforehand\b": "in advance",
    r"\b(is|are) worth\b": "has the value",
    r"\bgets? \w+ (right|wrong)\b": "misclassifies",
    r"\bin the words of\b": "as named in",
    r"\bgiven up\b": "stopped",
    r"\banew\b": "again",
    r"\bgives? away\b": "reveals",
}
#: The fewest words of a text in a module that is checked.
MESSAGE = 4
#: The most words of a page, and of a sentence; the mean length of the sentences of a page.
PAGE, README, SENTENCE, MEAN = 2500, 600, 60, 24
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"^\$\$$.*?^\$\$$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->|<!--.*?-->", re.DOTALL)
#: Written by others, or a log.
FREE = ("registration.md",)
#: Put together from the cards of the methods, to be looked up and not read; and the paper.
LONG = ("docs/reference/methods.md", "docs/paper/index.md")


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


def problems_of(text: str, habits: dict[str, str] = HABITS) -> Iterator[str]:
    """Yield the habits in `text` with what to write instead."""
    prose = re.sub(r"`[^`\n]*`|\"[^\"\n]*\"", "", prose_of(text))
    for pattern, better in habits.items():
        for match in re.finditer(pattern, " ".join(prose.split()), re.IGNORECASE):
            yield f"{match[0]!r}: write {better!r}"


def problems_of_page(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    yield from problems_of(text)
    prose = prose_of(text)
    count, most = len(words(prose)), README if path.name == "README.md" else PAGE
    if count > most and not path.as_posix().endswith(LONG):
        yield f"{count} words; the most is {most}"
    lengths = {sentence: len(words(sentence)) for sentence in sentences_of(prose)}
    for sentence, length in lengths.items():
        if length > SENTENCE:
            yield f"a sentence of {length} words; the most is {SENTENCE}: {sentence[:70]} ..."
    if len(lengths) > 10 and (mean := sum(lengths.values()) / len(lengths)) > MEAN:
        yield f"{mean:.1f} words per sentence; the most is {MEAN}"


def texts_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield first paragraphs of public docstrings, and all other texts of a module, each with its line."""
    parts = set()  # of docstrings and f-strings
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            text := ast.get_docstring(node)
        ):
            parts.add(node.body[0].value)
            if not getattr(node, "name", "").startswith("_"):
                yield node.body[0].lineno, text.split("\n\n")[0]
        elif isinstance(node, ast.JoinedStr):
            parts.update(node.values)
            yield (
                node.lineno,
                "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in node.values),
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            yield node.lineno, node.value


def problems_of_module(path: Path) -> Iterator[str]:
    for line, text in texts_of(ast.parse(path.read_text(encoding="utf-8"))):
        if len(words(text)) >= MESSAGE:
            yield from (f"line {line}: {problem}" for problem in problems_of(text, CODE_HABITS))


def main(*arguments: str) -> int:
    files = [Path(one) for one in arguments] or [
        *(Path("README.md"), *sorted(Path("docs").rglob("*.md")), *sorted(Path("cudbound").rglob("*.py")))
    ]
    found = [
        f"{file}: {problem}"
        for file in files
        if file.name not in FREE
        for problem in (problems_of_module if file.suffix == ".py" else problems_of_page)(file)
    ]
    print("\n".join(found) or f"{len(files)} files are in plain English, and pages and sentences are short")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
