"""Exact binomial interval of the leave-one-out losses, as if they were independent tests of one classifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cudbound.intervals.method import Method
from cudbound.intervals.proportions import inverted_binomial_interval
from cudbound.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.records import Records
from cudbound.validation import checked


def leave_one_out_interval(losses: ArrayLike, confidence_level: float) -> ConfidenceInterval:
    """Clopper-Pearson interval of the number of leave-one-out errors among n rows.

    Parameters
    ----------
    losses : array-like, shape (n_samples,)
        0/1 loss on each row of the classifier fitted to the others.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        Within [0, 1], and never of zero width.

    Raises
    ------
    ValueError
        If `losses` is not a finite vector.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
    binomial. Biometrika 26, 404-413; Jiang, W., Varma, S. and Simon, R. (2008). Calculating confidence intervals for
    prediction error in microarray classification using resampling. Statistical Applications in Genetics and
    Molecular Biology 7, article 8, where it is the widely used interval that they find to under-cover.

    Examples
    --------
    >>> round(leave_one_out_interval([0] * 17 + [1] * 3, 0.95).high, 4)
    0.3789
    """
    values = checked("losses", losses, 1)
    return inverted_binomial_interval(float(values.sum()), float(values.size), confidence_level)


def _leave_one_out(records: Records, confidence_level: float) -> Outcome:
    losses = records.require("leave_one_out").losses
    return Outcome(float(np.mean(losses)), leave_one_out_interval(losses, confidence_level))


LEAVE_ONE_OUT = Method(
    name="leave-one-out-binomial",
    title="Clopper-Pearson interval of the leave-one-out losses",
    estimand=Estimand("conditional"),
    needs=frozenset({"leave_one_out"}),
    assumptions="leave-one-out losses are independent losses of one fixed classifier",
    tendency="liberal: it ignores that the losses depend on each other",
    reference="Clopper and Pearson (1934); studied by Jiang, Varma and Simon (2008)",
    cost="n",
    compute=_leave_one_out,
)
