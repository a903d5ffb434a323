"""What a reader of a table of comparisons sees."""

from __future__ import annotations

from cudbound.report.estimands import DIFFERENCES, explain_estimands
from cudbound.report.style import (
    format_difference,
    format_level,
    format_pvalue,
    format_statistic,
    printable,
)
from cudbound.report.tables import (
    LEVEL,
    REMARKS,
    Column,
    Report,
    Run,
    joined_remarks,
    level_note,
    levels_of,
)
from cudbound.results import ComparisonResult, ComparisonTable

_METHOD = Column("method", "method", "text")
_ALTERNATIVE = Column("alternative", "alternative", "text")
_COLUMNS = (
    Column("estimate", "estimate", "difference"),
    Column("low", "low", "difference"),
    Column("high", "high", "difference"),
    Column("statistic", "statistic", "statistic"),
    Column("pvalue", "p-value", "pvalue"),
    Column("estimand", "estimand", "text"),
    Column("n_fits", "fits", "count"),
    REMARKS,
)

#: What a small p-value speaks for.
_AGAINST = {
    "two-sided": "unequal errors",
    "less": "error(a) < error(b)",
    "greater": "error(a) > error(b)",
}


def comparison_report(table: ComparisonTable, run: Run | None = None) -> Report:
    """Return a table of comparisons with what must stand around it."""
    levels = levels_of(table.rows)
    alternatives = _alternatives(table)
    varying = [LEVEL] * (len(levels) > 1) + [_ALTERNATIVE] * (len(alternatives) > 1)
    level = f" {format_level(levels[0])}" if len(levels) == 1 else ""
    return Report(
        "comparisons",
        f"Differences of two errors, error(a) - error(b), with{level} confidence intervals",
        tuple(_notes(table, run)),
        (_METHOD, *varying, *_COLUMNS),
        tuple(
            {
                "method": row.method,
                "confidence_level": row.confidence_level,
                "alternative": row.alternative,
                "estimate": row.estimate,
                "low": row.confidence_interval.low,
                "high": row.confidence_interval.high,
                "statistic": row.statistic,
                "pvalue": row.pvalue,
                "estimand": row.estimand,
                "n_fits": row.n_fits,
                "remarks": joined_remarks(row),
            }
            for row in table.rows
        ),
        table.to_frame,
        run,
        tuple(row.details for row in table.rows),
    )


def describe_comparison(row: ComparisonResult) -> str:
    """Return one comparison in a few lines of text."""
    interval = row.confidence_interval
    lines = [
        f"{row.method}: error(a) - error(b) = {format_difference(row.estimate)}",
        f"{format_level(row.confidence_level)} confidence interval: {format_difference(interval.low)} to "
        f"{format_difference(interval.high)}",
        f"statistic {format_statistic(row.statistic)}, p-value {format_pvalue(row.pvalue)} against "
        f"{_AGAINST[row.alternative]}",
        f"estimand {row.estimand}; {row.n_fits} fits",
        joined_remarks(row),
    ]
    return "\n".join(printable(line) for line in lines if line)


def _notes(table: ComparisonTable, run: Run | None) -> list[str]:
    internal = any(row.n_fits > 0 for row in table.rows)  # new test cases take no fits
    against = [_AGAINST[alternative] for alternative in _alternatives(table)]
    return [
        *([] if run is None else run.notes()),
        "Estimate: error(a) - error(b), in [-1, 1], limits clipped to it; above 0 where a errs more.",
        *([f"p-value: of equal errors, against {' or '.join(against)}."] if against else []),
        "A small p-value speaks against equal errors; a large one does not show that they are equal.",
        *explain_estimands((row.estimand for row in table.rows), DIFFERENCES),
        *(["Internal comparisons, from one data set; no external validation."] if internal else []),
        level_note(table.rows),
    ]


def _alternatives(table: ComparisonTable) -> list[str]:
    return list(dict.fromkeys(row.alternative for row in table.rows))
