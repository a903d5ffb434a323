"""Intervals for the error of any classifier: one, or several from shared refits; and point estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.calls import public_call, warn
from cudbound.basis.exceptions import ParameterError

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.analysis.table import IntervalTable, PerformanceInterval, PointEstimateTable
    from cudbound.basis.method_card import RequestedMethods
    from cudbound.basis.validation import Features, Learner
    from cudbound.intervals import AskedMethod, Method
    from cudbound.metrics.metric import Metric
    from cudbound.metrics.metrics import Metrics
    from cudbound.point_estimates import PointEstimator
    from cudbound.resampling import Resampling

    OneTable = TypeVar("OneTable", bound=IntervalTable)

#: A point estimator or "all" of them, with or without options.
AskedEstimator: TypeAlias = str | tuple[str, Mapping[str, Any]]


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
        rows, and says, except for metrics made from others, whether they are worse than these promised.
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
        If rows do not seem to be one patient each, or the metric is based on fewer than 10 rows of a class; also as in
        `cudbound.compare_intervals`.
    NotCertifiedWarning
        If `method` is "cud" or "aci", and a limit stopped the search; upper bounds are used, which can only lengthen
        the interval.

    Notes
    -----
    "two-center" refits the classifier `n_resamples` times to bootstrap draws, and 50 times for cross-validation. There
    is no finite-sample guarantee; docs/evidence/index.md says how far it is confirmed.

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
    from cudbound.analysis.table import PerformanceInterval
    from cudbound.intervals import find_methods

    if method is None:
        method = "two-center" if new_cases is None else "pooled"
    requested: Any = None if isinstance(method, list) else find_methods([method], argument="method")
    if requested is None or len(requested.methods) != 1:
        raise ParameterError("method", "one interval; compare_intervals accepts several", method)
    return _table_of(
        PerformanceInterval,
        requested,
        (estimator, X, y, groups, sample_weight, new_cases),
        one_metric=True,
        metric=metric,
        event=event,
        confidence_level=confidence_level,
        alternative=alternative,
        n_resamples=n_resamples,
        resampling=resampling,
        rng=rng,
        n_jobs=n_jobs,
    )


@public_call
def compare_intervals(
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    methods: AskedMethod | Sequence[AskedMethod] = "recommended",
    metric: str | Metric | Sequence[str | Metric] | Metrics = "error",
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
) -> IntervalTable:
    """Compare intervals by several methods for the error of a classifier, or of its learning algorithm.

    The procedure:

    1. draw `n_resamples` bootstrap samples, shared by all methods; with the same `rng` they are the draws of
       `cudbound.cud_interval`, which then gives the same CUD interval;
    2. solve them for the CUD bound, if ``"cud"`` is requested;
    3. refit the classifier once for every draw, inner draw, fold and split that any of the methods needs, and record
       which training points each refit misclassifies;
    4. compute every interval from these records.

    Parameters
    ----------
    estimator : object
        A scikit-learn classifier; if it is not fitted, a clone is fitted to these rows. ``"cud"`` needs a two-class
        classifier that `cudbound.adapters.to_additive_model` supports, such as `cudbound.ConvexLossClassifier`,
        `sklearn.linear_model.LogisticRegression` or a `Pipeline` that ends in one. In step 3 a `Pipeline` or a search
        is refitted as a whole.
    X : array-like, shape (n_samples, n_features)
        The training rows, which a fitted estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    methods : str, Method, pair, or list of these, default="recommended"
        Names from `cudbound.available_methods`, or groups: "recommended" for "two-center", the interval to report, and
        others for comparison; "paper" for the seven intervals of Laber and Murphy; "conditional" for the error of this
        classifier or of one fitted to a part of the data; "algorithm" for cross-validation and random splits, which
        mostly estimate the expected error of the learning algorithm; "probability" for the AUC or the Brier score
        alone; "all" for these three; "clinical" for the intervals in software for clinical prediction models; "tuned"
        for the error of tuning and fitting, from a fitted search; "new-cases" for the training rows alone, new cases
        alone and both, which is "recommended" with `new_cases`. A pair (name, options) sets options, such as
        ``("kohavi-normal", {"form": "wilson"})``; with a group, it sets them in each member that has them. ``("cud",
        Bound(seconds=60))`` has the settings of the CUD bound, see `cudbound.Bound`; by default its search is planned
        for about ten seconds on one processor. A row does not depend on which other methods are requested. If this
        classifier does not allow a method, its row in a group gives the reason; requested by name, the method raises
        an error with the details.
    metric : str, Metric, a sequence of them, or Metrics, default="error"
        The metric: "error", "sensitivity" or another name from `cudbound.Metrics`, or several at once from the same
        draws and refits; or a `Metrics`, which also sets the costs of errors, the prevalence, and whether all intervals
        should hold simultaneously. Methods that only keep means over rows of both classes support only the error.
    event : object, default=None
        Label of the event, such as ``event="ill"``, for sensitivity and other metrics of single classes. None means the
        second class if the labels are 0 and 1, -1 and 1, or False and True.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient. Bootstrap draws then draw whole groups, and folds keep
        them together. Methods that would split groups raise ValueError, or give a row without numbers if requested as
        part of a group of methods.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Row weights with which the classifier was fitted. They enter its refits, all mean losses, and, through Kish's
        effective number of rows, the binomial limits.
    new_cases : (array-like, array-like), default=None
        New cases (X_new, y_new) of the same population, for the test-set methods and for "pooled", which adds them to
        the training rows. Without them, a part of the training set is held out for the test-set methods, and
        those rows of the table are for a classifier fitted to the rest. Remarks count cases that equal training rows.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        As in `scipy.stats`: "less" gives only upper limits, each at the full level ("with 95 % confidence the error is
        at most x"), "greater" only lower limits.
    n_resamples : int, default=1000
        Number of bootstrap draws B.
    resampling : Resampling, default=None
        Inner draws, draws of one class, your own splits, numbers of folds, splits and repetitions, see
        `cudbound.Resampling`; None uses the defaults of the sources.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None uses a new one.
    n_jobs : int or None, default=1
        Workers for draws of the CUD bound and for refits; -1 for all cores. Results do not depend on it.

    Returns
    -------
    IntervalTable
        One row per method, in the requested order; prints as a table, and has ``to_frame()``.

    Raises
    ------
    UnsupportedEstimatorError
        If "cud" is requested and the estimator cannot be expressed; remove it from `methods` to continue.
    NotMinimizerError
        If "cud" is requested and the estimator was not fitted to these `X` and `y`, or its solver stopped early: see
        `cudbound.Bound`.
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Warns
    -----
    NotMinimizerWarning
        If "two-center" is requested, or "cud" as a member of a group, and the coefficients do not minimize the loss on
        these rows: the estimator was fitted to other rows, or its solver stopped early. There is then no bound.
    SmallSampleWarning
        If an upper limit is lower than n new cases without an error could support, as with separable classes, if there
        are fewer than 20 or more than 500 training rows, with which hardly any interval was studied, or if an interval
        is from fewer than 20 of `new_cases` alone.
    ManyFeaturesWarning
        If there are many features for the rows, as in `cudbound.performance_interval`.
    RepeatedRowsWarning
        If cases of `new_cases` equal training rows.
    SmallSampleWarning, RepeatedRowsWarning
        If rows do not seem to be one patient each: docs/how_to/rows_and_weights.md.

    Notes
    -----
    The same arguments and the same integer `rng` give the same rows, for any `n_jobs` and any other methods. No row is
    dropped: a row without information is marked as degenerate, with the reason. So is a row whose refits fail, such as
    nearest neighbors on too few rows; if all fail, the first error is raised. Only test-set-clopper-pearson and
    test-set-langford have a finite-sample guarantee, with independent test cases; ``tendency`` in
    `cudbound.available_methods` describes the known behavior of each method.

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in classification
    using the CUD bound. UAI 2008, sections 2 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, compare_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 2))
    >>> y = X[:, 0] + rng.normal(size=30) > 0
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> table = compare_intervals(clf, X, y, methods=["martin-beta", "langford-binomial"], rng=0)
    >>> [row.method for row in table.rows]
    ['martin-beta', 'langford-binomial']
    >>> bool(0.0 <= table["martin-beta"].confidence_interval.low <= table["martin-beta"].estimate)
    True
    """
    from cudbound.analysis.table import IntervalTable
    from cudbound.intervals import find_methods

    if new_cases is not None and methods == "recommended":
        methods = "new-cases"
    return _table_of(
        IntervalTable,
        find_methods(methods),
        (estimator, X, y, groups, sample_weight, new_cases),
        metric=metric,
        event=event,
        confidence_level=confidence_level,
        alternative=alternative,
        n_resamples=n_resamples,
        resampling=resampling,
        rng=rng,
        n_jobs=n_jobs,
    )


def _table_of(
    kind: type[OneTable],
    methods: RequestedMethods[Method],
    data: tuple[Any, ...],
    *,
    one_metric: bool = False,
    **settings: Any,
) -> OneTable:
    """Return a table of these methods, and issue its cautions as warnings; `data` are arguments of `analyze`."""
    from cudbound.analysis.analyze import analyze
    from cudbound.analysis.question import Question
    from cudbound.report.sentences import cautions

    question = Question.of(methods, **settings)
    if one_metric and len(question.metrics.names) > 1:
        raise ParameterError("metric", "one metric; compare_intervals accepts several", settings["metric"])
    analysis = analyze(question, *data, several=True, one_metric=one_metric)
    rows = analysis.rows()
    for caution in cautions(rows, analysis.sample.n_samples, analysis.cautions):
        warn(caution)
    return kind(rows, analysis=analysis)


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
    from cudbound.analysis.analyze import analyze
    from cudbound.analysis.question import Question
    from cudbound.analysis.rows import compute_rows
    from cudbound.analysis.table import PointEstimateTable
    from cudbound.basis.results import PointEstimate
    from cudbound.point_estimates import compute_estimate, find_estimators
    from cudbound.report.sentences import few_test_cases
    from cudbound.resampling.make_records import INNER_DRAWS

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
    for caution in (*few_test_cases(rows), *analysis.cautions):
        warn(caution)
    return PointEstimateTable(rows, analysis.run)
