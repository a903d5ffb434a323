"""The table: the CUD interval and other intervals on the same training set, from shared refits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cudbound.analysis.analyze import analyze
from cudbound.analysis.question import Question
from cudbound.analysis.table import IntervalTable
from cudbound.basis.calls import public_call
from cudbound.basis.protocols import Features, FittedClassifier
from cudbound.basis.sample import Sample
from cudbound.bound.settings import Bound
from cudbound.intervals import AskedMethod, find_methods
from cudbound.metrics.metric import Metric
from cudbound.metrics.metrics import Metrics
from cudbound.report.cautions import warn_of
from cudbound.resampling import Resampling


@public_call
def compare_intervals(
    estimator: FittedClassifier,
    X: Features,
    y: ArrayLike,
    *,
    methods: AskedMethod | Sequence[AskedMethod] = "recommended",
    metric: str | Metric | Sequence[str | Metric] | Metrics = "error",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    n_resamples: int = 1000,
    resampling: Resampling | None = None,
    bound: Bound | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> IntervalTable:
    """Set intervals by several methods for the error of a classifier, or of its algorithm, beside each other.

    The procedure:

    1. draw `n_resamples` bootstrap samples, shared by all methods; the same `rng` gives the draws of
       `cudbound.cud_interval`, and so the same CUD interval;
    2. solve them for the CUD bound, if ``"cud"`` is asked for;
    3. refit the classifier once for every draw, inner draw, fold and split that any of the methods needs, and record
       which training points each refit gets wrong;
    4. compute every interval from these records.

    Parameters
    ----------
    estimator : object
        Fitted scikit-learn classifier. ``"cud"`` needs one of two classes that `cudbound.adapters.express`
        knows, such as `cudbound.ConvexLossClassifier`, `sklearn.linear_model.LogisticRegression` or a `Pipeline` that
        ends in one. In step 3 a `Pipeline` or a search is refitted as a whole.
    X : array-like, shape (n_samples, n_features)
        The rows that the estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    methods : str, Method, pair, or list of these, default="recommended"
        "recommended" for the interval to report, "two-center", and two to compare it with, "paper" for the seven
        intervals that Laber and Murphy compare, "conditional" for all that aim at the error of this classifier or of
        one fitted to a part of the data, "algorithm" for those of cross-validation and of random splits, most of which
        aim at the expected error of the learning algorithm, "all" for both, "clinical" for what software for clinical
        prediction models prints, "tuned" for the error of tuning and fitting, from a fitted search, or names, which
        `cudbound.available_methods` lists. A pair (name, options) sets options, such as ``("kohavi-normal", {"form":
        "wilson"})``; one of a group and options sets them in each member that has them: ``("paper", {"fallback":
        True})`` replaces zero-width intervals by the fallbacks that `cudbound.available_methods` names. A row does not
        depend on which others are asked for. In a group a method that this classifier does not allow keeps its row,
        which says why in a few words; asked for by name it is an error, which says it in full.
    metric : str, Metric, a sequence of them, or Metrics, default="error"
        What is bounded: "error", "sensitivity" or other names out of those of `cudbound.Metrics`, several at once
        from the same draws and refits, or that class itself, which also says which label is the event, what
        errors cost, at which prevalence, and whether all intervals are to hold together. Methods that keep means over
        rows of both classes have the error alone.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient. Whole groups are then drawn in every bootstrap draw,
        and folds keep them together. Methods that would take groups apart are refused, as a row without numbers where
        `methods` names a group of them.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows, with which the classifier was fitted: they enter its refits, all mean losses, and, as
        Kish's effective number of rows, the binomial limits.
    test_set : (array-like, array-like), default=None
        New cases (X_test, y_test) for the test-set methods; without it a part of the training set is held out, and
        those rows are for a classifier fitted to the rest. Cases that equal training rows are counted in the remarks.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        As in `scipy.stats`: "less" gives upper limits alone, each at the whole level ("with 95 % confidence the error
        is at most x"), "greater" lower ones.
    n_resamples : int, default=1000
        Number of bootstrap draws B.
    resampling : Resampling, default=None
        Inner draws, draws of one class, splits of your own, numbers of folds, splits and repetitions, see
        `cudbound.Resampling`; None takes the defaults of the sources.
    bound : Bound, default=None
        Localization, polishing and limits of the search for the CUD bound, see `cudbound.Bound`. By default the search
        ends after about ten seconds of one processor, with bounds; that of "two-center" after three.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one.
    n_jobs : int or None, default=1
        Workers for draws of the CUD bound and for refits; -1 for all cores. Results do not depend on it.

    Returns
    -------
    IntervalTable
        One row per method, in the order asked for; prints as a table, and has ``to_frame()``.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator has not been fitted.
    UnsupportedEstimatorError
        If "cud" is asked for and the estimator cannot be expressed; leave it out of `methods` to continue.
    NotMinimizerError
        If "cud" is asked for and the estimator was not fitted to these `X` and `y`, or its solver stopped early: see
        `cudbound.Bound`.
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Warns
    -----
    LowUpperLimitWarning
        If an upper limit is lower than n new cases without a single error would allow, as where classes are separable.
    SampleSizeWarning
        If there are fewer than 20 or more than 200 training rows, on which the intervals were not studied.
    TrainingRowsWarning
        If cases of `test_set` equal training rows.
    FewGroupsWarning, FrequencyWeightsWarning, SimilarRowsWarning, DuplicateRowsWarning
        If rows do not seem to count as one patient each: docs/how_to/several_rows_per_patient.md.

    Notes
    -----
    The same arguments and the same integer `rng` give the same rows, whatever `n_jobs` is and whatever other
    methods are asked for. No row is dropped: one that says nothing is marked as degenerate, with the reason. So is
    one whose refits fail, as those of neighbors on too few rows do, unless all do: the first error is then raised.
    None of the intervals has a finite-sample guarantee, except those on a test set; ``tendency`` in
    `cudbound.available_methods` says what is known.

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
    question = Question.of(
        find_methods(methods),
        metric=metric,
        confidence_level=confidence_level,
        alternative=alternative,
        n_resamples=n_resamples,
        resampling=resampling,
        bound=bound,
        rng=rng,
        n_jobs=n_jobs,
    )
    sample = Sample.of(estimator, X, y, groups, sample_weight, several=True)
    analysis, rows, _ = analyze(question, sample, estimator, test_set)
    table = IntervalTable(rows, analysis.run, analysis)
    warn_of(table.cautions)
    return table
