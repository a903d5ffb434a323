"""The CUD bound: per-draw Q, their quantile, and the confidence set around the training error."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Never

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters import express
from cudbound.adapters.fitted_facts import facts_of
from cudbound.adapters.in_words import describe_classifier
from cudbound.analysis.cud_result import CudResult, solve_bound
from cudbound.basis.bars import Progress
from cudbound.basis.exceptions import LabelsReadWarning
from cudbound.basis.fingerprint import fingerprint
from cudbound.basis.groups import check_groups
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.protocols import Features, FittedClassifier
from cudbound.basis.validation import (
    check_binary_classifier,
    check_confidence_level,
    check_localization,
    check_rng,
    check_row_weights,
    count_rows,
    refuse_others,
)
from cudbound.metrics.metric import Metric, MetricRows
from cudbound.metrics.metric_draws import MetricDraws
from cudbound.metrics.metric_terms import warn_of_few
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.problem.draws import check_resamples
from cudbound.report.cautions import warn_of
from cudbound.report.run_facts import describe_data, seed_of, weighted_share
from cudbound.report.tables import RunDescription
from cudbound.saved.saved_file import Question, SavedResult
from cudbound.solve.limits import SearchLimits, check_limits
from cudbound.solve.search import Search


def cud_interval(
    estimator: FittedClassifier,
    X: Features,
    y: ArrayLike,
    *,
    metric: str | Metric | Metrics = "error",
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    localization: str | float = "n",
    polish: bool = False,
    search: str = "quantile",
    solver: str = "native",
    groups: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    limits: SearchLimits | None = None,
    progress: bool | Progress | None = None,
    **others: Never,
) -> CudResult:
    r"""Exact CUD confidence set for the true error of a fitted classifier.

    The procedure:

    1. write the classifier as sign(b(gamma-hat, x)'beta-hat), with the transformers of a pipeline as the fixed
       gamma-hat, and check that beta-hat minimizes its surrogate loss, with its penalty and class weights, on `X` and
       `y`;
    2. draw `n_resamples` bootstrap samples of the rows;
    3. for each draw find Q, the supremum over all beta of \|bootstrap error - training error\| times
       g(alpha (L_b(beta-hat) - L_b(beta))), g(u) = clip(1 + u, 0, 1), exactly, by branch and bound (section 4);
    4. take the `confidence_level` quantile q of the Q (inverted distribution function, section 3.1); most draws are
       solved only until it is known on which side of q they lie;
    5. report training error -+ q, clipped to [0, 1].

    Parameters
    ----------
    estimator : object
        Fitted classifier that `cudbound.adapters.express` knows: `cudbound.ConvexLossClassifier`, one of the linear
        classifiers of scikit-learn, or a `sklearn.pipeline.Pipeline` of transformers that ends in one; the page
        docs/estimators.md lists them. Class weights are those of the training set in every draw.
    X : array-like, shape (n_samples, n_features)
        The rows that the estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    metric : str, Metric or Metrics, default="error"
        One metric that is linear in the losses, see `cudbound.Metrics`: the supremum is then of its deviation.
        `cudbound.compare_intervals` bounds several of them together.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows, with which the classifier was fitted.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    n_resamples : int, default=1000
        Number of bootstrap draws.
    localization : {"n", "paper-literal"} or float in [0, inf], default="n"
        Localization rate on the scale of the mean loss. "n" is the order derived in section 3 of the paper;
        "paper-literal" is n squared, which is what section 5 uses when its unscaled loss is read literally and can
        give an empty margin near separability. 0 gives the uniform deviation over all classifiers.
    polish : bool, default=False
        Whether to replace the fitted coefficients by the exact minimizer of their loss, instead of refusing a
        classifier whose solver stopped early. The interval, its center included, is then for that classifier, and
        ``polish`` of the result says how far it is from the fitted one.
    search : {"quantile", "all"}, default="quantile"
        "quantile" solves draws only as far as the quantile requires, which is many times faster. "all" solves every
        draw completely, for plots of the distribution of Q; `q` is the same.
    solver : {"native", "cvxpy"}, default="native"
        See `cudbound.solve_draws`; l1 penalties need "cvxpy", which is slow.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient. A draw then takes as many whole groups, with
        replacement, as there are; its error and mean loss are those of the rows that it holds.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one.
    n_jobs : int or None, default=1
        Threads; -1 for all cores. The result does not depend on it.
    limits : SearchLimits, default=None
        Nodes and seconds after which searches are given up; draws left open enter with their upper bounds. None ends
        the search for a quantile after a number of nodes that takes about ten seconds on one processor; see
        `cudbound.SearchLimits`.
    progress : bool or None, default=None
        Whether to show a progress bar on standard error, and, where the first draws prove hard, when it ends. None
        shows one after two seconds, on a terminal or in a notebook.

    Returns
    -------
    CudResult
        With ``confidence_interval``, ``estimate``, ``q``, ``certified`` and ``draws``; ``at`` continues the search, at
        another level or with other limits.

    Raises
    ------
    UnsupportedEstimatorError
        If the estimator cannot be written as an additive classifier with a convex surrogate loss.
    NotMinimizerError
        If it was not fitted to these `X` and `y`, or its solver stopped early: see `polish`.
    NoMinimizerError
        If the loss has no minimizer on these data: separable classes under an unpenalized logistic loss.
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.
    KeyboardInterrupt
        On Ctrl-C; its message says what is proved by then. Limits end a search with a result, which ``at`` continues.

    Warns
    -----
    NotCertifiedWarning
        If a limit, or rounding, ended the search before `q` was proved; the message says between which values it lies,
        and how to continue. The larger one is used.
    LowUpperLimitWarning
        If the upper limit is lower than n new cases without a single error would allow, as where classes are separable;
        ``fallback=True`` of `cudbound.compare_intervals` gives another interval then.
    SampleSizeWarning
        If there are fewer than 20 or more than 200 training rows, on which the interval was not studied.
    TuningNotResampledWarning
        If a search or a cross-validated estimator chose parameters on the same data.
    LabelsReadWarning
        If a step before the classifier reads the labels, as a selection of features does: the bound takes it as given.

    Notes
    -----
    Guaranteed: `q` is no smaller than the quantile of the exact suprema, and equal to it where `certified`, up to the
    tolerances in docs/solver.md (section Tolerances). What a limit or rounding leaves open can only make the interval
    longer. Not guaranteed: the coverage. The bound for the population is proved (Proposition 1), the bootstrap
    estimate of its quantile is not; in simulations the interval is conservative, and other intervals are sometimes
    shorter at the same coverage.

    References
    ----------
    E. B. Laber and S. A. Murphy, "Small sample inference for generalization error in classification using the CUD
    bound", UAI 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, cud_interval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=40) > 0, "ill", "well")
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> result = cud_interval(clf, X, y, n_resamples=200, rng=0)
    >>> result.certified
    True
    >>> result.at(confidence_level=0.8).q <= result.q
    True
    """
    given = dict(locals())
    refuse_others(cud_interval, others)
    level = check_confidence_level(confidence_level)
    n_resamples = check_resamples(n_resamples, count_rows(X))
    generator = check_rng(rng)
    how = Search(search, solver=solver, n_jobs=n_jobs, limits=check_limits(limits))
    weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
    model = express(estimator, X, y, polish=polish, sample_weight=weights)
    if step := facts_of(estimator, X, y).reads_labels:
        warnings.warn(LabelsReadWarning(step), stacklevel=2)
    classes = check_binary_classifier(estimator)
    asked = as_metrics(metric).resolve(classes.tolist())
    if len(asked.names) > 1 or asked.predictive:
        rule = (
            "one metric that is linear in the losses; compare_intervals takes several, and predictive values"
        )
        raise ParameterError("metric", rule, metric)
    labels = model.labels if model.classes[1] == classes[1] else -model.labels
    seen = MetricRows(asked.metrics[0], asked.event_rows(labels), weights)
    warn_of_few([seen])
    draws = MetricDraws(asked, weights)
    run = RunDescription(
        **describe_data(X, seen.event, classes if asked.event_class else classes[::-1], seed_of(rng)),
        n_resamples=n_resamples,
        localization=localization,
        classifier=describe_classifier(estimator),
        weighted_share=weighted_share(seen.event, weights),
    )
    together = check_groups(groups, labels)
    counts = draws.draw(labels, n_resamples, generator, together)
    bound = solve_bound(
        model,
        counts,
        seen=seen,
        confidence_level=level,
        localization=check_localization(localization, model.labels.size),
        search=how,
        progress=progress,
    )
    source = SavedResult(
        Question.of(given, asked, classes),
        fingerprint(X, seen.event, together, weights),
        run.classifier or "",
        counts,
    )
    result = replace(bound, run=run, draw_remarks=draws.remarks, source=source)
    warn_of(result.cautions, stacklevel=2)
    return result
