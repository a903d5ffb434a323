"""Text for a paper: methods, results, software and references."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from cudbound.basis.calls import versions
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate, TestedRows
from cudbound.basis.words import (
    COMPLEMENTS,
    enumerated,
    format_level,
    grouped,
    in_formula,
    metric_words,
    printable,
    sentences_html,
)
from cudbound.report.sentences import DIFFERENCES, ERRORS, agreement_sentence, aim_of
from cudbound.report.tables import SINGLE, Row, Run, Style, in_words, methods_in_words

#: Names of the packages in a sentence.
_NAMES = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy"}
#: Methods whose draws take the steps before the classifier as they are.
_KEEP_STEPS = {"cud": "The CUD bound", "aci": "The adaptive interval"}


@dataclass(frozen=True, repr=False)
class Description:
    """Text for a paper; prints as paragraphs.

    Attributes
    ----------
    methods : str
        What was computed, from which data, for which classifier, and what the intervals should cover.
    results : str
        One sentence per method.
    software : str
        The versions of Python, this package, NumPy, SciPy and scikit-learn, and the seed.
    citations : tuple of str
        References, in BibTeX.
    """

    methods: str
    results: str
    software: str
    citations: tuple[str, ...]

    @property
    def bibtex(self) -> str:
        """All references, as the text of a BibTeX file."""
        return "\n\n".join(self.citations)

    def __str__(self) -> str:
        return f"{self.methods}\n\n{self.results}\n\n{self.software}\n\n{self.bibtex}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return sentences_html(self.results, (self.methods, self.software, *self.citations))


def describe_rows(rows: Sequence[Row], run: Run | None, percent: bool = False) -> Description:
    """Return the text for rows of methods.

    Parameters
    ----------
    rows : sequence of Row
    run : Run or None
        The data, the classifier and the resampling; without it, the methods paragraph omits them.
    percent : bool, default=False
        Whether proportions are written in percent.
    """
    methods = [*_subject(rows, run), *_methods(rows, run), *_aims(rows)]
    return Description(
        printable(" ".join(methods)),
        printable(" ".join(_results(rows, percent))),
        software("" if run is None else in_words(run.seed), None if run is None else run.choices),
        cited([*(row.words.reference for row in rows if row.words is not None), *_of_tests(rows)]),
    )


def _aims(rows: Sequence[Row]) -> list[str]:
    """Return the targets in words, each once."""
    compared = [row for row in rows if isinstance(row, ComparisonResult)]
    words = DIFFERENCES if compared else ERRORS
    of = "the difference between " if compared else ""
    aims: dict[str, dict[str, None]] = {}
    for row in rows:
        alike = [other for other in rows if other.estimand.prevalence == row.estimand.prevalence]
        what = in_formula(compared[0].metric) if compared else _named_metrics(alike)
        if (aim := aim_of(row.estimand, what, words)) is not None:
            aims.setdefault(aim, {})[row.method] = None
    if len(aims) < 2:
        return [f"The target is {of}{aim}." for aim in aims]
    return [f"The target of {', '.join(methods)} is {of}{aim}." for aim, methods in aims.items()]


def software(seed: str, choices: str | None = None) -> str:
    """Return the versions of the software, the seed in words, and settings that differ from the defaults."""
    settings = "" if choices is None else f"settings {choices}"
    made_by = ", ".join(f"{_NAMES.get(name, name)} {number}" for name, number in versions().items())
    return printable(f"Computed with {'; '.join(filter(None, (made_by, seed, settings)))}.")


def _subject(rows: Sequence[Row], run: Run | None) -> list[str]:
    """Return what was estimated, and from which data."""
    if run is None:
        return []
    if rows and isinstance(rows[0], ComparisonResult):
        words = {name: ", ".join(steps) for name, steps in run.procedures.items()} or run.classifiers
        learners = "; ".join(f"{name} ({learner})" for name, learner in words.items())
        what = f"The {in_formula(rows[0].metric)}s of these classifiers were compared: {learners}."
    else:
        were = "were" if len({getattr(row, "metric", "error") for row in rows}) > 1 else "was"
        internal = any(row.new_cases is None for row in rows)
        sources = ["from its training data"] * internal + ["on test cases"] * bool(_tested_rows(rows))
        what = f"The {_named_metrics(rows)} of the classifier {were} estimated {' and '.join(sources)}."
    source = "" if run.source is None else f" in {run.source}"
    return [
        what,
        f"There were n = {run.n_samples} cases{source}, {run.classes_in_words}, with {run.features_in_words}.",
        *_tested(rows),
        *run.of_rows_and_columns,
        *_procedure(rows, run),
    ]


def _tested(rows: Sequence[Row]) -> list[str]:
    """Return the test cases, and which methods read them unless all do."""
    new = _tested_rows(rows)
    readers = "" if len(new) == len({row.method for row in rows}) else f" ({', '.join(new)})"
    compared = any(isinstance(row, ComparisonResult) for row in rows)
    were = "The classifiers were" if compared else "The classifier was"
    return [f"{were} tested on {tested}{readers}." for tested in dict.fromkeys(new.values())]


def _tested_rows(rows: Sequence[Row]) -> dict[str, TestedRows]:
    """Return the test cases of each method that reads them."""
    tested = {row.method: row.tested for row in rows if row.tested is not None and row.tested.new}
    return {method: replace(cases, pooled=False) for method, cases in tested.items()}


def _procedure(rows: Sequence[Row], run: Run) -> list[str]:
    """Return the steps of every fit, and which methods did not repeat all of them."""
    steps = run.procedures.get(SINGLE, ())
    if not steps:
        return []
    if len(steps) == 1:
        return [f"The classifier was fitted by {steps[0]}."]
    refitted = any(row.n_fits > 1 and row.method not in _KEEP_STEPS for row in rows)
    repeated = ", which every refit repeated" if refitted else ""
    keeping = dict.fromkeys(_KEEP_STEPS[row.method] for row in rows if row.method in _KEEP_STEPS)
    return [
        f"The classifier was fitted by these steps{repeated}: {'; '.join(steps)}.",
        *(f"{method} keeps the steps before the classifier as fitted to all cases." for method in keeping),
    ]


def _named_metrics(rows: Sequence[Row]) -> str:
    return metric_words([getattr(row, "metric", "error") for row in rows] or ["error"])


def _methods(rows: Sequence[Row], run: Run | None) -> list[str]:
    """Return the methods and the number of resamples."""
    levels = {row.interval_level for row in rows if not isinstance(row, PointEstimate)}
    limits = f"{' and '.join(map(format_level, sorted(levels)))} confidence intervals"
    sentences = [f"{limits if levels else 'Estimates'} by: {methods_in_words(rows)}."]
    metrics = dict.fromkeys(getattr(row, "metric", "error").partition(" of ")[0] for row in rows)
    if complements := [f"1 - {metric_words([name])}" for name in metrics if name in COMPLEMENTS]:
        sentences.append(f"Methods for an error were applied to {' and '.join(complements)}.")
    sentences += _of_tests(rows)
    if run is not None and run.n_resamples is not None:
        sentences.append(f"Bootstrap methods used {run.n_resamples} resamples.")
    if run is not None and run.localization is not None and any(row.method == "cud" for row in rows):
        sentences.append(f"The localization rate of the CUD bound was {run.localization}.")
    return sentences


def _of_tests(rows: Sequence[Row]) -> list[str]:
    """Return how equivalence was tested, and the adjustment for several pairs, if there are several."""
    compared = [row for row in rows if isinstance(row, ComparisonResult)]
    equivalent = any(row.alternative == "equivalent" for row in compared)
    tests = ["Equivalence was tested by the two one-sided tests of Schuirmann (1987)."] if equivalent else []
    pairs = {(row.a, row.b) for row in compared}
    if len(pairs) < 2:
        return tests
    return [
        *tests,
        f"For each method, the intervals hold together for all {len(pairs)} pairs at the nominal level (Bonferroni); "
        "p-values were adjusted for the number of pairs by the procedure of Holm (1979).",
    ]


def _results(rows: Sequence[Row], percent: bool) -> list[str]:
    """Return one sentence per row, or per method if there are several metrics."""
    intervals = [row for row in rows if isinstance(row, IntervalEstimate)]
    if len({row.metric for row in intervals}) < 2:
        return [_result(row, percent) for row in rows]
    paper, sentences = Style("paper", percent=percent), []
    for method in dict.fromkeys(row.method for row in intervals):
        by_metric = [row for row in intervals if row.method == method]
        limits = ", ".join(f"{metric_words([row.metric])} {paper.limits(row)}" for row in by_metric)
        sentences += [f"{method}: {limits}.", *_about_metrics(by_metric)]
        sentences += [sentence for row in by_metric for sentence in agreement_sentence(row)]
    return sentences


def _about_metrics(rows: Sequence[IntervalEstimate]) -> list[str]:
    """Return the remarks on rows of one method, each once, after the measures that it is about."""
    metrics_of = grouped((remark, row.metric) for row in rows for remark in _remarks(row))
    return [f"Remark on {metric_words(metrics)}: {remark}." for remark, metrics in metrics_of.items()]


def _remarks(row: Row) -> list[str]:
    return [remark for remark in (*row.remarks, row.degenerate) if remark]


def _result(row: Row, percent: bool) -> str:
    """Return the result of one method, with its remarks."""
    remarks = f" ({'; '.join(words)})" if (words := _remarks(row)) else ""
    if row.estimate != row.estimate:
        pair = f" for {row.difference}" if isinstance(row, ComparisonResult) else ""
        return f"{row.method} gave no result{pair}{remarks}."
    return " ".join((f"{row.in_words(percent)}{remarks}.", *agreement_sentence(row)))


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
    entries = [entry for form, entry in _entries() if re.search(form, text)]
    return (*entries, _SOFTWARE.format(version=versions()["cudbound"]))


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
    listed = enumerated(names)
    short = rf"|{names[0]} et al\." if len(names) > 2 else ""
    return rf"(?<!\w)(?<!and )(?<!, )(?:{listed}{short}) \({year}\)|(?<=\d\), )(?:{listed}{short}) \({year}\)"


def _field(entry: str, name: str) -> str:
    field = re.search(_FIELD.format(name), entry, re.MULTILINE)
    if field is None:
        raise ValueError(f"references.bib: no {name} in {entry!r}")
    return field[1]
