"""Bootstrap bias-corrected cross-validation: the error of choosing a configuration and fitting it to all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.validation import Array
from cudbound.intervals.bootstrap_percentile import percentile_interval
from cudbound.intervals.method import Method, defined_values
from cudbound.records import Records
from cudbound.records.losses import ratio_or_nan
from cudbound.records.rules import Counts, DrawLosses, FitCount, Flag, Recorded, Remarks, check_draws
from cudbound.resampling.splits import Splits, make_splits

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


@dataclass(frozen=True, eq=False)
class TunedLosses(Recorded):
    """Cross-validated losses of all configurations on the same folds, and draws of the rows.

    Attributes
    ----------
    losses : ndarray, shape (n_samples, n_configurations)
        Loss of the configuration fitted without the fold of the row, on the row; a mean over partitions if there are
        several.
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each row occurs in each bootstrap draw.
    n_folds : int, default=0
        Number of folds of all partitions; 0 if unknown.
    remarks : tuple of str
    uneven : bool, default=False
        Whether draws may have more or fewer rows than the training set, such as draws of whole groups.

    Examples
    --------
    >>> drawn = np.array([[0, 0, 2], [1, 2, 2]])
    >>> TunedLosses(np.array([[0, 1], [1, 0], [0, 0]]), np.array([np.bincount(d, minlength=3) for d in drawn])).n_fits
    0
    """

    losses: DrawLosses
    counts: Counts
    n_folds: FitCount = 0
    remarks: Remarks = ()
    uneven: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.counts.shape[1] != len(self.losses):
            raise ValueError(
                "'counts' must have one column per row of 'losses'. "
                f"Got {self.counts.shape[1]} columns and {len(self.losses)} rows."
            )
        check_draws(self.counts, uneven=self.uneven)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.shape(self.losses)[0])

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return self.n_folds * int(np.shape(self.losses)[1])

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The configuration with the smallest mean loss on each draw, the first if tied, shape (n_resamples,)."""
        means = np.asarray(self.counts) @ np.asarray(self.losses, dtype=float) / self.n_samples
        # sums of the same losses in another order must tie
        return np.asarray((means <= means.min(axis=1, keepdims=True) + 1e-12).argmax(axis=1))

    @property
    def out_of_draw(self) -> Array:
        """Mean loss of the chosen configuration on the rows not in the draw; nan if there is none."""
        outside = np.asarray(self.counts) == 0
        losses = np.asarray(self.losses, dtype=float).T[self.chosen]
        return ratio_or_nan((losses * outside).sum(axis=1), outside.sum(axis=1))


def check_search(estimator: Any) -> Any:
    """Return a fitted search.

    Raises
    ------
    UnsupportedEstimatorError
        If it is not a search, or has not been fitted.
    """
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    # they evaluate every configuration on all rows with the same folds
    if not isinstance(estimator, GridSearchCV | RandomizedSearchCV) or not hasattr(estimator, "cv_results_"):
        raise UnsupportedEstimatorError(
            f"'bbc-cv' needs a fitted GridSearchCV or RandomizedSearchCV. Got {type(estimator).__name__}.",
            "Record the losses of every configuration in cudbound.intervals.TunedLosses and call from_records.",
        )
    return estimator


def _splits(inputs: RecordingInputs) -> Splits:
    """Return the folds of a search, redrawn if its splitter shuffles without a ``random_state``.

    If the search was fitted with groups, its folds must keep them together.

    Raises
    ------
    ValueError
        If they do not test every row equally often.
    """
    from sklearn.model_selection import check_cv

    sample, cv = inputs.sample, inputs.estimator.cv
    try:
        splitter = check_cv(cv, sample.y, classifier=True)
        splits = make_splits(splitter, sample.X, sample.y, sample.names_of_groups, inputs.streams["cv"])
    except ValueError as error:
        raise ValueError(
            f"The folds of the search, cv={cv!r}, cannot be reproduced: {error} If its folds keep groups, pass "
            "the groups; if its splits come from a generator, pass its losses in cudbound.intervals.TunedLosses to "
            "from_records."
        ) from error
    if not splits.partitions:
        raise ValueError(
            f"'bbc-cv' needs a search whose folds test each row equally often. Got cv={cv!r}; use KFold, "
            "StratifiedKFold or a repeated one."
        )
    return splits


def _record(inputs: RecordingInputs, _: Any) -> TunedLosses:
    """Refit every configuration of a search without each of its folds."""
    from sklearn.base import clone

    from cudbound.resampling.refits import prepare_refits

    X, y, search, splits = inputs.sample.X, inputs.sample.y, inputs.estimator, _splits(inputs)
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
        with threadpool_limits(inputs.n_jobs):
            candidate.fit(X, y)
        refits = prepare_refits(candidate, X, y, n_jobs=inputs.n_jobs)
        wrong = refits.recorded(inputs.streams["tuned"].spawn(1)[0], inputs.advance)(training)
        columns.append((wrong * splits.test).sum(axis=0) / n_tested)
    counts = inputs.counts
    uneven = bool((counts.sum(axis=1) != counts.shape[1]).any())  # draws of whole groups
    return TunedLosses(np.column_stack(columns), counts, len(training), tuple(remarks), uneven=uneven)


def _scores(search: Any) -> NDArray[np.float64]:
    """Return the mean score by which the search ranked each configuration; nan if a fit failed."""
    results = search.cv_results_
    name = "mean_test_score" if "mean_test_score" in results else f"mean_test_{search.refit}"
    return np.asarray(results.get(name, np.zeros(len(results["params"]))), dtype=float)


def _other_choice(search: Any) -> Iterator[str]:
    """Yield a remark if the search did not rank its configurations by their error."""
    if search.scoring not in (None, "accuracy") or callable(search.refit):
        yield f"configurations were chosen by their error, not by scoring={search.scoring!r} of the search"


TUNED = RecordKind(
    "tuned",
    TunedLosses,
    "cross-validation of each configuration of a search",
    record=_record,
    n_fits=lambda inputs: int(inputs.estimator.n_splits_) * len(inputs.estimator.cv_results_["params"]),
    whole_groups=True,
    of_search=True,
    of_draws=True,
)


def _compute(records: Records, confidence_level: float) -> Outcome:
    """Bootstrap bias-corrected cross-validation of a tuned classifier.

    Formula: the d/2 and 1 - d/2 quantiles over the draws of L_b, the mean loss on the rows outside the draw of the
    configuration with the smallest mean loss on the draw.
    Assumptions: choosing a configuration on drawn rows relates to all rows as choosing on all rows relates to the
    population.
    Tendency: near nominal in its authors' simulations; far below nominal if classes are nearly separable; wide with
    few rows, which leave few errors outside a draw.
    Reference: Tsamardinos, Greasidou and Borboudakis (2018), algorithm 3. Ties: the first configuration; draws that
    contain all rows are dropped.
    """
    defined, remarks = defined_values(records.require(TUNED).out_of_draw, "that contained all rows")
    if not defined.size:
        return Outcome.undefined("undefined: every draw contained all rows; use more bootstrap draws")
    return Outcome(
        float(defined.mean()),
        percentile_interval(defined, confidence_level),
        remarks=remarks,
        degenerate="both limits are the same draw's error",
    )


BBC_CV = Method("bbc-cv", {TUNED}, estimand=Estimand("rule"), cost="K per configuration", compute=_compute)
