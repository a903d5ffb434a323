"""Bootstrap case cross-validation, and bootstrap bias-corrected cross-validation.

``bccvp`` cross-validates every draw (Jiang, Varma and Simon 2008). ``bbc-cv`` and ``bbc-f`` are for the error of
choosing a configuration and fitting it to all rows: ``bbc-cv`` draws rows, and ``bbc-f`` draws folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.method_card import RULE, RecordKind
from cudbound.basis.results import Outcome
from cudbound.basis.validation import Array
from cudbound.intervals.bootstrap_percentile import (
    SAME_REPLICATE,
    percentile_interval,
    percentiles_of_draws,
    shifted_interval,
)
from cudbound.intervals.method import Method, of_record
from cudbound.records import Records
from cudbound.records.losses import ratio_or_nan
from cudbound.records.rules import (
    Counts,
    FitCount,
    Flag,
    MeanLoss,
    Means,
    MeansOfEach,
    Recorded,
    Remarks,
    check_draws,
)
from cudbound.resampling.bootstrap import USABLE_DRAWS
from cudbound.resampling.settings import RefitContext, has_one_class
from cudbound.resampling.splits import Splits, make_splits

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


@dataclass(frozen=True, eq=False)
class RemovedCaseErrors(Recorded):
    """Cross-validated error of bootstrap draws, with all copies of the tested case removed at once.

    Attributes
    ----------
    errors : ndarray of float, shape (n_resamples,)
    leave_one_out : float
        Leave-one-out cross-validated error of the training set itself.
    n_fits : int
    remarks : tuple of str
    """

    errors: Means
    leave_one_out: MeanLoss
    n_fits: FitCount
    remarks: Remarks = ()


#: Entries of the training counts in memory at once, in a few arrays of up to 8 bytes per entry.
CHUNK_VALUES = 1_000_000

TRAINING_SETS = "training sets of bootstrap case cross-validation"


def record_removed_cases(context: RefitContext, counts: NDArray[np.int32]) -> RemovedCaseErrors:
    """Cross-validate every draw, removing all copies of the tested case, and the training set itself.

    Each distinct case i of a draw is removed with all its copies, the classifier is refitted to the rest of the draw,
    and its loss on the case counts as often as the case was drawn. A draw with one distinct case leaves no training
    rows; it is dropped and counted. A draw is never replaced, since other methods use the same draws: with "redraw" and
    "drop", training sets of one class give constant classifiers, as with "fit". If rows belong together, a case is a
    group of rows, all of which are tested.

    Parameters
    ----------
    context : RefitContext
        Nothing here is random.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The draws, shared with other methods.

    Returns
    -------
    RemovedCaseErrors
        One error per draw that is not dropped.

    Raises
    ------
    ValueError
        If every draw has only one distinct case.

    References
    ----------
    Jiang, W., Varma, S. and Simon, R. (2008). Calculating confidence intervals for prediction error in microarray
    classification using resampling. Statistical Applications in Genetics and Molecular Biology 7, article 8.
    """
    from sklearn.utils import gen_batches

    n, groups = context.labels.size, context.units
    kept = counts[(counts[:, groups.first_rows] > 0).sum(axis=1) > 1]
    what = "row" if context.groups is None else "group"
    if not len(kept):
        raise ValueError(f"Every bootstrap draw had only one distinct {what}: none is left. Use more draws.")
    # the training set itself, every row once, is one more draw: its error is the leave-one-out error
    sets = np.concatenate([np.ones((1, n), dtype=np.int32), kept.astype(np.int32)])
    number, case = np.nonzero(sets[:, groups.first_rows])
    errors = np.zeros(len(sets))
    n_one_class = 0
    step = max(1, CHUNK_VALUES // n)
    for part in gen_batches(case.size, step):
        tested = groups.codes == case[part, None]
        training = np.where(tested, 0, sets[number[part]])
        n_one_class += int(has_one_class(training, context.labels).sum())
        wrong = (sets[number[part]] * tested * context.refit(training)).sum(axis=1)
        errors += np.bincount(number[part], weights=wrong, minlength=len(sets))
    errors /= sets.sum(axis=1)
    n_lost = len(counts) - len(kept)
    remarks = (f"{n_lost} draws with one distinct {what} dropped",) if n_lost else ()
    notes = (f"{n_one_class} single-class {TRAINING_SETS} fitted as drawn",) if n_one_class else ()
    return RemovedCaseErrors(errors[1:], float(errors[0]), case.size, remarks + notes)


def _record_removed_cases(inputs: RecordingInputs, records_by_name: Mapping[str, Any]) -> RemovedCaseErrors:
    return record_removed_cases(inputs.context(REMOVED_CASES), records_by_name[USABLE_DRAWS.name][0])


def _count_fits_without_cases(inputs: RecordingInputs) -> int:
    groups, counts = inputs.sample.groups, inputs.counts
    sizes = ((counts if groups is None else counts[:, groups.first_rows]) > 0).sum(axis=1)
    return int(sizes[sizes > 1].sum()) + inputs.n_units


REMOVED_CASES = RecordKind(
    "removed_cases",
    RemovedCaseErrors,
    "refits without single rows",
    record=_record_removed_cases,
    n_fits=_count_fits_without_cases,
    after=(USABLE_DRAWS,),
    whole_groups=True,
    of_draws=True,
)


def _bccvp(record: RemovedCaseErrors, confidence_level: float) -> Outcome:
    """Percentile interval of bootstrap case cross-validation.

    Formula: the d/2 and 1 - d/2 quantiles over the draws of theta_b, the mean of e_i over the rows of the draw; e_i is
    the loss on row i after a fit to the draw without all copies of i.
    Assumptions: the cross-validated error varies over draws as it does over training sets.
    Tendency: conservative in its authors' simulations.
    Reference: Jiang, Varma and Simon (2008).
    """
    interval = percentile_interval(record.errors, confidence_level)
    return Outcome(float(np.mean(record.errors)), interval, degenerate=SAME_REPLICATE)


def _bccvp_br(record: RemovedCaseErrors, confidence_level: float) -> Outcome:
    """Percentile interval of bootstrap case cross-validation with bias reduction.

    Formula: the limits of bccvp minus (mean of theta_b - leave-one-out error).
    Assumptions: the cross-validated error varies over draws as it does over training sets.
    Tendency: coverage in 16 settings was .95 to 1.00.
    Reference: Jiang, Varma and Simon (2008).
    """
    # a draw has about .632 n distinct cases to train on, which makes its error too large: both percentiles are moved by
    # the mean of the errors minus the leave-one-out error; some public code takes another error as the center
    return Outcome(
        record.leave_one_out,
        shifted_interval(record.errors, record.leave_one_out, confidence_level),
        degenerate=SAME_REPLICATE,
        details={"bias": float(np.mean(record.errors)) - record.leave_one_out},
    )


BCCVP, BCCVP_BR = (
    Method(
        name, {REMOVED_CASES}, cost="about .632 n B + n", compute=partial(of_record, REMOVED_CASES, function)
    )
    for name, function in (("bccvp", _bccvp), ("bccvp-br", _bccvp_br))
)


@dataclass(frozen=True, eq=False)
class _OfConfigurations(Recorded):
    """Losses of all configurations, a row for each unit that is drawn, and the draws."""

    losses: MeansOfEach
    counts: Counts

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.counts.shape[1] != len(self.losses):
            raise ValueError(
                "'counts' must have one column per row of 'losses'. "
                f"Got {self.counts.shape[1]} columns and {len(self.losses)} rows."
            )

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The configuration with the smallest mean loss on each draw, the first if tied, shape (n_resamples,)."""
        means = self.counts @ self.losses / len(self.losses)
        # sums of the same losses in another order must tie
        return np.asarray((means <= means.min(axis=1, keepdims=True) + 1e-12).argmax(axis=1))

    @property
    def out_of_draw(self) -> Array:
        """Mean loss of the chosen configuration outside the draw; nan if the draw contains all."""
        outside = self.counts == 0
        losses = self.losses.T[self.chosen]
        return ratio_or_nan((losses * outside).sum(axis=1), outside.sum(axis=1))


@dataclass(frozen=True, eq=False)
class TunedLosses(_OfConfigurations):
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
    in_folds : ndarray or None, shape (n_folds, n_configurations), default=None
        Mean loss of each configuration in each fold, of which `TunedFolds` is made.

    Examples
    --------
    >>> drawn = np.array([[0, 0, 2], [1, 2, 2]])
    >>> TunedLosses(np.array([[0, 1], [1, 0], [0, 0]]), np.array([np.bincount(d, minlength=3) for d in drawn])).n_fits
    0
    """

    n_folds: FitCount = 0
    remarks: Remarks = ()
    uneven: Flag = False
    in_folds: MeansOfEach | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_draws(self.counts, uneven=self.uneven)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return len(self.losses)

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record: each configuration without each fold, and on all rows."""
        return (self.n_folds + 1) * int(self.losses.shape[1]) if self.n_folds else 0


@dataclass(frozen=True, eq=False)
class TunedFolds(_OfConfigurations):
    """Mean losses of all configurations in the same folds, and draws of the folds.

    Attributes
    ----------
    losses : ndarray, shape (n_folds, n_configurations)
        Mean loss of the configuration fitted without the fold, on the rows of the fold; folds of all partitions.
    counts : ndarray of int, shape (n_resamples, n_folds)
        How often each fold occurs in each bootstrap draw.
    remarks : tuple of str

    Examples
    --------
    >>> TunedFolds([[0.1, 0.2], [0.4, 0.1], [0.3, 0.3]], [[2, 1, 0], [0, 1, 2]]).out_of_draw.tolist()
    [0.3, 0.2]
    """

    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_draws(self.counts)

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record: each configuration without each fold, and on all rows."""
        n_folds, n_configurations = self.losses.shape
        return int((n_folds + 1) * n_configurations)


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
            f"'bbc-cv' and 'bbc-f' need a fitted GridSearchCV or RandomizedSearchCV. Got {type(estimator).__name__}.",
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

    sample, cv = inputs.sample, inputs.sample.estimator.cv
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
            f"'bbc-cv' and 'bbc-f' need a search whose folds test each row equally often. Got cv={cv!r}; use KFold, "
            "StratifiedKFold or a repeated one."
        )
    return splits


def _record_tuned(inputs: RecordingInputs, _: Any) -> TunedLosses:
    """Refit every configuration of a search without each of its folds."""
    from sklearn.base import clone

    from cudbound.resampling.refits import refits_of

    X, y, search, splits = inputs.sample.X, inputs.sample.y, inputs.sample.estimator, _splits(inputs)
    training = splits.training.astype(np.int32)
    n_tested, fold_sizes = splits.test.sum(axis=0), splits.test.sum(axis=1)
    of_rows, of_folds, remarks = [], [], []
    if search.scoring not in (None, "accuracy") or callable(search.refit):
        remarks.append(
            f"configurations were chosen by their error, not by scoring={search.scoring!r} of the search"
        )
    failed = np.isnan(_scores(search))
    if failed.any():
        remarks.append(f"{int(failed.sum())} configurations that could not be fitted left out")
    for number, parameters in enumerate(search.cv_results_["params"]):
        if failed[number]:
            continue
        candidate = clone(search.estimator).set_params(**clone(parameters, safe=False))
        with threadpool_limits(inputs.n_jobs):
            candidate.fit(X, y)
        inputs.advance(1)
        refits = refits_of(replace(inputs.sample, estimator=candidate), inputs.n_jobs)
        wrong = refits.outputs(training, inputs.streams["tuned"].spawn(1)[0], inputs.advance) * splits.test
        of_rows.append(wrong.sum(axis=0) / n_tested)
        of_folds.append(wrong.sum(axis=1) / fold_sizes)
    counts = inputs.counts
    uneven = bool((counts.sum(axis=1) != counts.shape[1]).any())  # draws of whole groups
    losses, in_folds = np.column_stack(of_rows), np.column_stack(of_folds)
    return TunedLosses(losses, counts, len(training), tuple(remarks), uneven=uneven, in_folds=in_folds)


def _record_folds(inputs: RecordingInputs, made: Mapping[str, Any]) -> TunedFolds:
    """Draw the folds of a search as often as rows are drawn."""
    tuned = made[TUNED.name]
    k, rng = len(tuned.in_folds), inputs.streams[TUNED_FOLDS.name]
    counts = rng.multinomial(k, np.full(k, 1.0 / k), size=len(inputs.counts))
    return TunedFolds(tuned.in_folds, counts, tuned.remarks)


def _scores(search: Any) -> NDArray[np.float64]:
    """Return the mean score by which the search ranked each configuration; nan if a fit failed."""
    results = search.cv_results_
    name = "mean_test_score" if "mean_test_score" in results else f"mean_test_{search.refit}"
    return np.asarray(results.get(name, np.zeros(len(results["params"]))), dtype=float)


TUNED = RecordKind(
    "tuned",
    TunedLosses,
    "cross-validation of each configuration of a search",
    record=_record_tuned,
    n_fits=lambda inputs: (
        (int(inputs.sample.estimator.n_splits_) + 1) * len(inputs.sample.estimator.cv_results_["params"])
    ),
    whole_groups=True,
    of_search=True,
    of_draws=True,
)

TUNED_FOLDS = RecordKind(
    "tuned_folds",
    TunedFolds,
    "means of each configuration of a search in its folds",
    record=_record_folds,
    after=(TUNED,),
    whole_groups=True,
    of_search=True,
    of_draws=True,
)


def _percentiles(values: Array, confidence_level: float, units: str) -> Outcome:
    none = f"undefined: every draw contained all {units}; use more bootstrap draws"
    return percentiles_of_draws(values, confidence_level, f"that contained all {units}", none)


def _bbc_cv(records: Records, confidence_level: float) -> Outcome:
    """Bootstrap bias-corrected cross-validation of a tuned classifier.

    Formula: the d/2 and 1 - d/2 quantiles of L_b, the mean loss on the rows outside draw b of the configuration with
    the smallest mean loss on the draw.
    Assumptions: drawn rows relate to all rows as these relate to the population.
    Tendency: at level .95, coverage in 20 settings was .26 to 1.00 for the tuned classifier, lowest near separation.
    Reference: Tsamardinos, Greasidou and Borboudakis (2018).
    """
    return _percentiles(records.require(TUNED).out_of_draw, confidence_level, "rows")


def _bbc_f(records: Records, confidence_level: float) -> Outcome:
    """Bootstrap bias-corrected cross-validation of a tuned classifier, with draws of the folds.

    Formula: as bbc-cv, with the mean losses of the folds in place of the losses of the rows.
    Assumptions: as bbc-cv, with folds instead of rows; losses in different folds are independent.
    Tendency: at level .95, with 5 folds coverage in 5 settings was .63 to .89; too short also where bbc-cv keeps its
    level, and with 10 folds where events are few.
    Reference: Paraschakis et al. (2024), from their program.
    """
    return _percentiles(records.require(TUNED_FOLDS).out_of_draw, confidence_level, "folds")


#: Fits of either.
COST = "1 + folds of the search, per configuration"
BBC_CV = Method("bbc-cv", {TUNED}, estimand=RULE, cost=COST, compute=_bbc_cv)
BBC_F = Method("bbc-f", {TUNED_FOLDS}, estimand=RULE, cost=COST, compute=_bbc_f)
