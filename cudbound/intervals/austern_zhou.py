"""Normal interval with a variance from replaced training rows: Austern and Zhou (2020)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import Estimand, Words
from cudbound.intervals.method import ON_TRAINING_ROWS, Method, size_in_study
from cudbound.intervals.pivot import EQUAL, Pivot
from cudbound.records import Records, ReplacementErrors

#: Factors of n in front of the sum of squares.
FACTORS = {"corrected": 0.25, "as-printed": 0.5}


def austern_zhou_pivot(
    full: float,
    half: float,
    replaced: ArrayLike,
    n_samples: int,
    n_train: float,
    *,
    factor: str = "corrected",
) -> Pivot:
    """Return the cross-validated error of all rows with a standard error from replaced rows of one half.

    The standard error is sqrt(s^2 / n) with s^2 = (n/4) sum_l (half - replaced_l)^2.

    Parameters
    ----------
    full : float
        Cross-validated error of all rows, or difference of two.
    half : float
        Cross-validated error of the first half of the rows.
    replaced : array-like of float, shape (n_samples // 2,)
        Cross-validated error of the first half with row l replaced by row l of the second half, with the same folds.
    n_samples : int
        Rows of the training set.
    n_train : float
        Training rows per fold of the full cross-validation, for the name of the estimand.
    factor : {"corrected", "as-printed"}, default="corrected"
        n/4 or n/2. By the inequality of Efron and Stein, half the sum bounds the variance on half the rows; the
        variance on all rows is half of that: n/4. With n/2 the variance is twice as large as it should be, as losses
        that do not depend on the training set show.

    Returns
    -------
    Pivot
        With "s2" in its details, and a ``degenerate`` reason if no replacement changes the error.

    References
    ----------
    Austern, M. and Zhou, W. (2020). Asymptotics of cross-validation. arXiv:2001.11111; Efron, B. and
    Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics 9, 586-596.

    Examples
    --------
    >>> pivot = austern_zhou_pivot(0.25, 0.5, [0.5, 0.25], n_samples=4, n_train=2)
    >>> round(pivot.standard_error, 3), str(pivot.estimand)
    (0.125, 'expected(n1=2)')
    """
    share = FACTORS[factor]
    changes = half - np.asarray(replaced, dtype=float)
    constant = float(np.abs(changes).max()) <= EQUAL
    squares = 0.0 if constant else float(np.square(changes).sum())
    return Pivot(
        full,
        math.sqrt(share * squares),
        degenerate="replacing a row never changes the cross-validated error" if constant else None,
        estimand=Estimand("expected", n_train),
        details={"s2": n_samples * share * squares},
    )


def _austern_zhou(records: Records, *, factor: str) -> Pivot:
    found: ReplacementErrors = records.require("replacements")
    n_train = found.n_samples * (1.0 - 1.0 / found.n_folds)
    return austern_zhou_pivot(found.full, found.half, found.replaced, found.n_samples, n_train, factor=factor)


TITLE = "Normal interval with the variance of cross-validation from replaced training rows"

AUSTERN_ZHOU = Method(
    name="austern-zhou",
    title=TITLE,
    formula="u +/- z(1 - d/2) sqrt(s^2 / n); u is the cross-validated error, s^2 = (n/4) sum over l of (w - w_l)^2, "
    "with w the cross-validated error of one half of the rows and w_l the same with its row l replaced by a row of the "
    "other half",
    estimand=Estimand("expected"),
    needs=frozenset({"replacements"}),
    assumptions="the learning algorithm is stable and not random; the variance of the cross-validated error is "
    "inversely proportional to n; large n",
    tendency="conservative on average, since the sum of squares bounds the variance from above; noisy for small n, "
    "since the sum has only n/2 terms; zero width if no replacement changes the error; "
    + size_in_study(".010", 17, sets=100),
    reference="Austern and Zhou (2020), their variance estimator; our factor is n/4 by the inequality of Efron and "
    "Stein (1981), since n/2, as printed, doubles the variance",
    cost="(m + 2) K with m = n // 2",
    pivot=_austern_zhou,
    options={"factor": Choice(tuple(FACTORS))},
    ways={("factor", "as-printed"): Words(TITLE, "Austern and Zhou (2020), as printed")},
    fallback=ON_TRAINING_ROWS,
)
