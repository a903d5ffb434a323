"""Bootstrap case cross-validation: every case of a draw is tested by a classifier fitted without its copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from cudbound.records import RemovedCaseErrors
from cudbound.resampling.single_class import has_one_class
from cudbound.resampling.task import Task

#: Entries of the training counts that are held at once; a few arrays of up to 8 bytes per entry live at a time.
CHUNK_VALUES = 1_000_000

TRAINING_SETS = "training sets of bootstrap case cross-validation"


def record_removed_cases(task: Task, counts: NDArray[np.int32]) -> RemovedCaseErrors:
    """Cross-validate every draw, removing all copies of the tested case at once, and the training set itself.

    Each distinct case i of a draw is removed with all its copies, the classifier is refitted to what remains of the
    draw, and its loss on the case counts as often as the case was drawn. A draw of one distinct case leaves nothing
    to train on; it is dropped and counted. A draw is never replaced, since other methods read the same draws: under
    "redraw" and "drop" training sets of one class give constant classifiers, as under "fit".

    Parameters
    ----------
    task : Task
        Its policy "error" refuses training sets of one class; the others count them in the remarks. Nothing here is
        random.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The draws, shared with the other methods.

    Returns
    -------
    RemovedCaseErrors
        One error per draw that is not dropped.

    Raises
    ------
    ValueError
        If every draw holds only one distinct case, or a training set holds one class and the policy is "error".

    References
    ----------
    Jiang, W., Varma, S. and Simon, R. (2008). Calculating confidence intervals for prediction error in microarray
    classification using resampling. Statistical Applications in Genetics and Molecular Biology 7, article 8.
    """
    n = task.n_samples
    kept = counts[(counts > 0).sum(axis=1) > 1]
    if not len(kept):
        raise ValueError("Every bootstrap draw held only one distinct row: none is left. Raise n_resamples.")
    # the training set itself, every row once, is one more draw: its error is the leave-one-out error
    sets = np.concatenate([np.ones((1, n), dtype=np.int32), kept.astype(np.int32)])
    number, case = np.nonzero(sets)
    wrong = np.empty(case.size)
    n_one_class = 0
    step = max(1, CHUNK_VALUES // n)
    for part in gen_batches(case.size, step):
        training = sets[number[part]]
        fit = np.arange(len(training))
        training[fit, case[part]] = 0
        n_one_class += int(has_one_class(training, task.labels).sum())
        notes = task.describe_parts(TRAINING_SETS, 0, n_one_class)
        wrong[part] = task.refit(training)[fit, case[part]]
    errors = np.bincount(number, weights=sets[number, case] * wrong) / n
    n_lost = len(counts) - len(kept)
    remarks = (f"{n_lost} draws of one distinct row dropped",) if n_lost else ()
    return RemovedCaseErrors(errors[1:], float(errors[0]), case.size, (*remarks, *notes))
