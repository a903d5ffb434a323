"""An analysis as a file: the question, the draws, what was proved about them, and the rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cudbound.analysis.analyze import Analysis
from cudbound.basis.exceptions import SavedResultError
from cudbound.basis.results import IntervalEstimate
from cudbound.metrics.metrics import NET_BENEFIT, Metrics
from cudbound.saved.saved_file import SavedQuestion, SavedResult, SavedRow


def saved_analysis(analysis: Analysis | None, rows: Iterable[IntervalEstimate] = ()) -> SavedResult:
    """Return the content of a file for an analysis and its rows.

    Raises
    ------
    SavedResultError
        If the origin of a result is unknown.
    """
    if analysis is None:
        raise SavedResultError(
            "the origin of this result is unknown, since it is part of a table or was made by hand: save what "
            "cudbound.compare_intervals, cudbound.performance_interval or cudbound.cud_interval returned"
        )
    return SavedResult(
        _question(analysis),
        analysis.fingerprint,
        analysis.run.classifier or "",
        analysis.counts,
        analysis.coefficients,
        analysis.bounds,
        saved_rows(rows),
        row_checks=analysis.row_checks,
    )


def _question(analysis: Analysis) -> SavedQuestion:
    asked, question = analysis.metrics, analysis.question
    resampling = question.resampling
    linear = {one.name: one for one in asked.metrics if one.name != NET_BENEFIT}
    return SavedQuestion(
        metric=Metrics(
            tuple(linear.get(name, name) for name in asked.names),
            event=analysis.classes[asked.event_class],
            prevalence=asked.prevalence,
            joint=asked.joint,
            stratified=asked.stratified,
            threshold=asked.threshold,
        ),
        confidence_level=question.confidence_level,
        n_resamples=question.n_resamples,
        bound=question.bound,
        rng=question.seed,
        methods=tuple(method.name for method in question.methods),
        named=tuple(sorted(question.methods.named)),
        options=question.methods.options,
        alternative=question.alternative,
        inner=resampling.inner,
        on_single_class=resampling.on_single_class,
        copies=resampling.copies,
        sizes=resampling.sizes,
        cv=int(resampling.cv) if isinstance(resampling.cv, int | np.integer) else None,
        passed_again=analysis.passed_again,
    )


def saved_rows(rows: Iterable[IntervalEstimate]) -> tuple[SavedRow, ...]:
    """Return the numbers of the rows of a table."""
    return tuple(SavedRow(row.method, row.metric, row.estimate, row.low, row.high) for row in rows)
