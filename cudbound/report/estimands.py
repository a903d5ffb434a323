"""The estimands in words, for the notes under a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cudbound.basis.outcomes import Estimand

#: What an interval for one error is to cover, by the kind of its estimand.
ERRORS: Mapping[str, str] = {
    "conditional": "the error that the classifier fitted to these data makes on new cases from the same population",
    "expected": "the error on new cases that classifiers fitted by the same learning algorithm make on average over "
    "training sets of n1 cases",
    "cv-average": "the mean, over the folds, of the errors on new cases of the classifiers fitted without the fold",
    "holdout-model": "the error on new cases of the classifier fitted to the training part of the split alone",
    "rule": "the error on new cases that the learning algorithm makes on average over training sets of about this size",
}

#: The same for the difference of two errors.
DIFFERENCES: Mapping[str, str] = {
    "conditional": "the errors that the two fitted classifiers make on new cases from the same population",
    "expected": "the errors on new cases that classifiers fitted by either learning algorithm make on average over "
    "training sets of n1 cases",
    "cv-average": "the means, over the folds, of the errors on new cases of the classifiers fitted without the fold",
    "holdout-model": "the errors on new cases of the two classifiers fitted to the training part of the split alone",
}


def explain_estimands(estimands: Iterable[Estimand], words: Mapping[str, str]) -> list[str]:
    """Return one note for each kind of estimand that occurs and has words, in the order of their first occurrence.

    Examples
    --------
    >>> print(*explain_estimands([Estimand("holdout-model")], ERRORS))
    Estimand "holdout-model": the error on new cases of the classifier fitted to the training part of the split alone.
    """
    named: dict[str, dict[str, None]] = {}
    for estimand in estimands:
        named.setdefault(estimand.kind, {})[f'"{estimand}"'] = None
    return [
        f"Estimand{'s' if len(names) > 1 else ''} {', '.join(names)}: {words[kind]}."
        for kind, names in named.items()
        if kind in words
    ]
