"""The CUD result: a quantile of the draws' Q, and the confidence set around the training value of a metric."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.bars import Progress
from cudbound.basis.exceptions import CudboundWarning
from cudbound.basis.outcomes import ConfidenceInterval, Estimand
from cudbound.basis.pictured import Pictured
from cudbound.basis.quantiles import inverted_cdf_quantile, within
from cudbound.basis.results import Draws, IntervalEstimate
from cudbound.basis.rounding import sentences_html
from cudbound.basis.validation import check_confidence_level
from cudbound.bound.joint import JointDraws, solve_joint
from cudbound.exact.certificate import Certificate
from cudbound.intervals.cud import CUD, cud_limits
from cudbound.intervals.method import compute_interval
from cudbound.metrics.metric import ERROR, Metric, MetricRows
from cudbound.metrics.metric_terms import in_metric_terms
from cudbound.problem.additive_model import AdditiveModel, Polish
from cudbound.problem.problem import Problem
from cudbound.records import Records
from cudbound.report.cautions import cautions
from cudbound.report.description import Description, describe_rows
from cudbound.report.files import write_texts
from cudbound.report.headline import majority_sentence
from cudbound.report.tables import RunDescription
from cudbound.saved.saved_file import SavedBound, SavedInterval, SavedResult, known
from cudbound.solve.limits import SearchLimits, check_limits
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search, search_ended

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.suprema import SupremaDisplay


# results hold arrays, which have no single truth value to compare
@dataclass(frozen=True, eq=False, repr=False)
class CudResult(Pictured["SupremaDisplay"]):
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
    metric : Metric
        What is bounded.
    rests_on : str
        How many rows it rests on, in words.
    draw_remarks : tuple of str
        How the draws differ from ordinary ones.
    joint : JointDraws or None
        The draws of all metrics that this one is bounded together with; None if it is bounded by itself.
    source : SavedResult or None
        What `save` writes besides the bounds, where it is known.
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
    metric: Metric = field(repr=False, default=ERROR)
    rests_on: str = field(repr=False, default="")
    draw_remarks: tuple[str, ...] = field(repr=False, default=())
    joint: JointDraws | None = field(repr=False, default=None)
    source: SavedResult | None = field(repr=False, default=None)

    @property
    def training_loss(self) -> float:
        """Mean loss behind the estimate, in [0, 1]: the training error, or 1 - training sensitivity, ..."""
        return self.metric.to_loss(self.estimate)

    @property
    def loss_q(self) -> float:
        """Half-width on the scale of the mean loss."""
        return self.q / self.metric.scale

    @property
    def raw_interval(self) -> ConfidenceInterval:
        """``[estimate - q, estimate + q]``, which may leave the range of the metric."""
        return cud_limits(self.estimate, self.q)

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The raw interval clipped to [0, 1], or to [0, largest cost]."""
        return self.raw_interval.clipped(0.0, self.metric.scale)

    @property
    def certified(self) -> bool:
        """Whether `q` is shown to be the quantile of the exact Q: `q` and `q_lower` are equal."""
        return self.q_lower == self.q

    @property
    def q_lower(self) -> float:
        """The same quantile of the draws' lower bounds: the quantile of the exact Q is not below it."""
        if self.joint is not None:
            return self.metric.scale * self.joint.bracket(self.confidence_level)[0]
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
            remarks = ["draws solved exactly as far as needed"]
        else:
            remarks = [f"q {within(self.q_lower, self.q)}, upper value used"]
        if self.n_single_class_draws:
            remarks.append(f"{self.n_single_class_draws} single-class draws")
        if self.polish is not None:
            remarks.append(str(self.polish))
        if self.joint is not None:
            remarks.append(f"together with {self.joint.others(self.metric)}")
        if self.tuned_by:
            remarks.append(f"tuning by {', '.join(self.tuned_by)} not resampled")
        return tuple(remarks)

    @property
    def cautions(self) -> tuple[CudboundWarning, ...]:
        """What speaks against believing the interval; `cud_interval` gives them as warnings, too."""
        return cautions((self.row,), int(self.problem.labels.size))

    @property
    def row(self) -> IntervalEstimate:
        """The result as a row of the table of methods."""
        return in_metric_terms(
            compute_interval(CUD, Records(bound=self), self.confidence_level),
            self.metric,
            self.rests_on,
            self.draw_remarks,
        )

    @property
    def degenerate(self) -> str | None:
        """Why the interval says nothing about uncertainty, or None if it does."""
        return self.row.degenerate

    def at(self, *, confidence_level: float | None = None, limits: SearchLimits | None = None) -> CudResult:
        """Return the result at another level, or from a search with other limits.

        The search continues from what is proved, and only if that does not suffice for the level.

        Parameters
        ----------
        confidence_level : float or None, default=None
            In (0, 1); None keeps that of this result.
        limits : SearchLimits or None, default=None
            Those of the search that continues; None keeps the limits of the call that gave this result, and continues
            for another level alone. With ``search="all"`` draws are solved again for other limits alone.

        Raises
        ------
        ValueError
            If an argument is out of range.
        KeyboardInterrupt
            On Ctrl-C; its message says what is proved by then.

        Warns
        -----
        NotCertifiedWarning
            If a limit, or rounding, ends this search early as well.
        """
        level = (
            self.confidence_level if confidence_level is None else check_confidence_level(confidence_level)
        )
        search = self.search if limits is None else replace(self.search, limits=check_limits(limits))
        result = self._at(level, self.draws)
        proved = self.draws.certified.all() if search.of == "all" else result.certified
        if proved or (limits is None and (search.of == "all" or level == self.confidence_level)):
            return result
        result = replace(self, search=search)
        if self.joint is None:
            result = result._at(level, search.run(self.problem, level, False, self.draws))
        else:
            result = replace(result, joint=self.joint.at(level, search))._at(level, self.draws)
        if not result.certified:
            warnings.warn(search_ended(search, result.draws, result.q_lower, result.q), stacklevel=2)
        return result

    def _at(self, level: float, draws: Draws) -> CudResult:
        q = inverted_cdf_quantile(draws.upper, level)
        if self.joint is not None:
            q = self.metric.scale * self.joint.bracket(level)[1]
        return replace(self, confidence_level=level, draws=draws, q=q)

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

    def save(self, path: str | Path) -> None:
        """Write a file that says how the result can be checked, for `cudbound.verify_result` and ``cudbound verify``.

        It holds the settings, the versions, the draws as counts, their bounds and witnesses, and a fingerprint of the
        data; no row of them. docs/reporting.md says what can be learned from it nevertheless.

        Raises
        ------
        SavedResultError
            If this is a part of a table: save the table.
        OSError
            If the file cannot be written; one that was there before stays as it was.
        """
        source = known(self.source)
        question = replace(source.question, confidence_level=self.confidence_level, limits=self.search.limits)
        saved = replace(
            source, question=question, coefficients=self.problem.coef, bounds=(saved_bound((self,)),)
        )
        write_texts({Path(path): saved.to_text()})

    def describe(self) -> Description:
        """Return words for a paper: methods, results, versions and seed, and what to cite, in BibTeX."""
        return describe_rows((self.row,), self.run, {CUD.name: CUD.title}, {CUD.name: CUD.reference})

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the columns of a table of intervals."""
        return self.row.to_frame()

    def display(self) -> SupremaDisplay:
        """Return the picture of the distribution of Q over the draws, with the quantile marked; `plot` draws it."""
        from cudbound.plotting.suprema import SupremaDisplay

        return SupremaDisplay.from_result(self)

    @property
    def _sentence(self) -> str:
        low, high = self.confidence_interval
        which = "this classifier" if self.polish is None else "the polished classifier"
        return (
            f"CUD {100 * self.confidence_level:g}% interval [{low:.3f}, {high:.3f}] for the {self.metric.name} of "
            f"{which}; training {self.metric.name} {self.estimate:.3f}, half-width {self.q:.3f}, "
            f"{len(self.draws)} draws"
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        return (*self.remarks, *((self.degenerate,) if self.degenerate else ()))

    @property
    def _beside(self) -> tuple[str, ...]:
        """What to hold the interval against, in sentences."""
        run = self.run
        majority = () if run is None else majority_sentence(self.row, run.base_rate, run.of_rows)
        return (*majority, *map(str, self.cautions))

    def __str__(self) -> str:
        return "\n".join((f"{self._sentence} ({'; '.join(self._notes)})", *self._beside))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return sentences_html(f"{self._sentence}.", (*self._notes, *self._beside))


def saved_bound(results: Sequence[CudResult]) -> SavedBound:
    """Return what was proved about the draws of one result, or of several that hold together, for a file."""
    draws = results[0].draws if results[0].joint is None else results[0].joint.draws
    intervals = (SavedInterval(one.metric, one.estimate, one.q, *one.confidence_interval) for one in results)
    return SavedBound(tuple(intervals), draws.lower, draws.upper, draws.witness)


def solve_bound(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    *,
    confidence_level: float,
    localization: float,
    search: Search = Search(),  # noqa: B008 - frozen, so that one default serves all calls
    progress: bool | Progress | None = None,
    seen: MetricRows | None = None,
) -> CudResult:
    """Compute the CUD result of a model on given draws; see `cud_interval`. `seen` is the metric, None the error."""
    seen = MetricRows(ERROR, model.labels > 0.0) if seen is None else seen
    problem = draws_problem(model, counts, localization, seen.score_weights(counts))
    draws = search.run(problem, confidence_level, progress)
    result = CudResult(
        estimate=model.training_error if seen.plain else seen.value(model.training_errors),
        q=inverted_cdf_quantile(draws.upper, confidence_level),
        confidence_level=confidence_level,
        draws=draws,
        problem=problem,
        polish=model.polish,
        tuned_by=model.tuned_by,
        search=search,
        metric=seen.metric,
        rests_on="" if seen.plain else seen.rests_on,
    )
    if not result.certified:
        warnings.warn(search_ended(result.search, result.draws, result.q_lower, result.q), stacklevel=3)
    return result


def solve_joint_bounds(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    seen: Sequence[MetricRows],
    *,
    confidence_level: float,
    localization: float,
    search: Search = Search(),  # noqa: B008 - as above
    progress: bool | Progress | None = None,
) -> tuple[CudResult, ...]:
    """Compute the CUD results of several metrics that hold together, with one half-width; see `solve_joint`."""
    joint = solve_joint(
        model,
        counts,
        seen,
        confidence_level=confidence_level,
        localization=localization,
        search=search,
        progress=progress,
    )
    _, q = joint.bracket(confidence_level)
    return tuple(
        CudResult(
            estimate=one.value(model.training_errors),
            q=one.metric.scale * q,
            confidence_level=confidence_level,
            draws=joint.of(number),
            problem=draws_problem(model, counts, localization, one.score_weights(counts)),
            polish=model.polish,
            tuned_by=model.tuned_by,
            search=search,
            metric=one.metric,
            rests_on=one.rests_on,
            joint=joint,
        )
        for number, one in enumerate(seen)
    )
