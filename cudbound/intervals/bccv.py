"""Percentile intervals of bootstrap case cross-validation: Jiang, Varma and Simon (2008)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import Faster
from cudbound.basis.method_card import RecordKind
from cudbound.basis.results import Outcome
from cudbound.intervals.bootstrap_percentile import percentile_interval, shifted_interval
from cudbound.intervals.method import Method, of_record
from cudbound.records.rules import FitCount, MeanLoss, Means, Recorded, Remarks
from cudbound.resampling.bootstrap import USABLE_DRAWS
from cudbound.resampling.context import RefitContext, has_one_class

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

    n, groups = context.n_samples, context.units
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


def _record(inputs: RecordingInputs, records_by_name: Mapping[str, Any]) -> RemovedCaseErrors:
    return record_removed_cases(inputs.context(REMOVED_CASES), records_by_name[USABLE_DRAWS.name][0])


def _count_fits(inputs: RecordingInputs) -> int:
    groups, counts = inputs.sample.groups, inputs.counts
    sizes = ((counts if groups is None else counts[:, groups.first_rows]) > 0).sum(axis=1)
    return int(sizes[sizes > 1].sum()) + inputs.n_units


REMOVED_CASES = RecordKind(
    "removed_cases",
    RemovedCaseErrors,
    "refits without single rows",
    record=_record,
    n_fits=_count_fits,
    after=(USABLE_DRAWS,),
    whole_groups=True,
    fewer=(Faster.DRAWS,),
    of_draws=True,
)


SAME = "both limits are the same bootstrap replicate"


def _percentile(record: RemovedCaseErrors, confidence_level: float) -> Outcome:
    """Percentile interval of bootstrap case cross-validation.

    Formula: the d/2 and 1 - d/2 quantiles over the draws of theta_b, the mean of e_i over the rows of the draw; e_i is
    the loss on row i after a fit to the draw without all copies of i.
    Assumptions: the cross-validated error varies over draws as it does over training sets.
    Tendency: conservative in its authors' simulations.
    Reference: Jiang, Varma and Simon (2008).
    """
    interval = percentile_interval(record.errors, confidence_level)
    return Outcome(float(np.mean(record.errors)), interval, degenerate=SAME)


def _bias_reduced(record: RemovedCaseErrors, confidence_level: float) -> Outcome:
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
        degenerate=SAME,
        details={"bias": float(np.mean(record.errors)) - record.leave_one_out},
    )


BCCVP, BCCVP_BR = (
    Method(name, {REMOVED_CASES}, cost="about .632 n B + n", compute=of_record(REMOVED_CASES, function))
    for name, function in (("bccvp", _percentile), ("bccvp-br", _bias_reduced))
)
