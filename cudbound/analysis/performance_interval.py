"""One interval for the error of any fitted classifier, with a sentence for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.analysis.table import PerformanceInterval
    from cudbound.basis.validation import Features, Learner
    from cudbound.intervals import AskedMethod
    from cudbound.metrics.metric import Metric
    from cudbound.metrics.metrics import Metrics
    from cudbound.resampling import Resampling


@public_call
def performance_interval(
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    method: AskedMethod | None = None,
    metric: str | Metric | Metrics = "error",
    event: object = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    new_cases: tuple[Features, ArrayLike] | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    n_resamples: int = 1000,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> PerformanceInterval:
    """Confidence interval for the error, or another metric, of a classifier on new cases.

    Parameters
    ----------
    estimator : object
        Any scikit-learn classifier. If it is not fitted, a clone is fitted to these rows: ``result.estimator``.
    X : array-like, shape (n_samples, n_features)
        The training rows, which a fitted estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    method : str, Method or pair, default=None
        An interval in `cudbound.available_methods`, or a pair (name, options), such as ``("location-shifted",
        {"center": "632"})`` or ``("cud", Bound(seconds=60))``, see `cudbound.Bound`. None means "two-center", or with
        new cases "pooled".
    metric : str, Metric or Metrics, default="error"
        The metric: "error", "sensitivity" or another name from `cudbound.Metrics`; or a `Metrics`, which also sets the
        costs of errors and the prevalence. `cudbound.compare_intervals` accepts several at once.
    event : object, default=None
        Label of the event, as in `cudbound.compare_intervals`.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient: whole groups are then drawn, and "two-center" uses the
        effective number of rows.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Row weights with which the classifier was fitted; see `cudbound.compare_intervals`.
    new_cases : (array-like, array-like), default=None
        New cases (X_new, y_new) of the same population, none of them in training. "pooled" adds them to the training
        rows, and says whether they are worse than these promised.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less" for only an upper limit, at the full level: "the error is at most x"; "greater" for only a lower limit.
    n_resamples : int, default=1000
        Number of bootstrap draws, with one refit each.
    resampling : Resampling, default=None
        See `cudbound.Resampling`; None uses the defaults.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None uses a new one.
    n_jobs : int or None, default=1
        Workers; -1 for all cores. The result does not depend on it.

    Returns
    -------
    PerformanceInterval
        Prints as a sentence for a paper, followed by its basis; has ``estimate``, ``low``, ``high``, ``at(level)``,
        ``details`` and ``to_frame()``.

    Raises
    ------
    UnsupportedEstimatorError, UnsupportedProblemError, NotMinimizerError
        If `method` is "cud" or "aci", and the estimator has no CUD bound on these `X` and `y`.
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Warns
    -----
    ManyFeaturesWarning
        If there are many features: more than half as many as rows, or groups, by the rank of the design, or at least as
        many if the classifier is not linear or chooses among them.
    NotMinimizerWarning
        If the coefficients do not minimize the loss on these rows: the estimator was fitted to other rows, or its
        solver stopped early.
    NotResampledWarning
        If `method` is "cud", and a step before the classifier uses the labels, or parameters were chosen on these data:
        the bound treats both as fixed. Or if refits keep a previously fitted step.
    RepeatedRowsWarning, SmallSampleWarning
        If rows do not seem to be one patient each, or the metric is based on fewer than 10 rows of a class.
    NotCertifiedWarning
        If `method` is "cud" or "aci", and a limit stopped the search; upper bounds are used, which can only lengthen
        the interval.

    Notes
    -----
    "two-center" refits the classifier `n_resamples` times to bootstrap draws, and 50 times for cross-validation. There
    is no finite-sample guarantee; docs/evidence/recommended.md says how far it is confirmed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cudbound import performance_interval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=40) > 0, "ill", "well")
    >>> result = performance_interval(LogisticRegression(), X, y, n_resamples=200, rng=0)
    >>> bool(result.low < result.estimate < result.high)
    True
    >>> result.sentence[:45]
    'The error of this classifier on new cases is '
    """
    from cudbound.analysis.analyze import analyze
    from cudbound.analysis.question import Question
    from cudbound.analysis.table import PerformanceInterval
    from cudbound.intervals import GROUPS, find_methods
    from cudbound.metrics.metrics import as_metrics
    from cudbound.report.sentences import warn_of

    if method is None:
        method = "two-center" if new_cases is None else "pooled"
    if isinstance(method, list):
        raise ParameterError("method", "one interval; compare_intervals accepts several", method)
    if isinstance(method, str) and method in GROUPS:
        rule = f"one interval; {method!r} stands for {', '.join(GROUPS[method])}, which compare_intervals accepts"
        raise ParameterError("method", rule, method)
    requested = find_methods([method], argument="method")
    metrics, classes = as_metrics(metric, event), getattr(estimator, "classes_", ())
    if len(metrics.names) > 1:
        raise ParameterError("metric", "one metric; compare_intervals accepts several", metric)
    several = np.asarray(classes).tolist() if np.ndim(classes) == 1 and len(classes) > 2 else []
    if several and len(metrics.resolve(several).names) > 1:
        rule = f"for one of the several classes, such as performance_interval(..., event={several[0]!r})"
        raise ParameterError("metric", f"{rule}; compare_intervals accepts all", metric)
    question = Question.of(
        requested,
        metric=metrics,
        confidence_level=confidence_level,
        alternative=alternative,
        n_resamples=n_resamples,
        resampling=resampling,
        rng=rng,
        n_jobs=n_jobs,
    )
    analysis = analyze(question, estimator, X, y, groups, sample_weight, new_cases, several=True)
    result = PerformanceInterval(analysis.rows(), analysis=analysis)
    warn_of(result.cautions)
    return result
