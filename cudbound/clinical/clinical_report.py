"""The clinical report: one call gives an HTML page for the supplement of a paper, and its numbers as a file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.analysis.analyze import fitted_sample
from cudbound.analysis.table import IntervalTable
from cudbound.basis.calls import public_call, versions, warn
from cudbound.basis.exceptions import CudboundWarning, ParameterError
from cudbound.basis.validation import Features, Learner, check_seed
from cudbound.basis.words import escape_html, format_proportion, printable
from cudbound.clinical import sections
from cudbound.clinical.report_results import RECOMMENDED, ReportResults, report_results
from cudbound.clinical.sections import model, participants
from cudbound.metrics.metrics import RATIOS
from cudbound.plotting.display import Display
from cudbound.plotting.forest import ForestDisplay
from cudbound.plotting.risks import CountsDisplay, InstabilityDisplay, RiskRangesDisplay
from cudbound.report.files import page, write_texts
from cudbound.report.render import strict
from cudbound.resampling.settings import Streams

#: Value of "format" in a file; raised when a field changes its meaning or goes.
REPORT_FORMAT = 5


@dataclass(frozen=True, eq=False, repr=False)
class ClinicalReport:
    """A report on a classifier for the supplement of a paper; `to_dict` has everything that is shown.

    It prints, and displays in a notebook, as its main sentence.

    Attributes
    ----------
    table : IntervalTable
        The recommended interval for each metric, and with new cases the pooled one. ``table.save(path)`` writes a file
        for `cudbound.verify_result`.
    """

    _numbers: Mapping[str, Any]
    table: IntervalTable

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and sentences as JSON values; None means that a number is not defined.

        docs/how_to/clinical_report.md describes the parts, ``cudbound/clinical/report.schema.json`` each field. It
        contains no row of the data.
        """
        return copy.deepcopy(dict(self._numbers))

    def to_json(self) -> str:
        """Return `to_dict` as strict JSON; equal reports give equal text."""
        return json.dumps(self._numbers, indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    def to_html(self) -> str:
        """Return a page that needs no other file and no network; equal reports give equal text.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is not installed; the message has the command to install it.
        """
        optimistic = is_optimistic(self._numbers["performance"]["measures"])
        pictures = pictures_of(self._numbers)
        return page("clinical.html.j2", report=self._numbers, pictures=pictures, optimistic=optimistic)

    def save(self, path: str | Path) -> tuple[Path, ...]:
        """Write the page and a file with its numbers: both files, or none.

        Parameters
        ----------
        path : path
            The page, which ends in ``.html``; the numbers are written to the same name with ``.json``.

        Raises
        ------
        ParameterError
            If the name ends in something else.
        OSError
            If a file cannot be written; both files are then unchanged.
        """
        place = Path(path)
        if place.suffix.lower() not in (".html", ".htm"):
            raise ParameterError("path", "a name that ends in .html", str(path))
        texts = {place: self.to_html(), place.with_suffix(".json"): self.to_json()}
        write_texts(texts)
        return tuple(texts)

    def __str__(self) -> str:
        summary_box = self._numbers["box"]
        return printable(f"{summary_box['sentence']} {summary_box['majority']}")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p><b>{escape_html(str(self))}</b></p>"


@public_call
def clinical_report(
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    event: object = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    new_cases: tuple[Features, ArrayLike] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> ClinicalReport:
    """Report the performance of a fitted classifier of two classes, on one page for the supplement of a paper.

    Parameters
    ----------
    estimator : object
        A scikit-learn classifier of two classes, fitted or not, see `cudbound.performance_interval`.
    X : array-like, shape (n_samples, n_features)
        The training rows, which a fitted estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    event : object, default=None
        Label of the event. None means the second class if the labels are 0 and 1, -1 and 1, or False and True.
    groups : array-like, shape (n_samples,), default=None
        Groups of rows, such as those of one patient.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows in the fit of the classifier; the AUC and the Brier score are then omitted.
    new_cases : (array-like, array-like), default=None
        New cases (X_new, y_new), as in `cudbound.performance_interval`. The report then has a sentence per metric on
        the interval from both, which the table and the paragraphs to paste have, too; the other tables and the
        pictures are about the training rows.
    confidence_level : float, default=0.95
        Nominal level of all intervals, in (0, 1).
    n_resamples : int, default=1000
        Number of bootstrap draws; each needs one refit.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; the seed is in the report. None uses a fresh one.
    n_jobs : int or None, default=1
        Workers; -1 for all cores. The report does not depend on it.

    Returns
    -------
    ClinicalReport
        With ``to_dict()``, ``to_json()``, ``to_html()`` and ``save(path)``.

    Raises
    ------
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Warns
    -----
    CudboundWarning
        For each reason for caution; the report has the same sentences.

    Notes
    -----
    The sections follow TRIPOD+AI (2024), Van Calster et al. (2025) and Riley and Collins (2023);
    docs/how_to/clinical_report.md describes them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cudbound import clinical_report
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=40) > 0, "ill", "well")
    >>> report = clinical_report(LogisticRegression().fit(X, y), X, y, event="ill", n_resamples=200, rng=0)
    >>> [measure["metric"] for measure in report.to_dict()["performance"]["measures"]]
    ['error', 'sensitivity', 'specificity', 'ppv', 'npv', 'lr+', 'lr-']
    """
    return make_report(
        estimator,
        X,
        y,
        event=event,
        groups=groups,
        sample_weight=sample_weight,
        new_cases=new_cases,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        n_jobs=n_jobs,
    )


def make_report(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int,
    rng: Any,
    in_words: Callable[[IntervalTable], IntervalTable] = lambda table: table,
    worded: Callable[[CudboundWarning], str] = str,
    checks: tuple[str, ...] = (),
    command: str = "",
    n_left_out: int = 0,
    **shared: Any,
) -> ClinicalReport:
    """Make a clinical report, for callers with more information on the data.

    Parameters
    ----------
    estimator, X, y, n_resamples, rng, **shared
        See `clinical_report`.
    in_words : callable
        Returns the table with the file and its columns in its notes.
    worded : callable
        Returns a warning in words, such as with options of the command; no words leave it out.
    checks : tuple of str
        Warnings from reading the file.
    command : str, default=""
        The command to repeat the report; by default the call in Python.
    n_left_out : int, default=0
        Rows of the file that were left out because a value was missing.
    """
    seed = check_seed(rng)
    streams = Streams(np.random.default_rng(seed))
    sample = fitted_sample(estimator, X, y, streams, shared["groups"], shared["sample_weight"])
    results = report_results(sample, n_resamples=n_resamples, seed=seed, **shared)
    for reason in results.warnings:
        warn(reason)
    results = replace(results, table=in_words(results.table))
    messages = map(worded, [*results.table.cautions, *results.warnings])
    report = {
        "format": REPORT_FORMAT,
        **_parts(results, n_left_out),
        "checks": list(filter(None, dict.fromkeys([*checks, *messages]))),
        "reproduction": {
            "command": command or _call(shared, n_resamples=n_resamples, rng=seed),
            "method": RECOMMENDED,
            "seed": seed,
            "versions": versions(),
            "fingerprint": results.analysis.saved.fingerprint,
        },
    }
    return ClinicalReport(strict(report), results.table)


def _call(shared: Mapping[str, Any], **values: Any) -> str:
    """Return the call in Python; arrays by their names."""
    arrays = [
        f"{name}={name}" for name in ("groups", "sample_weight", "new_cases") if shared.get(name) is not None
    ]
    chosen = {name: shared[name] for name in ("event", "confidence_level")} | values
    named = [f"{name}={value!r}" for name, value in chosen.items() if value is not None]
    return f"clinical_report(estimator, X, y, {', '.join([*arrays, *named])})"


def _parts(results: ReportResults, n_left_out: int) -> dict[str, Any]:
    """Return the parts of the report that follow from its results."""
    summary_box, terms = sections.summary_box(results), model(results)
    bootstrap, description = results.analysis.records.bootstrap, results.table.describe()
    return {
        "box": summary_box,
        "participants": participants(results.columns, results.event, n_left_out),
        "model": terms,
        "performance": sections.performance(results),
        "new_cases": sections.new_cases(results),
        "probabilities": sections.probabilities(results),
        "intervals": sections.intervals(results),
        "instability": None
        if bootstrap is None
        else sections.instability(results.table.instability, np.asarray(bootstrap.out_of_bag)),
        "bound": {"cud": sections.bound(results.cud), "why_none": results.why_no_cud},
        "crosswalk": sections.crosswalk(bool(summary_box["n_missing"] or n_left_out), bool(terms["terms"])),
        "paper": {name: getattr(description, name) for name in ("methods", "results", "software", "bibtex")},
    }


#: Measures of which less is better; of the others more is.
LOSSES = ("error", "brier", "lr-")


def is_optimistic(measures: Iterable[Mapping[str, Any]]) -> bool:
    """Whether no apparent value is worse than the corrected one, and some are better; undefined ones do not count."""
    gains = [
        (row["estimate"] - row["apparent"]) * (1.0 if row["metric"] in LOSSES else -1.0)
        for row in measures
        if None not in (row["estimate"], row["apparent"])
    ]
    return bool(gains) and min(gains) >= 0.0 < max(gains)


def pictures_of(report: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return each plot as an SVG element with its numbers as text, by name; captions stand in the page."""
    return {
        name: {"svg": display.svg(f"report-{name}"), "text": text}
        for name, display, text in _displays(report)
    }


def _displays(report: Mapping[str, Any]) -> Iterator[tuple[str, Display, str]]:
    level = report["box"]["confidence_level"]
    measures = [*report["performance"]["measures"], *report["probabilities"]["measures"]]
    measures = [row for row in measures if row["metric"] not in RATIOS]  # on another scale
    measures.sort(key=lambda row: row["metric"] not in LOSSES)
    yield "measures", ForestDisplay(_frame(measures, level)), _spoken(measures)
    rows, base = report["intervals"]["rows"], report["intervals"]["majority_error"]
    line = f"always the majority\nclass: {format_proportion(base)}"
    yield "intervals", ForestDisplay(_frame(rows, level), base, line), _spoken(rows)
    if (risks := report["probabilities"]["risks_by_outcome"]) is not None:
        counts = {"events": risks["events"], "non-events": risks["non_events"]}
        tenths = [
            f"{name} in tenths of the risk: {', '.join(map(str, bars))}" for name, bars in counts.items()
        ]
        what = "predicted risk of the event, out of bag"
        yield "risks", CountsDisplay(risks["edges"], counts, what, "cases"), "; ".join(tenths)
    if (refits := report["instability"]) is None:
        return
    if refits["groups"]:
        at, mean_share, largest = (
            [group[name] for group in refits["groups"]]
            for name in ("distance", "mean_share", "largest_share")
        )
        groups = InstabilityDisplay(mean_share, at, refits["distances_of"], largest)
        yield "instability", groups, " ".join(refits["sentences"])
    if refits["risk_groups"]:
        columns = ([group[name] for group in refits["risk_groups"]] for name in ("risk", "low", "high"))
        ranges = [
            f"{group['n']} cases with mean risk {group['risk']:.2f}: {group['low']:.2f} to {group['high']:.2f}"
            for group in refits["risk_groups"]
        ]
        yield "risk_instability", RiskRangesDisplay(*columns), "; ".join(ranges)
    errors = refits["refit_errors"]
    mean, low, high = map(
        format_proportion, (errors["mean"], *(errors["quantiles"][q] for q in ("5%", "95%")))
    )
    yield (
        "refits",
        CountsDisplay(
            errors["edges"],
            {"refits": errors["counts"]},
            "error of a refit on the cases not in its draw",
            "refits",
            (errors["mean"], f"mean {mean}"),
        ),
        f"Mean {mean}; 5% below {low}, 5% above {high}.",
    )


def _frame(rows: list[dict[str, Any]], level: float) -> Any:
    """Return intervals as a `ForestDisplay` takes them; measures have panels, and what they are based on."""
    import pandas as pd

    frame = pd.DataFrame(rows).assign(confidence_level=level)
    frame = frame.astype(dict.fromkeys(("estimate", "low", "high"), float))
    if "metric" not in frame:
        return frame
    better = ["lower is better" if metric in LOSSES else "higher is better" for metric in frame["metric"]]
    titles = frame["title"] + ": " + frame["based_on"]
    return frame.assign(method=frame["metric"], metric=better, title=titles)


def _spoken(rows: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{row['title']} not available"
        if None in (row["estimate"], row["low"], row["high"])
        else f"{row['title']} {format_proportion(row['estimate'])} "
        f"({format_proportion(row['low'])} to {format_proportion(row['high'])})"
        for row in rows
    )
