"""Sentences about a table: what is estimated, what to quote, reasons for caution, and text for a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources

from cudbound.basis.calls import versions
from cudbound.basis.exceptions import CudboundWarning, ManyFeaturesWarning, SmallSampleWarning
from cudbound.basis.proportions import limit_without_error
from cudbound.basis.results import ComparisonResult, Estimand, IntervalEstimate, PointEstimate
from cudbound.basis.words import (
    COMPLEMENTS,
    ESTIMAND_WORDS,
    counted,
    enumerated,
    format_difference,
    format_level,
    format_proportion,
    format_pvalue,
    grouped,
    in_formula,
    metric_words,
    printable,
    sentences_html,
)
from cudbound.report.tables import SINGLE, Row, Run, Style, in_words, methods_in_words

#: What an interval for one metric should cover, by the kind of its estimand.
ERRORS: Mapping[str, str] = {kind: f"the {{what}} {words}" for kind, words in ESTIMAND_WORDS.items()}

#: The same for the difference of two errors.
DIFFERENCES: Mapping[str, str] = {
    "conditional": "the {what}s of the two fitted classifiers, on new cases from the same population",
    "expected": "the {what}s on new cases of classifiers fitted by either learning algorithm, averaged over training "
    "sets of n1 cases",
    "cv-average": "the {what}s on new cases of the classifiers fitted without one fold, averaged over the folds",
    "holdout-model": "the {what}s on new cases of the two classifiers fitted only to the training part of the split",
}
#: The interval to report for a classifier, and for one tuned by a search (docs/how_to/index.md).
RECOMMENDED = ("two-center", "bbc-cv")
#: The interval to report if there are new cases in addition to the training rows.
POOLED = "pooled"
#: New cases whose p-value, for being worse than the training data promised, is below this should not be added to them.
CONTRADICTION = 0.01
#: What an interval from training rows and new cases assumes.
SAME_POPULATION = "which are assumed to be of the same population"
#: The interval to report for the error on new cases, if there are any.
ON_NEW_CASES = ("test-set-wilson", "test-set-clopper-pearson")
#: What an interval below the error of the majority class means for a classifier of many features.
NO_EVIDENCE = (
    "; with so many features for so few rows, an interval below that is no evidence of a better classifier"
)
#: Least and most training rows of a cell of a study.
STUDIED = (20, 500)
#: Test cases below which one of them is more than a twentieth.
FEW_TESTED = 20
#: A limit that is lower by at most this share differs only by rounding.
ROUNDING = 1e-9


def aim_of(estimand: Estimand, what: str = "error", words: Mapping[str, str] = ERRORS) -> str | None:
    """Return what an interval for this metric covers, if this kind of estimand is described.

    Examples
    --------
    >>> print(aim_of(Estimand("expected", n_train=45))[-44:])
    averaged over training sets of n1 = 45 cases
    """
    if estimand.kind not in words:
        return None
    size = "n1" if estimand.n_train is None else f"n1 = {estimand.n_train:.6g}"
    aim = words[estimand.kind].format(what=what).replace("n1", size)
    if estimand.prevalence is None:
        return aim
    return aim.replace("the same population", f"a population with the prevalence {estimand.prevalence:g}")


def explain_estimands(
    estimands: Iterable[Estimand], words: Mapping[str, str] = ERRORS, what: str = "error"
) -> list[str]:
    """Return one note per described kind of estimand, in the order of first occurrence.

    Examples
    --------
    >>> print(*explain_estimands([Estimand("holdout-model")]))
    Estimand "holdout-model": the error on new cases of the classifier fitted to the training part of the split alone.
    """
    named = dict.fromkeys((replace(estimand, n_train=None), f'"{estimand}"') for estimand in estimands)
    return [
        f"Estimand{'s' if len(names) > 1 else ''} {', '.join(names)}: {aim_of(estimand, what, words)}."
        for estimand, names in grouped(named).items()
        if estimand.kind in words
    ]


def recommended_row(rows: Sequence[IntervalEstimate]) -> IntervalEstimate | None:
    """Return the row to quote, or None if there is none."""
    of_method = {row.method: row for row in reversed(rows)}
    new = {row.method: row for row in rows if row.center == "error on new cases"}
    pooled = of_method.get(POOLED)
    if pooled is not None and not math.isnan(pooled.estimate):
        return pooled
    chosen = [*(of_method.get(name) for name in RECOMMENDED), *(new.get(name) for name in ON_NEW_CASES)]
    return next((row for row in (*chosen, *new.values()) if row is not None), None)


def headline(
    rows: Sequence[IntervalEstimate], run: Run | None = None, percent: bool = False
) -> tuple[str, ...]:
    """Return the headline of a table of intervals: sentences to quote, for each metric.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
    run : Run or None, default=None
        The training rows; without them, the majority class is not mentioned.
    percent : bool, default=False
        Whether proportions are written in percent.
    """
    sentences: list[str] = []
    for metric in dict.fromkeys(row.metric for row in rows):
        row = recommended_row([row for row in rows if row.metric == metric])
        if row is not None:
            sentences.append(interval_sentence(row, None if run is None else run.n_samples, percent))
            sentences += majority_sentence(row, run)
    if rows and not sentences:
        facts = dict.fromkeys(fact for row in rows for fact in majority_sentence(row, run, compared=False))
        return (
            f"The interval to quote for the error of this classifier, {RECOMMENDED[0]}, is not in this table.",
            *facts,
        )
    return tuple(sentences)


def interval_sentence(row: IntervalEstimate, n_samples: int | None = None, percent: bool = False) -> str:
    """Return a sentence about an interval, for a paper."""
    level = format_level(row.confidence_level)
    in_percent = percent and row.is_proportion
    numbers = (row.estimate, row.low, row.high)
    estimate, low, high = (format_difference(value, percent=in_percent) for value in numbers)
    cases = "" if n_samples is None else f"{n_samples} training rows and "
    how, agreement = f"{row.method} interval from {cases}{row.n_fits:,} fits", tuple[str, ...]()
    if row.tested is not None:
        agreement = agreement_sentence(row)
        training = f"{cases or 'the training rows and '}" if row.tested.pooled else ""
        how = f"{row.method} interval from {training}{row.tested}"
    what = metric_words([row.metric])
    if row.estimand.kind == "conditional":
        stated = row.estimand.prevalence
        at = "" if stated is None else f" at the prevalence {stated:g}"
        subject = f"the {what} of this classifier on new cases{at}"
    else:
        subject = f"{aim_of(row.estimand, what) or f'the {what}'} (estimand {row.estimand})"
    if math.isnan(row.estimate + row.low + row.high):
        return f"No {row.method} interval for {subject} is available."
    beginning = subject[0].upper() + subject[1:]
    sentences = {
        "less": f"With {level} confidence, {subject} is at most {high} (estimate {estimate}; {how}).",
        "greater": f"With {level} confidence, {subject} is at least {low} (estimate {estimate}; {how}).",
    }
    interval = f"{beginning} is estimated at {estimate} ({level} confidence interval {low} to {high}; {how})."
    return " ".join((sentences.get(row.alternative, interval), *agreement))


def agreement_sentence(row: Row) -> tuple[str, ...]:
    """Return whether new cases are worse than the training data promised, if both are in one interval."""
    pvalue = row.details.get("new_worse_pvalue", math.nan)
    if math.isnan(pvalue):
        return ()
    metric = getattr(row, "metric", "error")
    subject = (
        "The new cases are" if metric == "error" else f"By the {metric_words([metric])}, the new cases are"
    )
    words = f"worse than the training data promised (p-value {format_pvalue(pvalue)})"
    if pvalue >= CONTRADICTION:
        return (f"{subject} not clearly {words}.",)
    return (
        f"{subject} clearly {words}: they should not be pooled. Report the interval from the new cases alone.",
    )


def majority_sentence(row: IntervalEstimate, run: Run | None, compared: bool = True) -> tuple[str, ...]:
    """Return the error of always predicting the majority class and, if `compared`, whether an interval includes it.

    It is that on the test cases for a row from these. There is no sentence for other metrics, or if it is unknown.
    """
    if row.metric != "error" or run is None:
        return ()
    if row.new_cases is None:
        by_weight = "" if run.weighted_share is None else ", by their weights"
        error, of_rows = run.base_rate, f"of the training rows{by_weight}"
    elif row.new_cases.majority_error is None:
        return ()
    else:
        error, of_rows = row.new_cases.majority_error, row.new_cases.of_rows
    share = format_proportion(error, percent=True)
    fact = f"Always predicting the majority class would be wrong for {share} {of_rows}"
    if not compared:
        return (f"{fact}.",)
    if row.low > error:
        return (f"{fact}; that is below the interval: it is better than this classifier.",)
    if row.high < error:
        many = any(isinstance(caution, ManyFeaturesWarning) for caution in run.cautions)
        in_doubt = many and row.method not in (RECOMMENDED[0], POOLED) and not row.new_cases
        return (f"{fact}{NO_EVIDENCE if in_doubt else '; that is above the interval'}.",)
    if row.alternative == "greater" or math.isnan(row.low + row.high):  # it does not tell
        return (f"{fact}.",)
    return (
        f"{fact}; the interval includes that value: no evidence that this classifier beats the majority class.",
    )


def cautions(
    rows: Sequence[IntervalEstimate],
    n_samples: int,
    of_data: Sequence[CudboundWarning] = (),
    percent: bool = False,
) -> tuple[CudboundWarning, ...]:
    """Return reasons for caution about intervals computed from training rows.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
    n_samples : int
        Training rows.
    of_data : sequence of CudboundWarning, default=()
        Cautions from the training rows themselves, which do not concern rows from test cases.
    percent : bool, default=False
        Whether proportions are written in percent.
    """
    internal = [row for row in rows if not row.new_cases]
    if not internal:
        return few_test_cases(rows)
    # upper limits lower than as many new cases without an error could support, once per level
    low = grouped(
        ((row.confidence_level, limit), row)
        for row in internal
        if row.metric == "error" and row.alternative != "greater"
        for limit in [limit_without_error(n_samples, row.confidence_level, row.alternative)]
        if row.high < limit * (1.0 - ROUNDING)
    )
    of_training: list[CudboundWarning] = []
    write = partial(format_proportion, percent=percent)
    for (level, limit), too_low in low.items():
        limits = ", ".join(f"{row.method} (upper limit {write(row.high)})" for row in too_low)
        message = (
            f"Too good to be true: {limits}. Even {n_samples} new cases without a single error would show, at "
            f"{format_level(level)}, no more than that the error is at most {write(limit)}."
        )
        methods = tuple(row.method for row in too_low)
        of_training.append(SmallSampleWarning(message, methods=methods, limit=limit))
    least, most = STUDIED
    if not least <= n_samples <= most:
        few, many = (
            "with so few, no interval is informative",
            "with so many, some can be set aside for testing",
        )
        message = (
            f"These intervals were studied with {least} to {most} training rows, but there are {n_samples}: "
            f"{few if n_samples < least else many}."
        )
        of_training.append(SmallSampleWarning(message, n_samples=n_samples))
    return (*of_training, *of_data, *few_test_cases(rows))


def few_test_cases(rows: Iterable[Row]) -> tuple[CudboundWarning, ...]:
    """Return a caution if there are few test cases."""
    sizes = {row.new_cases for row in rows if row.new_cases}
    return tuple(
        SmallSampleWarning(
            f"The results on test cases are based on {cases}. With fewer than {FEW_TESTED}, one case changes an "
            "estimate by more than 5 points. Report their number with the interval.",
            n_samples=cases.n,
        )
        for cases in sizes
        if cases.n < FEW_TESTED
    )


# --- text for a paper


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
    compares = any(isinstance(row, ComparisonResult) for row in rows)
    words, of = (DIFFERENCES, "the difference between ") if compares else (ERRORS, "")
    aims: dict[str, dict[str, None]] = {}
    for row in rows:
        alike = [other for other in rows if other.estimand.prevalence == row.estimand.prevalence]
        what = in_formula(row.metric) if isinstance(row, ComparisonResult) else _named_metrics(alike)
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
    """Return what was estimated, from which data, and which methods read test cases unless all do."""
    if run is None:
        return []
    tested = {row.method: row.tested for row in rows if row.tested is not None and row.tested.new}
    readers = "" if len(tested) == len({row.method for row in rows}) else f" ({', '.join(tested)})"
    were_tested = "The classifier was tested on"
    if rows and isinstance(rows[0], ComparisonResult):
        words = {name: ", ".join(steps) for name, steps in run.procedures.items()} or run.classifiers
        learners = "; ".join(f"{name} ({learner})" for name, learner in words.items())
        what = f"The {in_formula(rows[0].metric)}s of these classifiers were compared: {learners}."
        were_tested = "The classifiers were tested on"
    else:
        were = "were" if len({getattr(row, "metric", "error") for row in rows}) > 1 else "was"
        internal = any(row.new_cases is None for row in rows)
        sources = ["from its training data"] * internal + ["on test cases"] * bool(tested)
        what = f"The {_named_metrics(rows)} of the classifier {were} estimated {' and '.join(sources)}."
    source = "" if run.source is None else f" in {run.source}"
    features = counted(len(run.features), "feature")
    return [
        what,
        f"There were n = {run.n_samples} cases{source}, {run.classes_in_words}, with {features}.",
        *dict.fromkeys(
            f"{were_tested} {replace(cases, pooled=False)}{readers}." for cases in tested.values()
        ),
        *run.of_rows_and_columns,
        *_procedure(rows, run),
    ]


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
        # each remark once, after the measures that it is about
        metrics_of = grouped((remark, row.metric) for row in by_metric for remark in _remarks(row))
        sentences.append(f"{method}: {limits}.")
        sentences += [
            f"Remark on {metric_words(metrics)}: {remark}." for remark, metrics in metrics_of.items()
        ]
        sentences += [sentence for row in by_metric for sentence in agreement_sentence(row)]
    return sentences


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
    bibliography = resources.files("cudbound.report").joinpath("references.bib").read_text("utf-8")
    entries = [entry for entry in _ENTRY.findall(bibliography) if re.search(_cited_as(entry), text)]
    return (*entries, _SOFTWARE.format(version=versions()["cudbound"]))


def _cited_as(entry: str) -> str:
    """Return the pattern of names and year: not the end of a longer list of names.

    Two works of one year have a letter at the end of their keys, as in Newcombe (1998a).
    """
    fields = dict(re.findall(r"^  (\w+) *= \{(.*)\},$", entry, re.MULTILINE))
    letter = re.match(r"@\w+\{\D+\d{4}([a-z]),", entry)
    year = fields["year"] + (letter[1] if letter else "")
    plain = re.sub(r"\\\w(?=\{)|[{}]|\\\W", "", fields["author"])  # letters without their accents
    names = [re.escape(name.partition(",")[0].strip()) for name in plain.split(" and ")]
    listed = enumerated(names)
    short = rf"|{names[0]} et al\." if len(names) > 2 else ""
    return rf"(?<!\w)(?<!and )(?<!, )(?:{listed}{short}) \({year}\)|(?<=\d\), )(?:{listed}{short}) \({year}\)"
