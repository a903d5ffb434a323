"""The table: the CUD interval and other intervals on the same training set, from shared refits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from cudbound.adapters import express
from cudbound.bootstrap import draw_counts
from cudbound.intervals import compute_interval, find_methods
from cudbound.resampling import POLICIES, Policy, ResamplingPlan, record_losses
from cudbound.results import IntervalTable
from cudbound.validation import (
    check_alpha,
    check_binary_classifier,
    check_choice,
    check_confidence_level,
    check_inner,
    check_labels,
    check_lengths,
    check_n_jobs,
    check_n_resamples,
    check_rng,
)

#: Folds of cross-validation, as in Laber and Murphy (2008), section 5.
N_FOLDS = 10


def compare_intervals(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    methods: str | Sequence[str] = "paper",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    alpha: str | float = "n",
    inner: int | str = 50,
    on_single_class: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    polish: bool = False,
    solver: str = "native",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    node_limit: int | None = None,
    time_limit: float | None = None,
    progress: bool = False,
) -> IntervalTable:
    """Set intervals by several methods for the error of a fitted classifier beside each other.

    The procedure:

    1. draw `n_resamples` bootstrap samples, shared by all methods; the same `rng` gives the draws of
       `cudbound.cud_interval`, and so the same CUD interval;
    2. solve them for the CUD bound, if ``"cud"`` is asked for;
    3. refit the classifier once for every draw, inner draw and fold that any of the methods needs, and record
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
    methods : str or list of str, default="paper"
        "paper" for the seven intervals that Laber and Murphy compare, or names out of `intervals.METHODS`.
        A row does not depend on which others are asked for.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    n_resamples : int, default=1000
        Number of bootstrap draws B.
    alpha : {"n", "paper-literal"} or float, default="n"
        Localisation rate of the CUD bound on the scale of the mean loss, see `cudbound.cud_interval`.
    inner : int or "oob", default=50
        Inner draws of each draw for the two bootstrap intervals, which recompute the .632 estimate on every
        draw. Refits that are no batched linear algebra, of a `Pipeline` for instance, take long: 51,000 fits
        with the defaults. "oob" uses .368 err(f_b on D_b) + .632 err(f_b off D_b) instead and needs no inner
        draws.
    on_single_class : {"fit", "redraw", "drop", "error"} or None, default=None
        What happens to resampled training sets that hold one class only; their number stands in the remarks.
        None means "fit" where refits are one batch of exact minimisations, which gives a constant classifier
        (`LeastSquaresClassifier`, `ConvexLossClassifier` without a basis, `RidgeClassifier`, `LogisticRegression`,
        `LinearSVC`; not with weights "balanced"), and "redraw" for others. The CUD bound needs no refits and uses
        all draws as they fell.
    options : mapping of str to mapping, default=None
        Options of single methods by name, such as ``{"kohavi-normal": {"form": "wilson"}}``.
    polish : bool, default=False
        Whether the CUD bound is that of the exact minimiser of the loss, see `cudbound.cud_interval`. The other rows
        are for the classifier as it was fitted; the remarks of the row "cud" say how far the two differ.
    solver : {"native", "cvxpy"}, default="native"
        Solver of the CUD bound, see `cudbound.solve_draws`.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one.
    n_jobs : int or None, default=1
        Workers for draws of the CUD bound and for refits; -1 for all cores. Results do not depend on it.
    node_limit, time_limit : int or float, default=None
        Limits of the CUD bound, see `cudbound.cud_interval`.
    progress : bool, default=False
        Whether to show progress bars.

    Returns
    -------
    IntervalTable
        One row a method, in the order asked for; prints as a table, and has ``to_frame()``.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator has not been fitted.
    UnsupportedEstimatorError
        If "cud" is asked for and the estimator cannot be expressed; leave it out of `methods` to go on.
    NotMinimiserError
        If "cud" is asked for and the estimator was not fitted to these `X` and `y`, or its solver stopped early: see
        `polish`.
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Guarantee
    ---------
    The same arguments and the same integer `rng` give the same rows, whatever `n_jobs` is and whatever other
    methods are asked for. No row is dropped: one that says nothing is marked as degenerate, with the reason.
    None of the intervals has a finite-sample guarantee; ``tendency`` in `cudbound.intervals.METHODS` says
    what is known.

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
    chosen = find_methods(methods)
    by_name = _check_options({} if options is None else options)
    for name in sorted(set(by_name) - {method.name for method in chosen}):
        raise ValueError(f"'options' names {name!r}, which is not among the methods asked for.")
    for method in chosen:
        method.resolve_options(by_name.get(method.name, {}))
    confidence_level = check_confidence_level(confidence_level)
    n_resamples = check_n_resamples(n_resamples)
    n_inner = check_inner(inner)
    n_jobs = check_n_jobs(n_jobs)
    if on_single_class is not None:
        check_choice("on_single_class", on_single_class, POLICIES)
    check_choice("solver", solver, ("native", "cvxpy"))
    generator = check_rng(rng)

    needs = frozenset[str]().union(*(method.needs for method in chosen))
    model = express(estimator, X, y, polish=polish) if "bound" in needs else None
    classes = check_binary_classifier(estimator)
    labels = check_labels(y, classes)
    check_lengths(X.shape[0] if hasattr(X, "shape") else len(X), labels.size)
    rate = check_alpha(alpha, labels.size)

    counts = draw_counts(labels.size, n_resamples, generator)
    bound = None
    if model is not None:
        from cudbound.bound import solve_bound

        bound = solve_bound(
            model,
            counts,
            confidence_level=confidence_level,
            alpha=rate,
            solver=solver,
            n_jobs=n_jobs,
            node_limit=node_limit,
            time_limit=time_limit,
            progress=progress,
        )
    plan = ResamplingPlan(needs, n_inner, N_FOLDS, cast("Policy | None", on_single_class))
    with _progress_bar(plan.n_fits(n_resamples, labels.size), progress) as advance:
        records = record_losses(
            plan,
            estimator,
            X,
            classes[(labels > 0.0).astype(int)],
            labels,
            counts,
            rng=generator,
            n_jobs=n_jobs,
            advance=advance,
        )
    records = replace(records, bound=bound)
    return IntervalTable(
        tuple(
            compute_interval(method, records, confidence_level, by_name.get(method.name, {}))
            for method in chosen
        )
    )


def _check_options(options: object) -> dict[str, dict[str, Any]]:
    """Return the options of single methods as dictionaries; their names and values are checked elsewhere."""
    example = 'a mapping of names of methods to mappings, such as {"kohavi-normal": {"form": "wilson"}}'
    if not isinstance(options, Mapping):
        raise ValueError(f"The 'options' parameter must be {example}. Got {options!r} instead.")
    for name, given in options.items():
        if not isinstance(given, Mapping):
            raise ValueError(
                f"The 'options' parameter must be {example}. Got {given!r} for {name!r} instead."
            )
    return {name: dict(given) for name, given in options.items()}


@contextmanager
def _progress_bar(total: int, show: bool) -> Iterator[Callable[[int], object]]:
    if not show or total == 0:
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc="refits", unit="fit", leave=False) as bar:
        yield bar.update
