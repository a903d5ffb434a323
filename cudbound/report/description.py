"""Words for a paper: what was done, what came out, with which software, and what to cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cudbound.basis.metric_words import in_formula, metric_words
from cudbound.basis.results import ComparisonResult, PointEstimate
from cudbound.basis.rounding import format_level, printable, sentences_html
from cudbound.basis.versions import versions
from cudbound.report.bibliography import cited
from cudbound.report.estimands import DIFFERENCES, ERRORS, explain_estimands
from cudbound.report.table_style import NO_TITLES
from cudbound.report.tables import ComparisonRun, Row, Run, RunDescription, in_words

#: Names of the packages in a sentence.
_NAMES = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy"}


@dataclass(frozen=True, repr=False)
class Description:
    """Words for a paper; prints as paragraphs.

    Attributes
    ----------
    methods : str
        What was computed, from which data, for which classifier, and what the intervals are meant to cover.
    results : str
        One sentence for each method.
    software : str
        The versions that decide numbers, and the seed.
    citations : tuple of str
        What to cite, in BibTeX.
    """

    methods: str
    results: str
    software: str
    citations: tuple[str, ...]

    @property
    def bibtex(self) -> str:
        """All that is to be cited, as the text of a file for BibTeX."""
        return "\n\n".join(self.citations)

    def __str__(self) -> str:
        return f"{self.methods}\n\n{self.results}\n\n{self.software}\n\n{self.bibtex}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return sentences_html(self.results, (self.methods, self.software, *self.citations))


def describe_rows(
    rows: Sequence[Row],
    run: Run | None,
    titles: Mapping[str, str] = NO_TITLES,
    references: Mapping[str, str] = NO_TITLES,
) -> Description:
    """Return the words for rows of methods.

    Parameters
    ----------
    rows : sequence of Row
    run : Run or None
        The data, the classifier and the resampling; without it the methods paragraph does not speak of them.
    titles, references : mapping of str to str
        Of the methods, by their names.
    """
    methods = [
        *_subject(rows, run),
        *_methods(rows, run, titles),
        *explain_estimands(
            (row.estimand for row in rows),
            DIFFERENCES if rows and isinstance(rows[0], ComparisonResult) else ERRORS,
            in_formula(rows[0].metric)
            if rows and isinstance(rows[0], ComparisonResult)
            else _named_metrics(rows),
        ),
    ]
    return Description(
        printable(" ".join(methods)),
        printable(" ".join(_result(row) for row in rows)),
        software("" if run is None else in_words(getattr(run, "seed", None))),
        cited([*(references.get(row.method, "") for row in rows), *_of_adjustments(rows)]),
    )


def software(seed: str) -> str:
    """Return the versions that decide numbers, and the seed in words, if there is something to say of it."""
    made_by = ", ".join(f"{_NAMES.get(name, name)} {number}" for name, number in versions().items())
    return printable(f"Computed with {'; '.join(filter(None, (made_by, seed)))}.")


def _subject(rows: Sequence[Row], run: Run | None) -> list[str]:
    """Return what was estimated, and from which data."""
    if run is None:
        return []
    if isinstance(run, ComparisonRun):
        named = "; ".join(f"{name}, {learner}" for name, learner in run.learners.items())
        compared = in_formula(rows[0].metric) if rows and isinstance(rows[0], ComparisonResult) else "error"
        what = f"The {compared}s of these classifiers were compared: {named}."
    else:
        classifier = run.classifier if isinstance(run, RunDescription) else None
        named = "" if classifier is None else f" ({classifier})"
        what = f"The {_named_metrics(rows)} of the classifier{named} was estimated from its training data."
    source = "" if run.source is None else f" in {run.source}"
    plural = "" if len(run.features) == 1 else "s"
    return [
        what,
        f"There were n = {run.n_samples} cases{source}, {run.n_events} events ({run.event}) and {run.n_non_events} "
        f"non-events, with {len(run.features)} feature{plural}.",
    ]


def _named_metrics(rows: Sequence[Row]) -> str:
    return metric_words([getattr(row, "metric", "error") for row in rows] or ["error"])


def _methods(rows: Sequence[Row], run: Run | None, titles: Mapping[str, str]) -> list[str]:
    """Return by which methods, and how many resamples."""
    names = dict.fromkeys(row.method for row in rows)
    named = "; ".join(f"{titles[name]} ({name})" if name in titles else name for name in names)
    levels = {row.interval_level for row in rows if not isinstance(row, PointEstimate)}
    limits = (
        f"{' and '.join(map(format_level, sorted(levels)))} confidence intervals" if levels else "Estimates"
    )
    said = [f"{limits[0].upper()}{limits[1:]} by: {named}."]
    said += _of_adjustments(rows)
    if isinstance(run, RunDescription):
        said.append(f"Bootstrap methods used {run.n_resamples} resamples.")
        if run.localization is not None and "cud" in names:
            said.append(f"The localization rate of the CUD bound was {run.localization}.")
    if isinstance(run, RunDescription | ComparisonRun) and run.choices is not None:
        said.append(f"Settings that differ from the defaults: {run.choices}.")
    return said


def _of_adjustments(rows: Sequence[Row]) -> list[str]:
    """Return what was done about several pairs, if there are several."""
    pairs = {(row.a, row.b) for row in rows if isinstance(row, ComparisonResult)}
    if len(pairs) < 2:
        return []
    return [
        f"The intervals of one method for all {len(pairs)} pairs hold at once at the nominal level (Bonferroni); "
        "p-values were adjusted for the number of pairs by the procedure of Holm (1979)."
    ]


def _result(row: Row) -> str:
    """Return what one method found, with the remarks that a reader must know."""
    remarks = f" ({row.all_remarks})" if row.all_remarks else ""
    if row.estimate != row.estimate:
        pair = f" for {row.difference}" if isinstance(row, ComparisonResult) else ""
        return f"{row.method} gave no result{pair}{remarks}."
    return f"{row.found}{remarks}."
