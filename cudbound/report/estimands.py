"""The estimands in words, for the notes under a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cudbound.basis.metric_words import ESTIMAND_WORDS
from cudbound.basis.outcomes import Estimand

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
    names_of: dict[Estimand, dict[str, None]] = {}
    for estimand in estimands:
        names_of.setdefault(replace(estimand, n_train=None), {})[f'"{estimand}"'] = None
    return [
        f"Estimand{'s' if len(names) > 1 else ''} {', '.join(names)}: {aim_of(estimand, what, words)}."
        for estimand, names in names_of.items()
        if estimand.kind in words
    ]
