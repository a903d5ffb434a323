"""Comparing two classifiers, or two learning algorithms, on matched splits of the same data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from cudbound.adapters import warn_unscaled
from cudbound.adapters.in_words import describe_classifier
from cudbound.adapters.seeded import seeded_clone, unseeded_parameters
from cudbound.analysis.majority import find_learner, with_majority_remark
from cudbound.analysis.progress import progress_bar
from cudbound.analysis.session import Resampling, Session
from cudbound.analysis.table import ComparisonTable
from cudbound.basis.protocols import Features, Learner, Splits
from cudbound.basis.results import ComparisonResult
from cudbound.basis.validation import (
    check_binary_classifier,
    check_confidence_level,
)
from cudbound.intervals import Method, find_comparisons
from cudbound.intervals.difference import check_alternative, compute_comparison
from cudbound.records import Records, TestSetLosses
from cudbound.report.tables import ComparisonRun
from cudbound.resampling import ResamplingSizes
from cudbound.resampling.own_test_sets import record_own_test_sets
from cudbound.resampling.plan import kept_going
from cudbound.resampling.refits import difference, prepare_refits
from cudbound.resampling.task import Task

#: Methods that read this record need the losses of each classifier, not their differences.
OWN_TEST_SETS = "second_test_set"


def compare_learners(
    a: Learner,
    b: Learner,
    X: Features,
    y: ArrayLike,
    *,
    method: str = "corrected-resampled-t",
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    null: float = 0.0,
    options: Mapping[str, Any] | None = None,
    sizes: ResamplingSizes | None = None,
    cv: Splits | None = None,
    groups: ArrayLike | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    on_single_class: str | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: bool | None = None,
) -> ComparisonResult:
    """Test whether two learning algorithms, or two fitted classifiers, have the same error.

    The procedure:

    1. draw the splits that the method needs, the same for both;
    2. fit both on every training set, and record for every tested row the loss of `a` minus that of `b`;
    3. test whether the mean difference is 0, and compute an interval for it.

    Parameters
    ----------
    a, b : object, or "majority"
        Scikit-learn classifiers; clones are fitted to the training sets. They need not be fitted, except that with
        `test_set` fitted ones are taken as they are. "majority" always says the majority class of its training set;
        a remark says where there is no evidence that the other one beats it.
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
        Labels of two classes, at least two rows of each.
    method : str, default="corrected-resampled-t"
        One of those that `cudbound.available_methods` lists as comparisons. Which error is compared, that of the
        algorithm or of one fit, is the ``estimand`` of the result.
    confidence_level : float, default=0.95
        Nominal level of the interval, in (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        "less": error(a) - error(b) is below `null`, with an upper limit for the difference only; "greater": it is above
        `null`; "equivalent": it is between ``-null`` and `null`, by two one-sided tests, with an interval at
        ``2 * confidence_level - 1``.
    null : float, default=0.0
        Margin, in (-1, 1): the difference that would matter. With "less" and a positive one the test is of
        non-inferiority. Methods without a standard error ("5x2cv-f", "grandvalet-bengio-t", "mcnemar",
        "independent-test-sets") take 0 alone.
    options : mapping, default=None
        Options of the method, such as ``{"rho": 0.5}``.
    sizes : ResamplingSizes, default=None
        Numbers of folds, splits and repetitions; None takes the defaults of the sources.
    cv : int, splitter of scikit-learn or iterable of (train, test), default=None
        Splits of your own, if the method reads folds or splits; see `cudbound.compare_intervals`.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient: folds keep them together. Without `cv` methods that
        read folds or splits get folds of whole groups; methods that would take groups apart are refused.
    test_set : (array-like, array-like), default=None
        New cases (X_test, y_test) for "mcnemar" and "single-split-t".
    on_single_class : {"fit", "redraw", "drop", "error"} or None, default=None
        What happens to training sets of one class; "fit" gives the constant classifier. None: "fit" if the
        refits of both are batched, else "redraw".
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one.
    n_jobs : int or None, default=1
        Workers; -1 for all cores. The result does not depend on it.
    progress : bool or None, default=None
        Whether to show bars on standard error, with the time that remains. None shows them from two seconds on, on a
        terminal or in a notebook.

    Returns
    -------
    ComparisonResult
        With ``estimate`` (the error of `a` minus that of `b`), ``statistic``, ``pvalue``, ``confidence_interval``,
        ``alternative``, ``estimand``, ``degenerate`` and ``details``. `tabulate_comparisons` with ``methods=[method]``
        gives the same as a table, which writes itself for a paper.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Warns
    -----
    UnscaledPenaltyWarning
        If one of them is known to have a penalty that meets features of very different size.

    Guarantee
    ---------
    The same arguments and the same integer `rng` give the same result, whatever `n_jobs` is. Exchanging `a` and `b`
    changes the sign of the estimate and nothing else, except by "independent-test-sets": the first classifier is
    tested on one part of the held-out rows and the second on the other. Losses without any variance never reject: the
    p-value is then 1, and ``degenerate`` says why.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281; Dietterich,
    T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms. Neural
    Computation 10, 1895-1923; Grandvalet, Y. and Bengio, Y. (2006). Hypothesis testing for cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from cudbound import LeastSquaresClassifier, compare_learners
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = X[:, 0] + rng.normal(size=60) > 0
    >>> found = compare_learners(LeastSquaresClassifier(), DummyClassifier(), X, y, rng=0)
    >>> found.estimate < 0, str(found.estimand)
    (True, 'expected(n1=54)')
    """
    by_name = None if options is None else {method: options}
    return tabulate_comparisons(
        a,
        b,
        X,
        y,
        methods=[method],
        confidence_level=confidence_level,
        alternative=alternative,
        null=null,
        options=by_name,
        sizes=sizes,
        cv=cv,
        groups=groups,
        test_set=test_set,
        on_single_class=on_single_class,
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
    ).rows[0]


def tabulate_comparisons(
    a: Learner,
    b: Learner,
    X: Features,
    y: ArrayLike,
    *,
    methods: str | Sequence[str | Method] = "all",
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    null: float = 0.0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    sizes: ResamplingSizes | None = None,
    cv: Splits | None = None,
    groups: ArrayLike | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    on_single_class: str | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: bool | None = None,
) -> ComparisonTable:
    """Compare two learning algorithms by several methods that share their refits.

    Parameters
    ----------
    a, b, X, y, confidence_level, alternative, null, sizes, cv, groups, test_set, on_single_class
        As for `compare_learners`.
    rng, n_jobs, progress
        As for `compare_learners`.
    methods : str or list of str, default="all"
        Names of methods that compare, or "all" of them; with the alternatives "less" and "greater" the tests that have
        no direction must be left out. A row does not depend on which others are asked for.
    options : mapping of str to mapping, default=None
        Options of single methods by name.

    Returns
    -------
    ComparisonTable
        One row per method, in the order asked for. One that cannot be computed keeps its row, with the reason, unless
        none can: the first error is then raised.

    Raises
    ------
    ValueError
        As `compare_learners`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from cudbound import LeastSquaresClassifier, tabulate_comparisons
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> table = tabulate_comparisons(
    ...     LeastSquaresClassifier(), DummyClassifier(), X, X[:, 0] > 0, methods=["mcnemar", "5x2cv-t"], rng=0
    ... )
    >>> [row.method for row in table.rows]
    ['mcnemar', '5x2cv-t']
    """
    if isinstance(a, list | tuple | Mapping):
        raise TypeError(
            "tabulate_comparisons compares two learners, a and b, by several methods. Call "
            "compare_many_learners(learners, X, y) for several learners."
        )
    session = Session(find_comparisons(methods).with_options(options), rng=rng, n_jobs=n_jobs)
    level = check_confidence_level(confidence_level)
    check_alternative(alternative, session.methods, null, level)  # before the refits
    first, second = fitted = fit_learners(session, (a, b), X, y)
    none_drawn = session.take(X, y, common_classes(fitted), groups=groups)
    plan = session.prepare(session.methods, Resampling(sizes, on_single_class, cv, test_set))
    sample = session.sample
    # losses on two test sets are no differences: they are recorded on their own
    of_differences = [method.needs for method in session.methods if OWN_TEST_SETS not in method.needs]
    shared = replace(plan, needs=plan.needs & frozenset[str]().union(*of_differences))
    one, other = (prepare_refits(each, X, sample.y, n_jobs=session.n_jobs) for each in (first, second))
    both = difference(one, other)
    given = differences_on_new_cases(session, first, second)  # before the refits
    own = Records()
    failed_own: dict[str, Exception] = {}
    total = 2 * shared.n_fits(none_drawn) + (2 if OWN_TEST_SETS in plan.needs else 0)
    with progress_bar(total, progress) as advance:
        made = session.refit(both, none_drawn, lambda n_pairs: advance(2 * n_pairs), shared)
        if OWN_TEST_SETS in plan.needs:
            draws, *seeds = session.streams[OWN_TEST_SETS].spawn(3)
            with kept_going(failed_own, OWN_TEST_SETS):
                policy = plan.on_single_class or ("fit" if both.batched else "redraw")
                refit = one.recorded(seeds[0], advance)
                task = Task(refit, sample.labels, plan.sizes, policy, draws)
                tested = record_own_test_sets(task, other.recorded(seeds[1], advance))
                own = Records(test_set=tested[0], second_test_set=tested[1])
    records = Records(**made | given, groups=sample.groups)

    def compute(method: Method) -> ComparisonResult:
        its = own if OWN_TEST_SETS in method.needs else records
        found = compute_comparison(method, its, level, alternative, session.options_of(method), null=null)
        return with_majority_remark(found, first, second)

    return ComparisonTable(
        session.rows(
            ComparisonResult,
            compute,
            failed=lambda method: failed_own if OWN_TEST_SETS in method.needs else session.failed,
            confidence_level=level,
            alternative=alternative,
            null=null,
        ),
        ComparisonRun(
            **session.run_facts(), learner_a=describe_classifier(a), learner_b=describe_classifier(b)
        ),
    )


def differences_on_new_cases(session: Session[Method], first: Any, second: Any) -> dict[str, TestSetLosses]:
    """Return the record of the losses of one classifier minus those of another on new cases, if there are any."""
    if session.new_cases is None:
        return {}
    X_test, y_test = session.new_cases
    wrong = [(each.predict(X_test) != y_test).astype(np.int8) for each in (first, second)]
    n_train, remarks = session.sample.n_samples, session.test_remarks
    return {"test_set": TestSetLosses(wrong[0] - wrong[1], n_train, estimand="conditional", remarks=remarks)}


def fit_learners(session: Session[Method], learners: Iterable[Any], X: Any, y: Any) -> list[Any]:
    """Return learners as they are if they are fitted, else clones fitted to all rows, seeded where they have no seed.

    Warns
    -----
    UnscaledPenaltyWarning
        If one is known to have a penalty that meets features of very different size.
    """
    session.spawn()
    seed = int(session.streams["learners"].integers(2**31 - 1))
    found = []
    for learner in map(find_learner, learners):
        try:
            check_is_fitted(learner)
            fitted = learner
        except NotFittedError:
            # clones of it take seeds of their own
            unseeded = dict.fromkeys(unseeded_parameters(learner))
            fitted = seeded_clone(learner, seed).fit(X, y).set_params(**unseeded)
        warn_unscaled(fitted, X, y)
        found.append(fitted)
    return found


def common_classes(fitted: Sequence[Any]) -> NDArray[Any]:
    """Return the two classes of fitted classifiers; raise ValueError if they differ."""
    first, *others = map(check_binary_classifier, fitted)
    for second in others:
        if not np.array_equal(first, second):
            raise ValueError(
                f"Both classifiers must have the same two classes. Got {first.tolist()} and {second.tolist()}; fit "
                "both to these labels."
            )
    return first
