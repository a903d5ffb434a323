"""The CUD bound: Q of each draw, their quantile, and the confidence set around the training error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cudbound.analysis.analyze import analyze
from cudbound.analysis.question import Question
from cudbound.analysis.rows import UNKNOWN_ORIGIN, Analysis
from cudbound.analysis.saved_file import SavedBound
from cudbound.basis.calls import public_call, warn
from cudbound.basis.exceptions import CudboundWarning, ParameterError, SavedResultError
from cudbound.basis.results import Estimand, IntervalEstimate, Pictured, WithInterval
from cudbound.basis.validation import Features, Learner
from cudbound.basis.words import InLines
from cudbound.bound.cud_bound import Bound, CudBound
from cudbound.intervals import find_methods
from cudbound.intervals.laber_murphy import CUD
from cudbound.intervals.method import compute_interval
from cudbound.metrics.metric import Metric
from cudbound.metrics.metrics import PREDICTIVE, Metrics, in_metric_terms
from cudbound.records import Records
from cudbound.report.files import write_texts
from cudbound.report.sentences import Description, cautions, describe_rows, majority_sentence
from cudbound.report.tables import Run

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.forest import IntervalDisplay


@public_call
def cud_interval(
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    metric: str | Metric | Metrics = "error",
    event: object = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    bound: Bound | None = None,
    all_draws: bool = False,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> CudResult:
    r"""Exact CUD confidence set for the true error of a fitted classifier.

    The procedure:

    1. write the classifier as sign(b(gamma-hat, x)'beta-hat), with the transformers of a pipeline as the fixed
       gamma-hat, and check that beta-hat minimizes the surrogate loss, with penalty and class weights, on `X` and `y`;
    2. draw `n_resamples` bootstrap samples of the rows;
    3. for each draw find Q, the supremum over all beta of \|bootstrap error - training error\| times
       g(alpha (L_b(beta-hat) - L_b(beta))), g(u) = clip(1 + u, 0, 1), exactly, by branch and bound (section 4);
    4. take the `confidence_level` quantile q of the Q (inverted distribution function, section 3.1); most draws are
       solved only until it is clear on which side of q they lie;
    5. report training error -+ q, clipped to [0, 1].

    Parameters
    ----------
    estimator : object
        A classifier that `cudbound.adapters.to_additive_model` supports: `cudbound.ConvexLossClassifier`, a linear
        classifier of scikit-learn, or a `sklearn.pipeline.Pipeline` of transformers that ends in one;
        docs/reference/classifiers.md lists them. If it is not fitted, a clone is fitted to these rows. Every draw uses
        the class weights of the training set.
    X : array-like, shape (n_samples, n_features)
        The training rows, which a fitted estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    metric : str, Metric or Metrics, default="error"
        A metric that is linear in the losses, see `cudbound.Metrics`; the supremum is then over its deviation.
        `cudbound.compare_intervals` accepts several together.
    event : object, default=None
        Label of the event, as in `cudbound.compare_intervals`.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient. A draw then consists of as many whole groups as there
        are, drawn with replacement; its error and mean loss are those of its rows.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Row weights with which the classifier was fitted.
    confidence_level : float, default=0.95
        Nominal level, in (0, 1).
    n_resamples : int, default=1000
        Number of bootstrap draws.
    bound : Bound, default=None
        Localization, polishing, solver and limits of the search, see `cudbound.Bound`. By default the search for a
        quantile stops at the latest after a number of nodes planned for about ten seconds on one processor.
    all_draws : bool, default=False
        Whether every draw is solved completely, for plots of the distribution of Q; `q` is the same. By default draws
        are solved only as far as the quantile requires, which is many times faster.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None uses a new one.
    n_jobs : int or None, default=1
        Threads; -1 for all cores. The result does not depend on it.

    Returns
    -------
    CudResult
        With ``confidence_interval``, ``estimate``, ``q``, ``certified`` and ``draws``; ``at`` continues the search at
        another level or with other limits.

    Raises
    ------
    UnsupportedEstimatorError
        If the estimator cannot be written as an additive classifier with a convex surrogate loss.
    NotMinimizerError
        If it was not fitted to these `X` and `y`, or its solver stopped early: see `cudbound.Bound`.
    NoMinimizerError
        If the loss has no minimizer on these data: separable classes under an unpenalized logistic loss.
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.
    KeyboardInterrupt
        On Ctrl-C; the message reports what has been proved. Limits stop a search with a result, which ``at`` continues.

    Warns
    -----
    NotCertifiedWarning
        If a limit, or rounding, stopped the search before `q` was proved; the message gives bounds for it, and how to
        continue. The upper bound is used.
    SmallSampleWarning
        If the upper limit is lower than n new cases without an error could support, as with separable classes;
        or if there are fewer than 20 or more than 500 training rows, with which hardly any interval was studied.
    ManyFeaturesWarning, RepeatedRowsWarning, SmallSampleWarning
        As in `cudbound.compare_intervals`.
    NotResampledWarning
        If a search or a cross-validated estimator chose parameters on the same data, or a step before the classifier
        uses the labels, such as feature selection: the bound treats it as fixed.

    Notes
    -----
    Guaranteed: `q` is at least the quantile of the exact suprema, and equal to it if `certified`, up to the tolerances
    in docs/developers/solver.md. Limits and rounding can only make the interval longer. Not guaranteed: the
    coverage. The bound for the population is proved (Proposition 1), but not the bootstrap estimate of its quantile. In
    simulations the interval is conservative, and other intervals are sometimes shorter at the same coverage.

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
    question = Question.of(
        find_methods(CUD.name),
        metric=metric,
        event=event,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        bound=bound,
        all_draws=all_draws,
        rng=rng,
        n_jobs=n_jobs,
    )
    names = question.metrics.names
    if len(names) > 1 or names[0] in PREDICTIVE:
        rule = "one metric that is linear in the losses; compare_intervals accepts several, and predictive values"
        raise ParameterError("metric", rule, metric)
    analysis = analyze(question, estimator, X, y, groups, sample_weight)
    ((bounded,),) = analysis.cud_bounds
    result = CudResult(**vars(bounded), analysis=analysis)
    for caution in result.cautions:
        warn(caution)
    return result


@dataclass(frozen=True, eq=False, repr=False)
class CudResult(InLines, CudBound, WithInterval, Pictured["IntervalDisplay"]):
    """A CUD confidence set for a metric of a fitted classifier, with the inputs of its computation.

    Attributes
    ----------
    estimate, q, confidence_level, draws, problem, polish, tuned_by, search, metric, based_on, joint
        As in `cudbound.bound.cud_bound.CudBound`.
    analysis : Analysis or None
        The question, the data and the draws, if known.
    """

    analysis: Analysis | None = field(repr=False, default=None)

    @property
    def estimand(self) -> Estimand:
        """The target: the error of this fitted classifier on new cases from the same population."""
        return CUD.estimand

    @property
    def run(self) -> Run | None:
        """The data, the classifier and the draws, if known."""
        return None if self.analysis is None else self.analysis.run

    @property
    def cautions(self) -> tuple[CudboundWarning, ...]:
        """Reasons for caution; `cud_interval` also issues them as warnings."""
        of_data = () if self.analysis is None else self.analysis.cautions
        return cautions((self.row,), int(self.problem.labels.size), of_data)

    @property
    def row(self) -> IntervalEstimate:
        """The result as a row of the table of methods."""
        row = compute_interval(CUD, Records.of(bound=self), self.confidence_level)
        remarks = () if self.analysis is None else self.analysis.draw_remarks
        return in_metric_terms(row, self.metric, self.based_on, remarks)

    @property
    def degenerate(self) -> str | None:
        """Why the interval is not informative, or None if it is."""
        return self.row.degenerate

    def save(self, path: str | Path) -> None:
        """Write a file for checking the result with `cudbound.verify_result` or ``cudbound verify``.

        It contains the settings, the versions, the draws as counts, their bounds and witnesses, and a fingerprint of
        the data, but no row of the data. docs/how_to/instability_save_verify.md tells what
        it can still reveal.

        Raises
        ------
        SavedResultError
            If this is part of a table: save the table instead.
        OSError
            If the file cannot be written; an existing file is left unchanged.
        """
        if self.analysis is None:
            raise SavedResultError(UNKNOWN_ORIGIN)
        saved = self.analysis.saved
        question = replace(
            saved.question,
            confidence_level=self.confidence_level,
            bound=replace(saved.question.bound, **vars(self.search.limits)),
        )
        bounds = (SavedBound.of((self,)),)
        write_texts({Path(path): replace(saved, question=question, bounds=bounds).to_text()})

    def describe(self, percent: bool = False) -> Description:
        """Return text for a paper: methods, results, versions and seed, and references in BibTeX."""
        return describe_rows((self.row,), self.run, percent)

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the columns of a table of intervals."""
        return self.row.to_frame()

    def display(self) -> IntervalDisplay:
        """Return the plot of the interval with the share of the rarer class; its `plot` draws it."""
        from cudbound.analysis.table import IntervalTable

        return IntervalTable((self.row,), self.run).display()

    def lines(self) -> list[str]:
        """Return the interval in words, then benchmarks and reasons for caution."""
        low, high = self.confidence_interval
        which = "this classifier" if self.polish is None else "the polished classifier"
        notes = "; ".join((*self.remarks, *((self.degenerate,) if self.degenerate else ())))
        sentence = (
            f"CUD {100 * self.confidence_level:g}% interval [{low:.3f}, {high:.3f}] for the {self.metric.name} of "
            f"{which}; training {self.metric.name} {self.estimate:.3f}, half-width {self.q:.3f}, "
            f"{len(self.draws)} draws ({notes})"
        )
        return [sentence, *majority_sentence(self.row, self.run), *map(str, self.cautions)]
