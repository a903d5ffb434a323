"""Bootstrap case cross-validation: every case of a draw tests a classifier fitted without its copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from cudbound.basis.groups import Groups
from cudbound.records import RemovedCaseErrors
from cudbound.resampling.single_class import has_one_class
from cudbound.resampling.task import Task

#: Entries of the training counts in memory at once, in a few arrays of up to 8 bytes per entry.
CHUNK_VALUES = 1_000_000

TRAINING_SETS = "training sets of bootstrap case cross-validation"


def record_removed_cases(task: Task, counts: NDArray[np.int32]) -> RemovedCaseErrors:
    """Cross-validate every draw, removing all copies of the tested case, and the training set itself.

    Each distinct case i of a draw is removed with all its copies, the classifier is refitted to the rest of the draw,
    and its loss on the case counts as often as the case was drawn. A draw with one distinct case leaves no training
    rows; it is dropped and counted. A draw is never replaced, since other methods use the same draws: with "redraw" and
    "drop", training sets of one class give constant classifiers, as with "fit". If rows belong together, a case is a
    group of rows, all of which are tested.

    Parameters
    ----------
    task : Task
        With its policy "error", training sets of one class raise; the other policies count them in the remarks. Nothing
        here is random.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The draws, shared with other methods.

    Returns
    -------
    RemovedCaseErrors
        One error per draw that is not dropped.

    Raises
    ------
    ValueError
        If every draw has only one distinct case, or a training set has one class and the policy is "error".

    References
    ----------
    Jiang, W., Varma, S. and Simon, R. (2008). Calculating confidence intervals for prediction error in microarray
    classification using resampling. Statistical Applications in Genetics and Molecular Biology 7, article 8.
    """
    n, groups = task.n_samples, Groups(np.arange(task.n_samples)) if task.groups is None else task.groups
    kept = counts[(counts[:, groups.first_rows] > 0).sum(axis=1) > 1]
    what = "row" if task.groups is None else "group"
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
        n_one_class += int(has_one_class(training, task.labels).sum())
        notes = task.describe_parts(TRAINING_SETS, 0, n_one_class)
        wrong = (sets[number[part]] * tested * task.refit(training)).sum(axis=1)
        errors += np.bincount(number[part], weights=wrong, minlength=len(sets))
    errors /= sets.sum(axis=1)
    n_lost = len(counts) - len(kept)
    remarks = (f"{n_lost} draws with one distinct {what} dropped",) if n_lost else ()
    return RemovedCaseErrors(errors[1:], float(errors[0]), case.size, (*remarks, *notes))
