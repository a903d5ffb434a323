"""The tables of docs/evidence/recommended.md, from the files of the confirmation in docs/evidence/recommended.

``cells.csv`` has one row per metric, cell, method and way of refitting, ``misses.csv`` the cells that were repeated
with another seed, and ``variants.csv`` forms that were not used, computed from the same sets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

FOLDER = Path(__file__).parents[2] / "docs" / "evidence" / "recommended"
RULE, BEFORE = "two-center", "two-center before"
SPLITTING = "splits inside"
#: The metrics as they are named, and in which table their cells stand.
METRICS = {"error": "error", "auc": "AUC", "brier": "Brier score"}
CLINICAL = "clinical metrics"
CLASSES = "several classes"
#: Aims: the largest mean width over that of an interval from n new cases, and the lowest confirmed coverage.
WIDTHS = {"error": 1.12, "auc": 1.18, "brier": 1.12}
WIDTH_OVERFIT = 1.20
LOWEST = 0.93
NO_MISS = "no miss"
#: How learners that split their rows are refitted: with copies of rows or not.
WAYS = {"without copies": False, "with copies": True}
CELL = ["metric", "cell", "copies"]
REPEATED = ["sets", "coverage", "mcse", "keeps_level", "coverage_before", "width_before"]
NOT_YET = "The misses have not been run again yet."


def read(name: str = "cells.csv") -> pd.DataFrame:
    return pd.read_csv(FOLDER / name)


def run_again() -> bool:
    """Whether the misses have been run again."""
    return (FOLDER / "misses.csv").exists()


def repeated(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells in which the recommended interval missed its level, with the numbers of their repetition.

    A cell is run again for all of its metrics; those without a miss are left out.
    """
    missed = as_used(cells).query("method == @RULE and not keeps_level")
    again = (
        read("misses.csv")
        if run_again()
        else pd.DataFrame(columns=[*CELL, *REPEATED]).astype({"copies": bool})
    )
    # a cell that was not run again stays, without new numbers
    both_runs = missed.merge(again, on=CELL, how="left", suffixes=("", "_again"))
    return both_runs.sort_values(["coverage_again", "coverage"])


def as_used(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells in the form of the package: learners that split their rows are refitted without copies of them."""
    return cells[cells["copies"] != (cells["kind"] == SPLITTING)]


def table(rows: list[dict[str, str]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="pipe", disable_numparse=True)


def group_of(cells: pd.DataFrame) -> pd.Series:
    """What a line of the short tables is about: a metric, several classes, or the clinical metrics together."""
    groups = cells["metric"].map(METRICS).fillna(CLINICAL)
    return groups.mask(cells["kind"] == CLASSES, "error, several classes")


def of_groups(cells: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    groups = group_of(cells)
    names = [*METRICS.values(), "error, several classes", CLINICAL]
    return [(name, cells[groups == name]) for name in names if (groups == name).any()]


def progress(cells: pd.DataFrame) -> str:
    """How many of the registered sets have run, in all and at least per cell."""
    of_cells = cells.groupby("cell")[["sets", "registered_sets"]].max()
    run, registered = (int(number) for number in of_cells.sum())
    if run >= registered:
        return f"All {registered:,} registered sets have run."
    share = (of_cells["sets"] / of_cells["registered_sets"]).min()
    return (
        f"**The run was stopped early, as its registration allows: {run:,} of {registered:,} registered sets have "
        f"run**, at least {share:.0%} of those of every cell. Cells with few sets have large standard errors."
    )


def in_short(cells: pd.DataFrame) -> str:
    """One line per metric, for the recommended interval."""
    rows = []
    again = dict(of_groups(repeated(cells)))
    for name, some in of_groups(as_used(cells).query("method == @RULE")):
        worst = some.loc[some["coverage"].idxmin()]
        rows.append(
            {
                "metric": name,
                "cells": str(len(some)),
                "reached 95%": str(int(some["keeps_level"].sum())),
                "lowest coverage": f"{worst['coverage']:.3f}: {worst['cell']}, n = {worst['n']}, {worst['sets']} sets",
                "lowest in new sets": _lowest_again(again[name]) if name in again else "",
                "width / from n new cases": ratio(some["width_over_new"].mean()),
            }
        )
    return table(rows)


def _lowest_again(repetitions: pd.DataFrame) -> str:
    lowest = repetitions["coverage_again"].min()
    return "not run" if pd.isna(lowest) else f"{lowest:.3f}"


def aims(cells: pd.DataFrame) -> str:
    """What was aimed at, what it is, and whether it is met."""
    used = as_used(cells).query("method == @RULE")
    lowest = repeated(cells).query("kind != 'groups'")["coverage_again"].min()
    rows = [
        ("lowest confirmed coverage, independent rows", f"at least {LOWEST}", lowest, not lowest < LOWEST)
    ]
    used = used[used["kind"] != CLASSES]
    of_metric = {METRICS[metric]: (used[used["metric"] == metric], most) for metric, most in WIDTHS.items()}
    overfit = used.query("metric == 'error' and overfits_before > 0.5")
    of_metric["error, classifiers that overfit"] = (overfit, WIDTH_OVERFIT)
    for name, (some, most) in of_metric.items():
        mean = some["width_over_new"].mean()
        rows.append((f"mean width, {name}", f"at most {most:.2f}", mean, mean <= most))
    return table(
        [
            {
                "aim": what,
                "target": target,
                "result": (NO_MISS if run_again() else "not run yet") if pd.isna(value) else f"{value:.3f}",
                "met": "" if pd.isna(value) and not run_again() else "yes" if met else "**no**",
            }
            for what, target, value, met in rows
        ]
    )


def kinds(cells: pd.DataFrame) -> str:
    """One line per kind of cell and metric, for the recommended interval."""
    used = as_used(cells).query("method == @RULE")
    rows = []
    for kind, of_kind in used.groupby("kind", sort=False):
        for name, some in of_groups(of_kind):
            rows.append(
                {
                    "kind": kind,
                    "metric": name,
                    "cells": str(len(some)),
                    "reached 95%": str(int(some["keeps_level"].sum())),
                    "lowest coverage": f"{some['coverage'].min():.3f}",
                    "width / from n new cases": ratio(some["width_over_new"].mean()),
                }
            )
    return table(rows)


def methods(cells: pd.DataFrame) -> str:
    """One line per metric and method, the recommended interval first."""
    used, rows = as_used(cells), []
    for name, of_metric in of_groups(used):
        for method, some in of_metric.groupby("method", sort=False):
            rows.append(
                {
                    "metric": name,
                    "interval": shown(method),
                    "cells": str(len(some)),
                    "reached 95%": str(int(some["keeps_level"].sum())),
                    "lowest coverage": f"{some['coverage'].min():.3f}",
                    "median": f"{some['coverage'].median():.3f}",
                    "width / from n new cases": ratio(some["width_over_new"].mean()),
                }
            )
    return table(rows)


def splitting(cells: pd.DataFrame) -> str:
    """Learners that split their rows, refitted without and with copies of rows; last the cells that have both."""
    some = cells[(cells["kind"] == SPLITTING) & (cells["method"] == RULE)]
    rows = []
    for (metric, cell), pair in some.groupby(["metric", "cell"], sort=False):
        by_copies = {bool(line["copies"]): line for _, line in pair.iterrows()}
        rows.append(
            {"cell": cell, "metric": METRICS.get(metric, metric)}
            | {
                heading: both(by_copies[copies]) if copies in by_copies else ""
                for heading, copies in WAYS.items()
            }
        )
    return table([*rows, _of_both_ways(some)])


def _of_both_ways(cells: pd.DataFrame) -> dict[str, str]:
    """How many of the cells that have both ways of refitting kept their level, and the mean widths."""
    both_ways = cells.groupby(["metric", "cell"])["copies"].transform("nunique") == 2
    of_copies = dict(iter(cells[both_ways].groupby("copies")))
    n_cells = min(map(len, of_copies.values()), default=0)
    kept = {
        heading: f"{of_copies[copies]['keeps_level'].sum()} ({ratio(of_copies[copies]['width_over_new'].mean())})"
        for heading, copies in WAYS.items()
        if copies in of_copies
    }
    return {"cell": f"reached 95%, of {n_cells} with both", "metric": "all"} | kept


def misses(cells: pd.DataFrame) -> str:
    """The cells that missed, and their repetition."""
    if not run_again():
        return NOT_YET
    return table(
        [
            {
                "cell": line.cell,
                "metric": METRICS.get(line.metric, line.metric),
                "coverage": f"{line.coverage:.3f} ± {line.mcse:.3f}",
            }
            | _in_new_sets(line)
            for line in repeated(cells).itertuples()
        ]
    )


def _in_new_sets(line: Any) -> dict[str, str]:
    if pd.isna(line.sets_again):
        return {"new sets": "not run", "in new sets": "", "reaches .95": "", "form before (its width)": ""}
    return {
        "new sets": f"{line.sets_again:.0f}",
        "in new sets": f"{line.coverage_again:.3f} ± {line.mcse_again:.3f}",
        "reaches .95": "yes" if line.keeps_level_again else "**no**",
        "form before (its width)": f"{line.coverage_before:.3f} ({line.width_before:.2f})",
    }


def confirmed(cells: pd.DataFrame) -> str:
    """The cells that missed their level, and missed it again in new training sets."""
    if not run_again():
        return NOT_YET
    return table(
        [
            {
                "setting": f"{line.cell}, n = {line.n}",
                "metric": METRICS.get(line.metric, line.metric),
                "coverage": f"{line.coverage_again:.3f} ± {line.mcse_again:.3f}",
            }
            for line in repeated(cells).query("keeps_level_again == False").itertuples()
        ]
    )


def variants(_: pd.DataFrame) -> str:
    """Forms that were not used."""
    return table(
        [
            {
                "metric": METRICS.get(line.metric, line.metric),
                "variant": line.variant,
                "cells": str(line.cells),
                "below 95%": str(line.short),
                "lowest coverage": f"{line.lowest:.3f}",
                "width / from n new cases": ratio(line.width_over_new),
            }
            for line in read("variants.csv").itertuples()
        ]
    )


def all_cells(metric: str, cells: pd.DataFrame) -> str:
    """Every cell of a metric, the lowest coverage first, with the other intervals beside it."""
    used = as_used(cells)
    used = used[group_of(used) == CLINICAL] if metric == CLINICAL else used[used["metric"] == metric]
    others = [name for name in used["method"].unique() if name != RULE]
    beside = used.set_index(["metric", "cell", "method"])
    rows = []
    for line in used.query("method == @RULE").sort_values(["coverage", "cell"]).itertuples():
        row = {"metric": line.metric} if metric == CLINICAL else {}
        row |= {
            "cell": line.cell,
            "classifier": line.classifier,
            "n": str(line.n),
            "p": str(line.p),
            "sets": str(line.sets),
            "coverage": f"{line.coverage:.3f} ± {line.mcse:.3f}" + ("" if line.keeps_level else " **no**"),
            "truth below, above": f"{line.low_above_truth:.3f}, {line.high_below_truth:.3f}",
            "width": f"{line.width:.3f} ({ratio(line.width_over_new)})",
        }
        for name in others:
            key = (line.metric, line.cell, name)
            row[shown(name)] = both(beside.loc[key]) if key in beside.index else ""
        rows.append(row)
    return table(rows)


def downloads(_: pd.DataFrame) -> str:
    """Links to the files, which a page has once they are there."""
    names = ("cells", *(["misses"] if run_again() else []), "variants")
    return f"Download: {', '.join(f'[{name}](recommended/{name}.csv)' for name in names)}."


def both(line: pd.Series) -> str:
    return f"{line['coverage']:.3f} ({ratio(line['width_over_new'])})"


def ratio(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"


def shown(method: str) -> str:
    return method if method == BEFORE else f"`{method}`"


TABLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "progress": progress,
    "in-short": in_short,
    "aims": aims,
    "kinds": kinds,
    "methods": methods,
    "splitting": splitting,
    "misses": misses,
    "confirmed": confirmed,
    "variants": variants,
    "cells-error": partial(all_cells, "error"),
    "cells-auc": partial(all_cells, "auc"),
    "cells-brier": partial(all_cells, "brier"),
    "cells-clinical": partial(all_cells, CLINICAL),
    "downloads": downloads,
}
PARTS = {f"recommended-{name}": lambda make=make: make(read()) for name, make in TABLES.items()}
