"""The CUD result: a CUD bound with what can be said of it in words, pictures and files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cudbound.analysis.analyze import Analysis
from cudbound.analysis.saving import saved_analysis
from cudbound.basis.exceptions import CudboundWarning
from cudbound.basis.outcomes import Estimand
from cudbound.basis.pictured import Pictured
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import sentences_html
from cudbound.bound.cud_bound import CudBound
from cudbound.exact.certificate import Certificate
from cudbound.intervals.cud import CUD
from cudbound.intervals.method import compute_interval
from cudbound.metrics.metric_terms import in_metric_terms
from cudbound.records import Records
from cudbound.report.cautions import cautions
from cudbound.report.description import Description, describe_rows
from cudbound.report.files import write_texts
from cudbound.report.headline import majority_sentence
from cudbound.report.tables import RunDescription
from cudbound.saved.saved_file import SavedBound

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.suprema import SupremaDisplay


@dataclass(frozen=True, eq=False, repr=False)
class CudResult(CudBound, Pictured["SupremaDisplay"]):
    """A CUD confidence set for a metric of a fitted classifier, and what it was computed from.

    Attributes
    ----------
    estimate, q, confidence_level, draws, problem, polish, tuned_by, search, metric, based_on, joint
        As in `cudbound.bound.cud_bound.CudBound`.
    analysis : Analysis or None
        The question, the data and the draws, where they are known.
    """

    analysis: Analysis | None = field(repr=False, default=None)

    @property
    def estimand(self) -> Estimand:
        """What it aims at: the error, on new cases from the same population, of this fitted classifier."""
        return CUD.estimand

    @property
    def run(self) -> RunDescription | None:
        """The data, the classifier and the draws, where they are known."""
        return None if self.analysis is None else self.analysis.run

    @property
    def cautions(self) -> tuple[CudboundWarning, ...]:
        """What speaks against believing the interval; `cud_interval` gives them as warnings, too."""
        return cautions((self.row,), int(self.problem.labels.size))

    @property
    def row(self) -> IntervalEstimate:
        """The result as a row of the table of methods."""
        row = compute_interval(CUD, Records(bound=self), self.confidence_level)
        remarks = () if self.analysis is None else self.analysis.draw_remarks
        return in_metric_terms(row, self.metric, self.based_on, remarks)

    @property
    def degenerate(self) -> str | None:
        """Why the interval says nothing about uncertainty, or None if it does."""
        return self.row.degenerate

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
        data; no row of them. docs/how_to/clinical_report.md says what can be learned from it nevertheless.

        Raises
        ------
        SavedResultError
            If this is a part of a table: save the table.
        OSError
            If the file cannot be written; one that was there before stays as it was.
        """
        known = self.analysis
        saved = saved_analysis(known and replace(known, bounds=(SavedBound.of((self,)),)))
        question = replace(
            saved.question,
            confidence_level=self.confidence_level,
            bound=replace(saved.question.bound, limits=self.search.limits),
        )
        write_texts({Path(path): replace(saved, question=question, coefficients=self.problem.coef).to_text()})

    def describe(self, percent: bool = False) -> Description:
        """Return words for a paper: methods, results, versions and seed, and what to cite, in BibTeX."""
        return describe_rows((self.row,), self.run, {CUD.name: CUD.title}, {CUD.name: CUD.reference}, percent)

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
