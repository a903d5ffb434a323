"""The summary of a study: coverage and width of every method in every cell, comparisons, and aggregates.

A cell is one scenario at one size of the training set. Tables are plain pandas frames of unrounded numbers.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.calls import public_call
from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.basis.results import Estimand, Pictured
from cudbound.basis.validation import check_confidence_level
from cudbound.basis.words import format_cell
from cudbound.report.render import Tabular
from cudbound.report.tables import FULL, Column, Report, Run, Style
from cudbound.study.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.studies import CoverageByScenarioDisplay

    #: Rows of `Summary.scores`, grouped by cell and method.
    Grouped: TypeAlias = pd.api.typing.DataFrameGroupBy[Any, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Tabular, Pictured["CoverageByScenarioDisplay"]):
    """The tables of a study, each computed on first use from the rows of its store.

    It prints an overview of coverage and width; `plot` draws the coverage of every method in every cell.

    Attributes
    ----------
    replicates, intervals, expected : pandas.DataFrame
        The raw rows, as from `cudbound.study.replicate.frames_of`, in any order.
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
    def ordered(self) -> pd.DataFrame:
        """The replicates in the order of the scenarios, and by n and number."""
        if self.replicates.empty:
            raise ValueError("The study has no replicates yet; run it first.")
        number = self.replicates["scenario"].map(self.scenarios.index)
        in_order = self.replicates.assign(number=number).sort_values(["number", *KEY[1:]], ignore_index=True)
        numbers = ["truth", "truth_se", "training_error"]
        return in_order.drop(columns="number").astype(dict.fromkeys(numbers, float))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per replicate and method, replicate by replicate: how its interval did.

        Columns averaged over a cell have the same name as their mean in `cells`.

        given, degenerate : bool
            Whether there are an interval and a true error (otherwise a failure), and whether that interval is not
            informative.
        coverage, truth_above, truth_below : bool
            Whether low <= truth <= high, truth > high, truth < low; all False for a failure.
        coverage_of_successes, width, raw_width, interval_score, bias, mse, estimate, variance, n_fits : float
            The coverage as 0 or 1, width of the clipped limits and of the raw ones, interval score, estimate - truth,
            its square, estimate, the square of the method's own standard error of it, and fits; nan for a failure, or
            where infinite.
        estimand : str
            nan where a method has no row.
        expected : float
            Mean, over the replicates of the cell, of the errors that the learning algorithm makes on further samples of
            the n1 cases that the estimand of the row names: what a method with the estimand "expected(n1=...)" aims at.
            nan for other estimands.
        expected_mcse, expected_se, n_expected : float
            Its Monte Carlo standard error, the mean standard error of single errors, and their number.
        coverage_of_expected, missed_expected : bool
            Whether a computed interval includes it, and whether one excludes it.
        rejection : float
            1 if equality of two errors is rejected at level 1 - confidence_level, else 0; nan without comparisons. A
            test may reject without an interval.
        """
        import pandas as pd

        methods = pd.Series(list(self.methods), name="method")
        intervals = _with_expected_errors(self.intervals, self.expected)
        rows = self.ordered[[*KEY, "truth"]].merge(methods, how="cross")
        rows = rows.merge(intervals, on=[*KEY, "method"], how="left")
        low, high, estimate, truth, aim = (
            _floats(rows[name]) for name in ("low", "high", "estimate", "truth", "expected")
        )
        computed = ~np.isnan(low + high + truth)  # an upper limit of a likelihood ratio may be infinite
        covered = computed & (low <= truth) & (truth <= high)
        held = computed & (low <= aim) & (aim <= high)
        of_computed = {
            "coverage_of_successes": covered,
            "width": high - low,
            "raw_width": _floats(rows["raw_high"]) - _floats(rows["raw_low"]),
            "interval_score": interval_score(low, high, truth, self.confidence_level),
            "bias": estimate - truth,
            "mse": (estimate - truth) ** 2,
            "estimate": estimate,
            "variance": _floats(rows["standard_error"]) ** 2,
            "n_fits": _floats(rows["n_fits"]),
        }
        rejects = _floats(rows["pvalue"]) <= 1.0 - self.confidence_level
        return rows.assign(
            given=computed,
            degenerate=computed & rows["degenerate"].notna(),
            coverage=covered,
            truth_above=computed & (truth > high),
            truth_below=computed & (truth < low),
            coverage_of_expected=held,
            missed_expected=computed & ~held,
            rejection=np.where(self.compares, rejects, np.nan),
            **{
                # raw limits may be the whole line, and stay
                name: np.where(computed & (np.isfinite(values) | (name == "raw_width")), values, np.nan)
                for name, values in of_computed.items()
            },
        )

    @cached_property
    def samples(self) -> pd.DataFrame:
        """The samples of each cell, for all methods.

        Columns: scenario, n, n_replicates, n_failed (replicates without a true error), n_redrawn, mean_truth, sd_truth,
        mean_truth_se, mean_training_error, training_error_kurtosis (excess, m4/m2^2 - 3; nan if all training errors are
        equal), mean_seconds (per replicate, all methods; nan if times were not kept).
        """
        rows = self.ordered
        rows = rows.assign(failed=~np.isfinite(rows["truth"]), seconds=rows.get("seconds", np.nan))
        table = rows.groupby(CELL, sort=False).agg(
            n_replicates=("replicate", "size"),
            n_failed=("failed", "sum"),
            n_redrawn=("n_redrawn", "sum"),
            mean_truth=("truth", "mean"),
            sd_truth=("truth", "std"),
            mean_truth_se=("truth_se", "mean"),
            mean_training_error=("training_error", "mean"),
            training_error_kurtosis=("training_error", excess_kurtosis),
            mean_seconds=("seconds", "mean"),
        )
        return table.reset_index()

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Every method in every cell: the primary table.

        One row per cell and method. Columns that end in "_mcse" are Monte Carlo standard errors; undefined values are
        nan.

        As shares of all replicates, with failures counted as misses: coverage (with coverage_low and coverage_high, the
        95% Clopper-Pearson interval, and keeps_level, the verdict by `cudbound.study.summary.RULE`),
        truth_above and truth_below (truth above the upper limit, below the lower one).

        For the computed intervals: coverage_of_successes, width (of the clipped limits), raw_width, interval_score,
        bias (estimate - truth), mse (its mean square), empirical_se (standard deviation of the estimates), model_se
        (root mean square of the method's own standard errors, if any), se_ratio (model_se / empirical_se), n_fits
        (mean), n_degenerate. Widths have a median and a 90th percentile, linear between order statistics.

        For methods with the estimand "expected(n1=...)", and nan for others: expected (mean over replicates of the
        errors, or metrics, of the learning algorithm on further samples of n1 cases), expected_se (mean standard error
        of one of these), n_expected (further samples that could be fitted), coverage_of_expected with
        keeps_level_of_expected, by the same rules as coverage, missed_expected (share of replicates with an interval
        that excludes it; failures do not count) and bias_of_expected (mean estimate - expected). The MCSEs of the two
        shares do not include that of `expected`.

        For comparisons: rejection, the share of replicates that reject the hypothesis of equal errors at level 1 -
        confidence_level; a failure does not reject.

        References
        ----------
        Morris, White and Crowther (2019), table 6.
        """
        import pandas as pd

        grouped = self.scores.groupby(LINE, sort=False)
        size, n_computed = grouped.size(), grouped["given"].sum()
        table = pd.DataFrame(
            {
                "estimand": grouped["estimand"].agg(_joined),
                "n_replicates": size,
                "n_failed": size - n_computed,
            }
        ).join(shares(grouped, SHARES))
        for aim in ("", "_of_expected"):
            share, mcse = (_floats(table[f"coverage{aim}{end}"]) for end in ("", "_mcse"))
            low, high = inverted_binomial_limits(
                np.rint(share * size), size.to_numpy(dtype=float), SHARE_LEVEL
            )
            table[f"coverage{aim}_low"], table[f"coverage{aim}_high"] = low, high
            table[f"keeps_level{aim}"] = keeps_level(share, mcse, high, self.confidence_level)
        widths = grouped[["width", "raw_width"]]
        table = table.join(
            [
                means(grouped, MEANS),
                widths.median().add_suffix("_median"),
                widths.quantile(0.9).add_suffix("_p90"),
                standard_errors(grouped),
                expected_errors(grouped),
                grouped["n_fits"].mean(),
                grouped["degenerate"].sum().rename("n_degenerate"),
            ]
        )
        # where every interval failed there is no n1 to look for, and all the same the method missed
        aims = table["estimand"].str.startswith(AIM) & (table["expected"].notna() | (n_computed == 0))
        columns = table.filter(like="expected").columns
        table[columns] = table[columns].where(aims)
        return table.reset_index()

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
        from cudbound.plotting.studies import CoverageByScenarioDisplay

        return CoverageByScenarioDisplay(self.judged_cells, self.confidence_level)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Every other method minus the reference on the same replicates, one row per cell and method.

        Columns: scenario, n, method, coverage_difference over all replicates (failures are misses; for the coverage in
        `judged_by`), n_only_method and n_only_reference (replicates in which only one covered), width_difference over
        the n_both replicates in which both gave an interval (positive: wider than the reference), each difference with
        its paired MCSE.
        """
        rows, size = self.scores, len(self.methods)
        values = rows[[self.judged_by, "width"]].to_numpy(dtype=float)
        # the rows of a replicate follow each other, in the order of the methods
        coverage, width = (
            values - values[np.arange(len(rows)) // size * size + self.methods.index(self.reference)]
        ).T
        apart = rows[LINE].assign(
            coverage_difference=coverage,
            width_difference=width,
            n_only_method=coverage > 0.0,
            n_only_reference=coverage < 0.0,
            n_both=~np.isnan(width),
        )
        grouped = apart.groupby(LINE, sort=False)
        table = means(grouped, ["coverage_difference", "width_difference"]).join(
            grouped[["n_only_method", "n_only_reference", "n_both"]].sum()
        )
        return table.reset_index().query("method != @self.reference").reset_index(drop=True)

    @cached_property
    def aggregates(self) -> pd.DataFrame:
        """Aggregates over all cells, one row per method, by the coverage of `judged_by`; read the cells first.

        Columns: method, n_cells, n_keeping and share_keeping (cells in which it keeps its level), n_shortest (cells in
        which it is the shortest that does), worst_coverage with its cell in worst_scenario and worst_n (the first of
        equals), relative_width (mean over cells of its mean width relative to the reference), n_failed, n_degenerate.
        """
        cells = self.judged_cells
        reference = cells[cells["method"] == self.reference].set_index(CELL)["width"].rename("of_reference")
        cells = cells.join(reference, on=CELL).assign(
            ratio=lambda table: table["width"] / table["of_reference"]
        )
        grouped = cells.groupby("method", sort=False)
        table = grouped.agg(
            n_cells=("n", "size"),
            n_keeping=("keeps_level", "sum"),
            share_keeping=("keeps_level", "mean"),
            n_shortest=("is_shortest", "sum"),
        )
        worst = cells.loc[grouped["coverage"].idxmin()].set_index("method")[["coverage", *CELL]]
        means_and_sums = {"relative_width": ("ratio", "mean")} | {
            name: (name, "sum") for name in ("n_failed", "n_degenerate")
        }
        return table.join([worst.add_prefix("worst_"), grouped.agg(**means_and_sums)]).reset_index()


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
        If the store has no replicates; raised when a table of the summary is read first.

    References
    ----------
    Morris, T. P., White, I. R. and Crowther, M. J. (2019). Using simulation studies to evaluate statistical methods.
    Statistics in Medicine 38, 2074-2102, section 5 and table 6.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cudbound.study.design_file import read_design, template_text
    >>> from cudbound.study.runner import run_study
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
    return Summary(
        *store.frames(),
        float(description["confidence_level"]),
        tuple(description["scenarios"]),
        tuple(description["methods"]),
        any("rival" in scenario for scenario in description["scenarios"].values()),
    )


Array = NDArray[np.float64]
KEY = ["scenario", "n", "replicate"]
CELL = KEY[:2]
LINE = [*CELL, "method"]
#: Level of the Clopper-Pearson intervals of shares.
SHARE_LEVEL = 0.95
#: Monte Carlo standard errors by which a coverage may be below nominal: the one-sided 5 % point of a normal.
TOLERANCE = 1.645
RULE = (
    "Keeps its level: coverage + 1.645 MCSE >= nominal level; for a coverage of 0 or 1, the upper limit of its 95% "
    "Clopper-Pearson interval >= nominal level. With few replicates, almost any coverage passes."
)
#: Prefix of the estimand of methods for the expected error of a learning algorithm.
AIM = "expected"
#: Columns of `Summary.scores` whose cell means are shares, and columns with other means.
SHARES = [
    *("coverage", "truth_above", "truth_below", "coverage_of_successes"),
    *("coverage_of_expected", "missed_expected", "rejection"),
]
MEANS = ["width", "raw_width", "interval_score", "bias", "mse"]


def _with_expected_errors(intervals: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """Add to every interval the expected error of its estimand, with its Monte Carlo standard error.

    In the columns "expected", "expected_mcse", "expected_se" and "n_expected"; nan for other estimands.
    """
    # in the order of the keys, so that sums round alike
    ordered = expected.sort_values([*KEY, "n_train"])
    errors = ordered.astype({"n_train": float, "truth": float, "truth_se": float}).groupby([*CELL, "n_train"])
    means_of_errors = errors.agg(
        expected=("truth", "mean"),
        expected_mcse=("truth", "sem"),
        expected_se=("truth_se", "mean"),
        n_expected=("truth", "size"),
    )
    sizes = {estimand: Estimand.read(estimand).n_train_rows for estimand in set(intervals["estimand"])}
    aimed = intervals.assign(n_train=intervals["estimand"].map(sizes).astype(float))
    return aimed.join(means_of_errors, on=[*CELL, "n_train"])


def _floats(values: pd.Series[float]) -> Array:
    return np.asarray(values.to_numpy(dtype=float, na_value=np.nan), dtype=np.float64)


def interval_score(low: ArrayLike, high: ArrayLike, truth: ArrayLike, confidence_level: float) -> Array:
    """Return the interval score of each replicate: the width plus a penalty for misses; lower is better.

    Parameters
    ----------
    low, high, truth : array-like of float, shape (...)
        Limits, and the value that they should cover.
    confidence_level : float
        Nominal level 1 - d.

    Returns
    -------
    ndarray of float, shape (...)
        (high - low) + (2/d) max(low - truth, 0) + (2/d) max(truth - high, 0).

    References
    ----------
    Winkler, R. L. (1972). A decision-theoretic approach to interval estimation. JASA 67, 187-191; Gneiting, T. and
    Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. JASA 102, 359-378, section 6.2.

    Examples
    --------
    >>> round(float(interval_score(0.1, 0.4, 0.45, 0.95)), 6)
    2.3
    """
    price = 2.0 / (1.0 - check_confidence_level(confidence_level))
    lower, upper, value = (np.asarray(values, dtype=float) for values in (low, high, truth))
    with np.errstate(invalid="ignore"):  # an infinite ratio below an infinite limit
        missed = np.maximum(lower - value, 0.0) + np.maximum(value - upper, 0.0)
    return np.asarray(upper - lower + price * missed)


def keeps_level(coverage: Array, mcse: Array, high: Array, confidence_level: float) -> NDArray[np.bool_]:
    """Apply `RULE` to coverages.

    Parameters
    ----------
    coverage, mcse, high : ndarray of float, shape (...)
        Shares, their Monte Carlo standard errors, and upper limits of their Clopper-Pearson intervals.
    confidence_level : float

    Examples
    --------
    >>> keeps_level(np.array([0.94, 0.93, 0.0]), np.array([0.0075, 0.008, 0.0]), np.array([0.95, 0.95, 0.3]), 0.95)
    array([ True, False, False])
    """
    constant = (coverage == 0.0) | (coverage == 1.0)
    return np.asarray(np.where(constant, high, coverage + TOLERANCE * mcse) >= confidence_level)


def means(grouped: Grouped, names: list[str]) -> pd.DataFrame:
    """Return the mean of each column with its Monte Carlo standard error."""
    table = grouped[names].mean().join(grouped[names].sem().add_suffix("_mcse"))
    return table[[name + suffix for name in names for suffix in ("", "_mcse")]]


def shares(grouped: Grouped, names: list[str]) -> pd.DataFrame:
    """Return the share of rows with each event, over the rows where it is not nan, with its MCSE.

    That is sqrt(c (1 - c) / R), in a column of the same name that ends in "_mcse".
    """
    share = grouped[names].mean()
    errors = (share * (1.0 - share) / grouped[names].count()) ** 0.5
    return share.join(errors.add_suffix("_mcse"))


def standard_errors(grouped: Grouped) -> pd.DataFrame:
    """Return empirical and model standard errors and their ratio, with their MCSEs.

    Columns empirical_se (s, the standard deviation of the estimates), model_se (m, the root of the mean square of the
    standard errors) and se_ratio (m / s), over the computed intervals; nan for methods without standard errors.

    References
    ----------
    Morris, White and Crowther (2019), table 6.
    """
    import pandas as pd

    size, spread = grouped["estimate"].count(), grouped["estimate"].std()
    variance = grouped["variance"].mean()
    model = variance**0.5
    # relative, as the delta method gives them from the variance of the variances
    of_spread = (2.0 * (size - 1.0)) ** -0.5
    of_model = grouped["variance"].sem() / (2.0 * variance)
    ratio = model / spread.where(spread > 0.0)
    return pd.DataFrame(
        {
            "empirical_se": spread,
            "empirical_se_mcse": spread * of_spread,
            "model_se": model,
            "model_se_mcse": model * of_model,
            "se_ratio": ratio,
            "se_ratio_mcse": ratio * (of_model**2 + of_spread**2) ** 0.5,
        }
    )


def expected_errors(grouped: Grouped) -> pd.DataFrame:
    """Return the expected errors and the bias of estimates: two means of independent samples."""
    table = grouped[["expected", "expected_mcse", "expected_se", "n_expected"]].mean()
    return table.assign(
        bias_of_expected=grouped["estimate"].mean() - table["expected"],
        bias_of_expected_mcse=np.hypot(grouped["estimate"].sem(), table["expected_mcse"]),
    )


def excess_kurtosis(values: pd.Series[float]) -> float:
    """Return the excess kurtosis m4/m2^2 - 3; nan if all values are equal."""
    # scipy.stats.kurtosis differs by rounding errors, which would show in the unrounded tables of a report
    centered = values - values.mean()
    second, fourth = (centered**2).mean(), (centered**4).mean()
    return float(fourth / second**2 - 3.0) if values.max() > values.min() else math.nan


def _joined(estimands: pd.Series[str]) -> str:
    """Return the estimand of a method; several are joined, and a method without rows has none."""
    return "; ".join(sorted(estimands.dropna().unique()))
