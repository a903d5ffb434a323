"""The table: the CUD interval and other intervals on the same training set, from shared refits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.in_words import describe_classifier
from cudbound.analysis.bounds_and_rows import Bounds, Rows, check_seen
from cudbound.analysis.cud_result import saved_bound
from cudbound.analysis.instability import instability_of
from cudbound.analysis.known_classifier import ModelRequest, look_at
from cudbound.analysis.progress import progress_bar
from cudbound.analysis.session import Resampling, Session, check_sizes
from cudbound.analysis.table import IntervalTable
from cudbound.basis.bars import Progress
from cudbound.basis.fingerprint import fingerprint
from cudbound.basis.protocols import Features, FittedClassifier, Splits
from cudbound.basis.validation import (
    check_binary_classifier,
    check_choice,
    check_confidence_level,
    check_inner,
    check_localization,
    check_row_weights,
    count_rows,
    refuse_others,
)
from cudbound.bound.boundary import boundary_deviations, boundary_limits
from cudbound.intervals import GROUPS, Method, find_methods
from cudbound.intervals.method import ALTERNATIVES
from cudbound.metrics.metric import ERROR, Metric, MetricRows
from cudbound.metrics.metric_draws import MetricDraws
from cudbound.metrics.metric_terms import warn_of_few
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.metrics.views import check_inner_draws, view
from cudbound.point_estimates.two_centers import overfits
from cudbound.problem.draws import check_resamples
from cudbound.report.cautions import warn_of
from cudbound.report.run_facts import weighted_share
from cudbound.report.tables import RunDescription
from cudbound.resampling import ResamplingSizes
from cudbound.resampling.configurations import check_search, record_tuning, search_splits
from cudbound.resampling.plan import kept_going
from cudbound.resampling.refits import Refits, prepare_refits
from cudbound.resampling.related_rows import related_rows
from cudbound.saved.saved_file import Question, SavedResult
from cudbound.solve.limits import SearchLimits, check_limits
from cudbound.solve.search import Search

#: Inner draws of each draw where refits are made in batches.
INNER_DRAWS = 50
#: Records of which inner draws, or none, decide what is drawn.
RESAMPLED = frozenset({"bootstrap", "inner", "removed_cases"})


def compare_intervals(
    estimator: FittedClassifier,
    X: Features,
    y: ArrayLike,
    *,
    methods: str | Sequence[str | Method] = "paper",
    metric: str | Metric | Sequence[str | Metric] | Metrics = "error",
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    n_resamples: int = 1000,
    localization: str | float = "n",
    inner: int | str | None = None,
    on_single_class: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    sizes: ResamplingSizes | None = None,
    cv: Splits | None = None,
    groups: ArrayLike | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    fallback: bool = False,
    polish: bool = False,
    solver: str = "native",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    limits: SearchLimits | None = None,
    progress: bool | None = None,
    **others: Never,
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
        Fitted scikit-learn classifier of two classes. ``"cud"`` needs one that `cudbound.adapters.express`
        knows, such as `cudbound.ConvexLossClassifier`, `sklearn.linear_model.LogisticRegression` or a `Pipeline` that
        ends in one. In step 3 a `Pipeline` or a search is refitted as a whole.
    X : array-like, shape (n_samples, n_features)
        The rows that the estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    methods : str or list of str or Method, default="paper"
        "paper" for the seven intervals that Laber and Murphy compare, "conditional" for all that aim at the error of
        this classifier or of one fitted to a part of the data, "algorithm" for those of cross-validation and of random
        splits, most of which aim at the expected error of the learning algorithm, "all" for both, "recommended" for the
        interval to use with the bound that caps it, "clinical" for what software for clinical prediction models prints,
        "tuned" for the error of tuning and fitting, from a fitted search, or names, which `cudbound.available_methods`
        lists. A row does not depend on which others are asked for. In a group a method that this classifier does
        not allow keeps its row, which says why in a few words; asked for by name it is an error, which says it in full.
    metric : str, Metric, a sequence of them, or Metrics, default="error"
        What is bounded: "error", "sensitivity", "specificity", "balanced-error", "cost", "ppv" or "npv", several at
        once from the same draws and refits, or `cudbound.Metrics`, which also says which label is the event, what
        errors cost, at which prevalence, and whether all intervals are to hold together. Methods that keep means over
        rows of both classes have the error alone.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows, with which the classifier was fitted: they enter its refits, all mean losses, and, as
        Kish's effective number of rows, the binomial limits.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        As in `scipy.stats`: "less" gives upper limits alone, each at the whole level ("with 95 % confidence the error
        is at most x"), "greater" lower ones.
    n_resamples : int, default=1000
        Number of bootstrap draws B.
    localization : {"n", "paper-literal"} or float, default="n"
        Localization rate of the CUD bound on the scale of the mean loss, see `cudbound.cud_interval`.
    inner : int, "oob" or None, default=None
        Inner draws of each draw for the two bootstrap intervals, which recompute the .632 estimate on every
        draw. "oob" uses .368 err(f_b on D_b) + .632 err(f_b off D_b) instead and needs no inner draws; a draw that
        leaves nothing out is then drawn again, for every method that refits the draws. None means 50 where refits are
        made in batches, and "oob" where clones are fitted one by one, of a random forest for instance: 51,000 fits
        with the other defaults would take long.
    on_single_class : {"fit", "redraw", "drop", "error"} or None, default=None
        What happens to resampled training sets that hold one class only; their number stands in the remarks.
        None means "fit" where refits are made in batches, which gives a constant classifier
        (`LeastSquaresClassifier`, `ConvexLossClassifier` without a basis, `RidgeClassifier`, `LogisticRegression`,
        `LinearSVC`, `LinearDiscriminantAnalysis`, alone and behind the usual steps), and "redraw" for others.
        The CUD bound needs no refits and uses every draw unchanged.
    options : mapping of str to mapping, default=None
        Options of single methods by name, such as ``{"kohavi-normal": {"form": "wilson"}}``.
    sizes : ResamplingSizes, default=None
        Numbers of folds, splits and repetitions, and the rate of "aci"; None takes the defaults of the sources.
    cv : int, splitter of scikit-learn or iterable of (train, test), default=None
        Splits of your own, which the methods that read folds or splits take in place of random ones: a partition
        serves those of k-fold cross-validation and, as the test sets of J = k splits, those of random splits; repeated
        partitions and random splits serve the latter. An integer means stratified shuffled folds.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient. Whole groups are then drawn in every bootstrap draw,
        and folds keep them together. Methods that would take groups apart are refused, as a row without numbers where
        `methods` names a group of them.
    test_set : (array-like, array-like), default=None
        New cases (X_test, y_test) for the test-set methods; without it a part of the training set is held out, and
        those rows are for a classifier fitted to the rest. Cases that equal training rows are counted in the remarks.
    fallback : bool, default=False
        Whether a zero-width interval is replaced by the fallback that `cudbound.available_methods` names, and that of
        "cud" also where its upper limit is lower than n new cases without an error would allow.
    polish : bool, default=False
        Whether the CUD bound is that of the exact minimizer of the loss, see `cudbound.cud_interval`. The other rows
        are for the classifier as it was fitted; the remarks of the row "cud" say how far the two differ.
    solver : {"native", "cvxpy"}, default="native"
        Solver of the CUD bound, see `cudbound.solve_draws`.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one.
    n_jobs : int or None, default=1
        Workers for draws of the CUD bound and for refits; -1 for all cores. Results do not depend on it.
    limits : SearchLimits, default=None
        Limits of the search for the CUD bound, which by default ends after about ten seconds of one processor, with
        bounds: see `cudbound.SearchLimits`. All but `nodes` hold for the adaptive interval likewise.
    progress : bool or None, default=None
        Whether to show bars on standard error, with the time that remains. None shows them from two seconds on, on a
        terminal or in a notebook.

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
        `polish`.
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
        If rows do not seem to count as one patient each: docs/grouped_rows.md.

    Guarantee
    ---------
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
    given = dict(locals())
    refuse_others(compare_intervals, others)
    shown = Progress.of(progress)
    chosen_options = dict(options or {})
    if fallback:
        for one in find_methods(methods):
            if one.fallback is not None:
                chosen_options[one.name] = {"fallback": True, **chosen_options.get(one.name, {})}
    session = Session(find_methods(methods).with_options(chosen_options or None), rng=rng, n_jobs=n_jobs)
    level = check_confidence_level(confidence_level)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("solver", solver, ("native", "cvxpy"))
    search = Search(solver=solver, n_jobs=session.n_jobs, limits=check_limits(limits))
    tuned = any("tuned" in method.needs for method in session.methods)
    if tuned:
        check_search(estimator)
    classes = check_binary_classifier(estimator)
    asked = as_metrics(metric).resolve(classes.tolist())
    weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
    check_resamples(n_resamples, count_rows(X))  # before what takes time with many rows
    chosen = check_sizes(sizes)
    n_inner = None if inner is None else check_inner(inner)
    lenient = isinstance(methods, str) and methods in GROUPS
    refused: dict[str, str] = {}
    capped = [method for method in session.methods if _caps(method, session.options_of(method))]
    plain = asked.plain and weights is None
    if not plain:
        refused = check_seen(session.methods, asked, lenient=lenient, weighted=weights is not None)
    draws = MetricDraws(asked, weights)
    counts = session.take(X, y, classes, n_resamples, groups, draw=None if plain else draws.draw)
    sample = session.sample
    request = ModelRequest(
        session.methods, bool(capped), lenient, polish, chosen.aci_rate, solver == "native"
    )
    known = look_at(estimator, X, sample.y, request, groups=sample.groups, sample_weight=weights)
    model = known.model
    refused = known.refused | refused
    families = asked.families(asked.event_rows(sample.labels), weights, level)
    check_inner_draws(n_inner, families)
    warn_of_few(dict.fromkeys(one for family in families for one in family.seen))
    rate = check_localization(localization, sample.n_samples)
    available = [method for method in session.methods if method.name not in refused]
    refits: Refits | None = None
    if any(method.needs & RESAMPLED for method in available):
        refits = prepare_refits(estimator, X, sample.y, n_jobs=session.n_jobs, sample_weight=weights)
        if inner is None and refits.batched and plain:
            n_inner = INNER_DRAWS
    search_folds = search_splits(estimator, X, sample.y, groups, session.streams["cv"]) if tuned else None
    resampling = Resampling(chosen, on_single_class, cv, test_set, n_inner)
    plan = session.prepare(available, resampling, refused=refused if lenient else None, design=known.design)
    records = replace(
        session.given_records(estimator), design=known.design, why_not_capped=known.why_not_capped
    )
    bounds = None if model is None else Bounds(session, model, counts, rate, search, shown)
    results = {}
    if bounds is not None and "bound" in plan.needs:
        results = {family.key: bounds.solve(family) for family in families}
    if model is not None and "boundary" in plan.needs:
        boundary = boundary_deviations(
            model,
            counts,
            rate=chosen.aci_rate,
            n_jobs=session.n_jobs,
            limits=boundary_limits(search.limits),
            progress=shown,
        )
        records = replace(records, boundary=boundary)
    if plan.refits_are_needed:
        refits = refits or prepare_refits(
            estimator, X, sample.y, n_jobs=session.n_jobs, sample_weight=weights
        )
        with progress_bar(plan.n_fits(counts, sample.groups), shown) as advance:
            records = replace(records, **session.refit(refits, counts, advance))
    if search_folds is not None:
        searched: Any = estimator  # has what a search has
        n_fits = len(search_folds.test) * len(searched.cv_results_["params"])
        with progress_bar(n_fits, shown) as advance, kept_going(session.failed, "tuned"):
            records = replace(
                records,
                tuned=record_tuning(
                    estimator,
                    X,
                    sample.y,
                    counts,
                    search_folds,
                    rng=session.streams["tuned"],
                    n_jobs=session.n_jobs,
                    advance=advance,
                ),
            )
    if records.bootstrap is not None and any(method.also_needs for method in available):
        errors = view(records, MetricRows(ERROR, asked.event_rows(sample.labels), weights))
        records = replace(records, overfits=overfits(errors))
    words = describe_classifier(estimator)
    rows = Rows(session, records, alternative, refused, capped, bounds, draws.remarks, results)
    run = RunDescription(
        **session.run_facts(asked.event_class),
        n_resamples=int(counts.shape[0]),
        localization=localization,
        classifier=words,
        weighted_share=weighted_share(asked.event_rows(sample.labels), weights),
        cautions=related_rows(X, sample.labels > 0.0, sample.groups, weights),
    )
    made = records.bootstrap
    unstable = None if made is None else instability_of(made, records, estimator, X, run)
    source = SavedResult(
        Question.of(given, asked, classes),
        fingerprint(X, asked.event_rows(sample.labels), sample.groups, weights),
        words or "",
        counts,
        model.coef if results and model is not None else None,
        tuple(map(saved_bound, results.values())),
    )
    table = IntervalTable(rows.all(asked, families), run, unstable, source)
    warn_of(table.cautions, stacklevel=2)
    return table


def _caps(method: Method, options: Mapping[str, Any]) -> bool:
    """Whether a method reads the signed suprema, with these options."""
    return "signed_suprema" in method.needs and bool(options.get("cap", True))
