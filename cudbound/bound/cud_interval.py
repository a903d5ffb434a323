"""The CUD bound: per-draw Q, their quantile, and the confidence set around the training error."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters import express
from cudbound.exact.certificate import Certificate
from cudbound.intervals.cud import CUD, cud_limits
from cudbound.intervals.method import compute_interval
from cudbound.outcomes import ConfidenceInterval, Estimand
from cudbound.problem.additive_model import AdditiveModel, Polish
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import Problem
from cudbound.quantiles import inverted_cdf_quantile, within
from cudbound.records import Records
from cudbound.report.described import describe_classifier, describe_data, seed_of
from cudbound.report.tables import RunDescription
from cudbound.results import Draws, IntervalEstimate
from cudbound.rounding import sentences_html
from cudbound.solve.limits import SearchLimits, check_limits
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search, search_ended
from cudbound.validation import (
    check_confidence_level,
    check_integer,
    check_localization,
    check_rng,
    refuse_others,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(
    frozen=True, eq=False, repr=False
)  # results hold arrays, which have no single truth value to compare
class CudResult:
    """A CUD confidence set for the error of a fitted classifier, and what it was computed from.

    Attributes
    ----------
    estimate : float
        Training error of the classifier, a proportion in [0, 1]; the center of the interval.
    q : float
        Half-width: the `confidence_level` quantile of the draws' upper bounds on Q. It is the quantile of the exact Q
        if `certified`, and otherwise no smaller.
    confidence_level : float
        Nominal level.
    draws : Draws
        What was proved about each bootstrap draw.
    problem : Problem
        The draws' optimization problems; ``problem.select(b).save(path)`` writes one for a bug report.
    estimand : Estimand
        "conditional": the error, on new cases from the same population, of this fitted classifier.
    polish : Polish or None
        How the classifier of the interval differs from the fitted one; None if it is the fitted one.
    tuned_by : tuple of str
        What tuned parameters of the classifier on the same data; the draws do not repeat the tuning.
    search : Search
        How far the draws were solved, and with which limits.
    run : RunDescription or None
        The data, the classifier and the draws, where they are known.
    """

    estimate: float
    q: float
    confidence_level: float
    draws: Draws = field(repr=False)
    problem: Problem = field(repr=False)
    estimand: Estimand = CUD.estimand
    polish: Polish | None = field(repr=False, default=None)
    tuned_by: tuple[str, ...] = field(repr=False, default=())
    search: Search = field(repr=False, default=Search())
    run: RunDescription | None = field(repr=False, default=None)

    @property
    def raw_interval(self) -> ConfidenceInterval:
        """``[estimate - q, estimate + q]``, which may leave [0, 1]."""
        return cud_limits(self.estimate, self.q)

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The raw interval clipped to [0, 1]."""
        return self.raw_interval.clipped(0.0, 1.0)

    @property
    def certified(self) -> bool:
        """Whether `q` is shown to be the quantile of the exact Q: `q` and `q_lower` are equal."""
        return self.q_lower == self.q

    @property
    def q_lower(self) -> float:
        """The same quantile of the draws' lower bounds: the quantile of the exact Q is not below it."""
        return inverted_cdf_quantile(self.draws.lower, self.confidence_level)

    @property
    def localization(self) -> float:
        """Localization rate that was used, on the scale of the mean loss."""
        return self.problem.localization

    @property
    def n_single_class_draws(self) -> int:
        """Number of draws that hold only one class."""
        positives = self.problem.counts[:, self.problem.labels > 0].sum(axis=1)
        totals = self.problem.counts.sum(axis=1)
        return int(((positives == 0) | (positives == totals)).sum())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the interval must know: whether it is proved, and what was done to the classifier."""
        if self.search.of == "all" and self.draws.certified.all():
            remarks = ["all draws solved exactly"]
        elif self.certified:
            remarks = ["quantile proved"]
        else:
            remarks = [f"q {within(self.q_lower, self.q)}, upper value used"]
        if self.n_single_class_draws:
            remarks.append(f"{self.n_single_class_draws} single-class draws")
        if self.polish is not None:
            remarks.append(str(self.polish))
        if self.tuned_by:
            remarks.append(f"tuning by {', '.join(self.tuned_by)} not resampled")
        return tuple(remarks)

    @property
    def row(self) -> IntervalEstimate:
        """The result as a row of the table of methods."""
        return compute_interval(CUD, Records(bound=self), self.confidence_level)

    @property
    def degenerate(self) -> str | None:
        """Why the interval says nothing about uncertainty, or None if it does."""
        return self.row.degenerate

    def at(self, *, confidence_level: float) -> CudResult:
        """Return the result at another level.

        The search resumes from what is proved, with the limits of the call that gave this result, and only if that
        does not suffice for the other level. With ``search="all"`` nothing is solved again.

        Raises
        ------
        ValueError
            If the level is not in (0, 1).
        SolveInterrupted
            On Ctrl-C; pass its ``draws`` as ``previous`` to `cud_interval`, with the other level, to resume.

        Warns
        -----
        NotCertifiedWarning
            If the other level requires a search that a limit, or rounding, ends early.
        """
        level = check_confidence_level(confidence_level)
        result = self._at(level, self.draws)
        if result.certified or self.search.of == "all" or level == self.confidence_level:
            return result
        result = self._at(level, self.search.run(self.problem, level, False, self.draws))
        if not result.certified:
            warnings.warn(search_ended(result.search, result.draws, result.q_lower, result.q), stacklevel=2)
        return result

    def _at(self, level: float, draws: Draws) -> CudResult:
        return replace(self, confidence_level=level, draws=draws, q=inverted_cdf_quantile(draws.upper, level))

    def certificate(self, draw: int) -> Certificate:
        """Return what was proved about one draw, to be saved, and verified in exact arithmetic.

        Raises
        ------
        IndexError
            If there is no draw with that number.

        Examples
        --------
        >>> import numpy as np
        >>> from cudbound import LeastSquaresClassifier, cud_interval
        >>> X = np.random.default_rng(0).normal(size=(20, 1))
        >>> y = X[:, 0] + np.random.default_rng(1).normal(size=20) > 0
        >>> result = cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=20, rng=0)
        >>> result.certificate(7).verify().upper_proved
        True
        """
        return Certificate.of(self.problem, self.draws, draw)

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the columns of a table of intervals."""
        return self.row.to_frame()

    @property
    def _sentence(self) -> str:
        low, high = self.confidence_interval
        which = "this classifier" if self.polish is None else "the polished classifier"
        return (
            f"CUD {100 * self.confidence_level:g}% interval [{low:.3f}, {high:.3f}] for the error of {which}; "
            f"training error {self.estimate:.3f}, half-width {self.q:.3f}, {len(self.draws)} draws"
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        return (*self.remarks, *((self.degenerate,) if self.degenerate else ()))

    def __str__(self) -> str:
        return f"{self._sentence} ({'; '.join(self._notes)})"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return sentences_html(f"{self._sentence}.", self._notes)


def cud_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    localization: str | float = "n",
    polish: bool = False,
    search: str = "quantile",
    solver: str = "native",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    limits: SearchLimits | None = None,
    progress: bool = False,
    previous: Draws | None = None,
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
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one.
    n_jobs : int or None, default=1
        Threads; -1 for all cores. The result does not depend on it.
    limits : SearchLimits, default=None
        Nodes and seconds after which searches are given up; draws left open enter with their upper bounds. None ends
        the search for a quantile after a number of nodes that takes about ten seconds on one processor; see
        `cudbound.SearchLimits`.
    progress : bool, default=False
        Whether to show a progress bar on standard error, and, where the first draws prove hard, when it ends.
    previous : Draws, default=None
        Draws of an earlier call with the same arguments and the same integer `rng`, interrupted or limited, or at
        another level; the search resumes from what is proved.

    Returns
    -------
    CudResult
        With ``confidence_interval``, ``estimate``, ``q``, ``certified``, ``draws`` and ``at(confidence_level=...)``.

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
    SolveInterrupted
        On Ctrl-C; its message says what is proved by then. Pass its ``draws`` as `previous` to resume, or with
        ``limits=SearchLimits(nodes=0)`` to get the interval from what is proved.

    Warns
    -----
    NotCertifiedWarning
        If a limit, or rounding, ended the search before `q` was proved; the message says between which values it lies,
        and how to continue. The larger one is used.
    TuningNotResampledWarning
        If a search or a cross-validated estimator chose parameters on the same data.

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
    refuse_others(cud_interval, others)
    level = check_confidence_level(confidence_level)
    n_resamples = check_integer("n_resamples", n_resamples, 1)
    generator = check_rng(rng)
    how = Search(search, solver=solver, n_jobs=n_jobs, limits=check_limits(limits))
    model = express(estimator, X, y, polish=polish)
    run = RunDescription(
        **describe_data(X, model.labels > 0.0, model.classes, seed_of(rng)),
        n_resamples=n_resamples,
        localization=localization,
        classifier=describe_classifier(estimator),
    )
    bound = solve_bound(
        model,
        draw_counts(model.labels.size, n_resamples, generator),
        confidence_level=level,
        localization=check_localization(localization, model.labels.size),
        search=how,
        progress=progress,
        previous=previous,
    )
    return replace(bound, run=run)


def solve_bound(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    *,
    confidence_level: float,
    localization: float,
    search: Search = Search(),  # noqa: B008 - frozen, so that one default serves all calls
    progress: bool = False,
    previous: Draws | None = None,
) -> CudResult:
    """Compute the CUD result of a model on given draws; see `cud_interval`."""
    problem = draws_problem(model, counts, localization)
    draws = search.run(problem, confidence_level, progress, previous)
    result = CudResult(
        estimate=model.training_error,
        q=inverted_cdf_quantile(draws.upper, confidence_level),
        confidence_level=confidence_level,
        draws=draws,
        problem=problem,
        polish=model.polish,
        tuned_by=model.tuned_by,
        search=search,
    )
    if not result.certified:
        warnings.warn(search_ended(result.search, result.draws, result.q_lower, result.q), stacklevel=3)
    return result
