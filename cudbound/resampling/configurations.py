"""Losses of every configuration of a search on the folds of the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, check_cv
from threadpoolctl import threadpool_limits

from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.records import TunedLosses
from cudbound.resampling.refits import prepare_refits
from cudbound.resampling.splitters import Splits, make_splits

#: Searches that evaluate every configuration on all rows with the same folds.
SEARCHES = (GridSearchCV, RandomizedSearchCV)


def check_search(estimator: Any) -> Any:
    """Return a fitted search.

    Raises
    ------
    UnsupportedEstimatorError
        If it is not a search, or has not been fitted.
    """
    if not isinstance(estimator, SEARCHES) or not hasattr(estimator, "cv_results_"):
        raise UnsupportedEstimatorError(
            f"'bbc-cv' needs a fitted GridSearchCV or RandomizedSearchCV. Got {type(estimator).__name__}.",
            "Record the losses of every configuration in cudbound.records.TunedLosses and call interval_of.",
        )
    return estimator


def search_splits(search: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator) -> Splits:
    """Return the folds of a search, redrawn if its splitter shuffles without a ``random_state``.

    `groups` are those with which the search was fitted, or None; its folds must keep them together.

    Raises
    ------
    ValueError
        If they do not test every row equally often.
    """
    try:
        splits = make_splits(check_cv(search.cv, y, classifier=True), X, y, groups, rng)
    except ValueError as error:
        raise ValueError(
            f"The folds of the search, cv={search.cv!r}, cannot be reproduced: {error} If its folds keep groups, pass "
            "the groups; if its splits come from a generator, pass its losses in cudbound.records.TunedLosses to "
            "interval_of."
        ) from error
    if not splits.partitions:
        raise ValueError(
            f"'bbc-cv' needs a search whose folds test each row equally often. Got cv={search.cv!r}; use KFold, "
            "StratifiedKFold or a repeated one."
        )
    return splits


def record_tuning(
    search: Any,
    X: Any,
    y: NDArray[Any],
    counts: NDArray[np.int32],
    splits: Splits,
    *,
    rng: np.random.Generator,
    n_jobs: int = 1,
    advance: Callable[[int], object] = lambda _: None,
) -> TunedLosses:
    """Refit every configuration of a search without each of its folds.

    Parameters
    ----------
    search : GridSearchCV or RandomizedSearchCV
        Fitted.
    X, y : array-like
        Its training rows and labels.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        Bootstrap draws, shared with other methods.
    splits : Splits
        From `search_splits`.
    rng, n_jobs, advance
        As in `cudbound.resampling.refits`.
    """
    training = splits.training.astype(np.int32)
    n_tested = splits.test.sum(axis=0)
    columns, remarks = [], list(_other_choice(search))
    failed = np.isnan(_scores(search))
    if failed.any():
        remarks.append(f"{int(failed.sum())} configurations that could not be fitted left out")
    for number, parameters in enumerate(search.cv_results_["params"]):
        if failed[number]:
            continue
        candidate = clone(search.estimator).set_params(**clone(parameters, safe=False))
        with threadpool_limits(n_jobs):
            candidate.fit(X, y)
        refits = prepare_refits(candidate, X, y, n_jobs=n_jobs)
        wrong = refits.recorded(rng.spawn(1)[0], advance)(training)
        columns.append((wrong * splits.test).sum(axis=0) / n_tested)
    uneven = bool((counts.sum(axis=1) != counts.shape[1]).any())  # draws of whole groups
    return TunedLosses(np.column_stack(columns), counts, len(training), tuple(remarks), uneven=uneven)


def _scores(search: Any) -> NDArray[np.float64]:
    """Return the mean score by which the search ranked each configuration; nan if a fit failed."""
    found = search.cv_results_
    name = "mean_test_score" if "mean_test_score" in found else f"mean_test_{search.refit}"
    return np.asarray(found.get(name, np.zeros(len(found["params"]))), dtype=float)


def _other_choice(search: Any) -> Iterator[str]:
    """Yield a remark if the search did not rank its configurations by their error."""
    if search.scoring not in (None, "accuracy") or callable(search.refit):
        yield f"configurations were chosen by their error, not by scoring={search.scoring!r} of the search"
