"""A saved result checked on the data again: the fingerprint first, then witnesses, draws, limits and rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.audit.saved_result import SavedResult
from cudbound.exceptions import CudboundWarning, NotMinimizerError, SavedResultError, StatedError
from cudbound.protocols import Features, FittedClassifier, Splits
from cudbound.solve.minimum import check_minimizer
from cudbound.tables.check_bounds import (
    BoundOnData,
    Choice,
    check_again,
    check_estimate,
    check_limits,
    check_quantile,
    check_quantile_again,
    check_witnesses,
)
from cudbound.tables.check_rows import check_rows
from cudbound.tables.data_again import DataAgain, check_data, check_draws, model_again, take_data
from cudbound.tables.verification import Check, ResultVerification
from cudbound.validation import (
    check_integer,
    check_n_jobs,
    check_rng,
)


def verify_result(
    path: str | Path,
    estimator: FittedClassifier | None,
    X: Features,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    cv: Splits | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    sample: int | None = None,
    rng: int | np.random.Generator | None = 0,
    n_jobs: int | None = 1,
) -> ResultVerification:
    """Check a file that ``save`` of a result wrote, on the data that the result is of.

    The procedure:

    1. compare the checksum of the file with its contents, and the fingerprint of the data with that in the file;
    2. draw the bootstrap samples from the seed again, and compare them with those in the file;
    3. check that the coefficients in the file minimize the loss on these data, and what they have for a training error;
    4. compute what the witness of every draw is worth, which proves its lower bound, without the solver;
    5. solve the draws, or a sample of them, and compare the bounds;
    6. take the quantile of the draws in the file, and compute the limits from it;
    7. compute the rows of a table from the seed, and compare them.

    Where the data are others, all that needs them is left out. Nothing in the file is run, and nothing of it is used
    before its kind, range and size are checked.

    Parameters
    ----------
    path : str or Path
        Of the file.
    estimator : object or None
        The fitted classifier. None takes the one in the file, which suffices for a result of `cudbound.cud_interval`
        whose classifier has the features themselves for its rows, with or without an intercept.
    X : array-like, shape (n_samples, n_features)
        The rows that the classifier was fitted to, in the same order.
    y : array-like, shape (n_samples,)
        Their labels.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, as they were passed.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows, as they were passed.
    cv, test_set : default=None
        What was passed to `cudbound.compare_intervals` by these names, where a number does not say it: the file
        cannot hold it.
    sample : int, default=None
        Number of draws to solve again, chosen at random, each completely; None solves all of them, first as far as the
        quantile requires.
    rng : int, numpy.random.Generator or None, default=0
        Chooses the sample.
    n_jobs : int or None, default=1
        Workers; -1 for all cores.

    Returns
    -------
    ResultVerification
        ``passed``, ``complete``, ``checks``; prints as a table.

    Raises
    ------
    SavedResultError
        If the file is no saved result, or names what cannot be; the message names the field.
    OSError
        If it cannot be read.
    ValueError
        If an argument is out of range, the labels are others than those in the file, or `estimator` is None where it is
        needed.

    Notes
    -----
    To the bit: the fingerprint, the draws in the file, the half-width as their quantile, and the limits, which are one
    sum and one difference. To 1e-9 (with losses other than squared loss 1e-7 times the localization rate in addition),
    times the largest weighted deviation if that is above 1: bounds, since another machine may add in another order. To
    5e-4: rows that rest on refits.

    The checksum finds slips and damage. Whoever changes a number on purpose can renew it; what is then found is what
    contradicts the data. A bound that was made weaker contradicts nothing.

    References
    ----------
    Laber and Murphy (2008), sections 3.1 and 4.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, cud_interval, verify_result
    >>> X = np.random.default_rng(0).normal(size=(30, 1))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=30) > 0
    >>> result = cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=50, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/result.json")
    ...     verify_result(f"{folder}/result.json", None, X, y).passed
    True
    """
    given = {"cv": cv, "test_set": test_set}
    return verify_saved(
        *read_saved(path),
        estimator,
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        given=given,
        sample=sample,
        rng=rng,
        n_jobs=n_jobs,
    )


def verify_saved(
    saved: SavedResult,
    intact: bool,
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    given: Mapping[str, Any],
    sample: int | None = None,
    rng: int | np.random.Generator | None = 0,
    n_jobs: int | None = 1,
) -> ResultVerification:
    """Check what `read_saved` returned; see `verify_result`, whose `cv` and `test_set` are those of `given`."""
    choice = Choice(None if sample is None else check_integer("sample", sample, 1), check_rng(rng))
    check_n_jobs(n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CudboundWarning)  # what the result says was said when it was computed
        data = take_data(saved, estimator, X, y, groups, sample_weight)
        checks = _checks(saved, intact, data, choice, n_jobs, given)
        return ResultVerification(tuple(checks))


def read_saved(path: str | Path) -> tuple[SavedResult, bool]:
    """Return what a file holds, and whether it is as it was written.

    Raises
    ------
    SavedResultError
        If it is no saved result; the message names the file and the first field that is wrong.
    OSError
        If it cannot be read.
    """
    place = Path(path)
    try:
        return SavedResult.from_bytes(place.read_bytes())
    except SavedResultError as error:
        raise SavedResultError(f"saved result {str(place)!r}: {error}") from error


def _checks(
    saved: SavedResult,
    intact: bool,
    data: DataAgain,
    choice: Choice,
    n_jobs: int | None,
    given: Mapping[str, Any],
) -> Iterator[Check]:
    yield Check("file", intact, "as it was written" if intact else "changed after it was written, or damaged")
    of_data = check_data(saved, data)
    yield of_data
    same = of_data.passed
    if same:
        yield check_draws(saved, data)
        if saved.bounds:
            yield from _check_classifier(saved, data, choice, n_jobs)
    for bound in saved.bounds:
        yield check_quantile(bound, saved)
        yield check_limits(bound)
    if same and saved.table is not None:
        yield check_rows(saved, data, n_jobs, given)
    if not same:
        yield Check("all else", None, "left out, since the data are others")


def _check_classifier(
    saved: SavedResult, data: DataAgain, choice: Choice, n_jobs: int | None
) -> Iterator[Check]:
    """Check the classifier, and with it the bounds."""
    known = saved.classifier
    assert known is not None, "a file with bounds without a classifier is refused"
    model, wrong = model_again(saved, known, data)
    if model is None:
        yield Check("classifier", False, wrong)
        return
    try:
        model = replace(model, coef=known.coefficients)
        check_minimizer(model)
    except (NotMinimizerError, ValueError) as error:
        fact = error.fact if isinstance(error, StatedError) else str(error)
        yield Check("classifier", False, fact)
        return
    yield Check(
        "classifier", not wrong, wrong or f"its coefficients minimize the {known.loss} loss on these data"
    )
    for number, bound in enumerate(saved.bounds):
        try:
            one = BoundOnData.of(bound, saved, model, data.event, data.sample_weight)
        except ValueError as error:
            raise SavedResultError(f"its 'bounds[{number}]' cannot be: {error}") from error
        yield check_estimate(one, model.training_errors)
        yield check_witnesses(one)
        check, draws = check_again(one, saved, choice, n_jobs)
        yield check
        if draws is not None:
            yield check_quantile_again(one, saved, draws)
