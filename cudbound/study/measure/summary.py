"""The summary of a study: coverage and width of every method in every cell, comparisons, and aggregates.

A cell is one scenario at one size of the training set. Tables are plain pandas frames of unrounded numbers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.calls import public_call
from cudbound.basis.pictured import Pictured
from cudbound.basis.rounding import format_cell
from cudbound.report.table_style import FULL, Style
from cudbound.report.tables import Column, Report, Run
from cudbound.report.tabular import Tabular
from cudbound.study.measure.scoring import (
    AIM,
    CELL,
    KEY,
    Scores,
    excess_kurtosis,
    means,
    score_intervals,
    tabulate_cells,
)
from cudbound.study.run.replicate_rows import EXPECTED, INTERVALS, REPLICATES, TIMINGS
from cudbound.study.run.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.coverage import CoverageByScenarioDisplay


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Tabular, Pictured["CoverageByScenarioDisplay"]):
    """The tables of a study, each computed on first use from the rows of its store.

    It prints an overview of coverage and width; `plot` draws the coverage of every method in every cell.

    Attributes
    ----------
    replicates, intervals, expected : pandas.DataFrame
        The raw rows, with the columns of the tables of a store, in any order.
    confidence_level : float
        Nominal level of the intervals.
    scenarios, methods : tuple of str
        All scenarios and methods, in the order of the tables. A method without a row in a replicate failed there.
    compares : bool
        Whether the study is about differences between two errors.
    """

    replicates: pd.DataFrame
    intervals: pd.DataFrame
    expected: pd.DataFrame
    confidence_level: float
    scenarios: tuple[str, ...]
    methods: tuple[str, ...]
    compares: bool = False

    @property
    def reference(self) -> str:
        """The reference method for comparisons: "cud", or the first method of a study without it."""
        return "cud" if "cud" in self.methods else self.methods[0]

    @cached_property
    def scores(self) -> Scores:
        """The scores of all intervals."""
        return score_intervals(
            *(self.replicates, self.intervals, self.expected, self.scenarios, self.methods),
            confidence_level=self.confidence_level,
            compares=self.compares,
        )

    @cached_property
    def samples(self) -> pd.DataFrame:
        """The samples of each cell, for all methods.

        Columns: scenario, n, n_replicates, n_failed (replicates without a true error), n_redrawn, mean_truth, sd_truth,
        mean_truth_se, mean_training_error, training_error_kurtosis (excess, m4/m2^2 - 3; nan if all training errors are
        equal), mean_seconds (per replicate, all methods; nan if times were not kept).
        """
        scores = self.scores
        rows = scores.replicates.assign(
            failed=~np.isfinite(scores.replicates["truth"].to_numpy(dtype=float, na_value=np.nan)),
            seconds=scores.replicates.get("seconds", np.nan),
        )
        numbers = ["truth", "truth_se", "training_error", "seconds"]
        rows[numbers] = rows[numbers].astype(float)
        grouped = rows.groupby("cell", sort=True)
        return scores.cells.assign(
            n_replicates=grouped.size(),
            n_failed=grouped["failed"].sum(),
            n_redrawn=grouped["n_redrawn"].sum(),
            mean_truth=grouped["truth"].mean(),
            sd_truth=grouped["truth"].std(),
            mean_truth_se=grouped["truth_se"].mean(),
            mean_training_error=grouped["training_error"].mean(),
            training_error_kurtosis=excess_kurtosis(rows),
            mean_seconds=grouped["seconds"].mean(),
        )

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Every method in every cell: the primary table, one row per cell and method.

        The columns are those of `cudbound.study.measure.summary.tabulate_cells`.
        """
        return tabulate_cells(self.scores, self.confidence_level)

    @property
    def judged_by(self) -> str:
        """The name of the coverage that is used for verdicts on methods.

        "coverage", for the error of the fitted classifier, or "coverage_of_expected" if all methods of the study aim at
        an expected error: no method is then judged only by a target that it does not claim.
        """
        estimands = set(self.cells["estimand"]) - {""}
        return (
            "coverage_of_expected"
            if estimands and all(estimand.startswith(AIM) for estimand in estimands)
            else "coverage"
        )

    @cached_property
    def judged_cells(self) -> pd.DataFrame:
        """`cells` with the coverage for verdicts, see `judged_by`, as "coverage" and "keeps_level".

        A further column, "is_shortest", marks the method with the smallest mean width among those that keep their level
        in a cell; of equal widths, the first in the order of the methods.
        """
        cells = self.cells
        if self.judged_by != "coverage":
            chosen = {
                f"coverage{end}": f"coverage_of_expected{end}" for end in ("", "_mcse", "_low", "_high")
            }
            chosen["keeps_level"] = "keeps_level_of_expected"
            cells = cells.assign(**{name: cells[other] for name, other in chosen.items()})
            cells = cells.astype({"keeps_level": bool})
        keeping = cells[cells["keeps_level"] & cells["width"].notna()]
        return cells.assign(is_shortest=cells.index.isin(keeping.groupby(CELL)["width"].idxmin()))

    @property
    def judged_note(self) -> tuple[str, ...]:
        """A sentence if verdicts do not use the coverage of the true error; else nothing."""
        if self.judged_by == "coverage":
            return ()
        return ("Coverage: of the expected error, the target of all methods in this study.",)

    def to_frame(self) -> pd.DataFrame:
        """Return the primary table, `cells`: one unrounded row per cell and method."""
        return self.cells

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return an overview of coverage and width, one row per cell; `run` and `style` have no effect."""
        shown = [_at_a_glance(cell) for _, cell in self.judged_cells.iterrows()]
        rows: list[Any] = [
            {"scenario": scenario, "n": n} | dict(zip(cell["method"], cell["shown"], strict=True))
            for (scenario, n), cell in self.judged_cells.assign(shown=shown).groupby(CELL, sort=False)
        ]
        columns = [Column("scenario", "scenario", "text"), Column("n", "n", "count")]
        return Report(
            "overview",
            "Coverage and mean width at a glance",
            (
                "Coverage, then mean width. *: does not keep its level. +: the shortest that does.",
                *self.judged_note,
            ),
            (*columns, *(Column(name, name, "text") for name in self.methods)),
            tuple(rows),
            self.to_frame,
        )

    def display(self) -> CoverageByScenarioDisplay:
        """Return the plot of the coverage of every method in every cell; its `plot` draws it."""
        from cudbound.plotting.coverage import CoverageByScenarioDisplay

        return CoverageByScenarioDisplay(self.judged_cells, self.confidence_level)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Every other method minus the reference on the same replicates, one row per cell and method.

        Columns: scenario, n, method, coverage_difference over all replicates (failures are misses; for the coverage in
        `judged_by`), n_only_method and n_only_reference (replicates in which only one covered), width_difference over
        the n_both replicates in which both gave an interval (positive: wider than the reference), each difference with
        its paired MCSE.
        """
        import pandas as pd

        lines, rows, size = self.scores.lines, self.scores.rows, len(self.methods)
        measures = ["coverage_difference", "width_difference"]
        values = rows[[self.judged_by, "width"]].astype(float).set_axis(measures, axis=1)
        # the rows of a replicate follow each other, in the order of the methods
        of_reference = np.arange(len(rows)) // size * size + self.methods.index(self.reference)
        apart = values - values.to_numpy()[of_reference]
        counted = pd.DataFrame(
            {
                "n_only_method": apart["coverage_difference"] > 0.0,
                "n_only_reference": apart["coverage_difference"] < 0.0,
                "n_both": apart["width_difference"].notna(),
            }
        )
        table = lines.join(
            [means(apart.groupby(rows["line"]), measures), counted.groupby(rows["line"]).sum()]
        )
        return table[table["method"] != self.reference].reset_index(drop=True)

    @cached_property
    def aggregates(self) -> pd.DataFrame:
        """Aggregates over all cells, one row per method, by the coverage of `judged_by`; read the cells first.

        Columns: method, n_cells, n_keeping and share_keeping (cells in which it keeps its level), n_shortest (cells in
        which it is the shortest that does), worst_coverage with its cell in worst_scenario and worst_n (the first of
        equals), relative_width (mean over cells of its mean width relative to the reference), n_failed, n_degenerate.
        """
        cells = self.judged_cells
        reference = (
            cells[cells["method"] == self.reference].set_index(CELL)["width"].rename("reference_width")
        )
        cells = cells.join(reference, on=CELL)
        cells = cells.assign(ratio=cells["width"] / cells["reference_width"])
        table = cells.groupby("method", sort=False).agg(
            n_cells=("n", "size"),
            n_keeping=("keeps_level", "sum"),
            share_keeping=("keeps_level", "mean"),
            n_shortest=("is_shortest", "sum"),
            worst_coverage=("coverage", "min"),
            worst_scenario=("coverage", "idxmin"),
            worst_n=("coverage", "idxmin"),
            relative_width=("ratio", "mean"),
            n_failed=("n_failed", "sum"),
            n_degenerate=("n_degenerate", "sum"),
        )
        for name in CELL:
            table[f"worst_{name}"] = cells.loc[table[f"worst_{name}"], name].set_axis(table.index)
        return table.reset_index()


def _at_a_glance(cell: pd.Series[Any]) -> str:
    mark = " +" if cell["is_shortest"] else "" if cell["keeps_level"] else " *"
    return f"{format_cell(cell['coverage'], 'proportion')} {format_cell(cell['width'], 'proportion')}{mark}"


@public_call
def summarize(store_path: str | os.PathLike[str]) -> Summary:
    """Summarize a coverage study.

    Methods are compared with "cud", or with the first method of a study without it.

    Parameters
    ----------
    store_path : path
        The store of a study; a run may be writing to it.

    Returns
    -------
    Summary

    Raises
    ------
    StudyError
        If the file is missing or is not a store.
    ValueError
        On first use of a table, if there are no replicates.

    References
    ----------
    Morris, T. P., White, I. R. and Crowther, M. J. (2019). Using simulation studies to evaluate statistical methods.
    Statistics in Medicine 38, 2074-2102, section 5 and table 6.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cudbound.study.design.design_file import read_design, template_text
    >>> from cudbound.study.run.runner import run_study
    >>> with tempfile.TemporaryDirectory() as name:
    ...     design, store = Path(name) / "quick.toml", Path(name) / "quick.sqlite"
    ...     _ = design.write_text(template_text("quick"))
    ...     _ = run_study(read_design(design, n_replicates=2), store)
    ...     summary = summarize(store)
    >>> summary.cells["method"].unique().tolist()
    ['cud', 'kohavi-normal', 'langford-binomial', 'martin-beta']
    """
    with Store.open(os.fspath(store_path)) as store:
        return summarize_store(store)


def summarize_store(store: Store) -> Summary:
    """Summarize the study of an open store, to which a run may be writing; later replicates are left out."""
    description = store.description
    replicates = store.frame(REPLICATES)
    # a run may have stored more replicates between the two reads
    intervals, expected = (
        frame.merge(replicates[KEY], on=KEY) for frame in (store.frame(INTERVALS), store.frame(EXPECTED))
    )
    seconds = store.frame(TIMINGS)[[*KEY, "seconds"]]
    return Summary(
        replicates.merge(seconds, on=KEY, how="left"),
        intervals,
        expected,
        float(description["confidence_level"]),
        tuple(description["scenarios"]),
        tuple(description["methods"]),
        any("rival" in scenario for scenario in description["scenarios"].values()),
    )
