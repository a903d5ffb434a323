"""Point estimates of the error of a fitted classifier, from shared refits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.in_words import describe_classifier
from cudbound.analysis.progress import progress_bar
from cudbound.analysis.session import Resampling, Session
from cudbound.analysis.table import PointEstimateTable
from cudbound.basis.protocols import Features, FittedClassifier, Splits
from cudbound.basis.results import PointEstimate
from cudbound.basis.validation import check_binary_classifier
from cudbound.point_estimates import compute_estimate, find_estimators
from cudbound.report.tables import RunDescription
from cudbound.resampling import ResamplingSizes
from cudbound.resampling.bolstering import record_bolstered
from cudbound.resampling.plan import kept_going
from cudbound.resampling.refits import prepare_refits


def estimate_error(
    estimator: FittedClassifier,
    X: Features,
    y: ArrayLike,
    *,
    methods: str | Sequence[str] = "all",
    n_resamples: int = 200,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    sizes: ResamplingSizes | None = None,
    cv: Splits | None = None,
    groups: ArrayLike | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    on_single_class: str | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: bool | None = None,
) -> PointEstimateTable:
    """Estimate the error of a fitted classifier by several point estimators beside each other.

    Parameters
    ----------
    estimator : object
        Fitted scikit-learn classifier of two classes; clones of it are fitted to resampled training sets.
    X : array-like, shape (n_samples, n_features)
        The rows that the estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    methods : str or list of str, default="all"
        "all", or names out of `cudbound.point_estimates.ESTIMATORS`. A row does not depend on which others are asked
        for.
    n_resamples : int, default=200
        Bootstrap draws. Efron and Tibshirani (1997) find 50 to 200 enough for a point estimate.
    options : mapping of str to mapping, default=None
        Options of single estimators by name.
    sizes, cv, groups, test_set, on_single_class, rng, n_jobs, progress
        As for `cudbound.compare_intervals`. The same `rng` gives the same draws and folds as there.

    Returns
    -------
    PointEstimateTable
        One row per estimator, in the order asked for, with ``to_frame()``. One that cannot be computed keeps its row,
        with the reason, unless none can: the first error is then raised.

    Raises
    ------
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

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
    session = Session(find_estimators(methods).with_options(options), rng=rng, n_jobs=n_jobs)
    counts = session.take(X, y, check_binary_classifier(estimator), n_resamples, groups)
    resampling = Resampling(sizes, on_single_class, cv, test_set)
    plan = session.prepare(session.methods, resampling)
    records = session.given_records(estimator)
    sample = session.sample
    if "bolstered" in plan.needs:
        with kept_going(session.failed, "bolstered"):
            kernel = record_bolstered(estimator, X, sample.y, rng=session.streams["bolstered"])
            records = replace(records, bolstered=kernel)
    refits = prepare_refits(estimator, X, sample.y, n_jobs=session.n_jobs)
    with progress_bar(plan.n_fits(counts, sample.groups), progress) as advance:
        records = replace(records, **session.refit(refits, counts, advance))
    return PointEstimateTable(
        session.rows(
            PointEstimate, lambda method: compute_estimate(method, records, session.options_of(method))
        ),
        RunDescription(
            **session.run_facts(),
            n_resamples=int(counts.shape[0]),
            localization=None,
            classifier=describe_classifier(estimator),
        ),
    )
