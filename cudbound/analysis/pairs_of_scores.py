"""Scores of two or more classifiers from the same bootstrap draws, for differences of their AUCs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cudbound.adapters.parts import splits_rows
from cudbound.analysis.analyze import analyze
from cudbound.analysis.question import Question
from cudbound.basis.exceptions import FailedRefitsError, ParameterError
from cudbound.intervals import find_methods
from cudbound.metrics.metric import AUC
from cudbound.metrics.views import recorded_scores
from cudbound.records import ScoreRecords


def score_pairs(
    question: Question[Any],
    fitted: Mapping[str, Any],
    pairs: Sequence[tuple[str, str]],
    X: Any,
    y: Any,
    groups: Any = None,
) -> list[ScoreRecords]:
    """Refit each classifier on the same draws, and return the scores of each pair.

    Parameters
    ----------
    question : Question
    fitted : mapping of str to object
        Classifiers, fitted to the rows, by their names.
    pairs : sequence of (str, str)
    X, y, groups : array-like
        The training rows.

    Raises
    ------
    ValueError
        If the caller gives splits, which nothing uses.
    """
    if question.resampling.cv is not None:
        raise ParameterError(
            "cv", "None for the AUC, which is computed from bootstrap draws", question.resampling.cv
        )
    resampling = question.resampling
    if resampling.copies is None:
        # both classifiers of a pair are refitted to the same rows
        resampling = replace(resampling, copies=not any(map(splits_rows, fitted.values())))
    seed = int(question.rng.integers(2**63))
    found = {}
    for name, classifier in fitted.items():
        # the center of one AUC reads the records that the difference reads
        asked = Question.of(
            find_methods("two-center"),
            metric=AUC.name,
            n_resamples=question.n_resamples,
            resampling=resampling,
            rng=np.random.default_rng(seed),
            n_jobs=question.n_jobs,
        )
        try:
            analysis = analyze(asked, classifier, X, y, groups)
            analysis.rows()  # raises the error of records that could not be made
        except FailedRefitsError as error:
            raise FailedRefitsError(f"Learner {name!r}: {error.fact}", error.remedy) from error
        found[name] = recorded_scores(analysis.records, AUC.reads, np.asarray(analysis.event))
    return [replace(found[a], second=found[b]) for a, b in pairs]
