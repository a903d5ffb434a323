"""Point estimates of the error of a fitted classifier, from shared refits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cudbound.analysis.analyze import analyze
from cudbound.analysis.question import Question
from cudbound.analysis.rows import compute_rows
from cudbound.analysis.table import PointEstimateTable
from cudbound.basis.calls import public_call
from cudbound.basis.results import PointEstimate
from cudbound.basis.validation import Features, Learner
from cudbound.point_estimates import PointEstimator, compute_estimate, find_estimators
from cudbound.report.sentences import few_test_cases, warn_of
from cudbound.resampling import Resampling
from cudbound.resampling.make_records import INNER_DRAWS

#: A point estimator or "all" of them, with or without options.
AskedEstimator: TypeAlias = str | tuple[str, Mapping[str, Any]]


@public_call
def estimate_error(
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    methods: AskedEstimator | Sequence[AskedEstimator] = "all",
    groups: ArrayLike | None = None,
    new_cases: tuple[Features, ArrayLike] | None = None,
    n_resamples: int = 200,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> PointEstimateTable:
    """Estimate the error of a classifier by several point estimators.

    Parameters
    ----------
    estimator : object
        A scikit-learn classifier of two classes; clones of it are fitted to resampled training sets, and to all rows if
        it is not fitted.
    X : array-like, shape (n_samples, n_features)
        The training rows, which a fitted estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    methods : str, pair, or list of these, default="all"
        "all", names from `cudbound.point_estimates.ESTIMATORS`, or pairs (name, options). A row does not depend on
        which others are requested.
    groups, new_cases
        As for `cudbound.compare_intervals`.
    n_resamples : int, default=200
        Bootstrap draws. Efron and Tibshirani (1997) find 50 to 200 enough for a point estimate.
    resampling, rng, n_jobs
        As for `cudbound.compare_intervals`. The same `rng` gives the same draws and folds as there.

    Returns
    -------
    PointEstimateTable
        One row per estimator, in the requested order, with ``to_frame()``. An estimator that cannot be computed keeps
        its row, with the reason; if none can be computed, the first error is raised.

    Raises
    ------
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Warns
    -----
    ManyFeaturesWarning
        If there are many features for the rows, as in `cudbound.performance_interval`.
    RepeatedRowsWarning
        If more rows are identical than chance explains, or cases of `new_cases` equal training rows.
    SmallSampleWarning
        If an estimate is from fewer than 20 of `new_cases`, or there are few groups, or a few have most of the rows.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA 92,
    548-560.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, estimate_error
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 2))
    >>> y = X[:, 0] + rng.normal(size=30) > 0
    >>> table = estimate_error(LeastSquaresClassifier().fit(X, y), X, y, rng=0)
    >>> table["resubstitution"].estimate < table["bootstrap-632"].estimate
    True
    """
    estimators = find_estimators(methods)
    question = Question.of(estimators, n_resamples=n_resamples, resampling=resampling, rng=rng, n_jobs=n_jobs)
    if question.resampling.inner is None:
        # no estimator reads inner draws, and none needs a row out of each draw
        question = replace(question, resampling=replace(question.resampling, inner=INNER_DRAWS))
    analysis = analyze(question, estimator, X, y, groups, new_cases=new_cases, result="estimate")

    def compute(method: PointEstimator) -> PointEstimate:
        return compute_estimate(method, analysis.records, estimators.options_of(method))

    rows = compute_rows(
        PointEstimate,
        estimators,
        compute,
        estimators.needed,
        refused=analysis.refused,
        failed=analysis.failed,
    )
    warn_of((*few_test_cases(rows), *analysis.cautions))
    return PointEstimateTable(rows, analysis.run)
